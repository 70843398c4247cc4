//! Bit-cycles of structures, added up exactly: in all, and in windows of time.

use crate::cover::noticed;
use crate::windows::{OverTime, Windows};
use crate::{Cover, Protection, Residency, Structure};

/// Bit-cycles of one structure. Whole numbers, so that the parts add up to the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BitCycles {
    /// All bits of the structure times all cycles.
    pub total: u128,
    /// Of these, bits that are in use: they belong to a warp, a CTA or a valid line.
    pub occupied: u128,
    /// Needed for architecturally correct execution (ACE), whatever protects them.
    pub ace: u128,
    /// Of these, those of which a flip is detected and not corrected.
    pub detected: u128,
    /// Of these, those of which a flip is corrected.
    pub corrected: u128,
}

impl BitCycles {
    /// Not needed for architecturally correct execution.
    pub fn unace(&self) -> u128 {
        self.total - self.ace
    }

    /// Needed, and a flip is silent.
    pub fn silent(&self) -> u128 {
        self.ace - self.detected - self.corrected
    }

    /// Architectural vulnerability factor without any protection: the share of all bit-cycles that is ACE (Mukherjee et al., MICRO 2003, section 2.2).
    pub fn avf(&self) -> f64 {
        share(self.ace, self.total)
    }

    /// The share of the occupied bit-cycles that is ACE.
    pub fn avf_of_occupied(&self) -> f64 {
        share(self.ace, self.occupied)
    }

    /// AVF for silent data corruption: what protection leaves of [`avf`](Self::avf).
    pub fn sdc_avf(&self) -> f64 {
        share(self.silent(), self.total)
    }

    /// AVF for detected unrecoverable errors.
    pub fn due_avf(&self) -> f64 {
        share(self.detected, self.total)
    }
}

impl std::ops::AddAssign for BitCycles {
    fn add_assign(&mut self, other: Self) {
        self.total += other.total;
        self.occupied += other.occupied;
        self.ace += other.ace;
        self.detected += other.detected;
        self.corrected += other.corrected;
    }
}

/// `part / whole`; zero if there is no whole.
fn share(part: u128, whole: u128) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// What the bits of an entry are from `from` on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Needed bits.
    pub bits: u32,
    /// Since when.
    pub since: u64,
}

/// The account of one SM, or of the memory system, for one launch.
pub struct Ledger {
    structures: [BitCycles; Structure::COUNT],
    window: u64,
    windows: Windows,
    protections: Vec<Box<dyn Protection>>,
    /// What the protections make of the residency at hand.
    covers: Vec<Cover>,
}

/// What a ledger held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closed {
    /// Bit-cycles of each structure, but for the totals.
    pub structures: [BitCycles; Structure::COUNT],
    /// ACE bit-cycles of each structure over time.
    pub over_time: OverTime,
}

impl Ledger {
    /// An empty account with windows of `window` cycles, the first beginning at cycle `start`. If they become too many, they are as many times longer as it takes.
    pub fn new(start: u64, window: u64, protections: Vec<Box<dyn Protection>>) -> Self {
        Self {
            structures: Default::default(),
            window,
            windows: Windows::new(start, window),
            protections,
            covers: Vec::new(),
        }
    }

    /// An empty account begins at cycle `start`.
    pub fn start_at(&mut self, start: u64) {
        self.windows = Windows::new(start, self.window);
    }

    /// Needed bits that lay in a structure for a while. One that ends before it begins counts as nothing.
    pub fn ace(&mut self, residency: Residency) {
        if residency.bits == 0 || residency.to <= residency.from {
            return;
        }
        self.structures[residency.structure as usize].ace += u128::from(residency.bit_cycles());
        if !self.protections.is_empty() {
            self.protect(&residency);
        }
        self.windows.add(&residency);
    }

    /// Puts a residency down to the best that protections make of it.
    fn protect(&mut self, residency: &Residency) {
        self.covers.clear();
        for protection in &mut self.protections {
            protection.cover(residency, &mut self.covers);
        }
        if self.covers.is_empty() {
            return;
        }
        let noticed = noticed(residency, &mut self.covers);
        let account = &mut self.structures[residency.structure as usize];
        account.detected += noticed.detected;
        account.corrected += noticed.corrected;
    }

    /// Something needed reads a register: see [`Protection::read`].
    pub fn read(&mut self, warp: u8, entry: u32, cycle: u64) {
        for protection in &mut self.protections {
            protection.read(warp, entry, cycle);
        }
    }

    /// Bits in use for a while, needed or not.
    pub fn occupied(&mut self, structure: Structure, bits: u64, from: u64, to: u64) {
        let cycles = u128::from(to.saturating_sub(from));
        self.structures[structure as usize].occupied += u128::from(bits) * cycles;
    }

    /// The bits that the entry holds change at `at`; what it held until then is accounted for.
    pub fn change(&mut self, held: &mut Held, bits: u32, at: u64, of: Residency) {
        let at = at.max(held.since);
        self.ace(Residency {
            bits: held.bits,
            from: held.since,
            to: at,
            ..of
        });
        *held = Held { bits, since: at };
    }

