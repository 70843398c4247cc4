//! Units, latencies and kinds of accesses, as every SIMT pipeline has them.

use crate::types::Space;

/// Unit classes, as every SIMT pipeline has them in one form or another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// Integer, logic, conversion, move, comparison.
    Int,
    /// Single-precision floating point (and half), divisions among them.
    Fp32,
    /// Double precision.
    Fp64,
    /// Transcendental functions, square roots, integer divisions.
    Sfu,
    /// Loads, stores and atomics of every space, constants and parameters included.
    Memory,
    /// Branches, calls, returns, exits.
    Control,
    /// CTA barriers.
    Barrier,
    /// Memory fences: they wait for their own warp's accesses, never for another warp.
    Fence,
    /// Matrix multiply-add of a warp.
    Matrix,
    /// One value for the whole warp, computed beside its lanes: scalar instructions of machine code. PTX has none.
    Scalar,
}

/// Rows of a latency table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LatencyClass {
    /// Additions, subtractions and sums of absolute differences.
    Add,
    /// Minimum and maximum.
    MinMax,
    /// Multiplications.
    Mul,
    /// Multiply-add, fused or not.
    Mad,
    /// Division and remainder, integer or floating point; correctly rounded reciprocal.
    Div,
    /// Square roots, reciprocals, logarithms, exponentials, sine, cosine.
    Special,
    /// Exchange between lanes.
    Shuffle,
    /// Moves, conversions, logic, shifts, comparisons, selections, votes, branches.
    Simple,
}

/// Ways of leaving the sequence of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flow {
    /// A branch, direct or indexed.
    Branch,
    /// A call of a device function.
    Call,
    /// The return of one.
    Return,
    /// The end of the thread.
    Exit,
}

/// A memory instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryOp {
    /// The state space named in the instruction; [`Space::Generic`] resolves by address.
    pub space: Space,
    /// What it does.
    pub kind: MemoryOpKind,
    /// Bytes that one lane moves (element times vector length).
    pub bytes: u8,
    /// It goes to the second level past the first one, as `.cg` says.
    pub past_l1: bool,
}

impl MemoryOp {
    /// One that every cache on its way may hold.
    pub const fn new(space: Space, kind: MemoryOpKind, bytes: u8) -> Self {
        Self {
            space,
            kind,
            bytes,
            past_l1: false,
        }
    }
}

/// What a memory instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryOpKind {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads and writes at once (`atom`, `red`).
    Atomic,
    /// Reads a texture.
    Texture,
}
