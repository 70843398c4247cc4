//! The Replay Checker and its queue: when each instruction of a whole warp is executed a second time.
//!
//! Algorithm 2 compares the instruction in the register stage with the one that issues behind it. Here the second execution waits at its unit for the cycle in
//! which the first one leaves it; where units take a warp each cycle that is the next one, and everything is as in the algorithm. An instruction for the same
//! unit that comes no later pushes it into the queue, in exchange for one that waits there for another unit; if there is none and the queue is full, it goes first
//! and the other comes a cycle later. Nothing else takes an instruction out of the queue but a reader of its result and the end of the launch.
//!
//! Time is that of the issue stage: what issues in a cycle takes its unit from then on. The pipeline shifts this, and executes what is decided here.

use std::collections::VecDeque;

use warpwatt_gpu::{Port, Reexecution};

/// The units of an SM as the checker sees them, and the queue.
#[derive(Clone, Debug)]
pub(super) struct Checker {
    units: Vec<Unit>,
    queue: VecDeque<Waiting>,
    capacity: usize,
    /// Cycles before this one are over.
    now: u64,
    /// The first cycle that may take an instruction out of the queue.
    takes_from: u64,
    /// Which of several it takes: "picked at random" (section 4.4.3).
    picks: Register,
    /// Executions that the pipeline has not been told of.
    due: VecDeque<Reexecution>,
    pub counts: Counts,
}

/// How instructions were executed again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Right behind the first execution, the unit being idle.
    pub behind: u64,
    /// The same, in a cycle in which another instruction for that unit was made to wait.
    pub full_stalls: u64,
    /// Put into the queue.
    pub queued: u64,
    /// Of them, too wide for an entry.
    pub wide: u64,
    /// Of them taken out because an instruction wants the result, which waits a cycle.
    pub raw_stalls: u64,
    /// Instructions in the queue, summed over cycles.
    pub queue_cycles: u64,
    /// The most at once.
    pub queue_most: u64,
}

/// An execution unit.
#[derive(Clone, Debug)]
struct Unit {
    port: Port,
    /// The scheduler that it belongs to, if it is not all schedulers'.
    scheduler: Option<u32>,
    /// The first cycle in which an instruction that issues enters it at once.
    free: u64,
    /// The instruction that entered it last, if it is to be executed again as soon as it is free.
    waiting: Option<Waiting>,
}

/// Where an instruction issues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IssueSlot {
    pub port: Port,
    /// Warps of other schedulers may have units of their own.
    pub scheduler: u32,
}

/// An instruction that has been executed once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    /// The warp's slot; `None` when the warp has finished.
    pub warp: Option<u8>,
    /// Where it issued.
    pub slot: IssueSlot,
    pub inst: u32,
    pub lanes: u32,
    /// Cycles for which it takes its unit.
    pub interval: u64,
    /// An entry of the paper's queue has no room for its operands.
    pub wide: bool,
}

impl Checker {
    /// Units as `(port, scheduler)`, and a queue of so many instructions.
    pub fn new(units: impl Iterator<Item = (Port, Option<u32>)>, capacity: u32) -> Self {
        let unit = |(port, scheduler)| Unit {
            port,
            scheduler,
            free: 0,
            waiting: None,
        };
        Self {
            units: units.map(unit).collect(),
            queue: VecDeque::with_capacity(capacity as usize),
            capacity: capacity as usize,
            now: 0,
            takes_from: 0,
            picks: Register::default(),
            due: VecDeque::new(),
            counts: Counts::default(),
        }
    }

    /// The next second execution that the pipeline is to be told of.
    pub fn next(&mut self) -> Option<Reexecution> {
        self.due.pop_front()
    }

    /// Everything that issues before cycle `now` has issued: what was idle until then has executed what waited at it.
    pub fn settle(&mut self, now: u64) {
        while self.now < now && self.awaits_units() {
            self.pass();
        }
        let left = now.saturating_sub(self.now);
        self.counts.queue_cycles += left * self.queue.len() as u64;
        self.now = self.now.max(now);
    }

    /// All that waits is executed, the queue's as units are idle; the cycle in which the last of it begins is over before the one that is given.
    pub fn finish(&mut self, now: u64) -> u64 {
        self.settle(now);
        while self.awaits_units() || !self.queue.is_empty() {
            self.take_from_queue(self.now, None);
            self.pass();
        }
        self.now
    }

    fn awaits_units(&self) -> bool {
        self.units.iter().any(|unit| unit.waiting.is_some())
    }

    /// A cycle in which units that are free execute what waits at them.
    fn pass(&mut self) {
        self.counts.queue_cycles += self.queue.len() as u64;
        for unit in 0..self.units.len() {
            if self.units[unit].free <= self.now
                && let Some(waiting) = self.units[unit].waiting.take()
            {
                self.counts.behind += 1;
                self.execute(unit, waiting);
            }
        }
        self.now += 1;
    }

