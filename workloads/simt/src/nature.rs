//! Whether an instruction's results can differ between lanes.

use warpwatt_ptx::Entry;
use warpwatt_ptx::divergence::Lanes;
use warpwatt_ptx::program::{Inst, Slot, SlotKind, Source, Special};

use crate::trace::Results;

pub(crate) fn results(entry: &Entry, inst: &Inst, lanes: Lanes) -> Results {
    match lanes {
        Lanes::Same => Results::Same,
        Lanes::Own => Results::PerLane,
        Lanes::Sources if inst.reads().any(|slot| is_special(entry, slot)) => Results::PerLane,
        Lanes::Sources => Results::FromSources,
    }
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
