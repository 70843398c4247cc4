//! The instruction reuse buffer: results of uniform computations, by partial address (section 3.2).

use std::collections::VecDeque;

use warpwatt_reliability::{Journal, Structure as Storage, What};

/// An instruction and the values that it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use {
    /// The instruction's number: its byte address over its size.
    pub number: u64,
    /// A digest of all its source values.
    pub values: u32,
    /// Bits of its result.
    pub result_bits: u32,
}

/// What a look-up finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The same instruction with the same values.
    Result,
    /// An entry with its partial address, but other values or another instruction.
    Other,
    /// No entry.
    Nothing,
}

/// The buffer of an SM.
#[derive(Clone, Debug)]
pub(super) struct ReuseBuffer {
    /// Most recently used last, each with its place in the buffer.
    entries: Vec<(Use, u32)>,
    capacity: usize,
    /// Part of an instruction's number that is its tag.
    mask: u64,
    /// Results that are still computed, with the cycles from which they are in the buffer.
    pending: VecDeque<(u64, Use)>,
    pub counts: Counts,
    /// Where changes are noted, and the bits of an entry, if somebody follows them.
    journal: Option<(Journal, u32)>,
}

/// Accesses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub searches: u64,
    /// Entries read and compared.
    pub reads: u64,
    pub hits: u64,
    /// Entries written.
    pub writes: u64,
    /// Of these with a new tag.
    pub allocations: u64,
}

impl ReuseBuffer {
    pub fn new(capacity: u32, tag_bits: u32) -> Self {
        Self {
            entries: Vec::with_capacity(capacity as usize),
            capacity: capacity as usize,
            mask: (1 << tag_bits) - 1,
            pending: VecDeque::new(),
            counts: Counts::default(),
            journal: None,
        }
    }

    /// From now on changes are noted, of entries of so many bits.
    pub fn noting(&mut self, journal: Journal, entry_bits: u32) {
        self.journal = Some((journal, entry_bits));
    }

    fn note(&self, place: u32, cycle: u64, what: impl Fn(u32) -> What) {
        if let Some((journal, all)) = &self.journal {
            let structure = Storage::InstructionReuseBuffer;
            journal.note(structure, place, cycle, what(*all));
        }
    }

    /// Looks an instruction up in `cycle`.
    pub fn look_up(&mut self, cycle: u64, wanted: Use) -> Found {
        while let Some(&(ready, done)) = self.pending.front()
            && ready <= cycle
        {
            self.pending.pop_front();
            self.write(ready, done);
        }
        self.counts.searches += 1;
        let Some(place) = self.place(wanted) else {
            return Found::Nothing;
        };
        self.counts.reads += 1;
        let entry = self.entries.remove(place);
        self.entries.push(entry);
        if entry.0 == wanted {
            self.counts.hits += 1;
            self.note(entry.1, cycle, |_| What::Read);
            Found::Result
        } else {
            self.note(entry.1, cycle, |_| What::Compared);
            Found::Other
        }
    }

    /// The result of an instruction that was not found is there from `ready` on.
    pub fn update(&mut self, ready: u64, done: Use) {
        // Long operations let short ones pass; the buffer takes results in the order in which they come.
        let place = self.pending.partition_point(|(other, _)| *other <= ready);
        self.pending.insert(place, (ready, done));
    }

    fn place(&self, wanted: Use) -> Option<usize> {
        let tag = |number: u64| number & self.mask;
        let same = |entry: &(Use, u32)| tag(entry.0.number) == tag(wanted.number);
        self.entries.iter().position(same)
    }

    /// Takes the place of the same tag, or else of what was used longest ago.
    fn write(&mut self, ready: u64, done: Use) {
        self.counts.writes += 1;
        let place = if let Some(place) = self.place(done) {
            self.entries.remove(place).1
        } else {
            self.counts.allocations += 1;
            if self.entries.len() == self.capacity {
                self.entries.remove(0).1
            } else {
                self.entries.len() as u32
            }
        };
        let bits = done.result_bits;
        self.note(place, ready, |all| What::Written { bits, all });
        self.entries.push((done, place));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(number: u64, values: u32) -> Use {
        Use {
            number,
            values,
            result_bits: 32,
        }
    }

    #[test]
    fn a_result_is_found_once_it_is_there_and_only_for_its_values() {
        let mut buffer = ReuseBuffer::new(2, 10);
        assert_eq!(buffer.look_up(0, of(5, 1)), Found::Nothing);
        buffer.update(24, of(5, 1));
        assert_eq!(buffer.look_up(23, of(5, 1)), Found::Nothing);
        assert_eq!(buffer.look_up(24, of(5, 1)), Found::Result);
        assert_eq!(buffer.look_up(25, of(5, 2)), Found::Other);
        buffer.update(30, of(5, 2));
        assert_eq!(buffer.look_up(40, of(5, 1)), Found::Other);
        assert_eq!(buffer.look_up(41, of(5, 2)), Found::Result);
        assert_eq!(buffer.counts.allocations, 1);
        assert_eq!(buffer.counts.writes, 2);
    }

    #[test]
    fn what_was_used_longest_ago_goes() {
        let mut buffer = ReuseBuffer::new(2, 10);
        for number in [1, 2] {
            buffer.update(0, of(number, 0));
        }
        assert_eq!(buffer.look_up(1, of(1, 0)), Found::Result);
        buffer.update(2, of(3, 0));
        assert_eq!(buffer.look_up(3, of(2, 0)), Found::Nothing);
        assert_eq!(buffer.look_up(3, of(1, 0)), Found::Result);
    }

    #[test]
    fn partial_addresses_that_agree_are_no_hit_for_another_instruction() {
        let mut buffer = ReuseBuffer::new(4, 3);
        buffer.update(0, of(1, 7));
        assert_eq!(buffer.look_up(1, of(9, 7)), Found::Other);
    }

    #[test]
    fn what_happens_to_each_place_is_noted() {
        let journal = Journal::default();
        let mut buffer = ReuseBuffer::new(2, 10);
        buffer.noting(journal.clone(), 150);
        for (cycle, number) in [(10, 1), (20, 2), (30, 3)] {
            buffer.update(cycle, of(number, 0));
        }
        buffer.look_up(40, of(3, 0));
        buffer.look_up(50, of(2, 7));
        let written = What::Written { bits: 32, all: 150 };
        let notes = journal.take();
        let notes: Vec<_> = notes
            .iter()
            .map(|it| (it.entry, it.cycle, it.what))
            .collect();
        let expected = [
            (0, 10, written),
            (1, 20, written),
            (0, 30, written),
            (0, 40, What::Read),
            (1, 50, What::Compared),
        ];
        assert_eq!(notes, expected);
    }
}
