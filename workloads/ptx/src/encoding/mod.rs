//! A 64-bit instruction word for lowered instructions, so that bits of an instruction buffer have a meaning.
//!
//! PTX has no binary encoding, and those of GPUs are not published. This one is a model with the fields and widths that published descriptions of 64-bit
//! GPU words agree on: a guard of three bits and its negation, 8-bit register numbers, a 32-bit field for a literal, an address offset or a branch target,
//! and what is left for the operation. From the lowest bit:
//!
//! | bits | field |
//! | --- | --- |
//! | 0-2, 3 | guard predicate (7: always), its negation |
//! | 4-11 | destination; of instructions without one (stores) the next source |
//! | 12-19 | first source that is no literal |
//! | 20-51 | literal, offset or target; or else three more 8-bit operands, the last byte being a second destination |
//! | 52-57 | function within its family |
//! | 58-63 | family |
//!
//! Rounding, flush and saturation, matrix fragments, operands for which no field is left and upper halves of 64-bit literals are not in the word.

mod fields;
mod functions;

use crate::program::{Entry, Guard, Inst, Op, Slot, SlotKind};

/// Bits of the word.
pub const WORD_BITS: u32 = 64;

/// What a word is with one bit flipped.
#[derive(Clone, Debug)]
pub enum Flipped {
    /// The bit belongs to no field of this instruction.
    Unused,
    /// No such instruction, or no such register.
    Illegal,
    /// Another instruction: the program with it, with the literals that it needs behind those of the kernel.
    Changed(Box<Entry>),
}

/// Bits of the fields, by where they begin.
const GUARD: u32 = 0;
const NEGATION: u32 = 3;
const DESTINATION: u32 = 4;
const SOURCE: u32 = 12;
const PAYLOAD: u32 = 20;
const FUNCTION: u32 = 52;
const FAMILY: u32 = 58;

/// The guard that always holds.
const ALWAYS: u16 = 7;

/// The program with a bit of the word of instruction `at` flipped.
///
/// # Panics
/// If there is no such instruction, or no such bit.
pub fn flip(entry: &Entry, at: u32, bit: u32) -> Flipped {
    assert!(bit < WORD_BITS, "a word has {WORD_BITS} bits");
    let inst = &entry.code[at as usize];
    let mut change = Change {
        entry,
        inst: inst.clone(),
        words: Vec::new(),
        doubles: Vec::new(),
        predicates: entry.predicates,
    };
    let done = match bit {
        ..DESTINATION => change.guard(bit),
        DESTINATION..SOURCE => change.operand(fields::Place::Destination, bit - DESTINATION),
        SOURCE..PAYLOAD => change.operand(fields::Place::Source, bit - SOURCE),
        PAYLOAD..FUNCTION => change.payload(bit - PAYLOAD),
        FUNCTION..FAMILY => change.function(1 << (bit - FUNCTION)),
        _ => Done::Illegal,
    };
    match done {
        Done::Unused => Flipped::Unused,
        Done::Illegal => Flipped::Illegal,
        Done::Changed => Flipped::Changed(Box::new(change.program(at))),
    }
}

/// How a change went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Done {
    Unused,
    Illegal,
    Changed,
}

/// An instruction that changes.
struct Change<'e> {
    entry: &'e Entry,
    inst: Inst,
    /// Literals and registers that the program does not have.
    words: Vec<crate::program::Source<u32>>,
    doubles: Vec<crate::program::Source<u64>>,
    predicates: u16,
}

impl Change<'_> {
    fn guard(&mut self, bit: u32) -> Done {
        let (number, negated) = match self.inst.guard {
            Some(guard) => (guard.predicate.number, guard.negated),
            None => (ALWAYS, false),
        };
        let (number, negated) = match bit {
            NEGATION => (number, !negated),
            bit => (number ^ 1 << (bit - GUARD), negated),
        };
        if number > ALWAYS {
            return Done::Illegal;
        }
        self.inst.guard = match (number, negated) {
            (ALWAYS, false) => None,
            // Never: a predicate that nobody sets.
            (ALWAYS, true) => Some(Guard {
                predicate: self.fresh_predicate(),
                negated: false,
            }),
            (number, negated) => Some(Guard {
                predicate: self.predicate(number),
                negated,
            }),
        };
        Done::Changed
    }

    /// A predicate register; one that the kernel does not use is false.
    fn predicate(&mut self, number: u16) -> Slot {
        if number >= self.entry.predicates {
            return self.fresh_predicate();
        }
        Slot {
            kind: SlotKind::Predicate,
            number,
        }
    }

    fn fresh_predicate(&mut self) -> Slot {
        let number = self.predicates;
        self.predicates += 1;
        Slot {
            kind: SlotKind::Predicate,
            number,
        }
    }

    /// Another function of the same family.
    fn function(&mut self, mask: usize) -> Done {
        match functions::other(&self.inst, mask) {
            Some(op) => {
                self.inst.op = op;
                Done::Changed
            }
            None => Done::Illegal,
        }
    }

    /// A bit of a branch target.
    fn target(&mut self, bit: u32) -> Option<Done> {
        let Op::Branch { target, .. } = &mut self.inst.op else {
            return None;
        };
        *target ^= 1 << bit;
        let exists = (*target as usize) < self.entry.code.len();
        Some(if exists { Done::Changed } else { Done::Illegal })
    }

    /// The program with the changed instruction.
    fn program(self, at: u32) -> Entry {
        let mut program = self.entry.clone();
        program.code[at as usize] = self.inst;
        program.words.extend(self.words);
        program.doubles.extend(self.doubles);
        program.predicates = self.predicates;
        program
    }
}

#[cfg(test)]
mod tests;
