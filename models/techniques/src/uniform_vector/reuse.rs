//! The instruction reuse buffer: results of uniform computations, by partial address (section 3.2).

use std::collections::VecDeque;

/// An instruction and the values that it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use {
    /// The instruction's number: its byte address over its size.
    pub number: u64,
    /// A digest of all its source values.
    pub values: u32,
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
    /// Most recently used last.
    entries: Vec<Use>,
    capacity: usize,
    /// Part of an instruction's number that is its tag.
    mask: u64,
    /// Results that are still computed, with the cycles from which they are in the buffer.
    pending: VecDeque<(u64, Use)>,
    pub counts: Counts,
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
        }
    }

    /// Looks an instruction up in `cycle`.
    pub fn look_up(&mut self, cycle: u64, wanted: Use) -> Found {
        while let Some(&(ready, done)) = self.pending.front()
            && ready <= cycle
        {
            self.pending.pop_front();
            self.write(done);
        }
        self.counts.searches += 1;
        let Some(place) = self.place(wanted) else {
            return Found::Nothing;
        };
        self.counts.reads += 1;
        let entry = self.entries.remove(place);
        self.entries.push(entry);
        if entry == wanted {
            self.counts.hits += 1;
            Found::Result
        } else {
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
        let same = |entry: &Use| tag(entry.number) == tag(wanted.number);
        self.entries.iter().position(same)
    }

    /// Takes the place of the same tag, or else of what was used longest ago.
    fn write(&mut self, done: Use) {
        self.counts.writes += 1;
        if let Some(place) = self.place(done) {
            self.entries.remove(place);
        } else {
            self.counts.allocations += 1;
            if self.entries.len() == self.capacity {
                self.entries.remove(0);
            }
        }
        self.entries.push(done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(number: u64, values: u32) -> Use {
        Use { number, values }
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
}
