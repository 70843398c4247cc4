//! Operand collection and execution units. Banks and units serve in order, so each is described by the cycle from which it is free.

use super::slots::Slots;
use crate::program::{Inst, Port, Program};
use crate::{BackEnd, Course, GpuSpec};

/// Ports that instructions collect operands for.
const CLASSES: usize = 6;

/// The back end of an SM as the issue stage sees it.
#[derive(Clone, Debug)]
pub(crate) struct Units {
    /// One, or one for each scheduler.
    parts: Vec<Part>,
    split: bool,
    collect: u64,
    transfer: u64,
    /// Registers that a bank delivers in a cycle.
    bank_reads: u64,
}

/// What one scheduler, or all of them together, send instructions to.
#[derive(Clone, Debug)]
struct Part {
    /// When each register bank can begin another read, in reads.
    banks: Vec<u64>,
    /// Collectors: for everything, for the special-function unit, for memory.
    pools: [Slots; 3],
    /// Which pool each port takes from.
    pool_of: [usize; CLASSES],
    /// Room between issue and unit, by port.
    queues: [Slots; CLASSES],
    /// When each unit of a port can accept another warp. The load-store unit keeps its own time.
    units: [Vec<u64>; CLASSES],
}

/// Where an instruction's operands are collected, and when they are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Collected {
    /// First cycle in which its unit may take it.
    pub ready: u64,
    /// Cycles by which bank conflicts delayed the operands.
    pub conflict_cycles: u64,
    part: u8,
    port: Port,
}

impl Units {
    pub fn new(spec: &GpuSpec) -> Self {
        let parts = spec.back_ends();
        Self {
            parts: (0..parts).map(|_| Part::new(spec, parts)).collect(),
            split: spec.scheduler.back_end == BackEnd::Split,
            collect: u64::from(spec.operands.collect_cycles),
            transfer: u64::from(spec.operands.transfer_cycles),
            bank_reads: u64::from(spec.operands.bank_reads),
        }
    }

    #[inline]
    fn part(&self, scheduler: usize) -> usize {
        if self.split { scheduler } else { 0 }
    }

    /// First cycle at which an instruction for a port, given by its number, may issue: a collector is free, and there is room before the unit. `u64::MAX` if only an event can
    /// make room.
    #[inline]
    pub fn accepts_from(&self, scheduler: usize, class: usize) -> u64 {
        let part = &self.parts[self.part(scheduler)];
        let pool = &part.pools[part.pool_of[class]];
        part.queues[class].first().max(pool.first())
    }

    /// Collects the operands of `inst` of warp `warp`, issued at `now`: a cycle to read each register. Collector and place are held until
    /// [`enter`](Self::enter) says when the unit takes the instruction.
    #[inline]
    pub fn collect(
        &mut self,
        program: &Program,
        inst: &Inst,
        course: &Course,
        (scheduler, warp): (usize, u32),
        now: u64,
    ) -> Collected {
        let index = self.part(scheduler);
        let part = &mut self.parts[index];
        let begin = now + course.delay;
        let first = begin * self.bank_reads;
        let (mut last, mut alone) = (0, 0);
        let all = course.reads == u64::MAX;
        for (word, read) in program.reads(inst).iter().enumerate() {
            if !all && !course.is_read(word) {
                continue;
            }
            let bank = modulo(u32::from(read.word) + warp, part.banks.len() as u32);
            alone = u64::from(read.turn);
            let at = part.banks[bank].max(first + alone);
            part.banks[bank] = at + 1;
            last = last.max(at - first);
        }
        let class = inst.port as usize;
        part.pools[part.pool_of[class]].take();
        part.queues[class].take();
        let cycles = |reads: u64| match self.bank_reads {
            1 => reads,
            several => reads / several,
        };
        Collected {
            ready: begin + self.collect + self.transfer + cycles(last),
            conflict_cycles: cycles(last) - cycles(alone),
            part: index as u8,
            port: inst.port,
        }
    }

    /// The unit takes an instruction in `cycle`.
    #[inline]
    pub fn enter(&mut self, collected: &Collected, cycle: u64) {
        let part = &mut self.parts[usize::from(collected.part)];
        let class = collected.port as usize;
        part.pools[part.pool_of[class]].free_from(cycle - self.transfer);
        part.queues[class].free_from(cycle);
    }

    /// The unit that is free first takes the instruction and is busy for `interval` cycles; gives its first cycle there.
    #[inline]
    pub fn execute(&mut self, collected: &Collected, interval: u64) -> u64 {
        let units = &mut self.parts[usize::from(collected.part)].units[collected.port as usize];
        let Some(unit) = units.iter_mut().min() else {
            return collected.ready;
        };
        let cycle = collected.ready.max(*unit);
        *unit = cycle + interval;
        self.enter(collected, cycle);
        cycle
    }

    /// Cycles from an issue without conflicts to the unit.
    pub fn depth(&self) -> u64 {
        self.collect + self.transfer
    }
}

/// The remainder as a place; mostly by a power of two, for which there is no need to divide.
#[inline]
fn modulo(number: u32, divisor: u32) -> usize {
    if divisor.is_power_of_two() {
        (number & (divisor - 1)) as usize
    } else {
        (number % divisor) as usize
    }
}

impl Part {
    /// One of `parts` equal parts.
    fn new(spec: &GpuSpec, parts: u32) -> Self {
        let (units, operands) = (&spec.units, &spec.operands);
        let own = |count: u32, pool: usize| if count > 0 { pool } else { 0 };
        let sfu = own(operands.sfu_collectors, 1);
        let ldst = own(operands.ldst_collectors, 2);
        let classes = [
            &units.sp,
            &units.int,
            &units.sfu,
            &units.fp64,
            &units.tensor,
        ];
        let mut queues = classes.map(|unit| Slots::new(unit.queue)).to_vec();
        queues.push(Slots::new(spec.ldst.queue));
        let mut free: Vec<Vec<u64>> = classes
            .iter()
            .map(|unit| vec![0; (unit.count / parts) as usize])
            .collect();
        free.push(Vec::new());
        let nothing = || Slots::new(0);
        let mut queues = queues.into_iter();
        let mut free = free.into_iter();
        Self {
            banks: vec![0; (operands.banks / parts) as usize],
            pools: [
                operands.collectors,
                operands.sfu_collectors,
                operands.ldst_collectors,
            ]
            .map(|count| Slots::new(count / parts)),
            pool_of: [0, 0, sfu, 0, 0, ldst],
            queues: std::array::from_fn(|_| queues.next().unwrap_or_else(nothing)),
            units: std::array::from_fn(|_| free.next().unwrap_or_default()),
        }
    }
}
