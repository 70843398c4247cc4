//! Short branches: what they jump over is guarded instead, and a branch to the end is the end.

use rustc_hash::FxHashMap;

use super::edit::remove;
use crate::cfg::Blocks;
use crate::program::{BoolOp, Entry, Guard, Inst, Op, Slot};

/// Most instructions of one way that are guarded instead of jumped over. Assumed: the machine code of the suite guards up to about as many.
const MOST: usize = 10;

/// The same where they store: the suite's machine code guards five (`reduction_tree`) and branches around eight (`scan_large`, `dyn_proc`).
const MOST_WITH_STORE: usize = 7;

/// Conditions within conditions; what is within was guarded before.
const NESTED: usize = 4;

pub(super) fn run(entry: &mut Entry) {
    ends(entry);
    for _ in 0..NESTED {
        if !guards(entry) {
            break;
        }
    }
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

/// Guards what branches jump over; whether there was any.
fn guards(entry: &mut Entry) -> bool {
    let found = Reach::of(entry).short();
    let mut gone = vec![false; entry.code.len()];
    for short in &found {
        for arm in &short.arms {
            guard(&mut entry.code[arm.range.clone()], arm.guard);
        }
        for &branch in &short.branches {
            gone[branch] = true;
        }
    }
    remove(entry, &gone);
    !found.is_empty()
}

/// Instructions of one way.
struct Arm {
    range: std::ops::Range<usize>,
    /// Under which they are executed.
    guard: Guard,
}

/// A branch over one way, or between two.
struct Short {
    branches: Vec<usize>,
    arms: Vec<Arm>,
}

/// Puts a guard before each instruction. What has one already is guarded by a comparison among them, which takes the outer condition in.
fn guard(code: &mut [Inst], guard: Guard) {
    let inner: Vec<Guard> = code.iter().filter_map(|inst| inst.guard).collect();
    for inst in code {
        let own = inst.dst.as_slice().first().copied();
        let within = inner.iter().find(|inner| Some(inner.predicate) == own);
        match (within, &mut inst.op) {
            (Some(within), Op::SetPredicate(compare)) => {
                // `@q` under `g`: q and g; `@!q` under `g`: not (q or not g).
                let (combine, negated) = match within.negated {
                    false => (BoolOp::And, guard.negated),
                    true => (BoolOp::Or, !guard.negated),
                };
                compare.combine = Some((combine, negated));
                inst.src.push(guard.predicate);
            }
            _ => inst.guard = inst.guard.or(Some(guard)),
        }
    }
}

/// Where branches lead, and who reads and writes predicates.
struct Reach<'e> {
    code: &'e [Inst],
    starts: Vec<u32>,
    /// How many branches lead to an instruction.
    entered: FxHashMap<usize, usize>,
    /// How many instructions read or write a predicate.
    touched: FxHashMap<Slot, usize>,
}

impl<'e> Reach<'e> {
    fn of(entry: &'e Entry) -> Self {
        let mut entered: FxHashMap<usize, usize> = FxHashMap::default();
        let mut touched: FxHashMap<Slot, usize> = FxHashMap::default();
        for inst in &entry.code {
            match &inst.op {
                Op::Branch { target, .. } => *entered.entry(*target as usize).or_default() += 1,
                Op::BranchIndexed { targets, .. } => {
                    for &target in targets.iter() {
                        *entered.entry(target as usize).or_default() += 1;
                    }
                }
                _ => {}
            }
            for slot in touches(inst) {
                *touched.entry(slot).or_default() += 1;
            }
        }
        Self {
            code: &entry.code,
            starts: Blocks::of(&entry.code).starts,
            entered,
            touched,
        }
    }

