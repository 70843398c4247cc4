//! The registers of a warp: from the write of a value to its last needed read, bit by bit and lane by lane.

use warpwatt_gpu::Course;

use crate::{Held, Ledger, Residency, Structure};

/// Where the value of a register lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// Each lane's in that lane's part of its bank.
    #[default]
    Lanes,
    /// One value for all lanes, in so many of them; in none if it lies outside the register file.
    One(u32),
}

impl Place {
    /// Where an instruction's `words` of results go.
    pub fn of(course: &Course, words: usize) -> Self {
        let words = words as u32;
        if course.writes > 0 || words == 0 {
            Self::Lanes
        } else {
            Self::One(course.narrow_writes / words)
        }
    }

    /// Bits that are stored of a value of which so many bits are needed over all lanes. Of one value for all lanes a bit is needed if any lane needs it; which
    /// do is not said, so that as many bits count as may be.
    fn stored(self, needed: u32) -> u32 {
        match self {
            Self::Lanes => needed,
            Self::One(copies) => copies * needed.min(32),
        }
    }
}

/// The registers of a warp.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registers {
    warp: u8,
    words: Vec<Word>,
}

/// A register: bits of its value that are needed over all lanes, where they lie, and what that is in cells.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    needed: u32,
    place: Place,
    held: Held,
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
            }
        };
        Self {
            warp,
            words: (0..count).map(word).collect(),
        }
    }

    /// So many bits of a register are not needed any more.
    pub fn forget(&mut self, number: u16, bits: u32, at: u64, ledger: &mut Ledger) {
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
            self.change(number, at, ledger, |word| word.needed = 0);
        }
    }

    fn change(&mut self, number: u16, at: u64, ledger: &mut Ledger, how: impl FnOnce(&mut Word)) {
        let Some(word) = self.words.get_mut(usize::from(number)) else {
            return;
        };
        how(word);
        let of = Residency {
            structure: Structure::RegisterFile,
            warp: self.warp,
            entry: u32::from(number),
            bits: 0,
            from: 0,
            to: 0,
        };
        let bits = word.place.stored(word.needed);
        ledger.change(&mut word.held, bits, at, of);
    }
}
