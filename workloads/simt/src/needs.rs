//! From a program's instructions to how they use their sources.
//!
//! What a dependence says of all sources is said here of each, with the literals that stand beside it.

use warpwatt_ptx::Entry;
use warpwatt_ptx::program::{Inst, Slot, SlotKind, Source};
use warpwatt_ptx::traits::{Dependence, Traits};

use crate::trace::{Need, Needs, Register, RegisterKind, Role};

/// How `inst` uses the registers that `sources` lists, each once.
pub(crate) fn needs(entry: &Entry, inst: &Inst, traits: &Traits, sources: &[Register]) -> Needs {
    let mut found: Vec<Option<Need>> = vec![None; sources.len()];
    let mut add = |slot: Slot, need: Need| {
        let place = sources.iter().position(|&source| is_same(source, slot));
        if let Some(place) = place {
            let known = &mut found[place];
            *known = Some(known.map_or(need, |before| before.and(need)));
        }
    };
    for (place, slot) in inst.reads().enumerate() {
        add(slot, of_source(entry, inst, traits.sources, place));
    }
    if let Some(guard) = inst.guard {
        let role = if traits.acts() {
            Role::Always
        } else {
            Role::Guard
        };
        add(guard.predicate, Need { role, bits: 1 });
    }
    Needs {
        sources: found
            .into_iter()
            .map(|it| it.unwrap_or(Need::ALL))
            .collect(),
        opaque: traits.is_opaque(),
    }
}

fn is_same(register: Register, slot: Slot) -> bool {
    let kind = match slot.kind {
        SlotKind::Word => RegisterKind::Word,
        SlotKind::Double => RegisterKind::Double,
        SlotKind::Predicate => RegisterKind::Predicate,
    };
    register.kind == kind && register.number == slot.number
}

/// How an instruction uses its `place`th source.
fn of_source(entry: &Entry, inst: &Inst, sources: Dependence, place: usize) -> Need {
    let need = |role, bits| Need { role, bits };
    let all = |role| need(role, u64::MAX);
    let other = || {
        let slot = inst.src.as_slice().get(1 - place.min(1));
        slot.and_then(|slot| literal(entry, *slot))
    };
    let count = |width: u8| other().filter(|&by| by < u64::from(width));
    match (sources, place) {
        (Dependence::Whole(bits), _) => need(Role::Whole, bits),
        (Dependence::Bitwise(bits), _) => need(Role::Bitwise, bits),
        (Dependence::NotAbove(bits), _) => need(Role::NotAbove, bits),
        (Dependence::And, _) => need(Role::Bitwise, other().unwrap_or(u64::MAX)),
        (Dependence::Or, _) => need(Role::Bitwise, !other().unwrap_or(0)),
        (Dependence::ShiftLeft { width }, 0) => shift(true, false, count(width)),
        (Dependence::ShiftRight { width, signed }, 0) => shift(false, signed, count(width)),
        (Dependence::ShiftLeft { .. } | Dependence::ShiftRight { .. }, _) => all(Role::Whole),
        (Dependence::Select, 0 | 1) => all(Role::Bitwise),
        (Dependence::Select, _) => all(Role::Whole),
        (Dependence::Pack, 0) => all(Role::Shifted(0)),
        (Dependence::Pack, _) => all(Role::Shifted(32)),
        (Dependence::Permute, 0) => all(Role::BitwiseOfLanes),
        (Dependence::Permute, _) | (Dependence::OfLanes, _) => all(Role::OfLanes),
        (Dependence::Address, _) | (Dependence::Stored(_), 0) => all(Role::Address),
        (Dependence::Stored(bits), _) => need(Role::Stored, bits),
        (Dependence::Always, _) => Need::ALL,
    }
}

/// The shifted operand. What an arithmetic shift to the right brings in at the top depends on the sign.
fn shift(left: bool, signed: bool, by: Option<u64>) -> Need {
    let (role, bits) = match by {
        Some(by) if left => (Role::Shifted(by as i8), u64::MAX),
        Some(by) if !signed => (Role::Shifted(-(by as i8)), u64::MAX),
        Some(by) => (Role::Whole, !low_bits(by as u32)),
        None => (Role::Whole, u64::MAX),
    };
    Need { role, bits }
}

/// What a slot always holds.
fn literal(entry: &Entry, slot: Slot) -> Option<u64> {
    match slot.kind {
        SlotKind::Word => match entry.words[slot.index()] {
            Source::Literal(value) => Some(u64::from(value)),
            _ => None,
        },
        SlotKind::Double => match entry.doubles[slot.index()] {
            Source::Literal(value) => Some(value),
            _ => None,
        },
        SlotKind::Predicate => None,
    }
}

/// The `count` lowest bits.
fn low_bits(count: u32) -> u64 {
    1u64.checked_shl(count).map_or(u64::MAX, |end| end - 1)
}
