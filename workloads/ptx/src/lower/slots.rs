//! Giving registers, literals and special registers their slots.

use rustc_hash::FxHashMap;

use crate::ast::Variable;
use crate::error::PtxError;
use crate::program::{Slot, SlotKind, Source, Special};
use crate::types::Type;

/// More registers than any compiler gives a kernel; slots are numbered in 16 bits.
const MAX_SLOTS: usize = 60_000;

#[derive(Default)]
pub(super) struct Slots<'s> {
    pub words: Vec<Source<u32>>,
    pub doubles: Vec<Source<u64>>,
    pub predicates: u16,
    known_words: FxHashMap<Source<u32>, Slot>,
    known_doubles: FxHashMap<Source<u64>, Slot>,
    scopes: Vec<Scope<'s>>,
    full: bool,
}

/// Registers declared between one pair of braces.
#[derive(Default)]
pub(super) struct Scope<'s> {
    /// Registers by full name; families' members appear when first named.
    registers: FxHashMap<&'s str, Slot>,
    /// Declared names without a count, and families `%r<10>` by prefix.
    single: FxHashMap<&'s str, SlotKind>,
    families: FxHashMap<&'s str, (SlotKind, u64)>,
}

pub(super) fn slot_kind(element: Type) -> SlotKind {
    match element {
        Type::Pred => SlotKind::Predicate,
        element if element.bytes() == 8 => SlotKind::Double,
        _ => SlotKind::Word,
    }
}

impl<'s> Slots<'s> {
    /// Hides all declared registers, for a function of its own; gives them back for [`reveal`](Self::reveal).
    pub fn hide(&mut self) -> Vec<Scope<'s>> {
        std::mem::take(&mut self.scopes)
    }

    pub fn reveal(&mut self, hidden: Vec<Scope<'s>>) {
        self.scopes = hidden;
    }

    pub fn open(&mut self) {
        self.scopes.push(Scope::default());
    }

    pub fn close(&mut self) {
        self.scopes.pop();
    }

    /// Whether more slots were asked for than there can be.
    pub fn overflowed(&self) -> bool {
        self.full
    }

    pub fn declare(&mut self, variable: &Variable<'s>) -> Result<(), PtxError> {
        let element = variable.element.text;
        let kind = match Type::of(element) {
            Some(element) => slot_kind(element),
            None => {
                return Err(PtxError::new(
                    variable.element.span.clone(),
                    format!("registers of type `.{element}` are not supported"),
                ));
            }
        };
        let Some(scope) = self.scopes.last_mut() else {
            return Ok(());
        };
        let name = variable.name.text;
        match variable.parameterized {
            Some(count) => {
                scope.families.insert(name, (kind, count));
            }
            None => {
                scope.single.insert(name, kind);
            }
        }
        Ok(())
    }

    /// The slot of a register; `None` if no such register is declared.
    pub fn register(&mut self, name: &'s str) -> Option<Slot> {
        for depth in (0..self.scopes.len()).rev() {
            let scope = &self.scopes[depth];
            if let Some(&slot) = scope.registers.get(name) {
                return Some(slot);
            }
            if let Some(kind) = scope.kind_of(name) {
                let slot = self.fresh(kind);
                self.scopes[depth].registers.insert(name, slot);
                return Some(slot);
            }
        }
        None
    }

    /// A slot that no name refers to.
    pub fn fresh(&mut self, kind: SlotKind) -> Slot {
        let number = match kind {
            SlotKind::Word => self.words.len(),
            SlotKind::Double => self.doubles.len(),
            SlotKind::Predicate => usize::from(self.predicates),
        };
        if number >= MAX_SLOTS {
            self.full = true;
            return Slot { kind, number: 0 };
        }
        match kind {
            SlotKind::Word => self.words.push(Source::Register),
            SlotKind::Double => self.doubles.push(Source::Register),
            SlotKind::Predicate => self.predicates += 1,
        }
        Slot {
            kind,
            number: number as u16,
        }
    }

    pub fn word_literal(&mut self, value: u32) -> Slot {
        self.preset_word(Source::Literal(value))
    }

    pub fn double_literal(&mut self, value: u64) -> Slot {
        self.preset_double(Source::Literal(value))
    }

    pub fn special_word(&mut self, special: Special) -> Slot {
        self.preset_word(Source::Special(special))
    }

    pub fn special_double(&mut self, special: Special) -> Slot {
        self.preset_double(Source::Special(special))
    }

    fn preset_word(&mut self, source: Source<u32>) -> Slot {
        if let Some(&slot) = self.known_words.get(&source) {
            return slot;
        }
        let slot = self.fresh(SlotKind::Word);
        if !self.full {
            self.words[slot.index()] = source;
        }
        self.known_words.insert(source, slot);
        slot
    }

    fn preset_double(&mut self, source: Source<u64>) -> Slot {
        if let Some(&slot) = self.known_doubles.get(&source) {
            return slot;
        }
        let slot = self.fresh(SlotKind::Double);
        if !self.full {
            self.doubles[slot.index()] = source;
        }
        self.known_doubles.insert(source, slot);
        slot
    }
}

impl Scope<'_> {
    fn kind_of(&self, name: &str) -> Option<SlotKind> {
        if let Some(&kind) = self.single.get(name) {
            return Some(kind);
        }
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let &(kind, count) = self.families.get(prefix)?;
        let number: u64 = name[prefix.len()..].parse().ok()?;
        (number < count).then_some(kind)
    }
}
