//! Matrix products of a warpgroup, four warps in a row (PTX ISA 8.7, section 9.7.15).

use super::{MatrixElement, Product, Sparse};

/// Warps of a warpgroup.
pub const WARPGROUP: u32 = 4;

/// Rows of A and D, of which each warp has sixteen.
pub const GROUP_ROWS: u16 = 64;

/// `wgmma.mma_async`: D = A B + D. The instruction's sources are the descriptor of B, that of A if it lies in shared memory, and the predicate if one says
/// whether D is added; the fragments are D, unless it is never added, and A if it lies in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupMultiplyAdd {
    /// Columns of B and D.
    pub columns: u16,
    /// The inner dimension.
    pub depth: u16,
    /// Elements of A, B and D.
    pub elements: [MatrixElement; 3],
    /// Registers of D.
    pub sums: u8,
    /// Registers of A; none if it lies in shared memory.
    pub left: u8,
    /// Of A and B in shared memory: neighbours lie along the rows or columns, not along the inner dimension.
    pub transposed: [bool; 2],
    /// Of A and B: the elements' signs are changed.
    pub negated: [bool; 2],
    /// Whether D is added.
    pub adds: Adds,
    /// Integer results are clamped instead of wrapped.
    pub saturate: bool,
    /// What stands for the products.
    pub product: Product,
    /// Of A, half of each four elements (of TF32, one of two) are stored; the last fragment tells which.
    pub sparse: Option<Sparse>,
}

impl GroupMultiplyAdd {
    /// Registers of D that are read: what is never added may hold anything, and lives no longer than its last reader.
    pub fn sums_read(&self) -> usize {
        match self.adds {
            Adds::Always(false) => 0,
            _ => usize::from(self.sums),
        }
    }

    /// Of so many elements of A one is stored.
    pub fn left_parts(&self) -> u32 {
        if self.sparse.is_some() { 2 } else { 1 }
    }
}

/// Whether a product is added to what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adds {
    /// As the program says.
    Always(bool),
    /// Where the predicate, the last source, holds; or does not, if it is negated.
    If {
        /// It is negated.
        negated: bool,
    },
}

/// What is committed in groups and waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// Copies of a few bytes, `cp.async`.
    Copies,
    /// Bulk copies, `cp.async.bulk`.
    BulkCopies,
    /// Products of the warpgroup, `wgmma.mma_async`.
    Products,
}

/// `cp.async.commit_group`, `cp.async.bulk.wait_group`, `wgmma.wait_group` and their kin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    /// Of what.
    pub of: Pending,
    /// What is done.
    pub step: GroupStep,
}

/// What is done with groups of what is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupStep {
    /// What was begun since the last one is a group.
    Commit,
    /// Waits until so many groups at most, the latest ones, are pending.
    Wait(u32),
}
