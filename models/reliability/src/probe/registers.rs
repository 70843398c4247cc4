//! The registers of a warp: from the write of a value to its last needed read, bit by bit and lane by lane.

use warpwatt_gpu::IssuePlan;

use crate::{Fact, Held, Ledger, Residency, Structure};

/// Where the value of a register lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// Each lane's in that lane's part of its bank.
    #[default]
    Lanes,
    /// One value for all lanes.
    One {
        /// In so many lanes' parts of its bank; in none if it lies outside the register file.
        copies: u32,
        /// And in a scalar register.
        scalar: bool,
    },
}

impl Place {
    /// Where an instruction's `words` of results go; what is not for each lane of a bank goes to a scalar register, if there are any.
    pub fn of(plan: &IssuePlan, words: usize, has_scalars: bool) -> Self {
        let words = words as u32;
        if plan.writes > 0 || words == 0 {
            Self::Lanes
        } else {
            Self::One {
                copies: plan.narrow_writes / words,
                scalar: has_scalars,
            }
        }
    }

    /// Bits that are stored, in the banks and in a scalar register, of a value of which so many bits are needed over all lanes. Of one value for all lanes a bit
    /// is needed if any lane needs it; which do is not said, so that as many bits count as may be.
    fn stored(self, needed: u32) -> [u32; 2] {
        match self {
            Self::Lanes => [needed, 0],
            Self::One { copies, scalar } => {
                let once = needed.min(WORD);
                [copies * once, u32::from(scalar) * once]
            }
        }
    }

    fn is_scalar(self) -> bool {
        matches!(self, Self::One { scalar: true, .. })
    }
}

/// Bits of a scalar register.
const WORD: u32 = 32;

/// The registers of a warp.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registers {
    warp: u8,
    words: Vec<Word>,
}

/// A register: bits of its value that are needed over all lanes, where they lie, and what that is in cells of the banks and of a scalar register; since when it has
/// that.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    needed: u32,
    place: Place,
    held: Held,
    scalar: Held,
    scalar_since: u64,
}

impl Registers {
    /// Those of a warp that is placed in slot `warp`; `needed` are the bits of each that it needs from the start.
    pub fn new(warp: u8, count: usize, needed: &[u32], since: u64) -> Self {
        let word = |number: usize| {
            let needed = needed.get(number).copied().unwrap_or(0);
            Word {
                needed,
                place: Place::Lanes,
                held: Held {
                    bits: needed,
                    since,
                },
                ..Word::default()
            }
        };
        Self {
            warp,
            words: (0..count).map(word).collect(),
        }
    }

    /// An instruction reads words, of which and of others some bits are not needed any more behind it.
    pub fn read(&mut self, words: &[u16], fact: &Fact, at: u64, ledger: &mut Ledger) {
        for (&word, (&last, &needed)) in words.iter().zip(fact.last.iter().zip(&fact.read)) {
            if last > 0 {
                self.forget(word, last, at, ledger);
            }
            if needed > 0 {
                ledger.read(self.warp, u32::from(word), at);
            }
        }
        for (word, &rest) in (0..).zip(&fact.rest) {
            if rest > 0 {
                self.forget(word, rest, at, ledger);
            }
        }
    }

    /// So many bits of a register are not needed any more.
    fn forget(&mut self, number: u16, bits: u32, at: u64, ledger: &mut Ledger) {
        self.change(number, at, ledger, |word| {
            word.needed = word.needed.saturating_sub(bits);
        });
    }

    /// A register is written, with so many bits that are needed.
    pub fn write(&mut self, number: u16, bits: u32, place: Place, at: u64, ledger: &mut Ledger) {
        let known = self.words.get(usize::from(number));
        if bits == 0 && known.is_none_or(|word| word.place == place) {
            return;
        }
        self.change(number, at, ledger, |word| {
            word.needed += bits;
            word.place = place;
        });
    }

    /// The warp has finished.
    pub fn end(&mut self, at: u64, ledger: &mut Ledger) {
        for number in 0..self.words.len() as u16 {
            self.change(number, at, ledger, |word| {
                word.needed = 0;
                word.place = Place::Lanes;
            });
        }
    }

    fn change(&mut self, number: u16, at: u64, ledger: &mut Ledger, how: impl FnOnce(&mut Word)) {
        let Some(word) = self.words.get_mut(usize::from(number)) else {
            return;
        };
        let before = word.place.is_scalar();
        how(word);
        let of = |structure| Residency {
            structure,
            warp: self.warp,
            entry: u32::from(number),
            bits: 0,
            from: 0,
            to: 0,
        };
        let [in_banks, in_scalar] = word.place.stored(word.needed);
        ledger.change(&mut word.held, in_banks, at, of(Structure::RegisterFile));
        let scalars = Structure::ScalarRegisterFile;
        if before {
            ledger.change(&mut word.scalar, in_scalar, at, of(scalars));
        }
        match (before, word.place.is_scalar()) {
            (false, true) => {
                word.scalar_since = at;
                word.scalar = Held {
                    bits: in_scalar,
                    since: at,
                };
            }
            (true, false) => {
                let until = at.max(word.scalar.since);
                ledger.occupied(scalars, u64::from(WORD), word.scalar_since, until);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value for all lanes, with a copy in a lane or without, then one for each.
    #[test]
    fn a_value_for_all_lanes_lies_in_its_scalar_register_until_it_is_overwritten() {
        for copies in [0, 1] {
            let mut ledger = Ledger::new(0, 16, Vec::new());
            let mut registers = Registers::new(0, 1, &[], 0);
            let one = Place::One {
                copies,
                scalar: true,
            };
            registers.write(0, 256, one, 10, &mut ledger);
            registers.forget(0, 252, 30, &mut ledger);
            registers.forget(0, 4, 35, &mut ledger);
            registers.write(0, 128, Place::Lanes, 50, &mut ledger);
            registers.forget(0, 128, 60, &mut ledger);
            registers.write(0, 0, one, 70, &mut ledger);
            registers.end(90, &mut ledger);
            let scalar = 32 * 20 + 4 * 5;
            let found = ledger.close(100);
            let ace = |structure: Structure| found.structures[structure as usize].ace;
            assert_eq!(ace(Structure::ScalarRegisterFile), scalar);
            let in_lanes = u128::from(copies) * scalar + 128 * 10;
            assert_eq!(ace(Structure::RegisterFile), in_lanes);
            let occupied = found.structures[Structure::ScalarRegisterFile as usize].occupied;
            assert_eq!(occupied, 32 * (40 + 20));
        }
    }
}
