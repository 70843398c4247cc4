//! The table of check bits that instructions of the buffer share (section 3.2).

/// Which entry an instruction that comes takes when none has its check bits (section 3.2.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replacement {
    /// That with the fewest instructions, unless more than so many share it; and none for an instruction of a warp that is far from the others.
    Threshold(u32),
    /// That with the fewest, always.
    Fewest,
}

/// An entry: check bits, whose identity is the instruction that they are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    /// The instruction that the check bits are of.
    pc: u64,
    /// The slot of the instruction that joined last.
    id: usize,
    /// Instructions in the buffer that share it.
    shared: u32,
}

/// A slot of the instruction buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Slot {
    /// What was written last; it stays in the cells after the issue.
    pc: Option<u64>,
    /// Whether the instruction waits for issue.
    valid: bool,
    /// The entry with its check bits: index and existing bit.
    entry: Option<usize>,
    /// Entries that name it.
    named: u32,
}

/// The table of an SM beside its instruction buffer.
#[derive(Clone, Debug)]
pub(super) struct Table {
    entries: Vec<Option<Entry>>,
    /// Entries that are not idle.
    taken: usize,
    slots: Vec<Slot>,
    replacement: Replacement,
    pub counts: Counts,
}

/// What the table and the circuits around it do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Instructions that came.
    pub arrivals: u64,
    /// Comparisons with an instruction of the buffer.
    pub comparisons: u64,
    /// Instructions that found their check bits.
    pub hits: u64,
    /// Check bits made, each for an entry.
    pub generated: u64,
    /// Of these, in place of others.
    pub evictions: u64,
    /// Instructions that got no entry.
    pub refused: u64,
    /// Writes of a part of an entry: its identity and counter.
    pub updates: u64,
    /// Instructions put beside an entry to be compared with: those of new entries, and those that came into a slot which an entry names.
    pub copied: u64,
    /// Looks for an entry that makes way.
    pub searches: u64,
}

impl Table {
    pub fn new(entries: u32, slots: usize, replacement: Replacement) -> Self {
        Self {
            entries: vec![None; entries as usize],
            taken: 0,
            slots: vec![Slot::default(); slots],
            replacement,
            counts: Counts::default(),
        }
    }

    /// An instruction comes into a slot; `near` tells whether its warp has got about as far as the others.
    pub fn arrives(&mut self, slot: usize, pc: u64, near: bool) {
        self.counts.arrivals += 1;
        self.overwrite(slot, pc);
        let entry = self.matching(pc).or_else(|| self.allocate(pc, slot, near));
        self.slots[slot] = Slot {
            pc: Some(pc),
            valid: true,
            entry,
            named: self.slots[slot].named,
        };
        let Some(entry) = entry.and_then(|entry| self.entries[entry].as_mut()) else {
            self.counts.refused += 1;
            return;
        };
        self.slots[entry.id].named -= 1;
        self.slots[slot].named += 1;
        entry.id = slot;
        entry.shared += 1;
        self.counts.updates += 1;
    }

    /// The instruction of a slot leaves; whether its check bits are in the table.
    pub fn leaves(&mut self, slot: usize) -> bool {
        let slot = &mut self.slots[slot];
        slot.valid = false;
        let Some(place) = slot.entry.take() else {
            return false;
        };
        self.counts.updates += 1;
        if let Some(entry) = &mut self.entries[place] {
            entry.shared -= 1;
            if entry.shared == 0 {
                self.slots[entry.id].named -= 1;
                self.entries[place] = None;
                self.taken -= 1;
            }
        }
        true
    }

    /// Whether the instruction of a slot could be corrected if it left now.
    #[cfg(test)]
    pub fn protects(&self, slot: usize) -> bool {
        self.slots[slot].valid && self.slots[slot].entry.is_some()
    }

    /// The instruction is compared with those that the entries name: what lies in their slots now. A slot that has got another instruction since belongs to
    /// another entry, as its index says; without looking at that, a match would lead to the check bits of something else, a case that the paper passes over.
    fn matching(&mut self, pc: u64) -> Option<usize> {
        self.counts.comparisons += self.taken as u64;
        let same = |entry: &Entry| entry.pc == pc && self.slots[entry.id].pc == Some(pc);
        let mut entries = self.entries.iter();
        let found = entries.position(|entry| entry.as_ref().is_some_and(same));
        self.counts.hits += u64::from(found.is_some());
        found
    }

