//! From a program's instructions to what timing needs to know of them.

use warpwatt_ptx::Entry;
use warpwatt_ptx::divergence::{self, Lanes};
use warpwatt_ptx::lifetime::releases;
use warpwatt_ptx::program::{
    Access, CarryOp, CopySize, Double1, Double2, Double3, HalfOp, Inst, MatrixOp, Op, ShortOp,
    Slot, SlotKind, Source, SurfaceOp, VideoOp, Word1, Word2, Word3,
};
use warpwatt_ptx::strands;
use warpwatt_ptx::types::{Space, Type};

use crate::nature;
use crate::needs::needs;
use crate::trace::{
    LatencyClass, Marks, MemoryOp, MemoryOpKind, Register, RegisterKind, Release, Results, Split,
    StaticInst, Unit,
};

/// The static instructions of an entry, in order.
pub(crate) fn static_instructions(entry: &Entry) -> Vec<StaticInst> {
    let releases = releases(entry);
    let uniform = divergence::uniform(entry, |inst| match nature::results(entry, inst) {
        Results::FromSources => Lanes::Sources,
        Results::Same => Lanes::Same,
        Results::PerLane => Lanes::Own,
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
    memory_op(op).is_some_and(|memory| {
        let is_near = matches!(memory.space, Space::Shared | Space::Const | Space::Param);
        !is_near && memory.kind != MemoryOpKind::Store
    })
}

fn static_instruction(
    entry: &Entry,
    inst: &Inst,
    (release, marks, uniform): (warpwatt_ptx::lifetime::Release, Marks, bool),
) -> StaticInst {
    let (unit, latency) = class(&inst.op);
    let guard = inst.guard.map(|guard| guard.predicate);
    let sources = inst.reads().chain(guard);
    let destinations = inst.writes();
    let sources = registers(entry, sources);
    StaticInst {
        unit,
        latency,
        needs: needs(entry, inst, &sources),
        sources,
        destinations: registers(entry, destinations),
        memory: memory_op(&inst.op),
        flow: nature::flow(&inst.op),
        split: split(&inst.op),
        results: nature::results(entry, inst),
        release: Release {
            leader: release.leader,
            sources: registers(entry, release.operands.into_iter()),
            meeting: release.meeting,
        },
        marks,
        uniform,
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

fn split(op: &Op) -> Option<Split> {
    match *op {
        Op::Branch { target, reconverge } => Some(Split {
            target,
            meets: reconverge,
        }),
        _ => None,
    }
}

fn memory_op(op: &Op) -> Option<MemoryOp> {
    let of = |access: &Access, kind| MemoryOp {
        space: access.space,
        kind,
        bytes: access.bytes() as u8,
    };
    match op {
        Op::Load(access) => Some(of(access, MemoryOpKind::Load)),
        Op::Store(access) => Some(of(access, MemoryOpKind::Store)),
        Op::Atomic(atomic) => Some(of(&atomic.access, MemoryOpKind::Atomic)),
        // A channel of 32 bits, read as from device memory; the texels that a filter reads beyond the first are not told.
        Op::Texture(_) => Some(MemoryOp {
            space: Space::Global,
            kind: MemoryOpKind::Texture,
            bytes: 4,
        }),
        Op::Surface(how) => Some(MemoryOp {
            space: Space::Global,
            kind: match how.op {
                SurfaceOp::Load => MemoryOpKind::Load,
                SurfaceOp::Store => MemoryOpKind::Store,
                SurfaceOp::Reduce(_) => MemoryOpKind::Atomic,
            },
            bytes: how.bytes() as u8,
        }),
        Op::CopyAsync(how) => Some(MemoryOp {
            space: how.from.space,
            kind: MemoryOpKind::Load,
            bytes: match how.size {
                CopySize::Bytes(bytes) => bytes,
                // The first of the pieces that it moves.
                CopySize::Bulk(_) => 16,
            },
        }),
        Op::Mbarrier(how) => Some(MemoryOp {
            space: how.place.space,
            kind: MemoryOpKind::Atomic,
            bytes: 8,
        }),
        Op::Matrix(matrix) => matrix_memory(&matrix.op),
        _ => None,
    }
}

/// A lane's first element stands for all that it moves.
fn matrix_memory(op: &MatrixOp) -> Option<MemoryOp> {
    let (space, kind, bytes) = match op {
        MatrixOp::Load(tile) => (
            tile.space,
            MemoryOpKind::Load,
            tile.element.bits().div_ceil(8),
        ),
        MatrixOp::Store(tile) => (
            tile.space,
            MemoryOpKind::Store,
            tile.element.bits().div_ceil(8),
        ),
        // Each lane gives the address of a row of eight.
        MatrixOp::LoadRows { space, .. } => (*space, MemoryOpKind::Load, 16),
        MatrixOp::StoreRows { space, .. } => (*space, MemoryOpKind::Store, 16),
        MatrixOp::Transpose | MatrixOp::MultiplyAdd(_) => return None,
    };
    Some(MemoryOp {
        space,
        kind,
        bytes: bytes as u8,
    })
}

fn class(op: &Op) -> (Unit, LatencyClass) {
    use LatencyClass::{Add, Div, Mad, Mul, Shuffle, Simple};
    match op {
        Op::Word1(op) => word1(*op),
        Op::Word2(op)
        | Op::Short {
            op: ShortOp::Two(op),
            ..
        } => word2(*op),
        Op::Word3(op)
        | Op::Short {
            op: ShortOp::Three(op),
            ..
        } => word3(*op),
        Op::Short {
            op: ShortOp::MulHi, ..
        }
        | Op::MulWide { .. }
        | Op::ShortMulWide { .. } => (Unit::Int, Mul),
        Op::MadWide { .. } | Op::ShortMadWide { .. } => (Unit::Int, Mad),
        Op::Carry(how) => match how.op {
            CarryOp::Add | CarryOp::Sub => (Unit::Int, Add),
            CarryOp::MadLow | CarryOp::MadHigh => (Unit::Int, Mad),
        },
        Op::Double1(op) => double1(*op),
        Op::Double2(op) => double2(*op),
        Op::Double3(Double3::Fma(_)) => (Unit::Fp64, Mad),
        Op::Double3(Double3::Mad) => (Unit::Int, Mad),
        Op::Double3(Double3::Sad { .. }) => (Unit::Int, Add),
        Op::Convert(how) if how.from == Type::F64 || how.to == Type::F64 => (Unit::Fp64, Simple),
        Op::Shuffle(_) => (Unit::Int, Shuffle),
        Op::Load(_)
        | Op::Store(_)
        | Op::Atomic(_)
        | Op::Texture(_)
        | Op::Surface(_)
        | Op::CopyAsync(_)
        | Op::Mbarrier(_) => (Unit::Memory, Simple),
        Op::Barrier(_) => (Unit::Barrier, Simple),
        Op::Nothing { fence: true } => (Unit::Fence, Simple),
        Op::Branch { .. }
        | Op::BranchIndexed { .. }
        | Op::Call(_)
        | Op::Return
        | Op::Exit
        | Op::Trap => (Unit::Control, Simple),
        Op::SetPredicate(compare) | Op::Set { compare, .. } => match compare.element {
            Type::F32 => (Unit::Fp32, Simple),
            Type::F64 => (Unit::Fp64, Simple),
            _ => (Unit::Int, Simple),
        },
        Op::MatchAny | Op::MatchAll => (Unit::Int, Div),
        Op::Matrix(matrix) => match matrix.op {
            MatrixOp::MultiplyAdd(_) => (Unit::Matrix, Mad),
            _ => (Unit::Memory, Simple),
        },
        Op::Redux(_) => (Unit::Int, Shuffle),
        Op::Half(how) => half(how.op),
        Op::HalfCompare(_) | Op::HalfSet { .. } => (Unit::Fp32, Simple),
        Op::Video(_) => (Unit::Int, Add),
        Op::ScalarVideo(how) => match how.op {
            VideoOp::MultiplyAdd(_) => (Unit::Int, Mad),
            _ => (Unit::Int, Add),
        },
        _ => (Unit::Int, Simple),
    }
}

fn half(op: HalfOp) -> (Unit, LatencyClass) {
    use LatencyClass::{Add, Mad, MinMax, Mul, Simple, Special};
    match op {
        HalfOp::Neg | HalfOp::Abs => (Unit::Fp32, Simple),
        HalfOp::Ex2Approx | HalfOp::TanhApprox => (Unit::Sfu, Special),
        HalfOp::Add | HalfOp::Sub => (Unit::Fp32, Add),
        HalfOp::Mul => (Unit::Fp32, Mul),
        HalfOp::Min { .. } | HalfOp::Max { .. } => (Unit::Fp32, MinMax),
        HalfOp::Fma => (Unit::Fp32, Mad),
    }
}

fn word1(op: Word1) -> (Unit, LatencyClass) {
    match op {
        Word1::FSqrt(_)
        | Word1::SqrtApprox { .. }
        | Word1::RcpApprox { .. }
        | Word1::RsqrtApprox { .. }
        | Word1::Ex2Approx { .. }
        | Word1::Lg2Approx { .. }
        | Word1::SinApprox { .. }
        | Word1::CosApprox { .. }
        | Word1::TanhApprox => (Unit::Sfu, LatencyClass::Special),
        Word1::FRcp(_) => (Unit::Fp32, LatencyClass::Div),
        Word1::FNeg { .. } | Word1::FAbs { .. } => (Unit::Fp32, LatencyClass::Simple),
        _ => (Unit::Int, LatencyClass::Simple),
    }
}

fn word2(op: Word2) -> (Unit, LatencyClass) {
    use LatencyClass::{Add, Div, MinMax, Mul, Simple};
    match op {
        Word2::Add | Word2::AddSaturate | Word2::Sub | Word2::SubSaturate => (Unit::Int, Add),
        Word2::Mul | Word2::MulHi { .. } | Word2::Mul24 { .. } => (Unit::Int, Mul),
        Word2::Div { .. } | Word2::Rem { .. } => (Unit::Sfu, Div),
        Word2::Min { .. } | Word2::Max { .. } => (Unit::Int, MinMax),
        Word2::FAdd(_) | Word2::FSub(_) => (Unit::Fp32, Add),
        Word2::FMul(_) => (Unit::Fp32, Mul),
        Word2::FDiv(_) | Word2::FDivApprox { .. } => (Unit::Fp32, Div),
        Word2::FMin { .. } | Word2::FMax { .. } => (Unit::Fp32, MinMax),
        Word2::CopySign => (Unit::Fp32, Simple),
        _ => (Unit::Int, Simple),
    }
}

fn word3(op: Word3) -> (Unit, LatencyClass) {
    match op {
        Word3::Fma(_) => (Unit::Fp32, LatencyClass::Mad),
        Word3::Mad
        | Word3::MadHi { .. }
        | Word3::Mad24 { .. }
        | Word3::Dp4a { .. }
        | Word3::Dp2a { .. } => (Unit::Int, LatencyClass::Mad),
        Word3::Sad { .. } => (Unit::Int, LatencyClass::Add),
        _ => (Unit::Int, LatencyClass::Simple),
    }
}

fn double1(op: Double1) -> (Unit, LatencyClass) {
    match op {
        Double1::FSqrt(_) | Double1::RcpGross | Double1::RsqrtApprox | Double1::RsqrtGross => {
            (Unit::Fp64, LatencyClass::Special)
        }
        Double1::FRcp(_) => (Unit::Fp64, LatencyClass::Div),
        Double1::FNeg | Double1::FAbs => (Unit::Fp64, LatencyClass::Simple),
        _ => (Unit::Int, LatencyClass::Simple),
    }
}

fn double2(op: Double2) -> (Unit, LatencyClass) {
    use LatencyClass::{Add, Div, MinMax, Mul, Simple};
    match op {
        Double2::Add | Double2::Sub => (Unit::Int, Add),
        Double2::Mul | Double2::MulHi { .. } => (Unit::Int, Mul),
        Double2::Div { .. } | Double2::Rem { .. } => (Unit::Sfu, Div),
        Double2::Min { .. } | Double2::Max { .. } => (Unit::Int, MinMax),
        Double2::FAdd(_) | Double2::FSub(_) => (Unit::Fp64, Add),
        Double2::FMul(_) => (Unit::Fp64, Mul),
        Double2::FDiv(_) => (Unit::Fp64, Div),
        Double2::FMin | Double2::FMax => (Unit::Fp64, MinMax),
        _ => (Unit::Int, Simple),
    }
}
