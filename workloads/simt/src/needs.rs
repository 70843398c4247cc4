//! From a program's instructions to how they use their sources.
//!
//! A rule is left out where it would not be certain: then any bit of a source matters to any bit of the result ([`Role::Whole`]), or the source always
//! matters ([`Role::Always`]).

use warpwatt_ptx::Entry;
use warpwatt_ptx::program::{
    Convert, Double1, Double2, Double3, DoubleShift, Inst, MatrixOp, Op, Slot, SlotKind, Source,
    Word1, Word2, Word3,
};
use warpwatt_ptx::types::Type;

use crate::trace::{Need, Needs, Register, RegisterKind, Role};

/// How `inst` uses the registers that `sources` lists, each once.
pub(crate) fn needs(entry: &Entry, inst: &Inst, sources: &[Register]) -> Needs {
    let mut found: Vec<Option<Need>> = vec![None; sources.len()];
    let mut add = |slot: Slot, need: Need| {
        let place = sources.iter().position(|&source| is_same(source, slot));
        if let Some(place) = place {
            let known = &mut found[place];
            *known = Some(known.map_or(need, |before| before.and(need)));
        }
    };
    for (place, slot) in inst.reads().enumerate() {
        add(slot, of_source(entry, inst, place));
    }
    if let Some(guard) = inst.guard {
        let role = if is_always(&inst.op) {
            Role::Always
        } else {
            Role::Guard
        };
        add(guard.predicate, Need { role, bits: 1 });
    }
    Needs {
        sources: found
            .into_iter()
            .map(|it| it.unwrap_or(Need::ALL))
            .collect(),
        opaque: is_opaque(&inst.op),
    }
}

fn is_same(register: Register, slot: Slot) -> bool {
    let kind = match slot.kind {
        SlotKind::Word => RegisterKind::Word,
        SlotKind::Double => RegisterKind::Double,
        SlotKind::Predicate => RegisterKind::Predicate,
    };
    register.kind == kind && register.number == slot.number
}

/// Whether an instruction acts on something other than its results.
fn is_always(op: &Op) -> bool {
    matches!(
        op,
        Op::Branch { .. }
            | Op::BranchIndexed { .. }
            | Op::Call(_)
            | Op::Return
            | Op::Exit
            | Op::Trap
            | Op::Barrier(_)
            | Op::Yield
            | Op::Atomic(_)
            | Op::Surface(_)
    ) || is_opaque(op)
}

/// Whether it may access memory that a step does not tell.
fn is_opaque(op: &Op) -> bool {
    match op {
        Op::CopyAsync(_) | Op::Mbarrier(_) | Op::Heap(_) | Op::Texture(_) | Op::Surface(_) => true,
        Op::Matrix(matrix) => !matches!(matrix.op, MatrixOp::MultiplyAdd(_) | MatrixOp::Transpose),
        _ => false,
    }
}

/// How an instruction uses its `place`th source.
fn of_source(entry: &Entry, inst: &Inst, place: usize) -> Need {
    let all = |role| Need {
        role,
        bits: u64::MAX,
    };
    match &inst.op {
        Op::Load(_) => all(Role::Address),
        Op::Texture(_) => all(Role::Address),
        Op::Store(_) if place == 0 => all(Role::Address),
        Op::Store(access) => Need {
            role: Role::Stored,
            bits: low_bits(8 * access.element.bytes()),
        },
        op if is_always(op) => Need::ALL,
        Op::Shuffle(_) if place == 0 => all(Role::BitwiseOfLanes),
        Op::Shuffle(_)
        | Op::Vote { .. }
        | Op::MatchAny
        | Op::MatchAll
        | Op::Redux(_)
        | Op::Elect
        | Op::Matrix(_) => all(Role::OfLanes),
        op => arithmetic(entry, inst, op, place),
    }
}

