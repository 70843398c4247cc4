//! What is noted of the renaming table of scalar registers, for whoever follows needed bits.

use warpwatt_reliability::{Journal, Structure as Storage, What};

/// Sets the entries apart from those of the renaming table of vector registers.
const OWN: u32 = 1 << 31;

/// Notes of an SM.
#[derive(Clone, Debug)]
pub(super) struct Notes {
    pub journal: Journal,
    /// Bits of the number of a scalar register.
    pub bits: u32,
}

impl Notes {
    /// A register of a warp gets a scalar one to stand for it, or loses it.
    pub fn renamed(&self, cycle: u64, warp: usize, word: u32, scalar: bool) {
        let entry = OWN | (warp << u16::BITS) as u32 | word;
        let what = if scalar {
            What::Written {
                bits: self.bits,
                all: self.bits,
            }
        } else {
            What::Freed
        };
        self.journal
            .note(Storage::RenamingTable, entry, cycle, what);
    }
}
