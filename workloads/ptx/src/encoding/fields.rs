//! Operands in the word: which slot has which field, and what it is with a bit flipped.

use super::{Change, Done};
use crate::program::{Op, Slot, SlotKind, Source};

/// An operand's field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The destination, or what stands there.
    Destination,
    /// The first source.
    Source,
    /// A byte of the payload.
    Byte(u32),
}

/// One of an instruction's operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operand {
    Written(usize),
    Read(usize),
}

/// What the payload holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Payload {
    Target,
    Offset,
    /// The literal that is this source: all of it, or its upper or lower 24 bits beside an operand in the lowest byte.
    Literal(usize, Room),
    Operands,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    All,
    Upper,
    Lower,
}

/// Lowest payload bit of a literal that shares it.
const SHARED: u32 = 8;

impl Change<'_> {
    /// Flips a bit of an 8-bit operand field.
    pub(super) fn operand(&mut self, place: Place, bit: u32) -> Done {
        let Some(operand) = self.at(place) else {
            return Done::Unused;
        };
        let slot = match operand {
            Operand::Written(at) => self.inst.dst[at],
            Operand::Read(at) => self.inst.src[at],
        };
        let Some(other) = self.renamed(slot, bit) else {
            return Done::Illegal;
        };
        match operand {
            Operand::Written(at) => self.inst.dst.as_mut_slice()[at] = other,
            Operand::Read(at) => self.inst.src.as_mut_slice()[at] = other,
        }
        Done::Changed
    }

    /// Flips a bit of the payload.
    pub(super) fn payload(&mut self, bit: u32) -> Done {
        match self.held() {
            Payload::Target => self.target(bit).unwrap_or(Done::Unused),
            Payload::Offset => {
                if let Op::Load(access) | Op::Store(access) = &mut self.inst.op {
                    access.offset ^= 1 << bit;
                } else if let Op::Atomic(atomic) = &mut self.inst.op {
                    atomic.access.offset ^= 1 << bit;
                }
                Done::Changed
            }
            Payload::Literal(_, Room::Upper | Room::Lower) if bit < SHARED => {
                self.operand(Place::Byte(0), bit)
            }
            Payload::Literal(at, room) => {
                let bit = if room == Room::Lower {
                    bit - SHARED
                } else {
                    bit
                };
                self.inst.src.as_mut_slice()[at] = self.literal(self.inst.src[at], bit);
                Done::Changed
            }
            Payload::Operands => self.operand(Place::Byte(bit / 8), bit % 8),
        }
    }

    fn held(&self) -> Payload {
        match &self.inst.op {
            Op::Branch { .. } => Payload::Target,
            Op::Load(_) | Op::Store(_) | Op::Atomic(_) => Payload::Offset,
            _ => self.literal_held().unwrap_or(Payload::Operands),
        }
    }

    /// The first literal, and how much of it there is room for.
    fn literal_held(&self) -> Option<Payload> {
        let sources = self.inst.src.as_slice();
        let at = sources
            .iter()
            .position(|&slot| self.value(slot).is_some())?;
        let value = self.value(sources[at])? as u32;
        let fields = if self.inst.dst.as_slice().is_empty() {
            2
        } else {
            1
        };
        let room = match (sources.len() - 1 > fields, value & 0xff) {
            (false, _) => Room::All,
            (true, 0) => Room::Upper,
            (true, _) => Room::Lower,
        };
        Some(Payload::Literal(at, room))
    }

    /// The operand in a field.
    fn at(&self, place: Place) -> Option<Operand> {
        let written = self.inst.dst.as_slice().len();
        let literal = match self.held() {
            Payload::Literal(at, _) => Some(at),
            _ => None,
        };
        let reads = 0..self.inst.src.as_slice().len();
        let mut reads = reads.filter(|at| Some(*at) != literal);
        match place {
            Place::Destination if written > 0 => Some(Operand::Written(0)),
            Place::Destination => reads.nth(1).map(Operand::Read),
            Place::Source => reads.next().map(Operand::Read),
            Place::Byte(3) => (written > 1).then_some(Operand::Written(1)),
            Place::Byte(byte) => {
                let before = if written > 0 { 1 } else { 2 };
                reads.nth(before + byte as usize).map(Operand::Read)
            }
        }
    }

    /// The value of a literal.
    fn value(&self, slot: Slot) -> Option<u64> {
        let word = |source: &Source<u32>| match source {
            Source::Literal(value) => Some(u64::from(*value)),
            _ => None,
        };
        let double = |source: &Source<u64>| match source {
            Source::Literal(value) => Some(*value),
            _ => None,
        };
        match slot.kind {
            SlotKind::Word => self.entry.words.get(slot.index()).and_then(word),
            SlotKind::Double => self.entry.doubles.get(slot.index()).and_then(double),
            SlotKind::Predicate => None,
        }
    }

    /// A literal with another value.
    fn literal(&mut self, slot: Slot, bit: u32) -> Slot {
        let value = self.value(slot).unwrap_or(0) ^ 1 << bit;
        match slot.kind {
            SlotKind::Double => self.new_double(Source::Literal(value)),
            _ => self.new_word(Source::Literal(value as u32)),
        }
    }

    fn new_word(&mut self, source: Source<u32>) -> Slot {
        self.words.push(source);
        let number = self.entry.words.len() + self.words.len() - 1;
        Slot {
            kind: SlotKind::Word,
            number: number as u16,
        }
    }

    fn new_double(&mut self, source: Source<u64>) -> Slot {
        self.doubles.push(source);
        let number = self.entry.doubles.len() + self.doubles.len() - 1;
        Slot {
            kind: SlotKind::Double,
            number: number as u16,
        }
    }

    /// What an 8-bit field names with a bit flipped; nothing if there is no such register.
    ///
    /// Registers of another width are other registers to a functional execution: where only they have the number, what is read is zero and what is written
    /// is lost. Literals and special registers without a field of their own are numbers in the table of these, as in a bank of constants.
    fn renamed(&mut self, slot: Slot, bit: u32) -> Option<Slot> {
        let (registers, presets) = match slot.kind {
            SlotKind::Predicate if bit >= 3 => return None,
            SlotKind::Predicate => {
                let number = slot.number ^ 1 << bit;
                return (number < super::ALWAYS).then(|| self.predicate(number));
            }
            SlotKind::Word => split(&self.entry.words),
            SlotKind::Double => split(&self.entry.doubles),
        };
        if slot.index() >= registers {
            let number = (slot.index() - registers) ^ 1 << bit;
            return Some(if number < presets {
                Slot {
                    number: (registers + number) as u16,
                    ..slot
                }
            } else {
                self.absent(slot.kind)
            });
        }
        let words = usize::from(slot.kind == SlotKind::Double) + 1;
        let number = (slot.index() * words) ^ 1 << bit;
        // Pairs begin at even numbers.
        if number >= self.entry.registers as usize || !number.is_multiple_of(words) {
            return None;
        }
        let number = number / words;
        Some(if number < registers {
            Slot {
                number: number as u16,
                ..slot
            }
        } else {
            self.absent(slot.kind)
        })
    }

    /// A register that the kernel does not use: zero until it is written.
    fn absent(&mut self, kind: SlotKind) -> Slot {
        match kind {
            SlotKind::Double => self.new_double(Source::Register),
            _ => self.new_word(Source::Register),
        }
    }
}

/// How many registers there are, and how many slots that are none behind them.
fn split<T>(slots: &[Source<T>]) -> (usize, usize) {
    let registers = slots
        .iter()
        .take_while(|slot| matches!(slot, Source::Register));
    let registers = registers.count();
    (registers, slots.len() - registers)
}
