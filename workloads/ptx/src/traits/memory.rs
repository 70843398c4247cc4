//! Traits of what reaches memory, and the access that a trace tells of it.

use super::{Dependence, Effect, MemoryOp, MemoryOpKind, Traits, Unit, low_bits};
use crate::divergence::Lanes;
use crate::program::{
    Access, Atomic, BulkReduce, CopyAsync, CopySize, MatrixOp, Mbarrier, ReplaceTensorMap, Surface,
    SurfaceOp, TensorCopy, TensorMemoryOp, TensorWay, Tile,
};
use crate::types::Space;

pub(super) fn load(access: &Access) -> Traits {
    // One address names another byte in each lane.
    let private = access.framed || access.space == Space::Local;
    Traits {
        effect: Effect::Memory,
        lanes: if private { Lanes::Own } else { Lanes::Sources },
        sources: Dependence::Address,
        ..told(of(access, MemoryOpKind::Load)).family()
    }
}

pub(super) fn store(access: &Access) -> Traits {
    Traits {
        effect: Effect::Memory,
        lanes: Lanes::Sources,
        sources: Dependence::Stored(low_bits(8 * access.element.bytes())),
        ..told(of(access, MemoryOpKind::Store)).family()
    }
}

pub(super) fn atomic(atomic: &Atomic) -> Traits {
    Traits {
        effect: Effect::Atomic,
        ..told(of(&atomic.access, MemoryOpKind::Atomic)).family()
    }
}

/// A channel of 32 bits, read as from device memory; the texels that a filter reads beyond the first are not told.
pub(super) fn texture() -> Traits {
    Traits {
        sources: Dependence::Address,
        ..told(MemoryOp::new(Space::Global, MemoryOpKind::Texture, 4))
    }
}

pub(super) fn surface(how: &Surface) -> Traits {
    told(MemoryOp::new(
        Space::Global,
        match how.op {
            SurfaceOp::Load => MemoryOpKind::Load,
            SurfaceOp::Store => MemoryOpKind::Store,
            SurfaceOp::Reduce(_) => MemoryOpKind::Atomic,
        },
        how.bytes() as u8,
    ))
}

pub(super) fn copy_async(how: &CopyAsync) -> Traits {
    if let (CopySize::Bulk(_), Space::Global) = (how.size, how.to.space) {
        return Traits {
            lanes: Lanes::Sources,
            ..told(MemoryOp::new(
                how.to.space,
                MemoryOpKind::Store,
                // The first of the pieces that it moves.
                16,
            ))
        };
    }
    let (bytes, past_l1) = match how.size {
        CopySize::Bytes { count, past_l1 } => (count, past_l1),
        // The first of the pieces that it moves.
        CopySize::Bulk(_) | CopySize::Multicast(_) => (16, false),
    };
    Traits {
        lanes: Lanes::Sources,
        ..told(MemoryOp {
            past_l1,
            ..MemoryOp::new(how.from.space, MemoryOpKind::Load, bytes)
        })
    }
}

pub(super) fn mbarrier(how: &Mbarrier) -> Traits {
    told(MemoryOp::new(how.place.space, MemoryOpKind::Atomic, 8))
}

pub(super) fn bulk_reduce(how: &BulkReduce) -> Traits {
    Traits {
        lanes: Lanes::Sources,
        ..told(MemoryOp::new(
            how.to.space,
            MemoryOpKind::Atomic,
            // The first of the pieces that it moves.
            16,
        ))
    }
}

pub(super) fn replace_tensor_map(how: &ReplaceTensorMap) -> Traits {
    told(MemoryOp::new(how.place.space, MemoryOpKind::Store, 8))
}

/// The address of what is allocated is stored; a barrier that is committed to is arrived at. Tensor memory itself is no space that a trace tells of.
pub(super) fn tensor_memory(how: &TensorMemoryOp) -> Traits {
    match how {
        TensorMemoryOp::Allocate(to) => told(MemoryOp::new(to.space, MemoryOpKind::Store, 4)),
        TensorMemoryOp::Commit { barrier, .. } => {
            told(MemoryOp::new(barrier.space, MemoryOpKind::Atomic, 8))
        }
        TensorMemoryOp::Copy { .. } | TensorMemoryOp::Shift { .. } => {
            Traits::with(Effect::OpaqueMemory, Unit::Matrix)
        }
        TensorMemoryOp::Free | TensorMemoryOp::Relinquish => {
            Traits::with(Effect::OpaqueMemory, Unit::Int)
        }
    }
}

/// The tile's first element in global memory stands for all.
fn tensor(copy: &TensorCopy) -> Option<MemoryOp> {
    let kind = match copy.way {
        TensorWay::Load(_) | TensorWay::Prefetch => MemoryOpKind::Load,
        TensorWay::Store => MemoryOpKind::Store,
        TensorWay::Reduce(_) => MemoryOpKind::Atomic,
    };
    Some(MemoryOp::new(Space::Global, kind, 16))
}

pub(super) fn runtime() -> Traits {
    Traits {
        lanes: Lanes::Own,
        ..Traits::with(Effect::OpaqueMemory, Unit::Int)
    }
}

/// A lane's first element stands for all that it moves.
pub(super) fn of_matrix(op: &MatrixOp) -> Option<MemoryOp> {
    let tile =
        |tile: &Tile, kind| MemoryOp::new(tile.space, kind, tile.element.bits().div_ceil(8) as u8);
    // Each lane gives the address of a row of eight.
    let row = |space, kind| MemoryOp::new(space, kind, 16);
    match op {
        MatrixOp::Load(from) => Some(tile(from, MemoryOpKind::Load)),
        MatrixOp::Store(to) => Some(tile(to, MemoryOpKind::Store)),
        MatrixOp::LoadRows { space, .. } => Some(row(*space, MemoryOpKind::Load)),
        MatrixOp::StoreRows { space, .. } => Some(row(*space, MemoryOpKind::Store)),
        MatrixOp::Tensor(copy) => tensor(copy),
        MatrixOp::Transpose
        | MatrixOp::MultiplyAdd(_)
        | MatrixOp::GroupMultiplyAdd(_)
        | MatrixOp::TensorMultiplyAdd(_)
        | MatrixOp::TensorLoad(_)
        | MatrixOp::TensorStore(_) => None,
    }
}

fn of(access: &Access, kind: MemoryOpKind) -> MemoryOp {
    MemoryOp {
        past_l1: access.past_l1 && kind == MemoryOpKind::Load,
        ..MemoryOp::new(access.space, kind, access.bytes() as u8)
    }
}

/// An access that a trace tells of, and that may reach further.
fn told(memory: MemoryOp) -> Traits {
    Traits {
        lanes: Lanes::Own,
        memory: Some(memory),
        ..Traits::with(Effect::OpaqueMemory, Unit::Memory)
    }
}