    /// Branches around few instructions. What one of them guards, no other looks at.
    fn short(&self) -> Vec<Short> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < self.code.len() {
            let short = self.one_way(at).or_else(|| self.two_ways(at));
            at = match &short {
                Some(short) => short.arms.last().map_or(at + 1, |arm| arm.range.end),
                None => at + 1,
            };
            found.extend(short);
        }
        found
    }

    /// A branch over some instructions.
    fn one_way(&self, at: usize) -> Option<Short> {
        let (guard, target) = self.fork(at)?;
        let range = at + 1..target;
        self.fits(&range, guard).then(|| Short {
            branches: vec![at],
            arms: vec![Arm {
                range,
                guard: opposite(guard),
            }],
        })
    }

    /// A branch over some instructions, which end with one over others.
    fn two_ways(&self, at: usize) -> Option<Short> {
        let (guard, target) = self.fork(at)?;
        let over = target.checked_sub(1).filter(|&over| over > at + 1)?;
        let Op::Branch { target: meet, .. } = self.code[over].op else {
            return None;
        };
        let alone = self.code[over].guard.is_none() && self.entered[&target] == 1;
        let (first, second) = (at + 1..over, target..meet as usize);
        let fit = alone && self.fits(&first, guard) && self.fits(&second, guard);
        fit.then(|| Short {
            branches: vec![at, over],
            arms: vec![
                Arm {
                    range: first,
                    guard: opposite(guard),
                },
                Arm {
                    range: second,
                    guard,
                },
            ],
        })
    }

    /// A branch forwards under a condition.
    fn fork(&self, at: usize) -> Option<(Guard, usize)> {
        let inst = &self.code[at];
        match inst.op {
            Op::Branch { target, .. } => Some((inst.guard?, target as usize)),
            _ => None,
        }
    }

    /// Whether instructions are few, one block, entered in no other way, and can be guarded.
    fn fits(&self, range: &std::ops::Range<usize>, guard: Guard) -> bool {
        let Some(code) = self.code.get(range.clone()) else {
            return false;
        };
        let start = range.start as u32;
        let next = self.starts.partition_point(|&other| other <= start);
        let whole = self
            .starts
            .get(next)
            .is_none_or(|&other| other as usize >= range.end);
        let by_branch = self.entered.get(&range.start).copied().unwrap_or(0);
        // The second way is entered by its own branch.
        let own = usize::from(range.start > 0 && is_jump(&self.code[range.start - 1]));
        let stores = code.iter().any(|inst| matches!(inst.op, Op::Store(_)));
        let most = if stores { MOST_WITH_STORE } else { MOST };
        (1..=most).contains(&code.len())
            && whole
            && by_branch <= own
            && code
                .iter()
                .all(|inst| may_be_guarded(&inst.op) && !writes(inst, guard.predicate))
            && code.iter().all(|inst| self.is_guarded_within(inst, code))
    }

    /// Whether an instruction has no guard, or one that a plain comparison of `code` makes and nothing else reads or writes.
    fn is_guarded_within(&self, inst: &Inst, code: &[Inst]) -> bool {
        let Some(Guard { predicate, negated }) = inst.guard else {
            return true;
        };
        let touching = code.iter();
        let touching: Vec<&Inst> = touching
            .filter(|inst| touches(inst).any(|slot| slot == predicate))
            .collect();
        let Some((first, rest)) = touching.split_first() else {
            return false;
        };
        let plain = matches!(first.op, Op::SetPredicate(compare) if compare.combine.is_none())
            && first.guard.is_none()
            && first.dst.as_slice() == [predicate]
            && !first.reads().any(|slot| slot == predicate);
        let same = Some(Guard { predicate, negated });
        let guards = |inst: &&&Inst| {
            inst.guard == same && !inst.reads().chain(inst.writes()).any(|it| it == predicate)
        };
        plain
            && rest.iter().all(|inst| guards(&inst))
            && self.touched.get(&predicate) == Some(&touching.len())
    }
}

fn is_jump(inst: &Inst) -> bool {
    matches!(inst.op, Op::Branch { .. }) && inst.guard.is_none()
}

fn opposite(guard: Guard) -> Guard {
    Guard {
        negated: !guard.negated,
        ..guard
    }
}

fn writes(inst: &Inst, slot: Slot) -> bool {
    inst.writes().any(|written| written == slot)
}

/// The predicates of an instruction, each once.
fn touches(inst: &Inst) -> impl Iterator<Item = Slot> {
    let guard = inst.guard.map(|guard| guard.predicate);
    let mut slots: Vec<Slot> = inst.reads().chain(inst.writes()).chain(guard).collect();
    slots.sort_unstable();
    slots.dedup();
    slots.into_iter()
}

/// Whether lanes that do not take part make no difference to those that do.
fn may_be_guarded(op: &Op) -> bool {
    op.traits().is_pure() || matches!(op, Op::Load(_) | Op::Store(_) | Op::Atomic(_))
}
