//! Functions of an operation's family by their number in the word.

use std::mem::discriminant;

use crate::program::{
    Access, AtomicOp, Comparison, Float, Inst, Long1, Long2, Long3, LongShift, LongToWord, Op,
    PredicateOp, Rounding, ShuffleMode, SlotKind, Vote, Word1, Word2, Word3,
};
use crate::traits::Encoding;
use crate::types::Type;

/// The operation whose number differs from that of `inst` in `mask`, if there is one: modifiers stay as they are.
pub(super) fn other(inst: &Inst, mask: usize) -> Option<Op> {
    if inst.op.traits().encoding == Encoding::Alone {
        return None;
    }
    Some(match &inst.op {
        Op::Word1(op) => Op::Word1(pick(*op, &word1(*op), mask)?),
        Op::Word2(op) => Op::Word2(pick(*op, &word2(*op), mask)?),
        Op::Word3(op) => Op::Word3(pick(*op, &word3(*op), mask)?),
        Op::Long1(op) => Op::Long1(pick(*op, &DOUBLE1, mask)?),
        Op::Long2(op) => Op::Long2(pick(*op, &long2(*op), mask)?),
        Op::Long3(op) => Op::Long3(pick(*op, &DOUBLE3, mask)?),
        Op::LongShift(op) => Op::LongShift(pick(*op, &SHIFTS, mask)?),
        Op::LongToWord(op) => Op::LongToWord(pick(*op, &COUNTS, mask)?),
        Op::MulWide { signed } => Op::MulWide {
            signed: pick(*signed, &[false, true], mask)?,
        },
        Op::MadWide { signed } => Op::MadWide {
            signed: pick(*signed, &[false, true], mask)?,
        },
        Op::SelectWord { negated } => Op::SelectWord {
            negated: pick(*negated, &[false, true], mask)?,
        },
        Op::SelectLong { negated } => Op::SelectLong {
            negated: pick(*negated, &[false, true], mask)?,
        },
        Op::SetPredicate(compare) => {
            let mut compare = *compare;
            compare.how = pick(compare.how, &COMPARISONS, mask)?;
            Op::SetPredicate(compare)
        }
        Op::Predicate { op, negated } => Op::Predicate {
            op: pick(*op, &PREDICATES, mask).filter(|other| takes(*other) == takes(*op))?,
            negated: *negated,
        },
        Op::Load(access) => Op::Load(sized(access, inst.dst[0].kind, mask)?),
        Op::Store(access) => Op::Store(sized(access, inst.src[1].kind, mask)?),
        Op::Atomic(atomic) => {
            let op = pick(atomic.op, &ATOMICS, mask)?;
            // Compare-and-swap alone has a third operand.
            if (op == AtomicOp::Cas) != (atomic.op == AtomicOp::Cas) {
                return None;
            }
            Op::Atomic(crate::program::Atomic { op, ..*atomic })
        }
        Op::Shuffle(mode) => Op::Shuffle(pick(*mode, &SHUFFLES, mask)?),
        Op::Vote { vote, negated } => {
            let other = pick(*vote, &VOTES, mask)?;
            // A ballot is a word, the others are predicates.
            if (other == Vote::Ballot) != (*vote == Vote::Ballot) {
                return None;
            }
            Op::Vote {
                vote: other,
                negated: *negated,
            }
        }
        _ => return None,
    })
}

/// The function of the other number. One that differs from those listed in nothing but modifiers has the number of the one that is like it.
fn pick<T: Copy + PartialEq>(function: T, all: &[T], mask: usize) -> Option<T> {
    let same = all.iter().position(|other| *other == function);
    let like = || {
        let kind = discriminant(&function);
        all.iter().position(|other| discriminant(other) == kind)
    };
    let number = same.or_else(like)?;
    all.get(number ^ mask).copied()
}

