//! Whether an instruction's results can differ between lanes.

use warpwatt_ptx::Entry;
use warpwatt_ptx::divergence::Lanes;
use warpwatt_ptx::program::{Inst, Slot, SlotKind, Source, Special};

use crate::trace::Results;
use crate::warp::mask;

pub(crate) fn results(entry: &Entry, inst: &Inst, lanes: Lanes) -> Results {
    match lanes {
        // Lanes that name others have other results.
        Lanes::Same if !names_all(entry, inst) => Results::PerLane,
        Lanes::Same => Results::Same,
        Lanes::Own => Results::PerLane,
        Lanes::Sources if inst.reads().any(|slot| is_special(entry, slot)) => Results::PerLane,
        Lanes::Sources => Results::FromSources,
    }
}

/// Whether an instruction is no collective, or one of all lanes wherever it is.
fn names_all(entry: &Entry, inst: &Inst) -> bool {
    let all = Source::Literal(u32::MAX);
    mask(inst).is_none_or(|mask| entry.words[mask.index()] == all)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_some_lanes_agree_on_is_not_the_same_in_all() {
        let text = "\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k() { .reg .b32 %r<4>; .reg .pred %p<3>;
 vote.sync.any.pred %p1, %p2, 0xffffffff; vote.sync.any.pred %p1, %p2, 0xff; redux.sync.add.s32 %r1, %r2, %r3; vote.any.pred %p1, %p2; ret; }
";
        let module = warpwatt_ptx::load(text).unwrap();
        let entry = &module.entries[0];
        let results = |at: usize| {
            let inst = &entry.code[at];
            results(entry, inst, inst.op.traits().lanes)
        };
        let found: Vec<Results> = (0..4).map(results).collect();
        assert_eq!(
            found,
            [
                Results::Same,
                Results::PerLane,
                Results::PerLane,
                Results::Same
            ]
        );
    }
}
