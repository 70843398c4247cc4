//! A single bit that flips while a work-group runs, and what a wavefront does from then on.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;
use warpwatt_simt::trace::{Register, RegisterKind, StaticInst};

use crate::decode::{Inst, Place, decode};
use crate::error::Cause;
use crate::exec::World;
use crate::op::Op;
use crate::program::{NOWHERE, Placed, Program};
use crate::statics::static_instruction;
use crate::wave::{Flow, LANES, Stop, Wave, WaveFault};

/// A flip, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Upset<'u> {
    /// Something that belongs to a wavefront.
    Wave {
        /// Its number in its work-group.
        wave: usize,
        /// How many instructions it has executed.
        executed: u64,
        /// What flips then.
        what: Flip,
    },
    /// A bit of the local data share.
    Share {
        /// How many instructions each wavefront has executed when it flips: a cut that a run of the work-group can be stopped at, barriers considered.
        cut: &'u [u64],
        /// Which bit, counted from the lowest of the first byte.
        bit: u64,
    },
}

/// What flips in a wavefront.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "named as everywhere")]
pub enum Flip {
    /// A lane's bit of a vector register.
    Vector { register: u8, lane: u8, bit: u8 },
    /// A bit of a scalar register; VCC, M0 and EXEC among them by their numbers.
    Scalar { register: u8, bit: u8 },
    /// The scalar condition code.
    Condition,
    /// A bit of the program counter.
    Counter { bit: u8 },
    /// A bit of the next instruction's words, for the one time that it is executed.
    Word { bit: u8 },
}

/// What a wavefront did to its state, instruction by instruction: digests of place, lanes, operands of memory accesses, and results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tape {
    /// A digest an instruction.
    pub effects: Vec<u64>,
    /// A digest of all registers behind the last one.
    pub state: u64,
}

/// Which part of a wavefront's way goes on a tape.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    pub wave: usize,
    /// From this instruction on, to this one: the work-group is left behind it.
    pub from: u64,
    pub until: u64,
    pub tape: Tape,
}

impl Watch {
    /// Whether everything that was asked for is there.
    pub fn is_over(&self, number: usize, wave: &Wave) -> bool {
        number == self.wave && wave.counts.instructions >= self.until
    }
}

impl Wave {
    /// Flips a bit; the next instruction as it is executed instead if it is its word that is struck.
    pub fn strike(
        &mut self,
        flip: Flip,
        program: &Program,
        words: &[u32],
    ) -> Result<Option<Inst>, Cause> {
        self.touch_all_vectors();
        match flip {
            Flip::Vector {
                register,
                lane,
                bit,
            } => {
                self.vectors[usize::from(register)][usize::from(lane) % LANES] ^= 1 << (bit % 32);
            }
            Flip::Scalar { register, bit } => {
                self.scalars[usize::from(register) & 127] ^= 1 << (bit % 32)
            }
            Flip::Condition => self.scc = !self.scc,
            Flip::Counter { bit } => {
                let address = program.address(self.at) ^ 1 << (bit % 32);
                self.at = program.find(address).ok_or(Cause::Jump(address))?;
            }
            Flip::Word { bit } => {
                let placed = &program.code[self.at as usize];
                return struck(placed, words, bit).map(Some).map_err(Cause::Refused);
            }
        }
        Ok(None)
    }

