//! How long needed bits lie where, and what comes of flips of them.

use crate::Structure;

/// Bits that lie in a structure for a while, and that the program needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residency {
    /// Where they lie.
    pub structure: Structure,
    /// Slot of the warp that they belong to, in its SM; zero in structures that belong to no warp.
    pub warp: u8,
    /// What of the warp: number of the 32-bit register, of the static instruction in the buffer; in a memory or a cache number of the word or sector.
    pub entry: u32,
    /// How many bits.
    pub bits: u32,
    /// The first cycle in which they lie there.
    pub from: u64,
    /// The first cycle in which they do no more, or are not needed any more; not before `from`.
    pub to: u64,
}

impl Residency {
    /// Bits times cycles.
    pub fn bit_cycles(&self) -> u64 {
        u64::from(self.bits) * (self.to - self.from)
    }
}

/// What comes of a flip of a needed bit (Mukherjee, Emer, Reinhardt, "The Soft Error Problem: An Architectural Perspective", HPCA 2005, section 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Nobody notices: silent data corruption (SDC).
    #[default]
    Silent,
    /// It is noticed and cannot be corrected: a detected unrecoverable error (DUE).
    Detected,
    /// It is corrected.
    Corrected,
}
