//! Operand collection, execution units and result buses.

use super::banks::Banks;
use super::calendar::Calendar;
use super::slots::Slots;
use crate::program::{Inst, Port, Program};
use crate::{BackEnd, Course, GpuSpec};

/// Ports that instructions collect operands for.
const CLASSES: usize = 6;
/// Pools of collectors.
const POOLS: usize = 3;

/// The back end of an SM as the issue stage sees it.
#[derive(Clone, Debug)]
pub(crate) struct Units {
    /// One, or one for each scheduler.
    parts: Vec<Part>,
    split: bool,
    schedulers: u32,
    collect: u64,
    transfer: u64,
    /// Registers that a bank delivers in a cycle.
    bank_reads: u64,
    /// Result buses of all parts together, by the cycle in which a result is written.
    buses: Vec<Calendar>,
}

/// What one scheduler, or all of them together, send instructions to.
#[derive(Clone, Debug)]
struct Part {
    banks: Banks,
    /// Room between issue and unit, by port, and behind it collectors: for everything, for the special-function unit, for memory.
    places: Slots<{ CLASSES + POOLS }>,
    /// Which collectors each port takes, by their number among the places.
    pool_of: [u8; CLASSES],
    /// The units of a port. The load-store unit keeps its own time.
    units: [Vec<Unit>; CLASSES],
}

/// An execution unit: a pipeline that warps enter in order and leave one a cycle, sooner or later by their latency.
#[derive(Clone, Debug, Default)]
struct Unit {
    /// When it can accept another warp.
    free: u64,
    /// When warps leave it, by the cycle in which their results are written.
    exits: Calendar,
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

/// When an instruction has been executed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Executed {
    /// The cycle in which its result is written.
    pub done: u64,
    /// The cycle in which its unit took it.
    pub entered: u64,
    /// Cycles for which it found a free unit, but no exit or no result bus.
    pub waited: u64,
}

/// Whether a slot of a calendar is free, now that slots before `now` are over.
#[inline]
fn is_free(calendar: &mut Calendar, slot: u64, now: u64) -> bool {
    calendar.forget(now);
    calendar.free_from(slot) == slot
}

