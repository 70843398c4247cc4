//! Warps go on in their traces without being timed, all of an SM equally far.
//!
//! What is in the pipeline stays there. Warps of a CTA pass a barrier together, so that they are as far apart as they were. What is passed over is brought into
//! the caches.

use warpwatt_simt::trace::{Asynchronous, BarrierUse, KernelTrace, Step, Unit};

use super::ldst::local_base;
use super::{Sm, World};
use crate::counters::Counter;
use crate::memory::coalesce::Coalescer;
use crate::memory::warm::Touch;
use crate::{GpuError, StoreMiss};

/// What of a pace is kept from one time that is measured to the next: who is preferred stays so, but a warp in a slow part of its program leaves that.
const KEPT: f64 = 0.98;

/// How fast warps of a slot get on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    /// Bytes of traces that they passed while they were timed, lately.
    came: f64,
    /// When the one that is there was placed, and how much of its trace it had left when it was seen last.
    placed: u64,
    left: usize,
}

/// A warp on its way.
struct Traveller {
    index: usize,
    /// Instructions that it may still pass.
    budget: u64,
    /// Barriers that it has passed and others of its CTA have not.
    ahead: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Going,
    AtBarrier,
    /// It has come as far as it may.
    Done,
    /// Its last instruction is next.
    AtEnd,
    /// That is fetched already.
    Ended,
}

impl State {
    /// Others of the CTA need not wait for it.
    fn is_over(self) -> bool {
        matches!(self, Self::AtEnd | Self::Ended)
    }
}

/// A launch whose warps go on.
pub(crate) struct Road<'n> {
    pub trace: &'n KernelTrace,
    /// Takes the next CTA from the grid.
    pub next_cta: &'n mut dyn FnMut() -> Option<usize>,
    /// What is passed is brought into the caches.
    pub brings: bool,
}

/// Whether an instruction means the same if what is before it was not timed.
fn can_be_passed(trace: &KernelTrace, step: &Step) -> bool {
    let inst = &trace.code[step.inst as usize];
    matches!(inst.asynchronous, None | Some(Asynchronous::Outstanding(_)))
        && step.beyond().is_none()
        && (inst.unit != Unit::Barrier || step.barrier() == BarrierUse::PLAIN)
}

fn is_barrier(trace: &KernelTrace, step: &Step) -> bool {
    trace.code[step.inst as usize].unit == Unit::Barrier
}

impl Sm {
    /// How far each warp is from its end, in bytes of its trace.
    pub fn left(&self) -> impl Iterator<Item = usize> {
        let live = (0..self.warps.len()).filter(|index| self.live >> index & 1 != 0);
        live.map(|index| self.warps[index].left())
    }

    /// Sees how far warps are: what they came since they were seen last is added to their paces if they were `timed`.
    pub fn see_paces(&self, paces: &mut Vec<Pace>, timed: bool) {
        paces.resize(self.warps.len(), Pace::default());
        for (slot, (pace, warp)) in paces.iter_mut().zip(&self.warps).enumerate() {
            let is_live = self.live >> slot & 1 != 0;
            let left = if is_live { warp.left() } else { 0 };
            if timed {
                let came = if is_live && pace.placed == warp.placed {
                    pace.left.saturating_sub(left)
                } else {
                    0
                };
                pace.came = pace.came * KEPT + came as f64;
            }
            (pace.placed, pace.left) = (warp.placed, left);
        }
    }

    /// The paces of the warps that are there, together.
    pub fn speed(&self, paces: &[Pace]) -> f64 {
        self.paces_of_live(paces).sum()
    }

    /// The highest of them.
    pub fn fastest(&self, paces: &[Pace]) -> f64 {
        self.paces_of_live(paces).fold(0.0, f64::max)
    }

    fn paces_of_live(&self, paces: &[Pace]) -> impl Iterator<Item = f64> {
        let live = paces.iter().enumerate();
        let live = live.filter(|(slot, _)| self.live >> slot & 1 != 0);
        live.map(|(_, pace)| pace.came)
    }

    /// Warps go on by their paces times `factor`; at the end of their CTA in the next one. How many instructions are passed.
    pub fn jump(
        &mut self,
        road: &mut Road<'_>,
        (paces, factor): (&[Pace], f64),
        world: &mut World<'_>,
    ) -> Result<u64, GpuError> {
        let budgets = paces.iter().map(|pace| (pace.came * factor) as u64);
        let budgets: Vec<u64> = budgets.collect();
        let mut coalescer = Coalescer::default();
        let mut passed = 0;
        for cta in 0..self.ctas.len() {
            passed += self.jump_cta(road, cta, &budgets, &mut coalescer, world)?;
        }
        if passed > 0 {
            self.let_go();
            self.awake = true;
        }
        Ok(passed)
    }

