//! What is known of the values in an entry's registers.

use rustc_hash::FxHashMap;

use crate::allocate::{Class, Liveness, Numbering, members};
use crate::cfg::Blocks;
use crate::program::{Entry, Inst, Long2, LongShift, Op, Slot, SlotKind, Source, Word2, Word3};

/// Depth to which definitions are followed.
const DEPTH: u32 = 12;

/// Definitions and uses.
pub(super) struct Values<'e> {
    pub entry: &'e Entry,
    /// The block of each instruction.
    block: Vec<u32>,
    /// Registers that one instruction writes, without a guard, before anybody reads them.
    single: FxHashMap<Slot, usize>,
    /// Where each register is written.
    writes: FxHashMap<Slot, Vec<usize>>,
    /// How many operands and guards read each register.
    uses: FxHashMap<Slot, u32>,
}

impl<'e> Values<'e> {
    pub fn of(entry: &'e Entry) -> Self {
        let blocks = Blocks::of(&entry.code);
        let mut block = vec![0; entry.code.len()];
        for number in 0..blocks.starts.len() {
            block[blocks.range(number, entry.code.len())].fill(number as u32);
        }
        let mut writes: FxHashMap<Slot, Vec<usize>> = FxHashMap::default();
        let mut uses: FxHashMap<Slot, u32> = FxHashMap::default();
        for (at, inst) in entry.code.iter().enumerate() {
            for slot in inst.writes() {
                writes.entry(slot).or_default().push(at);
            }
            let guard = inst.guard.map(|guard| guard.predicate);
            for slot in inst.reads().chain(guard) {
                *uses.entry(slot).or_default() += 1;
            }
        }
        let mut single: FxHashMap<Slot, usize> = FxHashMap::default();
        for (&slot, places) in &writes {
            if let [only] = places[..]
                && entry.code[only].guard.is_none()
            {
                single.insert(slot, only);
            }
        }
        // What is live at the beginning is read somewhere before it is written.
        for class in [Class::General, Class::Predicate] {
            let numbering = Numbering::of(entry, class);
            let liveness = Liveness::of(entry, &blocks, numbering);
            let early: Vec<u32> = liveness
                .live_in
                .first()
                .map(|live| members(live).map(|at| liveness.globals[at]).collect())
                .unwrap_or_default();
            if !early.is_empty() {
                single.retain(|&slot, _| {
                    let number = numbering.register(slot);
                    number.is_none_or(|number| !early.contains(&(number as u32)))
                });
            }
        }
        Self {
            entry,
            block,
            single,
            writes,
            uses,
        }
    }

    /// How many operands read a register.
    pub fn uses(&self, slot: Slot) -> u32 {
        self.uses.get(&slot).copied().unwrap_or(0)
    }

    /// Whether two instructions stand in one block.
    pub fn together(&self, a: usize, b: usize) -> bool {
        self.block[a] == self.block[b]
    }

    /// Whether a slot holds a literal or a special register.
    pub fn is_preset(&self, slot: Slot) -> bool {
        match slot.kind {
            SlotKind::Word => self.entry.words[slot.index()] != Source::Register,
            SlotKind::Double => self.entry.doubles[slot.index()] != Source::Register,
            SlotKind::Predicate => false,
        }
    }

    /// Where a register's only value is made.
    pub fn definition(&self, slot: Slot) -> Option<usize> {
        self.single.get(&slot).copied()
    }

    /// Whether a slot is written between two instructions of one block.
    pub fn is_written_between(&self, slot: Slot, from: usize, to: usize) -> bool {
        let places = self.writes.get(&slot);
        places.is_some_and(|places| places.iter().any(|&at| from < at && at < to))
    }

    /// Whether a slot still holds at `to` what it held at `from`, where whatever is executed at `to` was executed at `from` before.
    pub fn keeps(&self, slot: Slot, from: usize, to: usize) -> bool {
        self.is_preset(slot)
            || self.single.contains_key(&slot)
            || from < to && self.together(from, to) && !self.is_written_between(slot, from, to)
    }

    /// What makes a register's only value, if its operands are still there at `at`.
    pub fn foldable(&self, slot: Slot, at: usize) -> Option<&'e Inst> {
        let from = self.definition(slot)?;
        let inst = &self.entry.code[from];
        let kept = inst.reads().all(|read| self.keeps(read, from, at));
        (kept && inst.op.traits().is_pure()).then_some(inst)
    }

    /// The literal in a word.
    pub fn literal(&self, slot: Slot) -> Option<u32> {
        match slot.kind {
            SlotKind::Word => match self.entry.words[slot.index()] {
                Source::Literal(value) => Some(value),
                _ => None,
            },
            _ => None,
        }
    }

    /// The literal in a double.
    pub fn long_literal(&self, slot: Slot) -> Option<u64> {
        match slot.kind {
            SlotKind::Double => match self.entry.doubles[slot.index()] {
                Source::Literal(value) => Some(value),
                _ => None,
            },
            _ => None,
        }
    }

    /// Low bits of a value that are surely zero.
    pub fn zeros(&self, slot: Slot) -> u32 {
        self.zeros_within(slot, &mut Vec::new())
    }

    /// A register that is being looked at is taken to have any number of them: what it is made of has to have them without it, and no operation below loses
    /// any that its operands have.
    fn zeros_within(&self, slot: Slot, open: &mut Vec<Slot>) -> u32 {
        if let Some(value) = self.literal(slot) {
            return value.trailing_zeros();
        }
        if let Some(value) = self.long_literal(slot) {
            return value.trailing_zeros();
        }
        if self.is_preset(slot) || open.len() as u32 > DEPTH {
            return 0;
        }
        if open.contains(&slot) {
            return u64::BITS;
        }
        let Some(places) = self.writes.get(&slot) else {
            return u64::BITS;
        };
        open.push(slot);
        let least = places
            .iter()
            .map(|&at| self.made(&self.entry.code[at], open))
            .min();
        open.pop();
        least.unwrap_or(0)
    }

    fn made(&self, inst: &Inst, open: &mut Vec<Slot>) -> u32 {
        let src = inst.src;
        let mut of = |at: usize| self.zeros_within(src[at], open);
        match &inst.op {
            Op::Word1(crate::program::Word1::Copy) | Op::Long1(crate::program::Long1::Copy) => {
                of(0)
            }
            Op::Convert(how) if !how.from.is_float() && !how.to.is_float() && !how.saturate => {
                of(0)
            }
            Op::Word2(Word2::Add | Word2::Sub | Word2::Or | Word2::Xor)
            | Op::Long2(Long2::Add | Long2::Sub | Long2::Or | Long2::Xor) => of(0).min(of(1)),
            Op::Word2(Word2::And) | Op::Long2(Long2::And) => of(0).max(of(1)),
            Op::Word2(Word2::Mul) | Op::Long2(Long2::Mul) | Op::MulWide { .. } => of(0) + of(1),
            Op::Word3(Word3::Mad) | Op::MadWide { .. } => (of(0) + of(1)).min(of(2)),
            Op::Word3(Word3::Add3) => of(0).min(of(1)).min(of(2)),
            Op::Word2(Word2::Shl) => of(0) + self.literal(src[1]).unwrap_or(0).min(31),
            Op::LongShift(LongShift::Shl) => of(0) + self.literal(src[1]).unwrap_or(0).min(63),
            _ => 0,
        }
    }
}
