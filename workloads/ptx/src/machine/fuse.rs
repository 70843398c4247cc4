//! Pairs of instructions that are one of the machine: `IMAD`, `IMAD.WIDE`, `LEA`, `IADD3`, `LOP3` and `ISETP` with a combined predicate (CUDA Binary Utilities,
//! "Instruction Set Reference", Volta).

use super::edit::word;
use super::values::Values;
use crate::program::{
    BoolOp, Entry, Inst, Long2, LongShift, Op, Operands, PredicateOp, Slot, SlotKind, Source,
    Word2, Word3,
};
use crate::types::Type;

/// Until no pair is left.
pub(super) fn run(entry: &mut Entry) {
    for rule in [wide as Rule, sums, logic, predicates] {
        loop {
            let found = find(&Values::of(entry), rule);
            if found.is_empty() {
                break;
            }
            for (at, made) in found {
                put(entry, at, &made);
            }
            super::dead::run(entry);
        }
    }
}

/// What an instruction becomes, if it takes in what makes an operand of it.
type Rule = fn(&Values<'_>, usize, &Inst) -> Option<Fused>;

/// One instruction for two.
struct Fused {
    op: Op,
    src: Vec<Operand>,
}

/// An operand of what is made.
#[derive(Clone, Copy)]
enum Operand {
    Slot(Slot),
    Literal(u32),
}

/// One instruction a definition at a time: what was taken in may itself be changed next.
fn find(values: &Values<'_>, rule: Rule) -> Vec<(usize, Fused)> {
    let mut found: Vec<(usize, Fused)> = Vec::new();
    let mut touched = vec![false; values.entry.code.len()];
    for (at, inst) in values.entry.code.iter().enumerate() {
        let mut makers = inst.reads().filter_map(|slot| values.definition(slot));
        if makers.any(|maker| touched[maker]) {
            continue;
        }
        if let Some(fused) = rule(values, at, inst) {
            touched[at] = true;
            found.push((at, fused));
        }
    }
    found
}

fn put(entry: &mut Entry, at: usize, fused: &Fused) {
    let mut src = Operands::default();
    for operand in &fused.src {
        src.push(match *operand {
            Operand::Slot(slot) => slot,
            Operand::Literal(value) => word(entry, Source::Literal(value)),
        });
    }
    let inst = &mut entry.code[at];
    inst.op = fused.op.clone();
    inst.src = src;
}

/// The maker of an operand that nobody else reads, and the other operand.
fn taken<'e>(
    values: &Values<'e>,
    at: usize,
    inst: &Inst,
    is: impl Fn(&Op) -> bool,
) -> Option<(&'e Inst, Slot)> {
    [(0, 1), (1, 0)].into_iter().find_map(|(one, other)| {
        let (slot, rest) = (inst.src[one], inst.src[other]);
        let maker = values.foldable(slot, at).filter(|maker| is(&maker.op))?;
        (slot != rest && values.uses(slot) == 1).then_some((maker, rest))
    })
}

/// Index times size and base: `IMAD.WIDE`. Many sums of one product are as many of these.
fn wide(values: &Values<'_>, at: usize, inst: &Inst) -> Option<Fused> {
    match &inst.op {
        Op::LongShift(LongShift::Shl) => {
            let shift = values.literal(inst.src[1]).filter(|&shift| shift < 31)?;
            let maker = values.foldable(inst.src[0], at)?;
            let signed = extension(maker)?;
            let src = vec![Operand::Slot(maker.src[0]), Operand::Literal(1 << shift)];
            Some(Fused {
                op: Op::MulWide { signed },
                src,
            })
        }
        Op::Long2(Long2::Add) => [(0, 1), (1, 0)].into_iter().find_map(|(one, other)| {
            let maker = values.foldable(inst.src[one], at)?;
            let (signed, factor) = match &maker.op {
                Op::MulWide { signed } => (*signed, Operand::Slot(maker.src[1])),
                _ => (extension(maker)?, Operand::Literal(1)),
            };
            let [index, base] = [maker.src[0], inst.src[other]].map(Operand::Slot);
            (inst.src[one] != inst.src[other] && only_sums(values, inst.src[one])).then(|| Fused {
                op: Op::MadWide { signed },
                src: vec![index, factor, base],
            })
        }),
        _ => None,
    }
}