impl Units {
    pub fn new(spec: &GpuSpec) -> Self {
        let parts = spec.back_ends();
        Self {
            parts: (0..parts).map(|_| Part::new(spec, parts)).collect(),
            split: spec.scheduler.back_end == BackEnd::Split,
            schedulers: spec.scheduler.count,
            collect: u64::from(spec.operands.collect_cycles),
            transfer: u64::from(spec.operands.transfer_cycles),
            bank_reads: u64::from(spec.operands.bank_reads),
            buses: vec![Calendar::default(); spec.operands.result_buses as usize],
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
        let pool = usize::from(part.pool_of[class]);
        part.places.first(class).max(part.places.first(pool))
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
        let begin = course.delay * self.bank_reads;
        let (mut last, mut alone) = (begin, begin);
        let all = course.reads == u64::MAX;
        for (word, read) in program.reads(inst).iter().enumerate() {
            if !all && !course.is_read(word) {
                continue;
            }
            alone = begin + u64::from(read.turn);
            last = last.max(part.banks.read(read.word, warp, alone, now));
        }
        self.hold((index, inst.port), (last, alone), now)
    }

    /// Collects a register that goes to memory, or makes room for one that comes from there, as for an instruction of the load-store unit.
    pub fn collect_move(
        &mut self,
        word: Option<u16>,
        (scheduler, warp): (usize, u32),
        now: u64,
    ) -> Collected {
        let index = self.part(scheduler);
        let banks = &mut self.parts[index].banks;
        let last = word.map_or(0, |word| banks.read(word, warp, 0, now));
        self.hold((index, Port::Ldst), (last, 0), now)
    }

    /// Takes a collector and a place before the unit for operands of which the `last` comes so many reads after the first could, and `alone` as many without others.
    #[inline]
    fn hold(
        &mut self,
        (index, port): (usize, Port),
        (last, alone): (u64, u64),
        now: u64,
    ) -> Collected {
        let part = &mut self.parts[index];
        let class = port as usize;
        part.places.take(usize::from(part.pool_of[class]));
        part.places.take(class);
        let cycles = |reads: u64| match self.bank_reads {
            1 => reads,
            several => reads / several,
        };
        Collected {
            ready: now + self.collect + self.transfer + cycles(last),
            conflict_cycles: cycles(last) - cycles(alone),
            part: index as u8,
            port,
        }
    }

    /// The unit takes an instruction in `cycle`.
    #[inline]
    pub fn enter(&mut self, collected: &Collected, cycle: u64) {
        let part = &mut self.parts[usize::from(collected.part)];
        let class = collected.port as usize;
        let pool = usize::from(part.pool_of[class]);
        part.places.free_from(pool, cycle - self.transfer);
        part.places.free_from(class, cycle);
    }

    /// A unit takes the instruction as soon as one is free whose exit, and a result bus, will be free when the result comes, and is busy for its interval.
    #[inline]
    pub fn execute(
        &mut self,
        collected: &Collected,
        (interval, latency): (u64, u64),
        now: u64,
    ) -> Executed {
        let through = latency - self.depth().min(latency);
        let units = &mut self.parts[usize::from(collected.part)].units[collected.port as usize];
        let Some(free) = units.iter().map(|unit| unit.free).min() else {
            return Executed {
                done: collected.ready + through,
                entered: collected.ready,
                waited: 0,
            };
        };
        let first = collected.ready.max(free);
        let mut cycle = first;
        loop {
            let leaves = cycle + through;
            let unit = units
                .iter_mut()
                .position(|unit| unit.free <= cycle && is_free(&mut unit.exits, leaves, now));
            let buses = &mut self.buses;
            let bus = buses.iter_mut().position(|bus| is_free(bus, leaves, now));
            if let (Some(unit), Some(bus)) = (unit, bus) {
                units[unit].free = cycle + interval;
                units[unit].exits.take(leaves);
                buses[bus].take(leaves);
                break;
            }
            cycle += 1;
        }
        self.enter(collected, cycle);
        Executed {
            done: cycle + through,
            entered: cycle,
            waited: cycle - first,
        }
    }

    /// A unit takes an instruction whose operands lie ready as if it had issued in `slot`, and whose results go nowhere but to a comparator.
    pub fn execute_again(
        &mut self,
        (scheduler, port): (usize, Port),
        (interval, latency): (u64, u64),
        slot: u64,
        now: u64,
    ) {
        let (part, depth) = (self.part(scheduler), self.depth());
        let units = &mut self.parts[part].units[port as usize];
        let Some(unit) = units.iter_mut().min_by_key(|unit| unit.free) else {
            return;
        };
        let through = latency - depth.min(latency);
        let mut cycle = (slot + depth).max(unit.free);
        // What has left the unit is over.
        while cycle + through >= now && !is_free(&mut unit.exits, cycle + through, now) {
            cycle += 1;
        }
        unit.free = cycle + interval;
        if cycle + through >= now {
            unit.exits.take(cycle + through);
        }
    }

    /// The results `words` of warp `warp` come in `cycle`; gives the cycle from which on they can be read.
    #[inline]
    pub fn write(&mut self, words: &[u16], warp: u32, (cycle, now): (u64, u64)) -> u64 {
        let part = self.part((warp % self.schedulers) as usize);
        let banks = &mut self.parts[part].banks;
        let words = words.iter();
        let written = words.map(|&word| banks.write(word, warp, cycle, now));
        written.max().unwrap_or(cycle)
    }

    /// Cycles from an issue without conflicts to the unit.
    pub fn depth(&self) -> u64 {
        self.collect + self.transfer
    }
}

/// The remainder as a place; mostly by a power of two, for which there is no need to divide.
#[inline]
pub(super) fn modulo(number: u32, divisor: u32) -> usize {
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
        let (sfu, ldst) = (operands.sfu_collectors, operands.ldst_collectors);
        let pool = |count: u32, own: u8| CLASSES as u8 + if count > 0 { own } else { 0 };
        let classes = [
            &units.sp,
            &units.int,
            &units.sfu,
            &units.fp64,
            &units.tensor,
        ];
        let [sp, int, special, fp64, tensor] = classes.map(|unit| unit.queue);
        let [all, of_sfu, of_ldst] = [operands.collectors, sfu, ldst].map(|count| count / parts);
        let mut free = classes.iter().map(|unit| {
            let count = (unit.count / parts) as usize;
            vec![Unit::default(); count]
        });
        Self {
            banks: Banks::new(spec, parts),
            places: Slots::new([
                sp,
                int,
                special,
                fp64,
                tensor,
                spec.ldst.queue,
                all,
                of_sfu,
                of_ldst,
            ]),
            pool_of: [
                pool(0, 0),
                pool(0, 0),
                pool(sfu, 1),
                pool(0, 0),
                pool(0, 0),
                pool(ldst, 2),
            ],
            units: std::array::from_fn(|_| free.next().unwrap_or_default()),
        }
    }
}
