//! A single bit that flips while a CTA runs.

use warpwatt_ptx::Entry;

use crate::trace::Register;

/// What flips, and when.
#[derive(Clone, Copy, Debug)]
pub enum Upset<'u> {
    /// Something that belongs to one warp.
    Warp(Moment<'u>),
    /// A bit of the CTA's shared memory.
    Shared {
        /// How many instructions each warp has executed when it flips: a cut that a run of the CTA can be stopped at, barriers considered.
        cut: &'u [u64],
        /// Which bit, counted from the lowest of the first byte.
        bit: u64,
    },
}

/// A flip in a warp.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'u> {
    /// The warp's number in its CTA.
    pub warp: u32,
    /// How many instructions it has executed.
    pub executed: u64,
    /// What flips then.
    pub what: Flip<'u>,
}

/// What flips in a warp.
#[derive(Clone, Copy, Debug)]
pub enum Flip<'u> {
    /// A bit of what a lane holds.
    Register {
        /// Where.
        register: Register,
        /// Which lane.
        lane: u32,
        /// Which bit; of predicates there is one.
        bit: u32,
    },
    /// The next instruction is executed as it stands in another program, once: one with the same registers that differs in this instruction, and in
    /// literals behind those of the kernel.
    Instruction(&'u Entry),
}
