//! Tensor memory of a CTA and what works in it (PTX ISA 8.7, section 9.7.16).

use super::{Adds, MemoryOperand};

/// Rows of tensor memory, of which each warp of a warpgroup reaches a quarter.
pub const TENSOR_LANES: u32 = 128;

/// Columns of 32 bits.
pub const TENSOR_COLUMNS: u32 = 512;

/// `tcgen05` but for its products and its copies between registers and tensor memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorMemoryOp {
    /// `alloc`: sources are the base of the place in shared memory that gets the address, and the columns.
    Allocate(MemoryOperand),
    /// `dealloc`: sources are the address and the columns.
    Free,
    /// `relinquish_alloc_permit`.
    Relinquish,
    /// `cp`: sources are the address and the descriptor of what is copied from shared memory.
    Copy {
        /// Added to the address.
        offset: i32,
        /// What is copied where.
        shape: TensorCopyShape,
        /// Both CTAs of the pair copy, each from its own shared memory.
        pair: bool,
    },
    /// `shift.down`: the source is the address.
    Shift {
        /// Added to the address.
        offset: i32,
        /// In both CTAs of the pair.
        pair: bool,
    },
    /// `commit`: sources are the base of the barrier and, of the multicast form, the mask of the CTAs whose barriers are told.
    Commit {
        /// Where the barrier is.
        barrier: MemoryOperand,
        /// There is a mask.
        multicast: bool,
    },
}

/// Rows that `tcgen05.cp` reads, and the lanes that they go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorCopyShape {
    /// Rows in shared memory.
    pub rows: u8,
    /// Bytes of a row in tensor memory.
    pub bytes: u8,
    /// Where they go.
    pub to: TensorCopyLanes,
}

/// Lanes that the rows of a copy go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorCopyLanes {
    /// One after the other, and again so many lanes further until there are no more.
    Repeated,
    /// The first half to the lanes of the first two warps, the second to those of the others (`.warpx2::01_23`).
    Halves,
    /// Each to the same lane of another warp (`.4x256b`).
    OneEach,
}

/// `tcgen05.ld`, `tcgen05.st`: the source is the address, the fragment the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorAccess {
    /// What a warp moves at a time.
    pub shape: TensorShape,
    /// Registers.
    pub registers: u8,
    /// A register holds two halves, which lie in the lower halves of neighbouring columns.
    pub packed: bool,
    /// Added to the address.
    pub offset: i32,
}

/// The smallest piece of tensor memory that a warp moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorShape {
    /// `.32x32b`.
    Lanes32,
    /// `.16x64b`.
    Bits64,
    /// `.16x128b`.
    Bits128,
    /// `.16x256b`.
    Bits256,
    /// `.16x32bx2`: the upper half of the warp so many columns further.
    Twice {
        /// Columns.
        apart: u16,
    },
}

impl TensorShape {
    /// Registers of the smallest piece.
    pub fn registers(self) -> u32 {
        match self {
            Self::Lanes32 | Self::Bits64 | Self::Twice { .. } => 1,
            Self::Bits128 => 2,
            Self::Bits256 => 4,
        }
    }

    /// Where what a thread of a warp holds in a register lies: lane and column.
    pub fn place(self, thread: u32, register: u32) -> [u32; 2] {
        let (piece, part) = (register / self.registers(), register % self.registers());
        match self {
            Self::Lanes32 => [thread, piece],
            Self::Bits64 => [thread % 2 * 8 + thread / 4, 2 * piece + thread / 2 % 2],
            Self::Bits128 => [part * 8 + thread / 4, 4 * piece + thread % 4],
            Self::Bits256 => [
                part / 2 * 8 + thread / 4,
                8 * piece + thread % 4 * 2 + part % 2,
            ],
            Self::Twice { .. } => [thread % 16, piece],
        }
    }
}

/// `tcgen05.mma`: D = A B + D. The instruction's sources are the address of D, the address or descriptor of A, the descriptor of B, the instruction's
/// descriptor, the addresses of the scales of A and B if there are such, and the predicate if one says whether D is added; fragments are the words, four a CTA, whose bits
/// name lanes of D that stay as they are, if there are such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorMultiplyAdd {
    /// What kind of elements the descriptor chooses from.
    pub kind: TensorKind,
    /// Added to the address of D.
    pub offset: i32,
    /// A lies in tensor memory, this far from its address; else in shared memory.
    pub left: Option<i32>,
    /// `.ws`: D of fewer rows than there are lanes takes more of them.
    pub stationary: bool,
    /// Each row of A is the one below it (`.ashift`).
    pub shifted: bool,
    /// Each CTA of a pair has half of the rows of A and D, and half of the columns of B (`.cta_group::2`).
    pub pair: bool,
    /// Whether D is added.
    pub adds: Adds,
    /// D is divided by two so often before.
    pub halved: u8,
    /// Of block-scaled kinds, how many scales each row of A and column of B has, and what is added to their addresses.
    pub scales: Option<Scales>,
}

/// Scales of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scales {
    /// Along the inner dimension.
    pub count: u8,
    /// Added to the addresses of those of A and B.
    pub offsets: [i32; 2],
}

/// Kinds of products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum TensorKind {
    F16,
    Tf32,
    F8f6f4,
    I8,
    Mxf8f6f4,
    Mxf4,
    Mxf4nvf4,
}

impl TensorKind {
    /// Whether the elements are scaled block by block.
    pub fn is_scaled(self) -> bool {
        matches!(self, Self::Mxf8f6f4 | Self::Mxf4 | Self::Mxf4nvf4)
    }

    /// Two elements of four bits share a byte.
    pub fn is_packed(self) -> bool {
        matches!(self, Self::Mxf4 | Self::Mxf4nvf4)
    }
}
