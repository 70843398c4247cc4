//! CTAs and warps on an SM: placement, barriers, retirement.

use warpwatt_activity::Activity;
use warpwatt_simt::trace::{BarrierUse, KernelTrace, WarpCursor};

use super::ldst::Wanted;
use super::pending::Told;
use super::{Attached, Sm, World};
use crate::counters::{Counter, Counts, Selection};
use crate::engine::NEVER;
use crate::event::Event;
use crate::program::Program;
use crate::{GpuError, PlaceEvent};

/// A resident CTA.
#[derive(Clone, Debug, Default)]
pub(crate) struct CtaSlot {
    /// Its number in the grid.
    pub number: u32,
    /// Its warps that have not finished; empty if the slot is free.
    warps: u64,
    /// Those of its barriers that a warp has come to.
    barriers: Vec<Barrier>,
    /// Those in shared memory that somebody told anything, or waits at.
    pub told: Vec<Told>,
    /// Results that warps get when the barrier opens at which they wait.
    pub results: Vec<Wanted>,
}

/// A barrier of a CTA.
#[derive(Clone, Copy, Debug)]
struct Barrier {
    number: u8,
    /// Warps that it opens for; all that have not finished, if it does not say.
    of: Option<u32>,
    /// Warps that wait.
    waiting: u64,
    /// Warps that announced themselves and went on.
    arrived: u32,
    /// Warps for which it is about to open.
    opening: u64,
}

impl CtaSlot {
    /// Slots of its warps that have not finished.
    pub fn warps(&self) -> u64 {
        self.warps
    }

    /// Warps of it whose barrier is about to open.
    pub fn opening(&self) -> u64 {
        let opening = self.barriers.iter().map(|barrier| barrier.opening);
        opening.fold(0, |all, one| all | one)
    }

    /// Results that a warp has waited for at a barrier.
    pub fn take_results(&mut self, warp: usize) -> impl Iterator<Item = Wanted> {
        self.results
            .extract_if(.., move |wanted| usize::from(wanted.warp) == warp)
    }

    /// Nobody waits at its barriers any more; who did, unless they are about to go on.
    pub fn forget_waiting(&mut self) -> u64 {
        let barriers = self.barriers.iter_mut();
        barriers.fold(0, |all, barrier| all | std::mem::take(&mut barrier.waiting))
    }

    /// The barrier at which the warp in a slot waits.
    pub fn waits_at(&self, slot: usize) -> Option<u8> {
        let waits = |barrier: &&Barrier| (barrier.waiting | barrier.opening) >> slot & 1 != 0;
        self.barriers
            .iter()
            .find(waits)
            .map(|barrier| barrier.number)
    }

    fn barrier(&mut self, number: u8) -> &mut Barrier {
        let place = self
            .barriers
            .iter()
            .position(|known| known.number == number);
        let place = place.unwrap_or_else(|| {
            self.barriers.push(Barrier {
                number,
                of: None,
                waiting: 0,
                arrived: 0,
                opening: 0,
            });
            self.barriers.len() - 1
        });
        &mut self.barriers[place]
    }
}

impl Barrier {
    /// If enough of a CTA's `live` warps have come, those that wait are about to go on.
    fn complete(&mut self, live: u64) -> bool {
        let needed = self.of.unwrap_or(live.count_ones());
        let waiting = self.waiting.count_ones();
        if waiting == 0 || waiting + self.arrived < needed {
            return false;
        }
        self.arrived -= needed.saturating_sub(waiting).min(self.arrived);
        self.opening |= std::mem::take(&mut self.waiting);
        true
    }
}

