//! Short branches: what they jump over is guarded instead, and a branch to the end is the end.

use super::edit::rebuild;
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

/// Blocks that a guarded branch jumps over.
fn guards(entry: &mut Entry) {
    loop {
        let Some((at, target)) = short(entry) else {
            return;
        };
        let Some(guard) = entry.code[at].guard else {
            return;
        };
        let opposite = Guard {
            negated: !guard.negated,
            ..guard
        };
        for inst in &mut entry.code[at + 1..target] {
            inst.guard = Some(opposite);
        }
        rebuild(entry, |code, place, inst| {
            if place != at {
                code.push(inst);
            }
        });
    }
}

/// A branch over a short block that nothing else leads into, and its target.
fn short(entry: &Entry) -> Option<(usize, usize)> {
    let blocks = Blocks::of(&entry.code);
    entry.code.iter().enumerate().find_map(|(at, inst)| {
        let Op::Branch { target, .. } = inst.op else {
            return None;
        };
        let guard = inst.guard?;
        let target = target as usize;
        let over = entry
            .code
            .get(at + 1..target)
            .filter(|over| (1..=MOST).contains(&over.len()))?;
        let whole = blocks.starts.iter().all(|&start| {
            let start = start as usize;
            start <= at + 1 || start >= target
        });
        // The block itself may begin where another branch leads to.
        let entered = entry.code.iter().any(|other| leads_to(other, at + 1));
        let fit = over.iter().all(|inst| {
            let writes = inst.writes().any(|slot| slot == guard.predicate);
            inst.guard.is_none() && !writes && may_be_guarded(&inst.op)
        });
        (whole && !entered && fit).then_some((at, target))
    })
}

fn leads_to(inst: &Inst, at: usize) -> bool {
    match &inst.op {
        Op::Branch { target, .. } => *target as usize == at,
        Op::BranchIndexed { targets, .. } => targets.iter().any(|&target| target as usize == at),
        _ => false,
    }
}

/// Whether lanes that do not take part make no difference to those that do.
fn may_be_guarded(op: &Op) -> bool {
    op.traits().is_pure() || matches!(op, Op::Load(_) | Op::Store(_))
}