fn word1(op: Word1) -> [Word1; 19] {
    let flush = match op {
        Word1::FNeg { flush }
        | Word1::FAbs { flush }
        | Word1::SqrtApprox { flush }
        | Word1::RcpApprox { flush }
        | Word1::RsqrtApprox { flush }
        | Word1::Ex2Approx { flush }
        | Word1::Lg2Approx { flush }
        | Word1::SinApprox { flush }
        | Word1::CosApprox { flush } => flush,
        _ => false,
    };
    let shift = false;
    [
        Word1::Copy,
        Word1::Not,
        Word1::Neg,
        Word1::Abs,
        Word1::Popc,
        Word1::Clz,
        Word1::Brev,
        Word1::Bfind {
            signed: false,
            shift,
        },
        Word1::Bfind {
            signed: true,
            shift,
        },
        Word1::FNeg { flush },
        Word1::FAbs { flush },
        Word1::SqrtApprox { flush },
        Word1::RcpApprox { flush },
        Word1::RsqrtApprox { flush },
        Word1::Ex2Approx { flush },
        Word1::Lg2Approx { flush },
        Word1::SinApprox { flush },
        Word1::CosApprox { flush },
        Word1::TanhApprox,
    ]
}

fn word2(op: Word2) -> [Word2; 30] {
    let float = match op {
        Word2::FAdd(float) | Word2::FSub(float) | Word2::FMul(float) | Word2::FDiv(float) => float,
        _ => Float::PLAIN,
    };
    let flush = float.flush;
    [
        Word2::Add,
        Word2::Sub,
        Word2::AddSaturate,
        Word2::SubSaturate,
        Word2::Mul,
        Word2::MulHi { signed: false },
        Word2::MulHi { signed: true },
        Word2::Mul24 {
            signed: false,
            high: false,
        },
        Word2::Mul24 {
            signed: true,
            high: false,
        },
        Word2::Div { signed: false },
        Word2::Div { signed: true },
        Word2::Rem { signed: false },
        Word2::Rem { signed: true },
        Word2::Min { signed: false },
        Word2::Min { signed: true },
        Word2::Max { signed: false },
        Word2::Max { signed: true },
        Word2::And,
        Word2::Or,
        Word2::Xor,
        Word2::Shl,
        Word2::Shr { signed: false },
        Word2::Shr { signed: true },
        Word2::FAdd(float),
        Word2::FSub(float),
        Word2::FMul(float),
        Word2::FDiv(float),
        Word2::FMin { flush, nan: false },
        Word2::FMax { flush, nan: false },
        Word2::CopySign,
    ]
}

fn word3(op: Word3) -> [Word3; 10] {
    let float = match op {
        Word3::Fma(float) => float,
        _ => Float::PLAIN,
    };
    [
        Word3::Mad,
        Word3::MadHi { signed: false },
        Word3::MadHi { signed: true },
        Word3::Sad { signed: false },
        Word3::Sad { signed: true },
        Word3::Fma(float),
        Word3::FunnelShift {
            right: false,
            clamp: false,
        },
        Word3::FunnelShift {
            right: true,
            clamp: false,
        },
        Word3::Bfe { signed: false },
        Word3::Bfe { signed: true },
    ]
}

fn long2(op: Long2) -> [Long2; 20] {
    let rounding = match op {
        Long2::FAdd(to) | Long2::FSub(to) | Long2::FMul(to) | Long2::FDiv(to) => to,
        _ => Rounding::Nearest,
    };
    [
        Long2::Add,
        Long2::Sub,
        Long2::Mul,
        Long2::MulHi { signed: false },
        Long2::Div { signed: false },
        Long2::Div { signed: true },
        Long2::Rem { signed: false },
        Long2::Rem { signed: true },
        Long2::Min { signed: false },
        Long2::Min { signed: true },
        Long2::Max { signed: false },
        Long2::Max { signed: true },
        Long2::And,
        Long2::Or,
        Long2::Xor,
        Long2::FAdd(rounding),
        Long2::FSub(rounding),
        Long2::FMul(rounding),
        Long2::FMin,
        Long2::FMax,
    ]
}

const DOUBLE1: [Long1; 7] = [
    Long1::Copy,
    Long1::Not,
    Long1::Neg,
    Long1::Abs,
    Long1::Brev,
    Long1::FNeg,
    Long1::FAbs,
];