fn arithmetic(entry: &Entry, inst: &Inst, op: &Op, place: usize) -> Need {
    let role = |role| Need {
        role,
        bits: u64::MAX,
    };
    let other = || {
        let slot = inst.src.as_slice().get(1 - place.min(1));
        slot.and_then(|slot| literal(entry, *slot))
    };
    match op {
        Op::Word1(op) => word1(*op),
        Op::Word2(op) => word2(*op, place, other()),
        Op::Word3(Word3::Mad)
        | Op::MulWide { .. }
        | Op::MadWide { .. }
        | Op::Double3(Double3::Mad) => role(Role::NotAbove),
        Op::Word3(Word3::Lop3(_)) => role(Role::Bitwise),
        Op::Double1(Double1::Copy | Double1::Not) => role(Role::Bitwise),
        Op::Double2(op) => double2(*op, other()),
        Op::DoubleShift(how) if place == 0 => {
            let left = *how == DoubleShift::Shl;
            let signed = *how == DoubleShift::Shr { signed: true };
            shift(left, signed, other().filter(|&by| by < 64))
        }
        Op::SelectWord { .. } | Op::SelectDouble { .. } if place < 2 => role(Role::Bitwise),
        Op::Pack => role(Role::Shifted(if place == 0 { 0 } else { 32 })),
        Op::Convert(how) => convert(how),
        _ => role(Role::Whole),
    }
}

fn word1(op: Word1) -> Need {
    let (role, bits) = match op {
        Word1::Copy | Word1::Not | Word1::FNeg { flush: false } => (Role::Bitwise, u64::MAX),
        Word1::FAbs { flush: false } => (Role::Bitwise, low_bits(31)),
        Word1::Neg => (Role::NotAbove, u64::MAX),
        _ => (Role::Whole, u64::MAX),
    };
    Need { role, bits }
}

fn word2(op: Word2, place: usize, other: Option<u64>) -> Need {
    let (role, bits) = match op {
        Word2::And => (Role::Bitwise, other.unwrap_or(u64::MAX)),
        Word2::Or => (Role::Bitwise, !other.unwrap_or(0)),
        Word2::Xor => (Role::Bitwise, u64::MAX),
        Word2::Add | Word2::Sub | Word2::Mul => (Role::NotAbove, u64::MAX),
        Word2::Shl if place == 0 => return shift(true, false, other.filter(|&by| by < 32)),
        Word2::Shr { signed } if place == 0 => {
            return shift(false, signed, other.filter(|&by| by < 32));
        }
        _ => (Role::Whole, u64::MAX),
    };
    Need { role, bits }
}

fn double2(op: Double2, other: Option<u64>) -> Need {
    let (role, bits) = match op {
        Double2::And => (Role::Bitwise, other.unwrap_or(u64::MAX)),
        Double2::Or => (Role::Bitwise, !other.unwrap_or(0)),
        Double2::Xor => (Role::Bitwise, u64::MAX),
        Double2::Add | Double2::Sub | Double2::Mul => (Role::NotAbove, u64::MAX),
        _ => (Role::Whole, u64::MAX),
    };
    Need { role, bits }
}

/// The shifted operand. What an arithmetic shift to the right brings in at the top depends on the sign.
fn shift(left: bool, signed: bool, by: Option<u64>) -> Need {
    let (role, bits) = match by {
        Some(by) if left => (Role::Shifted(by as i8), u64::MAX),
        Some(by) if !signed => (Role::Shifted(-(by as i8)), u64::MAX),
        Some(by) => (Role::Whole, !low_bits(by as u32)),
        None => (Role::Whole, u64::MAX),
    };
    Need { role, bits }
}

fn convert(how: &Convert) -> Need {
    let bits = low_bits(8 * how.from.bytes());
    let is_whole = |of: Type| of.is_float() || of == Type::Pred;
    let role = if is_whole(how.from) || is_whole(how.to) || how.saturate {
        Role::Whole
    } else if how.from.is_signed() || how.to.is_signed() {
        // Extension of a sign: the bits above it depend on it.
        Role::NotAbove
    } else {
        Role::Bitwise
    };
    Need { role, bits }
}

/// What a slot always holds.
fn literal(entry: &Entry, slot: Slot) -> Option<u64> {
    match slot.kind {
        SlotKind::Word => match entry.words[slot.index()] {
            Source::Literal(value) => Some(u64::from(value)),
            _ => None,
        },
        SlotKind::Double => match entry.doubles[slot.index()] {
            Source::Literal(value) => Some(value),
            _ => None,
        },
        SlotKind::Predicate => None,
    }
}

/// The `count` lowest bits.
fn low_bits(count: u32) -> u64 {
    1u64.checked_shl(count).map_or(u64::MAX, |end| end - 1)
}
