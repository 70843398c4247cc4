//! How a technique says that bits are protected while they lie in a structure.

use crate::Structure;
use crate::cover::Cover;
use crate::residency::{Outcome, Residency};

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
