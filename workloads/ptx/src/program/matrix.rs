//! Matrix instructions: a warp's lanes hold parts of matrices together (PTX ISA 8.x, section 9.7.14).

use super::{HalfFormat, Slot};
use crate::types::Space;

/// A matrix instruction with its registers, of which there are more than other instructions have.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// What it does.
    pub op: MatrixOp,
    /// Slots written.
    pub dst: Vec<Slot>,
    /// Slots read beyond the instruction's own sources: fragments one after the other.
    pub src: Vec<Slot>,
}

/// What a matrix instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixOp {
    /// `wmma.load`: the instruction's sources are the address and the stride in elements.
    Load(Tile),
    /// `wmma.store`.
    Store(Tile),
    /// `ldmatrix`: 8 x 8 matrices of 16-bit elements, whose rows lie at the addresses that the lanes give.
    LoadRows {
        /// Matrices: 1, 2 or 4, a register each.
        count: u8,
        /// Each is transposed.
        transposed: bool,
        /// Where they lie.
        space: Space,
    },
    /// `wmma.mma`, `mma`: D = A B + C.
    MultiplyAdd(MultiplyAdd),
}

/// A matrix in memory and in the lanes' registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Rows and columns.
    pub size: [u8; 2],
    /// Its elements.
    pub element: MatrixElement,
    /// Columns follow each other in memory, else rows.
    pub column_major: bool,
    /// Where it lies.
    pub space: Space,
    /// Added to the address, in bytes.
    pub offset: i64,
}

/// D = A B + C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiplyAdd {
    /// m, n, k.
    pub shape: [u8; 3],
    /// Elements of A, B, C and D.
    pub elements: [MatrixElement; 4],
    /// Registers of A, B and C, in this order among the sources.
    pub registers: [u8; 3],
    /// Lanes hold what PTX says for `mma`; else, for `wmma`, whatever we choose.
    pub fixed_layout: bool,
    /// Integer results are clamped instead of wrapped.
    pub saturate: bool,
}

/// Elements of matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum MatrixElement {
    Half(HalfFormat),
    F32,
    S8,
    U8,
    S32,
}

impl MatrixElement {
    /// Bits in a register and in memory; TF32 takes 32.
    pub fn bits(self) -> u32 {
        match self {
            Self::Half(HalfFormat::Tf32) | Self::F32 | Self::S32 => 32,
            Self::Half(_) => 16,
            Self::S8 | Self::U8 => 8,
        }
    }
}