    /// Closes the account at cycle `end`; another begins there.
    pub fn close(&mut self, end: u64) -> Closed {
        let next = Windows::new(end, self.window);
        Closed {
            structures: std::mem::take(&mut self.structures),
            over_time: std::mem::replace(&mut self.windows, next).close(end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Outcome, Whole};
    use proptest::prelude::*;

    fn held(structure: Structure, bits: u32, from: u64, to: u64) -> Residency {
        Residency {
            structure,
            warp: 0,
            entry: 0,
            bits,
            from,
            to,
        }
    }

    const FILE: Structure = Structure::RegisterFile;

    #[test]
    fn windows_cut_a_residency_exactly() {
        let mut ledger = Ledger::new(100, 10, Vec::new());
        ledger.ace(held(FILE, 3, 105, 127));
        let Closed {
            structures: sums,
            over_time,
        } = ledger.close(130);
        assert_eq!(sums[FILE as usize].ace, 66);
        let of_file: Vec<u128> = over_time
            .windows
            .iter()
            .map(|it| it[FILE as usize])
            .collect();
        assert_eq!(of_file, [15, 30, 21]);
    }

    #[test]
    fn the_best_protection_counts() {
        let all: Vec<Box<dyn Protection>> = vec![
            Box::new(Whole {
                structure: FILE,
                outcome: Outcome::Corrected,
            }),
            Box::new(Whole {
                structure: FILE,
                outcome: Outcome::Detected,
            }),
            Box::new(Whole {
                structure: Structure::L2,
                outcome: Outcome::Detected,
            }),
        ];
        let mut ledger = Ledger::new(0, 10, all);
        ledger.ace(held(FILE, 2, 0, 5));
        ledger.ace(held(Structure::L2, 1, 0, 5));
        ledger.ace(held(Structure::L1Data, 1, 0, 5));
        let sums = ledger.close(10).structures;
        let of = |structure: Structure| {
            let it = sums[structure as usize];
            (it.silent(), it.detected, it.corrected)
        };
        assert_eq!(of(FILE), (0, 0, 10));
        assert_eq!(of(Structure::L2), (0, 5, 0));
        assert_eq!(of(Structure::L1Data), (5, 0, 0));
    }

    #[test]
    fn an_entry_holds_what_it_held_until_it_changes() {
        let mut ledger = Ledger::new(0, 10, Vec::new());
        let mut entry = Held::default();
        let of = held(FILE, 0, 0, 0);
        ledger.change(&mut entry, 32, 4, of);
        ledger.change(&mut entry, 8, 10, of);
        // A change that is said to be earlier than the last one is as late as that.
        ledger.change(&mut entry, 4, 9, of);
        ledger.change(&mut entry, 0, 12, of);
        let sums = ledger.close(20).structures;
        assert_eq!(sums[FILE as usize].ace, 32 * 6 + 4 * 2);
    }

    /// Corrects from cycle 4 to 8.
    struct Late;

    impl Protection for Late {
        fn cover(&mut self, _: &Residency, covers: &mut Vec<Cover>) {
            covers.push(Cover {
                outcome: Outcome::Corrected,
                bits: u32::MAX,
                from: 4,
                to: 8,
            });
        }
    }

    #[test]
    fn a_residency_is_protected_in_parts() {
        let parity = Whole {
            structure: FILE,
            outcome: Outcome::Detected,
        };
        let mut ledger = Ledger::new(0, 10, vec![Box::new(Late), Box::new(parity)]);
        ledger.ace(held(FILE, 3, 2, 10));
        let sums = ledger.close(10).structures[FILE as usize];
        assert_eq!((sums.ace, sums.detected, sums.corrected), (24, 12, 12));
        let mut ledger = Ledger::new(0, 10, vec![Box::new(Late)]);
        ledger.ace(held(FILE, 3, 2, 10));
        let sums = ledger.close(10).structures[FILE as usize];
        assert_eq!((sums.silent(), sums.corrected), (12, 12));
    }

    proptest! {
        #[test]
        fn windows_add_up(residencies in prop::collection::vec((0u32..100, 0u64..1000, 0u64..300), 0..40), window in 1u64..400) {
            let mut ledger = Ledger::new(0, window, Vec::new());
            for (bits, from, length) in residencies {
                ledger.ace(held(FILE, bits, from, from + length));
            }
            let Closed { structures: sums, over_time } = ledger.close(1300);
            let added: u128 = over_time.windows.iter().map(|it| it[FILE as usize]).sum();
            prop_assert_eq!(added, sums[FILE as usize].ace);
            // No window holds more than all of it at once could.
            let window = over_time.length;
            prop_assert!(over_time.windows.iter().all(|it| it[FILE as usize] <= 40 * 100 * u128::from(window)));
        }
    }
}
