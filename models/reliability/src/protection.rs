//! How a technique says that bits are protected while they lie in a structure.

use crate::{Cover, Structure};

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

/// Protects bits in structures of one SM. Called with residencies as they end, those of one entry in the order of time.
///
/// Contract: the answer depends on nothing but what the protection has seen. Of several protections the best outcome counts, cycle by cycle.
pub trait Protection {
    /// Adds to `covers` when flips of the bits are noticed while they lie there, and what comes of them.
    fn cover(&mut self, residency: &Residency, covers: &mut Vec<Cover>);

    /// Something that the program needs reads a register, number `entry` of `warp`, in a cycle: what is wrong in it then is found too late. Said behind the
    /// residency that ends with it, and only of the register file.
    fn read(&mut self, warp: u8, entry: u32, cycle: u64) {
        let _ = (warp, entry, cycle);
    }
}

/// Protects all bits of a structure alike: parity detects a single flip, a code that corrects one corrects it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// The structure.
    pub structure: Structure,
    /// What comes of a flip there.
    pub outcome: Outcome,
}

impl Protection for Whole {
    fn cover(&mut self, residency: &Residency, covers: &mut Vec<Cover>) {
        if residency.structure == self.structure {
            covers.push(Cover::always(self.outcome));
        }
    }
}