    /// Entries that name a slot are compared with what comes into it from now on.
    fn overwrite(&mut self, slot: usize, pc: u64) {
        if self.slots[slot].pc != Some(pc) {
            self.counts.copied += u64::from(self.slots[slot].named);
        }
    }

    /// An entry for check bits that are made now, of what comes into a slot.
    fn allocate(&mut self, pc: u64, slot: usize, near: bool) -> Option<usize> {
        let idle = match self.taken < self.entries.len() {
            true => self.entries.iter().position(Option::is_none),
            false => None,
        };
        let place = match idle {
            Some(place) => place,
            None => {
                self.counts.searches += 1;
                self.victim(near)?
            }
        };
        if let Some(evicted) = self.entries[place] {
            self.slots[evicted.id].named -= 1;
            self.taken -= 1;
            self.counts.evictions += 1;
            let broadcast = self.slots.iter_mut();
            for slot in broadcast.filter(|slot| slot.entry == Some(place)) {
                slot.entry = None;
            }
        }
        self.counts.generated += 1;
        self.counts.copied += 1;
        self.slots[slot].named += 1;
        self.taken += 1;
        self.entries[place] = Some(Entry {
            pc,
            id: slot,
            shared: 0,
        });
        Some(place)
    }

    fn victim(&self, near: bool) -> Option<usize> {
        let shared = |place: &usize| self.entries[*place].map_or(0, |entry| entry.shared);
        let fewest = (0..self.entries.len()).min_by_key(shared)?;
        match self.replacement {
            Replacement::Fewest => Some(fewest),
            Replacement::Threshold(most) => (near && shared(&fewest) <= most).then_some(fewest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: Replacement = Replacement::Threshold(4);

    fn of(entries: u32, replacement: Replacement) -> Table {
        Table::new(entries, 32, replacement)
    }

    #[test]
    fn instructions_that_are_the_same_share_an_entry_until_the_last_has_left() {
        let mut table = of(4, PAPER);
        for slot in 0..8 {
            table.arrives(slot, 64, true);
        }
        assert_eq!((table.counts.generated, table.counts.hits), (1, 7));
        assert_eq!(
            table.counts.comparisons, 7,
            "the first finds nothing to compare with"
        );
        assert!((0..8).all(|slot| table.leaves(slot)));
        table.arrives(0, 64, true);
        assert_eq!(table.counts.generated, 2, "the entry was free");
    }

    /// Figure 4: two instructions that come in turn evict each other from the entry with the fewest, again and again.
    #[test]
    fn the_latest_is_the_one_that_goes() {
        let mut table = of(2, Replacement::Fewest);
        for slot in 0..3 {
            table.arrives(slot, 8, true);
        }
        for (slot, pc) in [(3, 16), (4, 24), (5, 16), (6, 24)] {
            table.arrives(slot, pc, true);
        }
        assert_eq!(table.counts.evictions, 3);
        assert_eq!(table.counts.generated, 5);
        assert!(!table.protects(3) && !table.protects(4) && !table.protects(5));
        assert!(table.protects(0) && table.protects(6));
    }

    #[test]
    fn what_many_share_stays_and_who_is_far_from_the_others_gets_nothing() {
        let mut table = of(1, PAPER);
        for slot in 0..5 {
            table.arrives(slot, 8, true);
        }
        table.arrives(5, 16, true);
        assert!(!table.protects(5), "five share the entry");
        assert!(table.leaves(4));
        table.arrives(6, 24, false);
        assert!(!table.protects(6), "its warp is far");
        table.arrives(7, 24, true);
        assert!(table.protects(7) && !table.protects(0), "four make way");
        assert_eq!((table.counts.refused, table.counts.evictions), (2, 1));
    }

    /// The entry names the slot of whoever joined last. Once that slot holds something else, nobody finds the entry any more.
    #[test]
    fn an_entry_whose_slot_was_taken_is_not_found() {
        let mut table = of(4, PAPER);
        table.arrives(0, 8, true);
        table.arrives(1, 8, true);
        table.leaves(1);
        table.arrives(2, 8, true);
        assert_eq!(table.counts.hits, 2, "what has left still lies in its slot");
        table.leaves(2);
        table.arrives(2, 16, true);
        table.arrives(3, 8, true);
        assert_eq!(table.counts.generated, 3, "the same check bits twice");
        assert_eq!(table.counts.copied, 3 + 1, "8 gave way to 16 in slot 2");
        table.arrives(4, 16, true);
        assert_eq!(table.counts.generated, 3);
        assert!(
            (0..5)
                .filter(|slot| *slot != 1)
                .all(|slot| table.protects(slot))
        );
    }
}
