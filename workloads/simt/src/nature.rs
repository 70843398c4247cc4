//! What an instruction does to the flow of control, and whether its results can differ between lanes.

use warpwatt_ptx::Entry;
use warpwatt_ptx::program::{Access, Inst, Op, Slot, SlotKind, Source, Special};
use warpwatt_ptx::types::Space;

use crate::trace::{Flow, Results};

pub(crate) fn flow(op: &Op) -> Option<Flow> {
    match op {
        Op::Branch { .. } | Op::BranchIndexed { .. } => Some(Flow::Branch),
        Op::Call(_) => Some(Flow::Call),
        Op::Return => Some(Flow::Return),
        Op::Exit | Op::Trap => Some(Flow::Exit),
        _ => None,
    }
}

pub(crate) fn results(entry: &Entry, inst: &Inst) -> Results {
    match &inst.op {
        Op::Vote { .. } | Op::Redux(_) | Op::ActiveMask | Op::MatchAll | Op::Barrier(_) => {
            Results::Same
        }
        Op::Atomic(_)
        | Op::Texture(_)
        | Op::Surface(_)
        | Op::Mbarrier(_)
        | Op::Heap(_)
        | Op::ImageQuery(_)
        | Op::Matrix(_)
        | Op::Shuffle(_)
        | Op::MatchAny
        | Op::Elect => Results::PerLane,
        Op::Load(access) if is_private(access) => Results::PerLane,
        _ if inst.reads().any(|slot| is_special(entry, slot)) => Results::PerLane,
        _ => Results::FromSources,
    }
}

/// Whether an instruction computes each lane's results from that lane's sources and nothing else.
pub(crate) fn computes(op: &Op) -> bool {
    !matches!(
        op,
        Op::Vote { .. }
            | Op::Redux(_)
            | Op::ActiveMask
            | Op::Clock
            | Op::MatchAll
            | Op::MatchAny
            | Op::Shuffle(_)
            | Op::Elect
            | Op::Load(_)
            | Op::Store(_)
            | Op::Atomic(_)
            | Op::Texture(_)
            | Op::Surface(_)
            | Op::ImageQuery(_)
            | Op::CopyAsync(_)
            | Op::Heap(_)
            | Op::Matrix(_)
            | Op::Mbarrier(_)
            | Op::Yield
            | Op::Branch { .. }
            | Op::BranchIndexed { .. }
            | Op::Call(_)
            | Op::Return
            | Op::Exit
            | Op::Trap
            | Op::Barrier(_)
            | Op::Nothing { .. }
    )
}

/// Whether one address names another byte in each lane.
fn is_private(access: &Access) -> bool {
    access.framed || access.space == Space::Local
}

/// Whether a slot holds a special register that differs between lanes.
fn is_special(entry: &Entry, slot: Slot) -> bool {
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
}