impl Sm {
    /// Places CTA `number` of `trace`, if there is room.
    pub fn place(
        &mut self,
        trace: &KernelTrace,
        number: usize,
        now: u64,
        world: &mut World<'_>,
    ) -> Result<bool, GpuError> {
        let demand = world.demand;
        let free_warps = self.warps.len() as u32 - self.live.count_ones();
        let slot = self.ctas.iter().position(|cta| cta.warps == 0);
        let (Some(slot), true) = (slot, free_warps >= demand.warps) else {
            return Ok(false);
        };
        if self.registers_used + demand.registers > world.spec.registers_per_sm()
            || self.shared_used + demand.shared_bytes > world.spec.sm.shared_bytes
        {
            return Ok(false);
        }
        self.registers_used += demand.registers;
        self.shared_used += demand.shared_bytes;
        self.counts.add(Counter::Ctas, 1);
        self.counts.add(Counter::Warps, u64::from(demand.warps));
        self.ctas[slot].barriers.clear();
        self.ctas[slot].told.clear();
        self.ctas[slot].results.clear();
        self.ctas[slot].number = number as u32;
        for warp in 0..demand.warps as usize {
            let index = (!self.live).trailing_zeros() as usize;
            let cursor = trace.warp(number, warp)?;
            self.place_warp(index, (slot, cursor), now, world)?;
        }
        Ok(true)
    }

    /// A warp of the CTA in `slot` starts.
    pub(super) fn place_warp(
        &mut self,
        index: usize,
        (slot, cursor): (usize, WarpCursor),
        now: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        self.ages.place(index);
        self.products[index].clear();
        self.forget_accesses(index);
        self.live |= 1 << index;
        self.ctas[slot].warps |= 1 << index;
        self.warps[index].place(cursor, slot as u8, now);
        let event = PlaceEvent {
            cycle: now,
            warp: index as u8,
            cta: self.ctas[slot].number,
        };
        for hook in &mut world.attached.issue {
            hook.placed(event);
        }
        for observer in &mut world.attached.storage {
            observer.placed(event);
        }
        self.warps[index].due = self.warps[index].metadata(world.program);
        self.update_fetch(index, world);
        self.empty |= 1 << index;
        self.exhausted &= !(1 << index);
        if self.warps[index].exhausted() {
            self.exhausted |= 1 << index;
            self.retire_at(index as u8, now + 1, world)?;
        }
        Ok(())
    }

    /// A warp has issued a barrier, from which it gets what is wanted (what all threads say together) when it opens.
    pub(super) fn reach_barrier(
        &mut self,
        wanted: Wanted,
        at: BarrierUse,
        now: u64,
        world: &mut World<'_>,
    ) -> Result<u64, GpuError> {
        let index = usize::from(wanted.warp);
        let cta = self.warps[index].cta;
        if wanted.slots != 0 {
            self.ctas[usize::from(cta)].results.push(wanted);
        }
        let barrier = self.ctas[usize::from(cta)].barrier(at.number);
        let width = world.spec.sm.warp_width;
        barrier.of = at.threads.map(|threads| threads.div_ceil(width));
        if at.waits {
            barrier.waiting |= 1 << index;
            self.at_barrier |= 1 << index;
        } else {
            barrier.arrived += 1;
        }
        self.open_if_complete(cta, at.number, now, world)?;
        Ok(now + u64::from(world.spec.timing.control.latency))
    }

    /// Once as many warps have come as a barrier is for, it opens.
    fn open_if_complete(
        &mut self,
        cta: u8,
        number: u8,
        now: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        let slot = &mut self.ctas[usize::from(cta)];
        let live = slot.warps;
        if slot.barrier(number).complete(live) {
            let opens = now + u64::from(world.spec.sm.barrier_cycles);
            let sm = self.id;
            world.schedule(opens, Event::Barrier { sm, cta, number })?;
        }
        Ok(())
    }

    /// A barrier of a CTA opens. It may have been the last instruction of the CTA.
    pub fn open_barrier(
        &mut self,
        cta: u8,
        number: u8,
        now: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        let barrier = self.ctas[usize::from(cta)].barrier(number);
        let mut opening = std::mem::take(&mut barrier.opening);
        self.at_barrier &= !opening;
        self.let_go();
        while opening != 0 {
            let index = opening.trailing_zeros() as usize;
            opening &= opening - 1;
            let results = self.ctas[usize::from(cta)].take_results(index);
            let come = now + u64::from(world.spec.timing.control.latency);
            for wanted in results.collect::<Vec<Wanted>>() {
                self.results_at(wanted, come, world)?;
            }
            self.consider(index, world);
            self.awake = true;
            self.retire_if_done(index as u8, now, world)?;
        }
        Ok(())
    }

