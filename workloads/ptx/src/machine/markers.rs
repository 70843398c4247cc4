//! Marks of where lanes meet again: before a branch that divides a warp the machine notes which lanes are there (`BSSY`, and `BMOV` that clears the register for it), and
//! where they meet it waits for them (`BSYNC`). Loops need none: their lanes wait at what follows.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::edit::rebuild;
use crate::cfg::{NO_RECONVERGENCE, set_reconvergence};
use crate::divergence::{Lanes, uniform};
use crate::program::{Entry, Inst, Machine, Op, Operands, Slot, SlotKind, Source, Special};

pub(super) fn run(entry: &mut Entry) {
    set_reconvergence(&mut entry.code);
    let together = uniform(entry, |inst| lanes(entry, inst));
    let loops = loops(&entry.code);
    let mut opens = BTreeSet::new();
    let mut meets = BTreeSet::new();
    for (at, inst) in entry.code.iter().enumerate() {
        let Op::Branch { target, reconverge } = inst.op else {
            continue;
        };
        // Those that leave a loop wait behind it.
        let stays = loops
            .iter()
            .all(|around| !around.contains(&at) || around.contains(&(reconverge as usize)));
        let forward = target as usize > at && inst.guard.is_some() && !together[at] && stays;
        let meet = entry.code.get(reconverge as usize);
        let goes_on = meet.is_some_and(|meet| !matches!(meet.op, Op::Exit));
        // Branches to one place have one mark.
        if forward && reconverge != NO_RECONVERGENCE && goes_on && meets.insert(reconverge as usize)
        {
            opens.insert(at);
        }
    }
    rebuild(entry, |code, at, inst| {
        if meets.contains(&at) {
            code.push(mark(inst.line));
        }
        if opens.contains(&at) {
            code.extend([mark(inst.line), mark(inst.line)]);
        }
        code.push(inst);
    });
}

/// From what branches lead back to, to the branches.
fn loops(code: &[Inst]) -> Vec<RangeInclusive<usize>> {
    let places = code.iter().enumerate();
    let back = places.filter_map(|(at, inst)| match inst.op {
        Op::Branch { target, .. } if target as usize <= at => Some(target as usize..=at),
        _ => None,
    });
    back.collect()
}

fn mark(line: u32) -> Inst {
    Inst {
        op: Op::Part(Machine::Control),
        guard: None,
        dst: Operands::default(),
        src: Operands::default(),
        line,
    }
}

/// Whether lanes have results of their own: also where a source is the thread's own number.
fn lanes(entry: &Entry, inst: &Inst) -> Lanes {
    let own = |slot: Slot| {
        let special = match slot.kind {
            SlotKind::Word => match entry.words[slot.index()] {
                Source::Special(special) => special,
                _ => return false,
            },
            SlotKind::Double => match entry.doubles[slot.index()] {
                Source::Special(special) => special,
                _ => return false,
            },
            SlotKind::Predicate => return false,
        };
        matches!(
            special,
            Special::Tid(_) | Special::LaneId | Special::LaneMask(_)
        )
    };
    match inst.op.traits().lanes {
        Lanes::Sources if inst.reads().any(own) => Lanes::Own,
        lanes => lanes,
    }
}
