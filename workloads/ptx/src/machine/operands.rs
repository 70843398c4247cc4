//! An instruction has room for one literal or constant: others come from registers, which are filled once.

use rustc_hash::FxHashMap;

use super::edit::{fresh, rebuild};
use crate::allocate::{Role, replace};
use crate::program::{Entry, Inst, Long1, Machine, Op, Operands, Slot, SlotKind, Source, Word1};

/// Fills registers at the beginning; first of all that of the stack, as all code for Volta and Turing does (`R1 = c[0x0][0x28]`).
pub(super) fn run(entry: &mut Entry) {
    let mut kept: FxHashMap<Slot, Slot> = FxHashMap::default();
    let mut order = Vec::new();
    let mut code = std::mem::take(&mut entry.code);
    for inst in &mut code {
        for slot in surplus(entry, inst) {
            let register = *kept.entry(slot).or_insert_with(|| {
                order.push(slot);
                fresh(entry, slot.kind)
            });
            replace(inst, |read, role| match role {
                Role::Read if read == slot => register,
                _ => read,
            });
        }
    }
    entry.code = code;
    // What it costs is told of the line that comes first.
    let line = entry.code.first().map_or(0, |inst| inst.line);
    let mut first = vec![stack(line)];
    first.extend(order.iter().map(|slot| fill(*slot, kept[slot], line)));
    rebuild(entry, |code, at, inst| {
        if at == 0 {
            code.append(&mut first);
        }
        code.push(inst);
    });
}

/// Presets that an instruction reads beyond the one that it has room for: literals before parameters, since several instructions may share one. Zero is a
/// register of its own (`RZ`); bases of addresses have fields.
fn surplus(entry: &Entry, inst: &Inst) -> Vec<Slot> {
    let is_store = matches!(inst.op, Op::Store(_) | Op::Atomic(_));
    let reads = inst.reads().enumerate();
    let mut presets: Vec<Slot> = reads
        .filter(|&(place, slot)| {
            let is_address = place == 0 && inst.op.traits().memory.is_some();
            !is_address && is_operand(entry, slot)
        })
        .map(|(_, slot)| slot)
        .collect();
    presets.sort_by_key(|&slot| (!is_parameter(entry, slot), slot));
    presets.dedup();
    // What is stored comes from registers.
    presets.split_off(presets.len().min(usize::from(!is_store)))
}

fn is_parameter(entry: &Entry, slot: Slot) -> bool {
    match slot.kind {
        SlotKind::Word => matches!(entry.words[slot.index()], Source::Special(_)),
        SlotKind::Double => matches!(entry.doubles[slot.index()], Source::Special(_)),
        SlotKind::Predicate => false,
    }
}

/// Whether a slot is a literal other than zero, or a parameter.
fn is_operand(entry: &Entry, slot: Slot) -> bool {
    match slot.kind {
        SlotKind::Word => !matches!(
            entry.words[slot.index()],
            Source::Register | Source::Literal(0)
        ),
        SlotKind::Double => !matches!(
            entry.doubles[slot.index()],
            Source::Register | Source::Literal(0)
        ),
        SlotKind::Predicate => false,
    }
}

fn fill(from: Slot, to: Slot, line: u32) -> Inst {
    let op = match from.kind {
        SlotKind::Double => Op::Long1(Long1::Copy),
        _ => Op::Word1(Word1::Copy),
    };
    Inst {
        op,
        guard: None,
        dst: to.into(),
        src: from.into(),
        line,
    }
}

fn stack(line: u32) -> Inst {
    Inst {
        op: Op::Part(Machine::Int),
        guard: None,
        dst: Operands::default(),
        src: Operands::default(),
        line,
    }
}
