//! Entries of storage that techniques add, as their journal says.

use rustc_hash::FxHashMap;

use crate::journal::{Note, What};
use crate::{Ledger, Residency, Structure};

/// What lies in the added storage of an SM. Entries may stay from launch to launch.
#[derive(Clone, Debug, Default)]
pub(super) struct Added {
    entries: FxHashMap<(Structure, u32), Entry>,
}

/// An entry: bits that readers get, and all of it; when it was written, until when reads of it have been accounted for, and until when it has been there.
#[derive(Clone, Copy, Debug)]
struct Entry {
    bits: u32,
    all: u32,
    written: u64,
    accounted: u64,
    there: u64,
}

impl Added {
    /// Something was noted; `reader` is whether the instruction that issues is needed, and `has_needs` whether the launch needs anything.
    pub fn noted(&mut self, note: &Note, reader: bool, has_needs: bool, ledger: &mut Ledger) {
        let (key, now) = ((note.structure, note.entry), note.cycle);
        let known = self.entries.get_mut(&key);
        match (note.what, known) {
            (What::Written { bits, all }, known) => {
                if let Some(old) = known {
                    old.stays(note.structure, now, ledger);
                }
                let entry = Entry {
                    bits,
                    all,
                    written: now,
                    accounted: now,
                    there: now,
                };
                self.entries.insert(key, entry);
            }
            (What::Read, Some(entry)) if reader => entry.needed(key, now, ledger),
            (What::Compared, Some(entry)) if reader => {
                ledger.ace(residency(key, 1, (entry.written, now)));
            }
            (What::Freed, Some(entry)) => {
                if has_needs {
                    entry.needed(key, now, ledger);
                }
                entry.stays(note.structure, now, ledger);
                self.entries.remove(&key);
            }
            (What::Read | What::Compared | What::Freed, _) => {}
        }
    }

    /// A launch ends: what is there has been there until now.
    pub fn settle(&mut self, now: u64, ledger: &mut Ledger) {
        for ((structure, _), entry) in &mut self.entries {
            entry.stays(*structure, now, ledger);
        }
    }
}

impl Entry {
    fn needed(&mut self, key: (Structure, u32), now: u64, ledger: &mut Ledger) {
        ledger.ace(residency(key, self.bits, (self.accounted, now)));
        self.accounted = self.accounted.max(now);
    }

    fn stays(&mut self, structure: Structure, now: u64, ledger: &mut Ledger) {
        ledger.occupied(structure, u64::from(self.all), self.there, now);
        self.there = self.there.max(now);
    }
}

fn residency((structure, entry): (Structure, u32), bits: u32, (from, to): (u64, u64)) -> Residency {
    Residency {
        structure,
        warp: 0,
        entry,
        bits,
        from,
        to,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUFFER: Structure = Structure::InstructionReuseBuffer;

    fn run(notes: &[(u64, What, bool)], has_needs: bool) -> (u128, u128) {
        let (mut added, mut ledger) = (Added::default(), Ledger::new(0, 16, Vec::new()));
        for &(cycle, what, reader) in notes {
            let note = Note {
                structure: BUFFER,
                entry: 3,
                cycle,
                what,
            };
            added.noted(&note, reader, has_needs, &mut ledger);
        }
        added.settle(100, &mut ledger);
        let found = ledger.close(100).structures[BUFFER as usize];
        (found.ace, found.occupied)
    }

    const WRITTEN: What = What::Written { bits: 32, all: 150 };

    #[test]
    fn an_entry_is_needed_until_a_needed_instruction_reads_it_last() {
        let notes = [
            (5, What::Read, true),
            (10, WRITTEN, true),
            (15, What::Read, true),
            (25, What::Read, true),
            (30, What::Read, false),
            (40, WRITTEN, true),
            (50, What::Compared, true),
            (60, What::Compared, true),
            (70, What::Compared, false),
        ];
        let ace = 32 * 15 + (50 - 40) + (60 - 40);
        assert_eq!(run(&notes, true), (ace, 150 * 90));
    }

    #[test]
    fn what_says_what_is_given_back_is_needed_all_its_life() {
        let notes = [(10, WRITTEN, false), (40, What::Freed, false)];
        assert_eq!(run(&notes, true), (32 * 30, 150 * 30));
        assert_eq!(run(&notes, false), (0, 150 * 30));
    }
}
