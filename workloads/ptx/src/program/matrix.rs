//! Matrix instructions: a warp's lanes hold parts of matrices together (PTX ISA 8.x, section 9.7.14).

use super::{
    GroupMultiplyAdd, HalfFormat, Slot, SmallFormat, TensorAccess, TensorCopy, TensorMultiplyAdd,
};
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
    /// `stmatrix`: the same way back.
    StoreRows {
        /// Matrices: 1, 2 or 4, a register each.
        count: u8,
        /// Each is transposed.
        transposed: bool,
        /// Where they lie.
        space: Space,
    },
    /// `movmatrix`: an 8 x 8 matrix of 16-bit elements in a register of each lane, transposed.
    Transpose,
    /// `wmma.mma`, `mma`: D = A B + C.
    MultiplyAdd(MultiplyAdd),
    /// `wgmma.mma_async`: D = A B + D of a warpgroup.
    GroupMultiplyAdd(GroupMultiplyAdd),
    /// `cp.async.bulk.tensor`: a tile between a tensor in global memory and shared memory.
    Tensor(TensorCopy),
    /// `tcgen05.mma`: D = A B + D in tensor memory.
    TensorMultiplyAdd(TensorMultiplyAdd),
    /// `tcgen05.ld`: from tensor memory to registers.
    TensorLoad(TensorAccess),
    /// `tcgen05.st`: the same way back.
    TensorStore(TensorAccess),
}

/// A matrix in memory and in the lanes' registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Rows and columns.
    pub size: [u16; 2],
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
    pub shape: [u16; 3],
    /// Elements of A, B, C and D.
    pub elements: [MatrixElement; 4],
    /// Registers of A, B and C, in this order among the sources.
    pub registers: [u8; 3],
    /// Lanes hold what PTX says for `mma`; else, for `wmma`, whatever we choose.
    pub fixed_layout: bool,
    /// Integer results are clamped instead of wrapped.
    pub saturate: bool,
    /// What stands for the products.
    pub product: Product,
    /// Of A, half of each four elements (of TF32, one of two; of elements of four bits, two pairs of four) are stored; the last source tells which.
    pub sparse: Option<Sparse>,
}

/// Where a product finds which elements of A are stored: in the lanes of each four that have this number, or this pair of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sparse {
    /// The first of these lanes.
    pub lane: u8,
    /// How many there are: each tells of sixteen bits of two rows, or of thirty-two of one.
    pub lanes: u8,
}

/// What is summed over the inner dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// Products.
    Times,
    /// Of bits: whether they differ.
    Xor,
    /// Of bits: whether both are set.
    And,
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
    F64,
    S4,
    U4,
    B1,
    Small(SmallFormat),
}

impl MatrixElement {
    /// Bits in a register and in memory; TF32 takes 32.
    pub fn bits(self) -> u32 {
        match self {
            Self::Half(HalfFormat::Tf32) | Self::F32 | Self::S32 => 32,
            Self::Half(_) => 16,
            Self::S8 | Self::U8 | Self::Small(_) => 8,
            Self::F64 => 64,
            Self::S4 | Self::U4 => 4,
            Self::B1 => 1,
        }
    }

    /// Elements in a register, which has 32 bits, or 64 where an element has.
    pub fn per_register(self) -> usize {
        (32 / self.bits()).max(1) as usize
    }
}
