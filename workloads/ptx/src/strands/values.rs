//! Who reads what in a strand.
//!
//! A strand has one way in, at its beginning, and no way back, so that one pass over the code, in its order, sees all that reaches a read.

use std::collections::BTreeMap;

use super::cuts::predecessors;
use super::{Marks, ValueRead, ValueWrite};
use crate::cfg::Blocks;
use crate::lifetime::flow::liveness;
use crate::lifetime::{Words, main_end, touched, words};
use crate::program::{Entry, Inst, Slot};

/// Marks the values of a program whose strands begin at `cuts`.
pub(super) fn marks(entry: &Entry, blocks: &Blocks, cuts: &[bool]) -> Vec<Marks> {
    let (live_in, live_out) = liveness(entry, blocks);
    let mut pass = Pass {
        entry,
        shared: touched(entry, main_end(entry)..entry.code.len()),
        sources: Vec::new(),
        reads: Vec::new(),
    };
    let predecessors = predecessors(blocks);
    let mut behind: Vec<Held> = Vec::with_capacity(blocks.starts.len());
    for block in 0..blocks.starts.len() {
        let range = blocks.range(block, entry.code.len());
        let live = live_at(entry, range.clone(), &live_out[block], cuts);
        let mut held = Held::default();
        if !cuts[range.start] {
            let mut from = predecessors[block].iter();
            held = from.next().map_or(held, |&first| behind[first].clone());
            from.for_each(|&other| held.meet(&behind[other]));
        }
        for at in range.clone() {
            if cuts[at] && at != range.start {
                pass.keep(&held, &live[&at]);
                held = Held::default();
            }
            pass.follow(at, &mut held);
        }
        for &next in &blocks.successors[block] {
            if let Some(&start) = blocks.starts.get(next as usize)
                && cuts[start as usize]
            {
                pass.keep(&held, &live_in[next as usize]);
            }
        }
        behind.push(held);
    }
    pass.finish(cuts)
}

/// Registers that are live where strands begin within a block, its first instruction apart.
fn live_at(
    entry: &Entry,
    range: std::ops::Range<usize>,
    live_out: &Words,
    cuts: &[bool],
) -> BTreeMap<usize, Words> {
    let mut live = live_out.clone();
    let mut found = BTreeMap::new();
    for at in range.rev() {
        let inst = &entry.code[at];
        if inst.guard.is_none() {
            let mut written = Words::default();
            inst.writes()
                .for_each(|slot| written.insert_all(words(entry, slot)));
            live.remove(&written);
        }
        inst.reads()
            .for_each(|slot| live.insert_all(words(entry, slot)));
        if cuts[at] {
            found.insert(at, live.clone());
        }
    }
    found
}

/// What the registers hold at a point of a strand; what is not listed holds what it did when the strand began.
#[derive(Clone, Debug, Default)]
struct Held(BTreeMap<u16, Origin>);

/// Where a register's value comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Origin {
    /// On some path nobody in the strand has written it.
    before: bool,
    /// On every path this one has read it last, and nobody has written it.
    fetched: Option<u32>,
    /// Writes in the strand that may have been the last, ascending.
    writes: Vec<u32>,
}

impl Origin {
    fn untouched() -> Self {
        Self {
            before: true,
            ..Self::default()
        }
    }
}

impl Held {
    /// Paths meet.
    fn meet(&mut self, other: &Self) {
        for (&word, theirs) in &other.0 {
            let ours = self.0.entry(word).or_insert_with(Origin::untouched);
            ours.before |= theirs.before;
            ours.fetched = ours.fetched.filter(|it| theirs.fetched == Some(*it));
            ours.writes.extend(&theirs.writes);
            ours.writes.sort_unstable();
            ours.writes.dedup();
        }
        for (word, ours) in &mut self.0 {
            if !other.0.contains_key(word) {
                ours.before = true;
                ours.fetched = None;
            }
        }
    }
}

/// Something that can put a value into a small register file: a write, or the first read of what was there before the strand.
#[derive(Clone, Copy, Debug)]
struct Origination {
    at: u32,
    word: u16,
    outlives: bool,
    is_read: bool,
    /// Another of the same value, or itself.
    value: u32,
}