/// Whether an instruction extends a word with its sign, if it extends one. What a conversion reads may also be the lower half of 64 bits.
fn extension(inst: &Inst) -> Option<bool> {
    let Op::Convert(how) = &inst.op else {
        return None;
    };
    let signed = match (how.from, how.to) {
        (Type::S32, Type::S64) => true,
        (Type::U32, Type::U64) => false,
        _ => return None,
    };
    (inst.src[0].kind == SlotKind::Word).then_some(signed)
}

/// Whether all that read a slot are sums of 64 bits.
fn only_sums(values: &Values<'_>, slot: Slot) -> bool {
    values.entry.code.iter().all(|inst| {
        let reads = inst.reads().any(|read| read == slot);
        !reads || matches!(inst.op, Op::Long2(Long2::Add))
    })
}

/// `IMAD`, `LEA` and `IADD3`.
fn sums(values: &Values<'_>, at: usize, inst: &Inst) -> Option<Fused> {
    let Op::Word2(Word2::Add) = inst.op else {
        return None;
    };
    let product = |op: &Op| matches!(op, Op::Word2(Word2::Mul | Word2::Shl));
    if let Some((maker, rest)) = taken(values, at, inst, product) {
        let factor = match maker.op {
            Op::Word2(Word2::Mul) => Operand::Slot(maker.src[1]),
            _ => Operand::Literal(1 << values.literal(maker.src[1]).filter(|&shift| shift < 32)?),
        };
        return Some(Fused {
            op: Op::Word3(Word3::Mad),
            src: vec![Operand::Slot(maker.src[0]), factor, Operand::Slot(rest)],
        });
    }
    let (maker, rest) = taken(values, at, inst, |op| matches!(op, Op::Word2(Word2::Add)))?;
    let src = [maker.src[0], maker.src[1], rest].map(Operand::Slot);
    Some(Fused {
        op: Op::Word3(Word3::Add3),
        src: src.to_vec(),
    })
}

/// Two functions of bits with three operands are one: `LOP3`, by its table of results.
fn logic(values: &Values<'_>, at: usize, inst: &Inst) -> Option<Fused> {
    let outer = bitwise(&inst.op)?;
    let (maker, rest) = taken(values, at, inst, |op| bitwise(op).is_some())?;
    let inner = bitwise(&maker.op)?;
    let [a, b, c] = [0xf0u8, 0xcc, 0xaa];
    let src = [maker.src[0], maker.src[1], rest].map(Operand::Slot);
    Some(Fused {
        op: Op::Word3(Word3::Lop3(outer(inner(a, b), c))),
        src: src.to_vec(),
    })
}

fn bitwise(op: &Op) -> Option<fn(u8, u8) -> u8> {
    match op {
        Op::Word2(Word2::And) => Some(|a, b| a & b),
        Op::Word2(Word2::Or) => Some(|a, b| a | b),
        Op::Word2(Word2::Xor) => Some(|a, b| a ^ b),
        _ => None,
    }
}

/// A comparison that is combined with another predicate.
fn predicates(values: &Values<'_>, at: usize, inst: &Inst) -> Option<Fused> {
    let Op::Predicate { op, negated } = inst.op else {
        return None;
    };
    let combine = match op {
        PredicateOp::And => BoolOp::And,
        PredicateOp::Or => BoolOp::Or,
        PredicateOp::Xor => BoolOp::Xor,
        PredicateOp::Copy | PredicateOp::Not | PredicateOp::Literal(_) => return None,
    };
    [(0, 1), (1, 0)].into_iter().find_map(|(one, other)| {
        let (slot, rest) = (inst.src[one], inst.src[other]);
        let maker = values.foldable(slot, at)?;
        let Op::SetPredicate(mut compare) = maker.op else {
            return None;
        };
        let alone = maker.dst.as_slice().len() == 1 && values.uses(slot) == 1;
        let kept = negated & 1 << one == 0 && compare.combine.is_none() && slot != rest;
        compare.combine = Some((combine, negated & 1 << other != 0));
        let src = [maker.src[0], maker.src[1], rest].map(Operand::Slot);
        (alone && kept).then(|| Fused {
            op: Op::SetPredicate(compare),
            src: src.to_vec(),
        })
    })
}
