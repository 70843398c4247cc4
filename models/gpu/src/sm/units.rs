//! Operand collection, execution units and result buses.

use std::ops::Range;

use super::banks::{Banks, Owner, ReadTurns};
use super::reservation_ring::ReservationRing;
use super::slots::Slots;
use crate::program::{Inst, Port, Program, Read};
use crate::{BackEnd, GpuSpec, IssuePlan};

/// Ports that instructions collect operands for.
const CLASSES: usize = 7;
/// Those with units that this part of the SM keeps: all but the one for memory.
const EXECUTING: usize = CLASSES - 1;
/// Pools of collectors.
const POOLS: usize = 3;

/// Most units of a port.
const UNITS: usize = 16;

/// Instructions that can be on their way to units before which none waits: more than issue in the cycles that it takes.
const WAYS: u32 = 64;

/// The back end of an SM as the issue stage sees it.
#[derive(Clone, Debug)]
pub(crate) struct Units {
    /// One, or one for each scheduler: what one of them, or all together, send instructions to.
    parts: usize,
    split: bool,
    /// By part: room between issue and unit, by port, and behind it collectors: for everything, for the special-function unit, for memory.
    places: Slots<{ CLASSES + POOLS }>,
    /// Which collectors each port takes, by their number among the places.
    pool_of: [u8; CLASSES],
    schedulers: u32,
    collect: u64,
    transfer: u64,
    /// Registers that a bank delivers in a cycle.
    bank_reads: u64,
    banks: Banks,
    /// Units of each port in each part; all parts share the scalar ones. The load-store unit keeps its own time.
    share: [usize; EXECUTING],
    /// Ports before whose units nothing waits, as bits.
    unqueued: u8,
    /// By port and number, those of a part together: when the unit can accept another warp.
    free: [[u64; UNITS]; EXECUTING],
    /// What warps take that leave units, by the cycle in which their results are written.
    leaving: ReservationRing<Leaving>,
    /// Result buses of all parts together.
    buses: u8,
}

/// What is taken in a cycle. An execution unit is a pipeline that warps enter in order and leave one a cycle, sooner or later by their latency.
#[derive(Clone, Copy, Debug, Default)]
struct Leaving {
    /// By port: units whose exits are taken, as bits.
    exits: [u16; EXECUTING],
    /// How many result buses are.
    buses: u8,
}

/// Whose instruction it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Issuer {
    pub scheduler: usize,
    pub warp: u32,
}

/// What an instruction takes of its unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitTimes {
    /// Cycles until the unit takes another.
    pub interval: u64,
    /// Cycles from the issue to the result.
    pub latency: u64,
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

