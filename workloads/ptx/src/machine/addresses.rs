//! Sums with literals become offsets of accesses: 24 bits with a sign (CUDA Binary Utilities, operands of `LD` and `ST`).

use super::values::Values;
use crate::program::{Access, Entry, Long2, Op, Slot, SlotKind, Word2};

/// The farthest that an offset reaches.
const REACH: i64 = 1 << 23;

/// Folds what can be folded, until nothing is left.
pub(super) fn run(entry: &mut Entry) {
    loop {
        let found = folds(&Values::of(entry));
        if found.is_empty() {
            break;
        }
        for fold in found {
            let inst = &mut entry.code[fold.at];
            inst.src.as_mut_slice()[0] = fold.base;
            if let Some(access) = access_mut(&mut inst.op) {
                access.offset = fold.offset;
            }
        }
    }
    super::dead::run(entry);
}

/// An access with another base and offset.
struct Fold {
    at: usize,
    base: Slot,
    offset: i64,
}

fn access_mut(op: &mut Op) -> Option<&mut Access> {
    match op {
        Op::Load(access) | Op::Store(access) => Some(access),
        Op::Atomic(atomic) => Some(&mut atomic.access),
        _ => None,
    }
}

fn folds(values: &Values<'_>) -> Vec<Fold> {
    let mut found = Vec::new();
    for (at, inst) in values.entry.code.iter().enumerate() {
        let access = match &inst.op {
            Op::Load(access) | Op::Store(access) => access,
            Op::Atomic(atomic) => &atomic.access,
            _ => continue,
        };
        if let Some((base, more)) = split(values, inst.src[0], at) {
            let offset = access.offset.checked_add(more);
            if let Some(offset) = offset.filter(|offset| (-REACH..REACH).contains(offset)) {
                found.push(Fold { at, base, offset });
            }
        }
    }
    found
}

/// What a base is the sum of, if one part is a literal. Addresses of 32 bits wrap with their offsets.
fn split(values: &Values<'_>, base: Slot, at: usize) -> Option<(Slot, i64)> {
    let maker = values.foldable(base, at)?;
    let literal = |slot: Slot| match base.kind {
        SlotKind::Double => values.long_literal(slot).map(|value| value as i64),
        _ => values.literal(slot).map(|value| i64::from(value as i32)),
    };
    let is_sum = matches!(maker.op, Op::Long2(Long2::Add) | Op::Word2(Word2::Add));
    let (a, b) = is_sum.then(|| (maker.src[0], maker.src[1]))?;
    let second = literal(b).map(|value| (a, value));
    second.or_else(|| literal(a).map(|value| (b, value)))
}
