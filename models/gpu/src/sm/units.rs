//! Operand collection and execution units. Banks and units serve in order, so each is described by the cycle from which it is free.

use crate::GpuSpec;
use crate::program::{Inst, Port, Program, UNITS};

/// The back end of an SM as the issue stage sees it.
#[derive(Clone, Debug)]
pub(crate) struct Units {
    /// When each register bank can begin another read.
    banks: Vec<u64>,
    /// When each collector is free.
    collectors: Vec<u64>,
    /// The least of them.
    collector_free: u64,
    /// When each unit can accept another warp.
    free: [u64; UNITS.len()],
    /// How long an ordinary instruction occupies each unit.
    interval: [u64; UNITS.len()],
}

/// Where an instruction's operands are collected, and when it reaches its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dispatch {
    /// First cycle in the unit.
    pub cycle: u64,
    /// Cycles by which bank conflicts delayed the operands.
    pub conflict_cycles: u64,
}

impl Units {
    pub fn new(spec: &GpuSpec) -> Self {
        let units = &spec.units;
        let lanes = [
            units.sp.lanes,
            units.sfu.lanes,
            units.fp64.lanes,
            spec.ldst.lanes,
        ];
        Self {
            banks: vec![0; spec.operands.banks as usize],
            collectors: vec![0; spec.operands.collectors as usize],
            collector_free: 0,
            free: [0; UNITS.len()],
            interval: lanes.map(|lanes| u64::from(spec.interval(lanes))),
        }
    }

    /// First cycle at which an instruction for `port` may issue: a collector is free, and at most one other instruction waits for the unit.
    #[inline]
    pub fn accepts_from(&self, port: Port) -> u64 {
        self.free[port as usize].saturating_sub(self.interval[port as usize])
    }

    /// First cycle at which a collector is free.
    #[inline]
    pub fn collector_free(&self) -> u64 {
        self.collector_free
    }

    /// Collects the operands of `inst` of warp `warp`, issued at `now`: a cycle to read each register, one register a bank and cycle. The collector is held
    /// until the unit takes the instruction.
    #[inline]
    pub fn collect(&mut self, program: &Program, inst: &Inst, warp: u32, now: u64) -> Dispatch {
        let words = program.words(inst);
        let mut ready = now + 1;
        for &word in words {
            let bank = ((u32::from(word) + warp) % self.banks.len() as u32) as usize;
            let read = self.banks[bank].max(now);
            self.banks[bank] = read + 1;
            ready = ready.max(read + 1);
        }
        let cycle = ready.max(self.free[inst.port as usize]);
        if let Some(collector) = self.collectors.iter_mut().find(|free| **free <= now) {
            *collector = cycle;
        }
        self.collector_free = self.collectors.iter().copied().min().unwrap_or(0);
        Dispatch {
            cycle,
            conflict_cycles: ready - (now + 1),
        }
    }

    /// The unit of `port` is taken for `cycles` from `from` on.
    #[inline]
    pub fn occupy(&mut self, port: Port, from: u64, cycles: u64) {
        self.free[port as usize] = from + cycles;
    }
}