/// A read that a small register file can serve.
#[derive(Clone, Copy, Debug)]
struct Served {
    at: u32,
    word: u16,
    /// One of the value's sources.
    source: u32,
}

struct Pass<'e> {
    entry: &'e Entry,
    /// Registers that device functions use.
    shared: Words,
    sources: Vec<Origination>,
    reads: Vec<Served>,
}

impl Pass<'_> {
    /// Follows an instruction.
    fn follow(&mut self, at: usize, held: &mut Held) {
        let inst = &self.entry.code[at];
        for word in self.distinct(inst.reads()) {
            let origin = held.0.entry(word).or_insert_with(Origin::untouched);
            self.read(at, word, inst, origin);
        }
        for word in self.distinct(inst.writes()) {
            let write = self.originate(at, word, false);
            let origin = held.0.entry(word).or_insert_with(Origin::untouched);
            if inst.guard.is_none() {
                origin.before = false;
                origin.writes.clear();
            }
            origin.fetched = None;
            origin.writes.push(write);
        }
    }

    fn read(&mut self, at: usize, word: u16, inst: &Inst, origin: &mut Origin) {
        let source = match (origin.before, origin.fetched, &origin.writes[..]) {
            (true, Some(first), []) => first,
            // Lanes that a guard holds back fetch nothing.
            (true, None, []) if inst.guard.is_none() => {
                origin.fetched = Some(self.originate(at, word, true));
                return;
            }
            (true, _, writes) => {
                for &write in writes {
                    self.sources[write as usize].outlives = true;
                }
                return;
            }
            (false, _, writes) => {
                let first = self.value(writes[0]);
                for &other in &writes[1..] {
                    let other = self.value(other);
                    self.sources[other as usize].value = first;
                }
                first
            }
        };
        self.reads.push(Served {
            at: at as u32,
            word,
            source,
        });
    }

    /// Behind the end of a strand only the main register file is left.
    fn keep(&mut self, held: &Held, live: &Words) {
        for (&word, origin) in &held.0 {
            if live.has(word) {
                for &write in &origin.writes {
                    self.sources[write as usize].outlives = true;
                }
            }
        }
    }

    fn originate(&mut self, at: usize, word: u16, is_read: bool) -> u32 {
        let number = self.sources.len() as u32;
        self.sources.push(Origination {
            at: at as u32,
            word,
            outlives: false,
            is_read,
            value: number,
        });
        number
    }

    /// The source that stands for the value of another.
    fn value(&self, source: u32) -> u32 {
        let mut source = source;
        while self.sources[source as usize].value != source {
            source = self.sources[source as usize].value;
        }
        source
    }

    /// The 32-bit registers of some slots, each once.
    fn distinct(&self, slots: impl Iterator<Item = Slot>) -> Vec<u16> {
        let all = slots.flat_map(|slot| words(self.entry, slot));
        let mut found: Vec<u16> = all.filter(|&word| !self.shared.has(word)).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Numbers the values that somebody reads, in the order of the code.
    fn finish(self, cuts: &[bool]) -> Vec<Marks> {
        let begins = cuts.iter().map(|&begins| Marks {
            begins,
            ..Marks::default()
        });
        let mut marks: Vec<Marks> = begins.collect();
        let mut is_read = vec![false; self.sources.len()];
        for read in &self.reads {
            is_read[self.value(read.source) as usize] = true;
        }
        let mut numbers: BTreeMap<u32, u32> = BTreeMap::new();
        for (source, origination) in self.sources.iter().enumerate() {
            let value = self.value(source as u32);
            if !is_read[value as usize] {
                continue;
            }
            let next = numbers.len() as u32;
            let value = *numbers.entry(value).or_insert(next);
            let (word, mark) = (origination.word, &mut marks[origination.at as usize]);
            if origination.is_read {
                mark.reads.push(ValueRead { word, value });
            } else {
                let outlives = origination.outlives;
                mark.writes.push(ValueWrite {
                    word,
                    value,
                    outlives,
                });
            }
        }
        for read in &self.reads {
            let value = numbers[&self.value(read.source)];
            let word = read.word;
            marks[read.at as usize]
                .reads
                .push(ValueRead { word, value });
        }
        marks
    }
}