const DOUBLE3: [Long3; 4] = [
    Long3::Mad,
    Long3::Fma(Rounding::Nearest),
    Long3::Sad { signed: false },
    Long3::Sad { signed: true },
];

const SHIFTS: [LongShift; 3] = [
    LongShift::Shl,
    LongShift::Shr { signed: false },
    LongShift::Shr { signed: true },
];

const COUNTS: [LongToWord; 2] = [LongToWord::Popc, LongToWord::Clz];

const COMPARISONS: [Comparison; 14] = [
    Comparison::Eq,
    Comparison::Ne,
    Comparison::Lt,
    Comparison::Le,
    Comparison::Gt,
    Comparison::Ge,
    Comparison::Equ,
    Comparison::Neu,
    Comparison::Ltu,
    Comparison::Leu,
    Comparison::Gtu,
    Comparison::Geu,
    Comparison::Num,
    Comparison::Nan,
];

const PREDICATES: [PredicateOp; 7] = [
    PredicateOp::And,
    PredicateOp::Or,
    PredicateOp::Xor,
    PredicateOp::Copy,
    PredicateOp::Not,
    PredicateOp::Literal(false),
    PredicateOp::Literal(true),
];

/// Sources of a function of predicates.
fn takes(op: PredicateOp) -> usize {
    match op {
        PredicateOp::Literal(_) => 0,
        PredicateOp::Copy | PredicateOp::Not => 1,
        PredicateOp::And | PredicateOp::Or | PredicateOp::Xor => 2,
    }
}

const ATOMICS: [AtomicOp; 10] = [
    AtomicOp::Add,
    AtomicOp::Min,
    AtomicOp::Max,
    AtomicOp::Inc,
    AtomicOp::Dec,
    AtomicOp::Exch,
    AtomicOp::And,
    AtomicOp::Or,
    AtomicOp::Xor,
    AtomicOp::Cas,
];

const SHUFFLES: [ShuffleMode; 4] = [
    ShuffleMode::Up,
    ShuffleMode::Down,
    ShuffleMode::Bfly,
    ShuffleMode::Idx,
];

const VOTES: [Vote; 4] = [Vote::All, Vote::Any, Vote::Uni, Vote::Ballot];

/// Elements that fit a word, and those of a double.
const WORD_ELEMENTS: [Type; 5] = [Type::U8, Type::S8, Type::U16, Type::S16, Type::U32];
const DOUBLE_ELEMENTS: [Type; 1] = [Type::U64];

/// An access of another size; formats of one size are one to memory.
fn sized(access: &Access, kind: SlotKind, mask: usize) -> Option<Access> {
    let all = match kind {
        SlotKind::Word if access.count == 1 => &WORD_ELEMENTS[..],
        _ => &DOUBLE_ELEMENTS[..],
    };
    let same = |other: &Type| {
        other.bytes() == access.element.bytes() && other.is_signed() == access.element.is_signed()
    };
    let wide = |other: &Type| other.bytes() == access.element.bytes();
    let number = all.iter().position(same);
    let number = number.or_else(|| all.iter().position(wide))?;
    let element = *all.get(number ^ mask)?;
    Some(Access { element, ..*access })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_has_a_number_says_so_in_its_traits() {
        let words = [
            word1(Word1::Copy).map(Op::Word1).to_vec(),
            word2(Word2::Add).map(Op::Word2).to_vec(),
            word3(Word3::Mad).map(Op::Word3).to_vec(),
        ];
        let doubles = [
            DOUBLE1.map(Op::Long1).to_vec(),
            long2(Long2::Add).map(Op::Long2).to_vec(),
            DOUBLE3.map(Op::Long3).to_vec(),
            SHIFTS.map(Op::LongShift).to_vec(),
            COUNTS.map(Op::LongToWord).to_vec(),
        ];
        for op in words.iter().chain(&doubles).flatten() {
            assert_eq!(op.traits().encoding, Encoding::Family, "{op:?}");
        }
    }
}
