//! Webs: the values of registers, each with where it is live.
//!
//! A web is a largest set of writes and reads that belong together: a read belongs to every write that may reach it. One name of
//! the program may stand for several webs, which need not share a register.

use super::liveness::{Liveness, members};
use super::operands::{Numbering, Role, visit};
use super::plan::Class;
use crate::cfg::Blocks;
use crate::program::{Entry, SlotKind};

/// Points of an instruction: inserted code before it, its reads, its writes, inserted code behind it.
pub(super) const POINTS: u32 = 4;
/// Offsets of these points.
pub(super) const READ: u32 = 1;
pub(super) const WRITE: u32 = 2;

/// No web: the occurrence is a literal, a special register, or of another class.
pub(super) const NONE: u32 = u32::MAX;

/// Points from the first up to, not including, the second.
pub(super) type Span = (u32, u32);

/// A value.
#[derive(Clone, Debug)]
pub(super) struct Web {
    pub kind: SlotKind,
    /// Where it is live, ascending, with gaps between.
    pub spans: Vec<Span>,
}

/// All values of a class of an entry.
#[derive(Debug, Default)]
pub(super) struct Webs {
    pub webs: Vec<Web>,
    /// The web of every slot of every instruction, in the order of [`visit`].
    occurrences: Vec<u32>,
    /// Where each instruction's begin.
    starts: Vec<u32>,
}

impl Webs {
    pub fn of(entry: &Entry, blocks: &Blocks, class: Class) -> Self {
        let numbering = Numbering::of(entry, class);
        let liveness = Liveness::of(entry, blocks, numbering);
        let mut naming = Naming::new(entry, numbering, &liveness);
        for block in 0..blocks.starts.len() {
            naming.block(block, blocks);
        }
        naming.join(blocks);
        naming.finish(blocks)
    }

    /// Webs of an instruction's slots, in the order of [`visit`].
    pub fn of_instruction(&self, at: usize) -> &[u32] {
        let end = self.starts.get(at + 1).copied();
        let end = end.map_or(self.occurrences.len(), |end| end as usize);
        &self.occurrences[self.starts[at] as usize..end]
    }
}

/// Nodes become webs when those that must be one are joined.
struct Naming<'e> {
    entry: &'e Entry,
    liveness: &'e Liveness,
    numbering: Numbering<'e>,
    /// Union-find over nodes: a write, or a register at a block's beginning.
    parents: Vec<u32>,
    kinds: Vec<SlotKind>,
    /// The node that a register holds now, and the block in which that was found.
    current: Vec<(u32, u32)>,
    occurrences: Vec<u32>,
    starts: Vec<u32>,
    /// Nodes of the live registers at the beginning and at the end of each block.
    entries: Vec<Vec<u32>>,
    exits: Vec<Vec<u32>>,
}

impl<'e> Naming<'e> {
    fn new(entry: &'e Entry, numbering: Numbering<'e>, liveness: &'e Liveness) -> Self {
        Self {
            entry,
            liveness,
            numbering,
            parents: Vec::new(),
            kinds: Vec::new(),
            current: vec![(NONE, NONE); numbering.len()],
            occurrences: Vec::new(),
            starts: Vec::with_capacity(entry.code.len()),
            entries: Vec::new(),
            exits: Vec::new(),
        }
    }

    fn node(&mut self, kind: SlotKind) -> u32 {
        let node = self.parents.len() as u32;
        self.parents.push(node);
        self.kinds.push(kind);
        node
    }

    fn kind(&self, number: usize) -> SlotKind {
        let words = self.entry.words.len();
        match number {
            number if number < words => SlotKind::Word,
            number if number < words + self.entry.doubles.len() => SlotKind::Double,
            _ => SlotKind::Predicate,
        }
    }

    /// Names every occurrence of a block.
    fn block(&mut self, block: usize, blocks: &Blocks) {
        let liveness = self.liveness;
        let stamp = block as u32;
        let mut entries = Vec::new();
        for at in members(&liveness.live_in[block]) {
            let number = liveness.globals[at] as usize;
            let node = self.node(self.kind(number));
            self.current[number] = (node, stamp);
            entries.push(node);
        }
        self.entries.push(entries);
        for at in blocks.range(block, self.entry.code.len()) {
            self.starts.push(self.occurrences.len() as u32);
            let entry = self.entry;
            let inst = &entry.code[at];
            visit(inst, |slot, role| {
                let Some(number) = self.numbering.register(slot) else {
                    return self.occurrences.push(NONE);
                };
                let (known, seen) = self.current[number];
                let begins = role == Role::Write && inst.guard.is_none();
                let node = match seen == stamp && !begins {
                    true => known,
                    false => self.node(slot.kind),
                };
                self.current[number] = (node, stamp);
                self.occurrences.push(node);
            });
        }
        let exits = members(&liveness.live_out[block]);
        let exits = exits.map(|at| self.current[liveness.globals[at] as usize].0);
        self.exits.push(exits.collect());
    }

