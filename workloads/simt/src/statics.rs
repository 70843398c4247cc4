//! From a program's instructions to what timing needs to know of them.

use warpwatt_ptx::Entry;
use warpwatt_ptx::divergence::{self, Lanes};
use warpwatt_ptx::lifetime::releases;
use warpwatt_ptx::program::{
    GROUP_ROWS, GroupStep, Groups, Inst, MatrixOp, Op, Pending, Slot, SlotKind, Source,
    TensorMemoryOp, WARPGROUP,
};
use warpwatt_ptx::strands;
use warpwatt_ptx::types::Space;

use crate::nature;
use crate::needs::needs;
use crate::trace::{
    Asynchronous, Marks, MemoryOpKind, Register, RegisterKind, Release, Results, Split, StaticInst,
};

/// The static instructions of an entry, in order.
pub(crate) fn static_instructions(entry: &Entry) -> Vec<StaticInst> {
    let releases = releases(entry);
    let uniform = divergence::uniform(entry, |inst| {
        match nature::results(entry, inst, inst.op.traits().lanes) {
            Results::FromSources => Lanes::Sources,
            Results::Same => Lanes::Same,
            Results::PerLane => Lanes::Own,
        }
    });
    let marks = strands::marks(entry, |inst| is_long(&inst.op));
    let facts = releases.into_iter().zip(marks).zip(uniform);
    let code = entry.code.iter().zip(facts);
    code.map(|(inst, ((release, marks), uniform))| {
        static_instruction(entry, inst, (release, marks, uniform))
    })
    .collect()
}

/// Whether warps wait for an instruction's results as long as for memory outside the SM: a load, an atomic or a texture access that is not known to be to
/// shared, constant or parameter memory.
fn is_long(op: &Op) -> bool {
    op.traits().memory.is_some_and(|memory| {
        let is_near = matches!(memory.space, Space::Shared | Space::Const | Space::Param);
        !is_near && memory.kind != MemoryOpKind::Store
    })
}

fn static_instruction(
    entry: &Entry,
    inst: &Inst,
    (release, marks, uniform): (warpwatt_ptx::lifetime::Release, Marks, bool),
) -> StaticInst {
    let traits = inst.op.traits();
    let guard = inst.guard.map(|guard| guard.predicate);
    let sources = inst.reads().chain(guard);
    let destinations = inst.writes();
    let sources = registers(entry, sources);
    StaticInst {
        unit: traits.unit,
        latency: traits.latency,
        needs: needs(entry, inst, &traits, &sources),
        sources,
        destinations: registers(entry, destinations),
        memory: traits.memory,
        flow: traits.flow(),
        split: split(&inst.op),
        results: nature::results(entry, inst, traits.lanes),
        release: Release {
            leader: release.leader,
            sources: registers(entry, release.operands.into_iter()),
            meeting: release.meeting,
        },
        marks,
        uniform,
        multiply_adds: multiply_adds(&inst.op),
        element_bits: element_bits(&inst.op),
        asynchronous: asynchronous(&inst.op),
        bytes: 0,
        line: inst.line,
    }
}

/// The registers among some slots, each once: literals and special registers are none.
fn registers(entry: &Entry, slots: impl Iterator<Item = Slot>) -> Vec<Register> {
    let mut found: Vec<Register> = slots
        .filter(|slot| match slot.kind {
            SlotKind::Word => entry.words[slot.index()] == Source::Register,
            SlotKind::Double => entry.doubles[slot.index()] == Source::Register,
            SlotKind::Predicate => true,
        })
        .map(|slot| Register {
            kind: match slot.kind {
                SlotKind::Word => RegisterKind::Word,
                SlotKind::Double => RegisterKind::Double,
                SlotKind::Predicate => RegisterKind::Predicate,
            },
            number: slot.number,
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// m x n x k of a matrix product, or half of that if one of two elements is zero; a warp computes one.
fn multiply_adds(op: &Op) -> u32 {
    let Op::Matrix(matrix) = op else { return 0 };
    let (all, sparse) = match &matrix.op {
        MatrixOp::MultiplyAdd(how) => (how.shape.map(u32::from).iter().product(), how.sparse),
        MatrixOp::GroupMultiplyAdd(how) => {
            let rows = u32::from(GROUP_ROWS) / WARPGROUP;
            (
                rows * u32::from(how.columns) * u32::from(how.depth),
                how.sparse,
            )
        }
        _ => (0, None),
    };
    if sparse.is_some() { all / 2 } else { all }
}

/// Bits of an element of the factors of a matrix product.
fn element_bits(op: &Op) -> u8 {
    let Op::Matrix(matrix) = op else { return 0 };
    match &matrix.op {
        MatrixOp::MultiplyAdd(how) => how.elements[0].bits() as u8,
        MatrixOp::GroupMultiplyAdd(how) => how.elements[0].bits() as u8,
        _ => 0,
    }
}

/// What goes on while the warp does.
fn asynchronous(op: &Op) -> Option<Asynchronous> {
    match op {
        Op::Matrix(matrix) => match &matrix.op {
            MatrixOp::GroupMultiplyAdd(how) => {
                let bits = how.elements[0].bits();
                let rows = u32::from(how.columns) / WARPGROUP;
                // Of a sparse one half is stored.
                let left = u32::from(GROUP_ROWS) / WARPGROUP / how.left_parts();
                let rows = rows + if how.left == 0 { left } else { 0 };
                Some(Asynchronous::Product {
                    shared_bytes: rows * u32::from(how.depth) * bits / 8,
                })
            }
            MatrixOp::TensorMultiplyAdd(_) => Some(Asynchronous::Tensor),
            _ => None,
        },
        Op::TensorMemory(how) => match how {
            TensorMemoryOp::Copy { .. } | TensorMemoryOp::Shift { .. } => {
                Some(Asynchronous::Tensor)
            }
            TensorMemoryOp::Commit { .. } => Some(Asynchronous::Completes),
            TensorMemoryOp::Allocate(_) | TensorMemoryOp::Free | TensorMemoryOp::Relinquish => None,
        },
        Op::Groups(Groups {
            of: Pending::Products,
            step,
        }) => Some(match step {
            GroupStep::Commit => Asynchronous::Commit,
            GroupStep::Wait(groups) => Asynchronous::Wait(*groups),
        }),
        _ => None,
    }
}

fn split(op: &Op) -> Option<Split> {
    match *op {
        Op::Branch { target, reconverge } => Some(Split {
            target,
            meets: reconverge,
        }),
        _ => None,
    }
}