    /// As [`run`](Self::run), with each instruction on the tape; the first is `instead` of the one that stands there.
    pub fn run_watched(
        &mut self,
        (program, statics): (&Program, &[StaticInst]),
        world: &mut World<'_>,
        (count, mut instead): (u64, Option<Inst>),
        tape: &mut Tape,
    ) -> Result<Stop, WaveFault> {
        for _ in 0..count {
            let placed = &program.code[self.at as usize];
            let standing = placed.inst.map_err(Cause::Refused)?;
            let struck = instead.take();
            let inst = struck.unwrap_or(standing);
            let mut hash = FxHasher::default();
            (self.at, self.pair(Place::EXEC.0)).hash(&mut hash);
            let lanes = lanes_written(self, &inst);
            let own = struck.map(|inst| static_instruction(&inst));
            let fixed = own.as_ref().unwrap_or(&statics[self.at as usize]);
            // What a store writes, and where accesses go, is in no register afterwards.
            if fixed.memory.is_some() {
                self.digest(&fixed.sources, lanes, &mut hash);
            }
            let flow = match struck {
                Some(inst) => self.step_struck(&inst, program, world),
                None => self.step(&inst, program, world),
            };
            let flow = flow?;
            self.digest(&fixed.destinations, lanes, &mut hash);
            tape.effects.push(hash.finish());
            match flow {
                Flow::Next => self.at += 1,
                Flow::To(NOWHERE) => {
                    return Err(Cause::Jump(program.address_behind(self.at)).into());
                }
                Flow::To(target) => self.at = target,
                Flow::Stop(stop) => {
                    self.at += 1;
                    return Ok(stop);
                }
            }
            if self.at as usize >= program.code.len() {
                return Err(
                    Cause::Jump(program.address_behind(program.code.len() as u32 - 1)).into(),
                );
            }
        }
        Ok(Stop::Slice)
    }

    /// An instruction that does not stand there: a branch goes where it says, and one that is longer takes the word behind it with it.
    fn step_struck(
        &mut self,
        inst: &Inst,
        program: &Program,
        world: &mut World<'_>,
    ) -> Result<Flow, WaveFault> {
        let behind = program.address(self.at) + u64::from(inst.bytes());
        let target = |words: i64| program.find(behind.wrapping_add_signed(4 * words));
        let branch = inst
            .op
            .is_branch()
            .then(|| target(i64::from(inst.literal as u16 as i16)));
        let flow = self.step_to(inst, program, (world, branch.flatten().unwrap_or(NOWHERE)))?;
        let standing = program.code[self.at as usize]
            .inst
            .map_or(4, |it| it.bytes());
        Ok(match flow {
            Flow::Next if inst.bytes() > standing => Flow::To(target(0).unwrap_or(NOWHERE)),
            flow => flow,
        })
    }

    fn digest(&self, registers: &[Register], lanes: u64, hash: &mut FxHasher) {
        for register in registers {
            (register.kind as u8, register.number).hash(hash);
            match (register.kind, register.number) {
                (RegisterKind::Predicate, 128) => self.scc.hash(hash),
                (RegisterKind::Predicate, number) => {
                    self.scalars[usize::from(number) & 127].hash(hash)
                }
                (_, number) => {
                    let words = &self.vectors[usize::from(number) & 255];
                    let written = words
                        .iter()
                        .enumerate()
                        .filter(|(lane, _)| lanes >> lane & 1 != 0);
                    written.for_each(|(_, word)| word.hash(hash));
                }
            }
        }
    }

    /// Everything that a wavefront has.
    pub fn state(&self, vectors: u32) -> u64 {
        let mut hash = FxHasher::default();
        (self.scalars, self.scc, self.at).hash(&mut hash);
        self.vectors[..(vectors as usize).min(256)].hash(&mut hash);
        hash.finish()
    }
}

/// The lanes of vector registers that an instruction writes, and of which it reads.
fn lanes_written(wave: &Wave, inst: &Inst) -> u64 {
    match inst.op {
        Op::VWritelaneB32 => 1 << (wave.scalar(inst, 1) & 63),
        _ => wave.exec(),
    }
}

/// The instruction whose words have a bit flipped. Bits behind its last word are nobody's.
fn struck(placed: &Placed, words: &[u32], bit: u8) -> Result<Inst, crate::decode::Refused> {
    let first = placed.offset as usize / 4;
    let (word, bit) = (usize::from(bit / 32), bit % 32);
    let old = placed.inst?;
    if word >= usize::from(old.words) {
        return Ok(old);
    }
    let mut all: Vec<u32> = words[first..].iter().take(3).copied().collect();
    all[word] ^= 1 << bit;
    decode(&all)
}
