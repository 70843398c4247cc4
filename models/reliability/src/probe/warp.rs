//! A warp in its slot: instructions in its buffer and collectors, results on their way, its stack.

use std::collections::VecDeque;

use warpwatt_gpu::Fetched;

use super::encoding::Fields;
use super::registers::{Place, Registers};
use super::stack::Stack;
use crate::{Held, Ledger, Residency, Structure};

/// What a probe knows of a warp.
#[derive(Clone, Debug, Default)]
pub(super) struct Warp {
    slot: u8,
    /// Its number in the launch, its CTA, and how many instructions it has issued and fetched.
    pub number: usize,
    pub cta: u32,
    pub issued: usize,
    fetched: usize,
    pub placed: u64,
    pub registers: Registers,
    /// The address of each instruction that was fetched last, and the fields of it that are needed.
    pub group: Vec<(u64, Fields)>,
    /// When the instructions in its buffer came there.
    pub buffer: VecDeque<u64>,
    /// Instructions behind a taken branch, and since when.
    pub wrong: (u64, u64),
    /// Instructions whose results are on their way.
    pub pending: Vec<Pending>,
    /// Instructions in collectors: needed bits of their operands, and since when.
    collecting: Vec<(u32, Held)>,
    pub stack: Stack,
    entries: Held,
}

/// An instruction whose results are on their way: which, the number of its fact, and where they go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub inst: u32,
    pub fact: u32,
    pub place: Place,
}

impl Warp {
    /// The `number`th of the launch is placed in a slot.
    pub fn new(slot: u8, (number, cta): (usize, u32), placed: u64, registers: Registers) -> Self {
        Self {
            slot,
            number,
            cta,
            placed,
            registers,
            ..Self::default()
        }
    }

    /// Instructions of `bytes` bytes are fetched for it: `of` gives the needed fields of one by its number in the trace and in the code, the others are those of
    /// metadata, and of all.
    pub fn fetches(
        &mut self,
        event: Fetched,
        bytes: u64,
        of: impl Fn(usize, u32) -> Fields,
        [metadata, all]: [Fields; 2],
    ) {
        self.group.clear();
        let (mut address, mut inst) = (event.pc, event.inst);
        for place in 0..u8::BITS - (event.path | event.metadata).leading_zeros() {
            let mut fields = all;
            if event.metadata >> place & 1 != 0 {
                fields |= metadata;
            } else {
                if event.path >> place & 1 != 0 {
                    fields |= of(self.fetched, inst);
                    self.fetched += 1;
                }
                inst += 1;
            }
            self.group.push((address, fields));
            address += bytes;
        }
    }

    /// The oldest instruction leaves the buffer, with so many needed bits among all of it.
    pub fn leaves_buffer(&mut self, inst: u32, (bits, all): (u32, u32), at: u64, to: &mut Ledger) {
        let from = self.buffer.pop_front().unwrap_or(at);
        let structure = Structure::InstructionBuffer;
        to.ace(Residency {
            structure,
            warp: self.slot,
            entry: inst,
            bits,
            from,
            to: at,
        });
        to.occupied(structure, u64::from(all), from, at);
    }

    /// What lies behind a taken branch is thrown away.
    pub fn flush(&mut self, instruction_bits: u32, at: u64, ledger: &mut Ledger) {
        let (count, since) = std::mem::take(&mut self.wrong);
        let bits = count * u64::from(instruction_bits);
        ledger.occupied(Structure::InstructionBuffer, bits, since, at);
    }

    /// An instruction is in a collector, with so many needed bits of operands.
    pub fn collects(&mut self, inst: u32, bits: u32, since: u64) {
        self.collecting.push((inst, Held { bits, since }));
    }

    /// The unit takes an instruction out of its collector.
    pub fn leaves_collector(&mut self, inst: u32, all: u32, at: u64, ledger: &mut Ledger) {
        let Some(place) = self.collecting.iter().position(|(it, _)| *it == inst) else {
            return;
        };
        let (_, held) = self.collecting.remove(place);
        let structure = Structure::OperandCollector;
        ledger.ace(Residency {
            structure,
            warp: self.slot,
            entry: inst,
            bits: held.bits,
            from: held.since,
            to: at,
        });
        ledger.occupied(structure, u64::from(all), held.since, at);
    }

    /// The stack has so many bits in use from a cycle on.
    pub fn stack_has(&mut self, bits: u32, has_needs: bool, at: u64, ledger: &mut Ledger) {
        let structure = Structure::SimtStack;
        let before = self.entries;
        if before.bits == bits {
            return;
        }
        self.entries = Held { bits, since: at };
        ledger.occupied(structure, u64::from(before.bits), before.since, at);
        if has_needs {
            ledger.ace(Residency {
                structure,
                warp: self.slot,
                entry: 0,
                bits: before.bits,
                from: before.since,
                to: at,
            });
        }
    }

    /// The result of `inst` that is on its way, if there is one.
    pub fn awaits(&self, inst: u32) -> Option<&Pending> {
        self.pending.iter().find(|it| it.inst == inst)
    }

    /// It is there.
    pub fn arrives(&mut self, inst: u32) -> Option<Pending> {
        let place = self.pending.iter().position(|it| it.inst == inst)?;
        Some(self.pending.remove(place))
    }
}
