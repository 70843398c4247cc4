//! A kernel's code with a level for every operand.

use warpwatt_gpu::trace::{KernelTrace, StaticInst, Unit};

use super::allocate::{Place, Sizes, allocate};
use super::values::values;
use crate::register_file::words;

/// A register file that an operand is read from or a result written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The main register file.
    Main,
    /// An entry of the operand register file.
    Operand(u8),
    /// The last result file.
    Last,
}

/// A 32-bit register that an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperandAt {
    /// The register.
    pub word: u16,
    /// Where it is read.
    pub from: Level,
    /// The entry of the operand register file into which it goes besides.
    pub fetched: Option<u8>,
}

/// A 32-bit register that an instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultAt {
    /// The register.
    pub word: u16,
    /// Whether it is written to the main register file.
    pub main: bool,
    /// The smaller one to which it is written.
    pub kept: Option<Level>,
}

/// An instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inst {
    /// A strand begins: the small register files hold nothing.
    pub begins: bool,
    /// Operands, in the order of the sources.
    pub operands: Vec<OperandAt>,
    /// Results.
    pub results: Vec<ResultAt>,
}

/// The code of a launch.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// By instruction.
    pub insts: Vec<Inst>,
}

impl Code {
    /// Decides for `trace`'s code.
    pub fn new(trace: &KernelTrace, sizes: Sizes) -> Self {
        let mut code = Self {
            insts: trace.code.iter().map(plain).collect(),
        };
        let values = values(trace);
        for (value, place) in values.iter().zip(allocate(&values, sizes)) {
            let (level, reads) = match place {
                Place::Main => continue,
                Place::Last => (Level::Last, value.served().len()),
                Place::Operand { entry, reads } => (Level::Operand(entry), reads),
            };
            let whole = reads == value.served().len();
            for (at, outlives) in value.written_for(reads) {
                if let Some(result) = code.result(at, value.word) {
                    result.kept = Some(level);
                    result.main = outlives || !whole;
                }
            }
            if let (true, Level::Operand(entry)) = (value.writes.is_empty(), level)
                && let Some(operand) = code.operand(value.first(), value.word)
            {
                operand.fetched = Some(entry);
            }
            for &at in &value.served()[..reads] {
                if let Some(operand) = code.operand(at, value.word) {
                    operand.from = level;
                }
            }
        }
        code
    }

    fn operand(&mut self, at: u32, word: u16) -> Option<&mut OperandAt> {
        let operands = &mut self.insts[at as usize].operands;
        operands.iter_mut().find(|operand| operand.word == word)
    }

    fn result(&mut self, at: u32, word: u16) -> Option<&mut ResultAt> {
        let results = &mut self.insts[at as usize].results;
        results.iter_mut().find(|result| result.word == word)
    }

    /// 32-bit registers of a thread that the main register file must have.
    pub fn main_registers(&self) -> u32 {
        let used = self.insts.iter().flat_map(|inst| {
            let read = inst.operands.iter();
            let read = read.filter(|operand| operand.from == Level::Main);
            let written = inst.results.iter().filter(|result| result.main);
            read.map(|operand| operand.word)
                .chain(written.map(|result| result.word))
        });
        let mut used: Vec<u16> = used.collect();
        used.sort_unstable();
        used.dedup();
        used.len() as u32
    }
}

/// Everything in the main register file. Barriers read their operands apart from its ports.
fn plain(inst: &StaticInst) -> Inst {
    let sources = inst.sources.iter().filter(|_| inst.unit != Unit::Barrier);
    let operand = |word| OperandAt {
        word,
        from: Level::Main,
        fetched: None,
    };
    let result = |word| ResultAt {
        word,
        main: true,
        kept: None,
    };
    let destinations = inst.destinations.iter();
    Inst {
        begins: inst.marks.begins,
        operands: sources.flat_map(|&it| words(it)).map(operand).collect(),
        results: destinations.flat_map(|&it| words(it)).map(result).collect(),
    }
}
