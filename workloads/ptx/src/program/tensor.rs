//! Copies of tiles between tensors in global memory, which tensor maps describe, and shared memory (PTX ISA 8.7, sections 5.5 and 9.7.9.27).

use super::{AtomicOp, MemoryOperand};

/// Bytes of a tensor map.
pub const TENSOR_MAP_BYTES: u64 = 128;

/// Most dimensions of a tensor.
pub const MAX_RANK: usize = 5;

/// `cp.async.bulk.tensor`. The instruction's sources are the bases of the tensor map, of the shared memory and of the barrier, if there is one; the others are the
/// coordinates, innermost first, the offsets of im2col and the mask of CTAs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorCopy {
    /// Dimensions.
    pub rank: u8,
    /// Where the tensor map is.
    pub map: MemoryOperand,
    /// Where in shared memory the tile is.
    pub shared: MemoryOperand,
    /// Which way, and who gets to know.
    pub way: TensorWay,
    /// Offsets of im2col among the sources; `None` in tiled mode.
    pub offsets: Option<u8>,
    /// The last source is a mask of the cluster's CTAs, each of which gets the tile.
    pub multicast: bool,
}

/// Which way a tile goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorWay {
    /// From global to shared memory; the barrier is told the bytes.
    Load(MemoryOperand),
    /// From shared to global memory.
    Store,
    /// From shared to global memory, combined element by element.
    Reduce(AtomicOp),
    /// Towards the second-level cache only.
    Prefetch,
}

/// `cp.reduce.async.bulk`: sources are the bases of destination and source, the bytes, and the base of the barrier, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BulkReduce {
    /// Where to.
    pub to: MemoryOperand,
    /// Where from.
    pub from: MemoryOperand,
    /// How elements are combined.
    pub op: AtomicOp,
    /// The elements.
    pub element: crate::types::Type,
    /// Who is told the bytes.
    pub barrier: Option<MemoryOperand>,
}

/// A field of a tensor map, which `tensormap.replace` gives another value. Sources are the map's base and the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplaceTensorMap {
    /// Where the map is.
    pub place: MemoryOperand,
    /// Which field.
    pub field: TensorField,
}

/// Fields of a tensor map; those of dimensions with the dimension's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum TensorField {
    GlobalAddress,
    Rank,
    BoxDim(u8),
    GlobalDim(u8),
    GlobalStride(u8),
    ElementStride(u8),
    ElementType,
    Interleave,
    Swizzle,
    SwizzleAtomicity,
    Fill,
}
