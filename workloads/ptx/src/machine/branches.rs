//! Short branches: what they jump over is guarded instead, and a branch to the end is the end.

use rustc_hash::FxHashSet;

use super::edit::remove;
use crate::cfg::Blocks;
use crate::program::{Entry, Guard, Inst, Op};

/// Most instructions that are guarded instead of jumped over. Assumed: the machine code of the suite guards up to about as many.
const MOST: usize = 10;

pub(super) fn run(entry: &mut Entry) {
    ends(entry);
    guards(entry);
}

/// `@p bra END; ... END: exit` is `@p exit`.
fn ends(entry: &mut Entry) {
    for at in 0..entry.code.len() {
        let inst = &entry.code[at];
        let Op::Branch { target, .. } = inst.op else {
            continue;
        };
        let leads = entry.code.get(target as usize);
        if leads.is_some_and(|leads| matches!(leads.op, Op::Exit) && leads.guard.is_none()) {
            entry.code[at].op = Op::Exit;
        }
    }
}

/// Blocks that a guarded branch jumps over. What is guarded is no longer such a block, so that once is enough.
fn guards(entry: &mut Entry) {
    let mut gone = vec![false; entry.code.len()];
    for (at, target, guard) in short(entry) {
        for inst in &mut entry.code[at + 1..target] {
            inst.guard = Some(guard);
        }
        gone[at] = true;
    }
    remove(entry, &gone);
}

/// Branches over short blocks that nothing else leads into, their targets, and the guards that do instead.
fn short(entry: &Entry) -> Vec<(usize, usize, Guard)> {
    let starts = Blocks::of(&entry.code).starts;
    let entered = targets(&entry.code);
    let places = entry.code.iter().enumerate();
    let found = places.filter_map(|(at, inst)| {
        let Op::Branch { target, .. } = inst.op else {
            return None;
        };
        let guard = inst.guard?;
        let end = target as usize;
        let over = entry.code.get(at + 1..end);
        let over = over.filter(|over| (1..=MOST).contains(&over.len()))?;
        // The block's first instruction may be led to as well, and others may be within.
        let next = starts.partition_point(|&start| start as usize <= at + 1);
        let whole = starts.get(next).is_none_or(|&start| start >= target);
        let fit = over.iter().all(|inst| {
            let writes = inst.writes().any(|slot| slot == guard.predicate);
            inst.guard.is_none() && !writes && may_be_guarded(&inst.op)
        });
        let opposite = Guard {
            negated: !guard.negated,
            ..guard
        };
        (whole && fit && !entered.contains(&(at as u32 + 1))).then_some((at, end, opposite))
    });
    found.collect()
}

/// Where branches lead to.
fn targets(code: &[Inst]) -> FxHashSet<u32> {
    let of = |inst: &Inst| match &inst.op {
        Op::Branch { target, .. } => vec![*target],
        Op::BranchIndexed { targets, .. } => targets.to_vec(),
        _ => Vec::new(),
    };
    code.iter().flat_map(of).collect()
}

/// Whether lanes that do not take part make no difference to those that do.
fn may_be_guarded(op: &Op) -> bool {
    op.traits().is_pure() || matches!(op, Op::Load(_) | Op::Store(_))
}
