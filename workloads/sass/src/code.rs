//! The static instructions that a trace names, as they are met, and in the end in the order of their places.

use rustc_hash::FxHashMap;
use warpwatt_simt::trace::{Space, StaticInst};

use crate::fault::Fault;
use crate::header::Header;
use crate::instruction::{ends_block, instruction, nothing};
use crate::line::{Line, Names};

/// Instructions between the first and the last of a kernel: 4 MiB of machine code.
const MOST_PLACES: u32 = 1 << 18;

/// Instructions by the order in which they were met.
#[derive(Debug, Default)]
pub(crate) struct Code {
    insts: Vec<StaticInst>,
    /// How each is written.
    texts: Vec<String>,
    /// Of each its place: bytes from the beginning of its function, over those of an instruction.
    places: Vec<u32>,
    known: FxHashMap<u32, Vec<Variant>>,
}

/// What one place was seen to hold: functions of a program count their places each from zero, and a generic access may go to one space or another.
#[derive(Debug)]
struct Variant {
    opcode: String,
    destinations: Names,
    sources: Names,
    space: Option<Space>,
    number: u32,
}

/// Instructions in the order of their places.
pub(crate) struct Ordered {
    pub code: Vec<StaticInst>,
    /// How each is written, a line each; each instruction's line is its own.
    pub listing: Vec<String>,
    /// The new number of each, by its old one.
    pub numbers: Vec<u32>,
}

impl Code {
    /// The number of a line's instruction.
    pub fn number(
        &mut self,
        line: &Line<'_>,
        space: Option<Space>,
        header: &Header,
    ) -> Result<u32, Fault> {
        let place = line.pc / header.instruction_bytes();
        let known = self.known.entry(place).or_default();
        let same = known.iter().find(|it| {
            it.space == space
                && it.opcode == line.opcode
                && it.destinations == line.destinations
                && it.sources == line.sources
        });
        if let Some(same) = same {
            return Ok(same.number);
        }
        if place >= MOST_PLACES {
            let message = format!("program counter {:#x} is beyond 4 MiB of code", line.pc);
            return Err(Fault::new(message));
        }
        if self.insts.len() as u32 >= MOST_PLACES {
            return Err(Fault::new(
                "its instructions are never the same at one place",
            ));
        }
        let number = self.insts.len() as u32;
        self.insts.push(instruction(line, space)?);
        self.texts.push(written(line));
        self.places.push(place);
        known.push(Variant {
            opcode: line.opcode.to_owned(),
            destinations: line.destinations,
            sources: line.sources,
            space,
            number,
        });
        Ok(number)
    }

    /// A warp goes to an instruction from elsewhere than from the one before: a block begins there.
    pub fn entered(&mut self, number: u32, from: Option<u32>) {
        let place = |number: u32| self.places[number as usize];
        if from.is_none_or(|from| place(from).checked_add(1) != Some(place(number))) {
            self.insts[number as usize].release.leader = true;
        }
    }

    /// All of them by their places, with nothing where none was met; what shares a place with one that was met earlier stands behind all.
    pub fn ordered(self) -> Ordered {
        let last = self.places.iter().max().map_or(0, |last| last + 1);
        let mut code: Vec<StaticInst> = (0..last).map(|_| nothing()).collect();
        let mut listing = vec![String::new(); last as usize];
        let mut taken = vec![false; last as usize];
        let mut numbers = Vec::with_capacity(self.insts.len());
        let texts = self.texts.into_iter();
        for ((inst, text), place) in self.insts.into_iter().zip(texts).zip(self.places) {
            let place = place as usize;
            if std::mem::replace(&mut taken[place], true) {
                numbers.push(code.len() as u32);
                code.push(inst);
                listing.push(text);
            } else {
                numbers.push(place as u32);
                code[place] = inst;
                listing[place] = text;
            }
        }
        for (line, inst) in (1..).zip(&mut code) {
            inst.line = line;
        }
        for at in 1..code.len() {
            if ends_block(&code[at - 1]) {
                code[at].release.leader = true;
            }
        }
        Ordered {
            code,
            listing,
            numbers,
        }
    }
}

/// An instruction as a listing has it, with its place behind.
fn written(line: &Line<'_>) -> String {
    let registers = line.destinations.iter().chain(line.sources.iter());
    let registers: Vec<String> = registers.map(ToString::to_string).collect();
    format!(
        "{} {} ; // {:#06x}",
        line.opcode,
        registers.join(", "),
        line.pc
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instruction::space;

    fn number(code: &mut Code, text: &str) -> u32 {
        let header = Header {
            version: 4,
            binary: 70,
            ..Header::default()
        };
        let line = Line::parse(text, &header).unwrap();
        code.number(&line, space(&line, &header), &header).unwrap()
    }

    #[test]
    fn places_in_order_whatever_came_first() {
        let mut code = Code::default();
        let exit = number(&mut code, "0030 1 0 EXIT 0 0 0");
        let first = number(&mut code, "0000 1 1 R1 MOV 1 R2 0 0");
        let other = number(&mut code, "0000 1 1 R3 MOV 1 R2 0 0");
        assert_eq!(number(&mut code, "0000 3 1 R1 MOV 1 R2 0 0"), first);
        let Ordered {
            code,
            listing,
            numbers,
        } = code.ordered();
        assert_eq!(listing[3], "EXIT  ; // 0x0030");
        assert_eq!(listing[0], "MOV R1, R2 ; // 0x0000");
        assert_eq!(code[4].line, 5);
        assert_eq!(numbers[exit as usize], 3);
        assert_eq!(numbers[first as usize], 0);
        assert_eq!(numbers[other as usize], 4);
        assert_eq!(code.len(), 5);
        assert_eq!(code[1].sources, [], "a hole");
        assert!(code[4].release.leader, "behind an exit");
    }
}
