//! How techniques find that a lane computes wrongly.
//!
//! Lanes are told apart by the threads that they execute: lane k is the one on which thread k of every warp computes, wherever in its cluster it lies.

use warpwatt_gpu::trace::LaneMask;

/// How a technique finds a fault.
pub enum LaneCheck {
    /// Results of lanes are compared, instruction by instruction.
    Results(Box<dyn ResultCheck>),
    /// Everything is executed twice, and what the two leave in memory is compared at the end.
    Memory(Copies),
}

/// What is executed twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// All launches, and then all of them again.
    Launches,
    /// The CTAs of each launch: its grid is twice as large.
    Ctas,
}

/// Says which results are compared with which.
pub trait ResultCheck: Send + Sync {
    /// What becomes of the work of `lane`, and what else it does, in a computation that lanes `executed` execute.
    fn compared(&self, executed: LaneMask, lane: u32) -> Compared;
}

/// What a lane has to do with checks in one instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Its result is compared with that of another lane, which does the same.
    pub elsewhere: bool,
    /// Its result is compared with what it computes itself, at another time.
    pub here: bool,
    /// The lanes whose work it does as well, to be compared with theirs.
    pub others: LaneMask,
}