    /// One instruction of the queue goes to an idle unit, if there is one for it, but not of port `not`.
    fn take_from_queue(&mut self, cycle: u64, not: Option<Port>) {
        if cycle < self.takes_from {
            return;
        }
        let idle = |units: &[Unit], waiting: &Waiting| {
            units.iter().position(|unit| {
                Some(unit.port) != not
                    && unit.serves(waiting.slot)
                    && unit.free <= cycle
                    && unit.waiting.is_none()
            })
        };
        let found = self.queue.iter().enumerate();
        let found = found.filter_map(|(place, it)| Some((place, idle(&self.units, it)?)));
        let found: Vec<(usize, usize)> = found.collect();
        if let Some(&(place, unit)) = self.picks.one_of(&found)
            && let Some(waiting) = self.queue.remove(place)
        {
            self.takes_from = cycle + 1;
            self.units[unit].free = self.units[unit].free.max(cycle);
            self.execute(unit, waiting);
        }
    }

    /// The unit executes an instruction again as soon as it is free.
    fn execute(&mut self, unit: usize, waiting: Waiting) {
        let from = self.units[unit].free;
        self.units[unit].free = from + waiting.interval;
        self.due.push_back(Reexecution {
            inst: waiting.inst,
            warp: waiting.slot.scheduler as u8,
            from,
            lanes: waiting.lanes,
        });
    }

    /// The unit that takes an instruction: one where nothing waits, of these the one that is free first.
    fn unit_for(&self, slot: IssueSlot) -> Option<usize> {
        let units = self.units.iter().enumerate();
        let serving = units.filter(|(_, unit)| unit.serves(slot));
        let best = serving.min_by_key(|(_, unit)| (unit.waiting.is_some(), unit.free));
        best.map(|(place, _)| place)
    }

    /// Whether an instruction may issue in `cycle`. `wants` says whether it reads what an instruction of its warp writes.
    pub fn admits(
        &mut self,
        cycle: u64,
        slot: IssueSlot,
        wants: impl Fn(&Waiting) -> bool,
    ) -> bool {
        self.settle(cycle);
        if let Some(place) = self.queue.iter().position(wants)
            && let Some(waiting) = self.queue.remove(place)
        {
            self.counts.raw_stalls += 1;
            if let Some(unit) = self.unit_for(waiting.slot) {
                self.units[unit].free = self.units[unit].free.max(cycle);
                self.execute(unit, waiting);
            }
            return false;
        }
        let Some(unit) = self.unit_for(slot) else {
            return true;
        };
        let Some(waiting) = self.units[unit].waiting.take() else {
            return true;
        };
        self.take_from_queue(cycle, Some(slot.port));
        if self.queue.len() < self.capacity {
            self.queue.push_back(waiting);
            self.counts.queued += 1;
            self.counts.wide += u64::from(waiting.wide);
            self.counts.queue_most = self.counts.queue_most.max(self.queue.len() as u64);
            return true;
        }
        self.counts.full_stalls += 1;
        self.execute(unit, waiting);
        false
    }

    /// An instruction has issued that takes its unit for so many cycles, and has to be executed again if it is given.
    pub fn issued(&mut self, cycle: u64, slot: IssueSlot, interval: u64, again: Option<Waiting>) {
        if let Some(unit) = self.unit_for(slot) {
            let unit = &mut self.units[unit];
            unit.free = unit.free.max(cycle) + interval;
            unit.waiting = again;
        }
    }

    /// Another warp may have the slot: nobody can want the results of this one any more.
    pub fn retired(&mut self, warp: u8) {
        for waiting in &mut self.queue {
            if waiting.warp == Some(warp) {
                waiting.warp = None;
            }
        }
        for waiting in self.units.iter_mut().filter_map(|it| it.waiting.as_mut()) {
            if waiting.warp == Some(warp) {
                waiting.warp = None;
            }
        }
    }
}

/// A linear feedback shift register of sixteen bits, x^16 + x^14 + x^13 + x^11 + 1: what picks at random in hardware.
#[derive(Clone, Copy, Debug)]
struct Register(u16);

impl Default for Register {
    fn default() -> Self {
        Self(1)
    }
}

impl Register {
    /// One of these; it moves on where there is a choice.
    fn one_of<'t, T>(&mut self, all: &'t [T]) -> Option<&'t T> {
        if all.len() > 1 {
            let bit = self.0 & 1;
            self.0 = (self.0 >> 1) ^ if bit == 1 { 0xb400 } else { 0 };
        }
        all.get(usize::from(self.0) % all.len().max(1))
    }
}

impl Unit {
    fn serves(&self, slot: IssueSlot) -> bool {
        self.port == slot.port && self.scheduler.is_none_or(|own| own == slot.scheduler)
    }
}

#[cfg(test)]
mod tests;
