//! Idempotent regions: what a warp may execute again from their beginning, whatever of it was done.
//!
//! A region ends behind the instruction that overwrites what the region has read before it wrote it itself (M. de Kruijf, K. Sankaralingam, S. Jha, PLDI 2012; on GPUs:
//! J. Menon, M. de Kruijf, K. Sankaralingam, ISCA 2012). That instruction is still in it: its own result is held back until it is known to be in time. A region also ends behind what others
//! see at once: barriers, atomics, and what goes on while the warp does.

use std::collections::{BTreeMap, BTreeSet};

use warpwatt_gpu::trace::{
    Asynchronous, LaneMask, MemoryOp, MemoryOpKind, Register, RegisterKind, Space, StaticInst,
    Step, Unit,
};

/// Bytes that are followed together.
const WORD: u64 = 4;

/// What ends a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Registers and memory that are overwritten.
    Overwritten,
    /// Memory that is: a compiler gives overwritten values registers of their own.
    Memory,
    /// Every instruction.
    Instruction,
}

/// The region of a warp that is open.
#[derive(Clone, Debug)]
pub(super) struct Region {
    rule: Rule,
    /// Lanes of each register that were read before they were written, and that were written.
    read: BTreeMap<Place, LaneMask>,
    written: BTreeMap<Place, LaneMask>,
    /// The same of words of memory.
    loaded: BTreeSet<u64>,
    stored: BTreeSet<u64>,
}

impl Region {
    pub fn new(rule: Rule) -> Self {
        Self {
            rule,
            read: BTreeMap::new(),
            written: BTreeMap::new(),
            loaded: BTreeSet::new(),
            stored: BTreeSet::new(),
        }
    }

    /// A warp executes the next instruction; says whether the region ends behind it. Another begins then.
    pub fn ends_behind(&mut self, inst: &StaticInst, step: &Step) -> bool {
        let ends = self.rule == Rule::Instruction
            || is_seen_at_once(inst)
            || self.overwrites_registers(inst, step)
            || self.overwrites_memory(inst, step);
        if ends {
            *self = Self::new(self.rule);
        }
        ends
    }

    fn overwrites_registers(&mut self, inst: &StaticInst, step: &Step) -> bool {
        if self.rule == Rule::Memory {
            return false;
        }
        for place in inst.sources.iter().flat_map(places) {
            let written = self.written.get(&place).copied().unwrap_or(0);
            *self.read.entry(place).or_insert(0) |= place.lanes(step) & !written;
        }
        let mut overwrites = false;
        for place in inst.destinations.iter().flat_map(places) {
            let lanes = place.lanes(step);
            overwrites |= self.read.get(&place).copied().unwrap_or(0) & lanes != 0;
            *self.written.entry(place).or_insert(0) |= lanes;
        }
        overwrites
    }

    fn overwrites_memory(&mut self, inst: &StaticInst, step: &Step) -> bool {
        let written_ever =
            |memory: &MemoryOp| memory.space != Space::Const && memory.space != Space::Param;
        let (Some(memory), Some(addresses)) = (inst.memory.filter(written_ever), &step.addresses)
        else {
            return false;
        };
        let mut overwrites = false;
        addresses.for_each(step.executed, |_, address| {
            for word in address / WORD..(address + u64::from(memory.bytes)).div_ceil(WORD) {
                match memory.kind {
                    MemoryOpKind::Load | MemoryOpKind::Texture => {
                        if !self.stored.contains(&word) {
                            self.loaded.insert(word);
                        }
                    }
                    MemoryOpKind::Store | MemoryOpKind::Atomic => {
                        overwrites |= self.loaded.contains(&word);
                        self.stored.insert(word);
                    }
                }
            }
        });
        overwrites
    }
}

/// A 32-bit vector register, or one beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Word(u16),
    Beside(u16),
}

impl Place {
    /// Of a vector register the lanes that execute; registers beside them are read and written as a whole.
    fn lanes(self, step: &Step) -> LaneMask {
        match self {
            Self::Beside(_) if step.executed != 0 => LaneMask::MAX,
            _ => step.executed,
        }
    }
}

/// Where a register lies: a double in two words.
fn places(register: &Register) -> impl Iterator<Item = Place> {
    let number = register.number;
    let (first, second) = match register.kind {
        RegisterKind::Word => (Place::Word(number), None),
        RegisterKind::Double => (Place::Word(2 * number), Some(Place::Word(2 * number + 1))),
        RegisterKind::Predicate => (Place::Beside(number), None),
    };
    std::iter::once(first).chain(second)
}

/// What is done once, when all before it is known to be right: it is not issued before.
pub(super) fn is_done_once(inst: &StaticInst) -> bool {
    let only_waits = matches!(inst.asynchronous, Some(Asynchronous::Outstanding(_)));
    inst.unit == Unit::Barrier || inst.asynchronous.is_some() && !only_waits
}

fn is_seen_at_once(inst: &StaticInst) -> bool {
    is_done_once(inst)
        || inst
            .memory
            .is_some_and(|memory| memory.kind == MemoryOpKind::Atomic)
}