    fn find(&mut self, mut node: u32) -> u32 {
        while self.parents[node as usize] != node {
            let above = self.parents[self.parents[node as usize] as usize];
            self.parents[node as usize] = above;
            node = above;
        }
        node
    }

    /// What a block leaves in a register is what the next one finds there.
    fn join(&mut self, blocks: &Blocks) {
        let liveness = self.liveness;
        for block in 0..blocks.starts.len() {
            for &next in &blocks.successors[block] {
                let Some(entries) = self.entries.get(next as usize).cloned() else {
                    continue; // the exit
                };
                let exits = std::mem::take(&mut self.exits[block]);
                let mut leaving = members(&liveness.live_out[block]).zip(&exits);
                let entering = members(&liveness.live_in[next as usize]).zip(&entries);
                for (at, &node) in entering {
                    if let Some((_, &from)) = leaving.by_ref().find(|&(out, _)| out == at) {
                        let (a, b) = (self.find(from), self.find(node));
                        // The earlier node stays, so that webs are numbered in the order of the code.
                        self.parents[a.max(b) as usize] = a.min(b);
                    }
                }
                drop(leaving);
                self.exits[block] = exits;
            }
        }
    }

    fn finish(mut self, blocks: &Blocks) -> Webs {
        let mut numbers = vec![NONE; self.parents.len()];
        let mut webs: Vec<Web> = Vec::new();
        for node in 0..self.parents.len() {
            let root = self.find(node as u32) as usize;
            if numbers[root] == NONE {
                numbers[root] = webs.len() as u32;
                webs.push(Web {
                    kind: self.kinds[root],
                    spans: Vec::new(),
                });
            }
            numbers[node] = numbers[root];
        }
        let named = |node: &mut u32| {
            if *node != NONE {
                *node = numbers[*node as usize];
            }
        };
        self.occurrences.iter_mut().for_each(named);
        let mut all = Webs {
            webs,
            occurrences: self.occurrences,
            starts: self.starts,
        };
        let exits = self.exits.into_iter().map(|exits| {
            let named = exits.into_iter().map(|node| numbers[node as usize]);
            named.collect::<Vec<_>>()
        });
        let exits: Vec<_> = exits.collect();
        all.fill_spans(self.entry, blocks, &exits);
        all
    }
}

impl Webs {
    /// Walks the code backwards; `exits` are the webs live at the end of each block.
    fn fill_spans(&mut self, entry: &Entry, blocks: &Blocks, exits: &[Vec<u32>]) {
        // Where a web that is live here is live up to; zero if it is not.
        let mut until = vec![0u32; self.webs.len()];
        let mut open: Vec<u32> = Vec::new();
        for block in (0..blocks.starts.len()).rev() {
            let range = blocks.range(block, entry.code.len());
            for &web in &exits[block] {
                until[web as usize] = range.end as u32 * POINTS;
                open.push(web);
            }
            for at in range.clone().rev() {
                let first = at as u32 * POINTS;
                let guarded = entry.code[at].guard.is_some();
                let end = self.starts.get(at + 1).copied();
                let end = end.map_or(self.occurrences.len(), |end| end as usize);
                let mut occurrence = end;
                let mut roles: [(u32, u32); 2] = [(0, 0); 2];
                visit(&entry.code[at], |_, role| {
                    roles[usize::from(role == Role::Write)].0 += 1
                });
                roles[0].1 = self.starts[at] + roles[0].0;
                // Writes first, since the walk goes backwards.
                while occurrence as u32 > self.starts[at] {
                    occurrence -= 1;
                    let web = self.occurrences[occurrence];
                    if web == NONE {
                        continue;
                    }
                    let is_write = occurrence as u32 >= roles[0].1;
                    let live = &mut until[web as usize];
                    match (is_write, *live) {
                        (true, 0) => {
                            let spans = &mut self.webs[web as usize].spans;
                            spans.push((first + WRITE, first + WRITE + 1));
                        }
                        (true, end) if !guarded => {
                            *live = 0;
                            self.webs[web as usize].spans.push((first + WRITE, end));
                        }
                        (false, 0) => {
                            *live = first + READ + 1;
                            open.push(web);
                        }
                        _ => {}
                    }
                }
            }
            for web in open.drain(..) {
                let end = std::mem::take(&mut until[web as usize]);
                if end != 0 {
                    let start = range.start as u32 * POINTS;
                    self.webs[web as usize].spans.push((start, end));
                }
            }
        }
        for web in &mut self.webs {
            web.spans.reverse();
            merge(&mut web.spans);
        }
    }
}

/// Joins spans that touch.
fn merge(spans: &mut Vec<Span>) {
    spans.dedup_by(|next, kept| {
        let touches = next.0 <= kept.1;
        if touches {
            kept.1 = kept.1.max(next.1);
        }
        touches
    });
}
