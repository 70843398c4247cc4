//! Warps go on in their traces without being timed, by their paces.
//!
//! What is in the pipeline stays there. Warps of a CTA pass a barrier together, so that they are as far apart as they were. What is passed over is brought into
//! the caches.

use std::ops::AddAssign;

use warpwatt_simt::trace::{Asynchronous, BarrierUse, KernelTrace, Step, Unit};

use super::ldst::local_base;
use super::paces::Paces;
use super::{Sm, World};
use crate::counters::Counter;
use crate::memory::coalesce::Coalescer;
use crate::memory::warm::Touch;
use crate::{GpuError, StoreMiss};

/// What warps pass on their way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    pub instructions: u64,
    /// Blocks of memory that these access beyond the SM by way of the load-store unit.
    pub blocks: u64,
}

impl AddAssign for Passed {
    fn add_assign(&mut self, other: Self) {
        self.instructions += other.instructions;
        self.blocks += other.blocks;
    }
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
    pub paces: &'n Paces,
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

fn is_barrier(trace: &KernelTrace, inst: u32) -> bool {
    trace.code[inst as usize].unit == Unit::Barrier
}

impl Sm {
    /// The slots of its warps.
    pub(super) fn live_slots(&self) -> impl Iterator<Item = usize> + use<> {
        let (live, slots) = (self.live, self.warps.len());
        (0..slots).filter(move |slot| live >> slot & 1 != 0)
    }

    /// How far each warp is from its end, in bytes of its trace.
    pub fn left(&self) -> impl Iterator<Item = usize> {
        self.live_slots().map(|slot| self.warps[slot].left())
    }

    /// Warps go on by their paces times `factor`; at the end of their CTA in the next one, as the youngest.
    pub fn jump(
        &mut self,
        road: &mut Road<'_>,
        factor: f64,
        world: &mut World<'_>,
    ) -> Result<Passed, GpuError> {
        let slots = self.by_age();
        let paces = road.paces.of(slots.len());
        let mut budgets = vec![0; self.warps.len()];
        for (slot, pace) in slots.into_iter().zip(&paces) {
            budgets[slot] = (pace * factor) as u64;
        }
        let of_youngest = paces.last().map_or(0, |pace| (pace * factor) as u64);
        let mut coalescer = Coalescer::default();
        let mut passed = Passed::default();
        for cta in 0..self.ctas.len() {
            let budgets = (budgets.as_slice(), of_youngest);
            passed += self.jump_cta(road, cta, budgets, &mut coalescer, world)?;
        }
        if passed.instructions > 0 {
            self.let_go();
            self.awake = true;
        }
        Ok(passed)
    }

    fn jump_cta(
        &mut self,
        road: &mut Road<'_>,
        cta: usize,
        (budgets, of_youngest): (&[u64], u64),
        coalescer: &mut Coalescer,
        world: &mut World<'_>,
    ) -> Result<Passed, GpuError> {
        let trace = road.trace;
        let members = self.ctas[cta].warps();
        let mut travellers: Vec<Traveller> = (0..self.warps.len())
            .filter(|index| members >> index & 1 != 0)
            .map(|index| self.traveller(trace, index, budgets[index]))
            .collect();
        let (mut passed, mut crossed) = (Passed::default(), false);
        loop {
            let under_way = travellers.iter().filter(|it| !it.state.is_over());
            let last = under_way.map(|it| it.ahead).min().unwrap_or(u32::MAX);
            for traveller in travellers.iter_mut().filter(|it| it.ahead <= last) {
                passed += self.go(road, traveller, coalescer, world);
            }
            if !travellers.is_empty() && travellers.iter().all(|it| it.state == State::AtEnd) {
                let Some(next) = (road.next_cta)() else { break };
                for traveller in &mut travellers {
                    traveller.budget = traveller.budget.min(of_youngest);
                }
                passed.instructions +=
                    self.begin_next(trace, (cta, next), &mut travellers, world)?;
                continue;
            }
            let behind = |it: &&mut Traveller| it.ahead == last && !it.state.is_over();
            let mut behind: Vec<_> = travellers.iter_mut().filter(behind).collect();
            if behind.is_empty() || behind.iter().any(|it| it.state != State::AtBarrier) {
                break;
            }
            crossed = true;
            for traveller in &mut behind {
                passed.instructions += u64::from(self.warps[traveller.index].leave_out().is_some());
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
            self.ages.place(traveller.index);
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
        let buffered = (0..warp.held).map(|number| warp.buffered(number));
        let fetched = buffered.filter(|&inst| is_barrier(trace, inst)).count();
        Traveller {
            index,
            budget: if warp.bare { 0 } else { budget },
            ahead: u32::from(waits) + fetched as u32,
            state: State::Going,
        }
    }

    /// As far as the next barrier, or as the budget goes.
    fn go(
        &mut self,
        road: &Road<'_>,
        traveller: &mut Traveller,
        coalescer: &mut Coalescer,
        world: &mut World<'_>,
    ) -> Passed {
        let (index, trace) = (traveller.index, road.trace);
        let local = local_base(world.spec, (self.id, index as u8));
        let mut passed = Passed::default();
        while matches!(traveller.state, State::Going) {
            let next = self.warps[index].next().unwrap_or(u32::MAX);
            let computing = u64::from(world.program.computing(next)).min(traveller.budget);
            let computed = u64::from(self.warps[index].leave_out_plain(computing as u32));
            traveller.budget -= computed;
            passed.instructions += computed;
            let mut of_plain = None;
            let Some(next) = self.warps[index].next_step(&mut of_plain) else {
                traveller.state = State::Ended;
                break;
            };
            if traveller.budget == 0 || !can_be_passed(trace, next) {
                traveller.state = State::Done;
                break;
            }
            if is_barrier(trace, next.inst) {
                traveller.state = State::AtBarrier;
                break;
            }
            let Some(step) = self.warps[index].leave_out() else {
                traveller.state = State::AtEnd;
                break;
            };
            traveller.budget -= 1;
            passed.instructions += 1;
            if let Some(touch) = Touch::of((trace, &step), world.spec, Some(local), coalescer) {
                if touch != Touch::Textures {
                    passed.blocks += coalescer.blocks.len() as u64;
                }
                if road.brings {
                    self.touch(touch, coalescer, world);
                }
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
                Touch::Copies | Touch::Textures => false,
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