impl Units {
    pub fn new(spec: &GpuSpec) -> Self {
        let parts = spec.back_ends();
        Self {
            parts: parts as usize,
            places: Slots::new(places(spec, parts), parts as usize),
            pool_of: pools(spec),
            split: spec.scheduler.back_end == BackEnd::Split,
            schedulers: spec.scheduler.count,
            collect: u64::from(spec.operands.collect_cycles),
            transfer: u64::from(spec.operands.transfer_cycles),
            bank_reads: u64::from(spec.operands.bank_reads),
            banks: Banks::new(spec, parts),
            share: shares(spec, parts),
            unqueued: unqueued(spec),
            free: [[0; UNITS]; EXECUTING],
            leaving: ReservationRing::new(),
            buses: spec.operands.result_buses as u8,
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
        let number = self.part(scheduler);
        let pool = usize::from(self.pool_of[class]);
        let places = &self.places;
        let places = places.first(number, class).max(places.first(number, pool));
        if self.unqueued >> class & 1 == 0 || class >= EXECUTING {
            return places;
        }
        let units = self.units_of(number, class);
        let free = self.free[class][units].iter().copied().min();
        places.max(free.unwrap_or(0).saturating_sub(self.depth()))
    }

    /// Whether nothing may wait before the load-store unit.
    pub fn memory_is_unqueued(&self) -> bool {
        self.unqueued >> EXECUTING & 1 != 0
    }

    /// The units of a port that serve a part.
    #[inline]
    fn units_of(&self, part: usize, class: usize) -> Range<usize> {
        let share = self.share[class];
        let first = if class == Port::Scalar as usize {
            0
        } else {
            part * share
        };
        first..first + share
    }

    /// Collects the operands of `inst` of warp `warp`, issued at `now`: a cycle to read each register. [`hold`](Self::hold) or [`pass`](Self::pass) follows.
    #[inline]
    pub fn collect(
        &mut self,
        program: &Program,
        inst: &Inst,
        plan: &IssuePlan,
        issuer: Issuer,
        now: u64,
    ) -> Collected {
        let owner = self.owner(issuer);
        let begin = plan.delay * self.bank_reads;
        let reads = program.reads(inst);
        let read = if plan.reads == u64::MAX {
            self.banks.read(reads.iter(), owner, begin, now)
        } else {
            let read = reads.iter().enumerate();
            let read = read.filter(|&(word, _)| plan.is_read(word));
            self.banks
                .read(read.map(|(_, read)| read), owner, begin, now)
        };
        self.collected(owner.part, inst.port, read, now)
    }

    /// Collects a register that goes to memory, or makes room for one that comes from there, as for an instruction of the load-store unit.
    pub fn collect_move(&mut self, word: Option<u16>, issuer: Issuer, now: u64) -> Collected {
        let read = word.map(|word| Read { word, turn: 0 });
        let owner = self.owner(issuer);
        let read = self.banks.read(read.iter(), owner, 0, now);
        self.collected(owner.part, Port::Ldst, read, now)
    }

    #[inline]
    fn owner(&self, issuer: Issuer) -> Owner {
        Owner {
            part: self.part(issuer.scheduler),
            warp: issuer.warp,
        }
    }

    /// When operands that take so many turns of the banks are there.
    #[inline]
    fn collected(&self, part: usize, port: Port, read: ReadTurns, now: u64) -> Collected {
        let cycles = |reads: u64| divide(reads, self.bank_reads);
        Collected {
            ready: now + self.depth() + cycles(read.last),
            conflict_cycles: cycles(read.last) - cycles(read.alone),
            part: part as u8,
            port,
        }
    }

    /// The part of an instruction, the room before its unit, and its collectors.
    #[inline]
    fn places_of(&self, collected: &Collected) -> (usize, usize, usize) {
        let class = collected.port as usize;
        (collected.part.into(), class, self.pool_of[class].into())
    }

    /// Takes a collector and a place before the unit, until [`enter`](Self::enter) says when the unit takes the instruction.
    pub fn hold(&mut self, collected: &Collected) {
        let (part, class, pool) = self.places_of(collected);
        self.places.take(part, pool);
        self.places.take(part, class);
    }

    /// Takes a collector and a place before the unit, which takes the instruction in `cycle`.
    #[inline]
    pub fn pass(&mut self, collected: &Collected, cycle: u64) {
        let (part, class, pool) = self.places_of(collected);
        self.places.take_until(part, pool, cycle - self.transfer);
        self.places.take_until(part, class, cycle);
    }

    /// The unit takes an instruction, for which there was a place, in `cycle`.
    #[inline]
    pub fn enter(&mut self, collected: &Collected, cycle: u64) {
        let (part, class, pool) = self.places_of(collected);
        self.places.free_from(part, pool, cycle - self.transfer);
        self.places.free_from(part, class, cycle);
    }

    /// A unit takes the instruction as soon as one is free whose exit, and a result bus, will be free when the result comes, and is busy for its interval.
    #[inline]
    pub fn execute(&mut self, collected: &Collected, times: UnitTimes, now: u64) -> Executed {
        let through = times.latency - self.depth().min(times.latency);
        let class = collected.port as usize;
        let units = self.units_of(usize::from(collected.part), class);
        let number = units.start;
        let units = &mut self.free[class][units];
        let Some(free) = units.iter().copied().min() else {
            self.pass(collected, collected.ready);
            return Executed {
                done: collected.ready + through,
                entered: collected.ready,
                waited: 0,
            };
        };
        let first = collected.ready.max(free);
        let mut cycle = first;
        let unit = loop {
            let leaving = self.leaving.at(cycle + through);
            let exits = leaving.exits[class] >> number;
            let mut units = units.iter().enumerate();
            let unit = units.find(|&(unit, &free)| free <= cycle && exits >> unit & 1 == 0);
            match unit {
                Some((unit, _)) if leaving.buses < self.buses => break unit,
                _ => cycle += 1,
            }
        };
        units[unit] = cycle + times.interval;
        if let Some(leaving) = self.leaving.at_mut(cycle + through, now) {
            leaving.exits[class] |= 1 << (number + unit);
            leaving.buses += 1;
        }
        self.pass(collected, cycle);
        Executed {
            done: cycle + through,
            entered: cycle,
            waited: cycle - first,
        }
    }

    /// All units of a port, those of other parts too, take a piece of work as soon as all are free.
    pub fn execute_together(&mut self, collected: &Collected, times: UnitTimes) -> Executed {
        let class = collected.port as usize;
        let count = self.share[class] * self.parts;
        let units = &mut self.free[class][..count];
        let free = units.iter().copied().max().unwrap_or(0);
        let entered = collected.ready.max(free);
        units.fill(entered + times.interval);
        self.pass(collected, entered);
        Executed {
            done: entered + times.interval + times.latency,
            entered,
            waited: 0,
        }
    }

    /// A unit takes an instruction whose operands lie ready as if it had issued in `slot`, and whose results go nowhere but to a comparator.
    pub fn execute_again(
        &mut self,
        scheduler: usize,
        port: Port,
        times: UnitTimes,
        slot: u64,
        now: u64,
    ) {
        let (class, depth) = (port as usize, self.depth());
        let numbers = self.units_of(self.part(scheduler), class);
        let units = self.free[class][numbers.clone()].iter_mut();
        let Some((unit, free)) = numbers.zip(units).min_by_key(|(_, free)| **free) else {
            return;
        };
        let through = times.latency - depth.min(times.latency);
        let mut cycle = (slot + depth).max(*free);
        // What has left the unit is over.
        while cycle + through >= now
            && self.leaving.at(cycle + through).exits[class] >> unit & 1 != 0
        {
            cycle += 1;
        }
        *free = cycle + times.interval;
        if cycle + through >= now
            && let Some(leaving) = self.leaving.at_mut(cycle + through, now)
        {
            leaving.exits[class] |= 1 << unit;
        }
    }

    /// The results `words` of warp `warp` come in `cycle`; gives the cycle from which on they can be read.
    #[inline]
    pub fn write(&mut self, words: &[u16], warp: u32, cycle: u64, now: u64) -> u64 {
        let part = if self.split {
            modulo(warp, self.schedulers)
        } else {
            0
        };
        let owner = Owner { part, warp };
        self.banks.write(words, owner, cycle, now)
    }

    /// Cycles from an issue without conflicts to the unit.
    pub fn depth(&self) -> u64 {
        self.collect + self.transfer
    }
}

/// Cycles from an issue without conflicts to the unit.
pub(super) fn depth(spec: &GpuSpec) -> u64 {
    u64::from(spec.operands.collect_cycles) + u64::from(spec.operands.transfer_cycles)
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

/// The quotient; mostly by one or two, for which there is no need to divide.
#[inline]
fn divide(number: u64, divisor: u64) -> u64 {
    if divisor.is_power_of_two() {
        number >> divisor.trailing_zeros()
    } else {
        number / divisor
    }
}

/// How many units each port has but that for memory, and how many instructions may wait before them.
fn classes(spec: &GpuSpec) -> [(u32, u32); EXECUTING] {
    let units = &spec.units;
    let [sp, int, sfu, fp64, tensor] = [
        &units.sp,
        &units.int,
        &units.sfu,
        &units.fp64,
        &units.tensor,
    ]
    .map(|unit| (unit.count, unit.queue));
    let scalar = (units.scalar.count, units.scalar.queue);
    [sp, int, sfu, fp64, tensor, scalar]
}

/// Units of each port that a part has for itself, or that all have together.
fn shares(spec: &GpuSpec, parts: u32) -> [usize; EXECUTING] {
    let mut shares = classes(spec).map(|(count, _)| (count / parts) as usize);
    shares[Port::Scalar as usize] = spec.units.scalar.count as usize;
    shares
}

/// Ports before whose units nothing waits, as bits.
fn unqueued(spec: &GpuSpec) -> u8 {
    let queues = classes(spec).map(|(_, queue)| queue);
    let queues = queues.into_iter().chain([spec.ldst.queue]);
    (0..).zip(queues).fold(0, |bits, (class, queue)| {
        bits | u8::from(queue == 0) << class
    })
}

/// Room before the units of a part, by port, and its collectors.
fn places(spec: &GpuSpec, parts: u32) -> [u32; CLASSES + POOLS] {
    let operands = &spec.operands;
    // Where nothing may wait, one is on its way all the same.
    let room = |queue: u32| if queue == 0 { WAYS } else { queue };
    let [sp, int, special, fp64, tensor, scalar] = classes(spec).map(|(_, queue)| room(queue));
    let ldst = room(spec.ldst.queue);
    let [all, of_sfu, of_ldst] = [
        operands.collectors,
        operands.sfu_collectors,
        operands.ldst_collectors,
    ]
    .map(|count| count / parts);
    [
        sp, int, special, fp64, tensor, scalar, ldst, all, of_sfu, of_ldst,
    ]
}

/// Which collectors each port takes, by their number among the places.
fn pools(spec: &GpuSpec) -> [u8; CLASSES] {
    let mut pools = [CLASSES as u8; CLASSES];
    if spec.operands.sfu_collectors > 0 {
        pools[Port::Sfu as usize] += 1;
    }
    if spec.operands.ldst_collectors > 0 {
        pools[Port::Ldst as usize] += 2;
    }
    pools
}