    fn jump_cta(
        &mut self,
        road: &mut Road<'_>,
        cta: usize,
        budgets: &[u64],
        coalescer: &mut Coalescer,
        world: &mut World<'_>,
    ) -> Result<u64, GpuError> {
        let trace = road.trace;
        let members = self.ctas[cta].warps();
        let mut travellers: Vec<Traveller> = (0..self.warps.len())
            .filter(|index| members >> index & 1 != 0)
            .map(|index| self.traveller(trace, index, budgets[index]))
            .collect();
        let (mut passed, mut crossed) = (0, false);
        loop {
            let under_way = travellers.iter().filter(|it| !it.state.is_over());
            let last = under_way.map(|it| it.ahead).min().unwrap_or(u32::MAX);
            for traveller in travellers.iter_mut().filter(|it| it.ahead <= last) {
                passed += self.go(road, traveller, coalescer, world);
            }
            if !travellers.is_empty() && travellers.iter().all(|it| it.state == State::AtEnd) {
                let Some(next) = (road.next_cta)() else { break };
                passed += self.begin_next(trace, (cta, next), &mut travellers, world)?;
                continue;
            }
            let behind = |it: &&mut Traveller| it.ahead == last && !it.state.is_over();
            let mut behind: Vec<_> = travellers.iter_mut().filter(behind).collect();
            if behind.is_empty() || behind.iter().any(|it| it.state != State::AtBarrier) {
                break;
            }
            crossed = true;
            for traveller in &mut behind {
                passed += u64::from(self.warps[traveller.index].leave_out().is_some());
                traveller.budget = traveller.budget.saturating_sub(1);
                traveller.ahead += 1;
                traveller.state = State::Going;
            }
        }
        for traveller in &travellers {
            self.warps[traveller.index].redirect(world.program);
        }
        if crossed {
            self.release_waiting(cta, world);
        }
        for traveller in &travellers {
            self.update_fetch(traveller.index, world);
        }
        Ok(passed)
    }

    /// The warps of a CTA that has come to its end go on in another one, and those that have finished before start in it. How many instructions are passed by that.
    fn begin_next(
        &mut self,
        trace: &KernelTrace,
        (cta, next): (usize, usize),
        travellers: &mut Vec<Traveller>,
        world: &mut World<'_>,
    ) -> Result<u64, GpuError> {
        let (passed, needed) = (travellers.len() as u64, trace.launch.warps_per_cta());
        self.ctas[cta].number = next as u32;
        self.counts.add(Counter::Ctas, 1);
        self.counts.add(Counter::Warps, needed as u64);
        for (number, traveller) in travellers.iter_mut().enumerate() {
            self.warps[traveller.index].continue_in(trace.warp(next, number)?);
            traveller.state = State::Going;
            traveller.ahead = 0;
        }
        let budget = travellers.iter().map(|it| it.budget).sum::<u64>() / passed;
        for number in travellers.len()..needed {
            let index = (!self.live).trailing_zeros() as usize;
            let started = (cta, trace.warp(next, number)?);
            self.place_warp(index, started, world.now, world)?;
            travellers.push(self.traveller(trace, index, budget));
        }
        Ok(passed)
    }

    fn traveller(&self, trace: &KernelTrace, index: usize, budget: u64) -> Traveller {
        let warp = &self.warps[index];
        let waits = self.at_barrier >> index & 1 != 0;
        let buffered = (0..warp.held).filter_map(|number| warp.buffered(number));
        let fetched = buffered.filter(|step| is_barrier(trace, step)).count();
        Traveller {
            index,
            budget: if warp.bare { 0 } else { budget },
            ahead: u32::from(waits) + fetched as u32,
            state: State::Going,
        }
    }

    /// As far as the next barrier, or as the budget goes. How many instructions are passed.
    fn go(
        &mut self,
        road: &Road<'_>,
        traveller: &mut Traveller,
        coalescer: &mut Coalescer,
        world: &mut World<'_>,
    ) -> u64 {
        let (index, trace) = (traveller.index, road.trace);
        let local = local_base(world.spec, (self.id, index as u8));
        let mut passed = 0;
        while matches!(traveller.state, State::Going) {
            let Some(next) = self.warps[index].next() else {
                traveller.state = State::Ended;
                break;
            };
            if traveller.budget == 0 || !can_be_passed(trace, next) {
                traveller.state = State::Done;
                break;
            }
            if is_barrier(trace, next) {
                traveller.state = State::AtBarrier;
                break;
            }
            let Some(step) = self.warps[index].leave_out() else {
                traveller.state = State::AtEnd;
                break;
            };
            traveller.budget -= 1;
            passed += 1;
            if road.brings
                && let Some(touch) = Touch::of((trace, &step), world.spec, Some(local), coalescer)
            {
                self.touch(touch, coalescer, world);
            }
        }
        passed
    }

    /// What is passed over leaves in the caches what it would have.
    fn touch(&mut self, touch: Touch, coalescer: &Coalescer, world: &mut World<'_>) {
        let spec = world.spec;
        for block in &coalescer.blocks {
            let line = block.base / u64::from(spec.l1.line_bytes.max(1));
            let cache = &mut self.l1.cache;
            let is_stored = || spec.l1.stores == StoreMiss::Allocate || cache.find(line).is_some();
            let in_l1 = match touch {
                Touch::Loads => spec.has_l1(),
                Touch::Writes => spec.has_l1() && is_stored(),
                Touch::Copies => false,
            };
            let hit = in_l1 && cache.bring(line, block.mask, false);
            if touch == Touch::Writes || !hit {
                world.bring(block, self.number(), touch == Touch::Writes);
            }
        }
    }

    /// The others of the CTA have passed the barrier that some wait at.
    fn release_waiting(&mut self, cta: usize, world: &World<'_>) {
        let mut waiting = self.ctas[cta].forget_waiting();
        self.at_barrier &= !waiting;
        while waiting != 0 {
            let index = waiting.trailing_zeros() as usize;
            for wanted in self.ctas[cta].take_results(index) {
                self.warps[index].entry.release(wanted.slots);
            }
            self.consider(index, world);
            waiting &= waiting - 1;
        }
    }
}