    /// The last instruction of a warp will have left the pipeline in `cycle`.
    pub(super) fn retire_at(
        &mut self,
        warp: u8,
        cycle: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        let sm = self.id;
        world.schedule(cycle, Event::Retire { sm, warp })
    }

    /// The last instruction of a warp has left the pipeline; results may be missing.
    pub fn retire(&mut self, index: u8, now: u64, world: &mut World<'_>) -> Result<(), GpuError> {
        if self.live >> index & 1 == 0 {
            // A barrier that opened in this cycle has let it go.
            return Ok(());
        }
        let warp = &mut self.warps[usize::from(index)];
        warp.drained = true;
        if !warp.entry.is_clear(now) && warp.entry.clears() != NEVER {
            let clears = warp.entry.clears();
            return self.retire_at(index, clears, world);
        }
        self.retire_if_done(index, now, world)
    }

    /// Frees the warp once nothing of it is pending.
    pub(super) fn retire_if_done(
        &mut self,
        index: u8,
        now: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        let warp = &mut self.warps[usize::from(index)];
        let bit = 1 << index;
        if !warp.drained || !warp.entry.is_clear(now) || self.at_barrier & bit != 0 {
            return Ok(());
        }
        warp.drained = false;
        self.counts
            .add(Counter::ResidentWarpCycles, now - warp.placed);
        self.live &= !bit;
        for scheduler in &mut self.schedulers {
            // Another one may enter the pool.
            self.awake |= scheduler.active & bit != 0;
            scheduler.active &= !bit;
        }
        for observer in &mut world.attached.observers {
            observer.retired(index);
        }
        for hook in &mut world.attached.issue {
            hook.retired(now, index);
        }
        for observer in &mut world.attached.storage {
            observer.retired(now, index);
        }
        let cta = warp.cta;
        self.let_go();
        self.ctas[usize::from(cta)].warps &= !bit;
        if self.ctas[usize::from(cta)].warps != 0 {
            for place in 0..self.ctas[usize::from(cta)].barriers.len() {
                let number = self.ctas[usize::from(cta)].barriers[place].number;
                self.open_if_complete(cta, number, now, world)?;
            }
            return Ok(());
        }
        self.registers_used -= world.demand.registers;
        self.shared_used -= world.demand.shared_bytes;
        self.finished += 1;
        Ok(())
    }

    /// CTAs that have finished since the last call.
    pub fn take_finished(&mut self) -> u32 {
        std::mem::take(&mut self.finished)
    }

    /// The counters as they are before anything of cycle `now` happens, added to `counts`, and those of what is attached, added to `activity`. Nothing is settled by that.
    pub fn so_far(
        &self,
        (now, program): (u64, Option<&Program>),
        attached: &Attached,
        of_sms: &Selection,
        (counts, activity): (&mut Counts, &mut Activity),
    ) {
        let mut own = self.counts.clone();
        if let Some(program) = program {
            self.tally.so_far(program, &mut own);
        }
        own.add(self.why, now.saturating_sub(self.accounted));
        let fetched = own.get(Counter::FetchGrants) - own.get(Counter::FilteredFetches);
        own.add(Counter::IcacheTagRead, fetched);
        own.add(Counter::IcacheDataRead, fetched);
        counts.add_all(&own);
        if attached.counts() {
            // What is attached sees the SM's counters, and adds to them.
            let known = own.activity(of_sms);
            let mut all = known.clone();
            attached.report(&mut all);
            *activity += &all.since(&known);
        }
    }

    /// The SM's counters and those of what is attached to it.
    pub fn report(&mut self, now: u64, attached: &mut Attached, of_sms: &Selection) -> Activity {
        self.account(now);
        // Each fetch that no filter serves looks up the I-cache.
        let fetched = self.counted(Counter::FetchGrants) - self.counted(Counter::FilteredFetches);
        self.counts.add(Counter::IcacheTagRead, fetched);
        self.counts.add(Counter::IcacheDataRead, fetched);
        let mut activity = self.counts.activity(of_sms);
        if let (Some(filter), Some(late)) = (&mut attached.filter, self.late_fill.take()) {
            filter.fill(late.pc());
        }
        attached.report(&mut activity);
        attached.report_levels(&mut activity);
        activity
    }
}
