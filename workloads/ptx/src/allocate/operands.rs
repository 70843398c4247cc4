//! The slots of an instruction, read and replaced in one order.

use super::plan::Class;
use crate::program::{Entry, Inst, Op, Slot, SlotKind, Source};

/// What an instruction does with a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Reads it.
    Read,
    /// Is guarded by it.
    Guard,
    /// Writes it, in the lanes that its guard lets through.
    Write,
}

/// Calls `each` with every slot: reads, guard, writes.
pub(crate) fn visit(inst: &Inst, mut each: impl FnMut(Slot, Role)) {
    inst.reads().for_each(|slot| each(slot, Role::Read));
    if let Some(guard) = inst.guard {
        each(guard.predicate, Role::Guard);
    }
    inst.writes().for_each(|slot| each(slot, Role::Write));
}

/// Replaces every slot, in the order of [`visit`].
pub(crate) fn replace(inst: &mut Inst, mut with: impl FnMut(Slot, Role) -> Slot) {
    for slot in inst.src.as_mut_slice() {
        *slot = with(*slot, Role::Read);
    }
    if let Op::Matrix(matrix) = &mut inst.op {
        for slot in &mut matrix.src {
            *slot = with(*slot, Role::Read);
        }
    }
    if let Some(guard) = &mut inst.guard {
        guard.predicate = with(guard.predicate, Role::Guard);
    }
    for slot in inst.dst.as_mut_slice() {
        *slot = with(*slot, Role::Write);
    }
    if let Op::Matrix(matrix) = &mut inst.op {
        for slot in &mut matrix.dst {
            *slot = with(*slot, Role::Write);
        }
    }
}

/// One number for each register of a class, over the banks of an entry.
#[derive(Clone, Copy)]
pub(crate) struct Numbering<'e> {
    entry: &'e Entry,
    class: Class,
}

impl<'e> Numbering<'e> {
    pub fn of(entry: &'e Entry, class: Class) -> Self {
        Self { entry, class }
    }

    /// How many numbers there are.
    pub fn len(self) -> usize {
        self.entry.words.len() + self.entry.doubles.len() + usize::from(self.entry.predicates)
    }

    /// The number of a register; literals, special registers and those of other classes have none.
    #[inline]
    pub fn register(self, slot: Slot) -> Option<usize> {
        if self.class.size(slot.kind) == 0 {
            return None;
        }
        let Entry { words, doubles, .. } = self.entry;
        match slot.kind {
            SlotKind::Word => (words[slot.index()] == Source::Register).then_some(slot.index()),
            SlotKind::Double => {
                (doubles[slot.index()] == Source::Register).then_some(words.len() + slot.index())
            }
            SlotKind::Predicate => Some(words.len() + doubles.len() + slot.index()),
        }
    }
}
