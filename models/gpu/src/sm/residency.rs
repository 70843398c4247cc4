//! CTAs and warps on an SM: placement, barriers, retirement.

use warpwatt_activity::Activity;
use warpwatt_simt::trace::KernelTrace;

use super::{Head, Sm, World};
use crate::counters::Counter;
use crate::event::Event;
use crate::{CounterInfo, GpuError, PlaceEvent};

/// A resident CTA.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CtaSlot {
    /// Its warps that have not finished; empty if the slot is free.
    warps: u64,
    /// Warps that wait at its barrier.
    waiting: u64,
    /// The barrier is about to open.
    opening: bool,
}

impl<'t> Sm<'t> {
    /// Places CTA `number` of `trace`, if there is room.
    pub fn place(
        &mut self,
        trace: &'t KernelTrace,
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
        self.ctas[slot] = CtaSlot::default();
        for warp in 0..demand.warps as usize {
            let index = (!self.live).trailing_zeros() as usize;
            self.ages.placed[index] = self.ages.next;
            self.ages.next += 1;
            self.ages.issued[index] = 0;
            self.live |= 1 << index;
            self.ctas[slot].warps |= 1 << index;
            self.warps[index].place(trace.warp(number, warp), slot as u8, now);
            for hook in &mut self.issue_hooks {
                hook.placed(PlaceEvent {
                    cycle: now,
                    warp: index as u8,
                    cta: number as u32,
                });
            }
            self.update_fetch(index, world);
            self.empty |= 1 << index;
            self.exhausted &= !(1 << index);
            if self.warps[index].exhausted() {
                self.exhausted |= 1 << index;
                world.queue.schedule(
                    now + 1,
                    Event::Retire {
                        sm: self.id,
                        warp: index as u8,
                    },
                )?;
            }
        }
        Ok(true)
    }

    /// A warp has issued a barrier.
    pub(super) fn wait_at_barrier(
        &mut self,
        index: usize,
        now: u64,
        world: &mut World<'_>,
    ) -> Result<u64, GpuError> {
        let cta = self.warps[index].cta;
        self.at_barrier |= 1 << index;
        self.ctas[usize::from(cta)].waiting |= 1 << index;
        self.open_if_complete(cta, now, world)?;
        Ok(now + u64::from(world.spec.timing.control.latency))
    }

    /// Once every warp of the CTA that has not finished waits, the barrier opens.
    fn open_if_complete(
        &mut self,
        cta: u8,
        now: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        let slot = &mut self.ctas[usize::from(cta)];
        if slot.waiting != 0 && slot.waiting == slot.warps && !slot.opening {
            slot.opening = true;
            let opens = now + u64::from(world.spec.sm.barrier_cycles);
            world
                .queue
                .schedule(opens, Event::Barrier { sm: self.id, cta })?;
        }
        Ok(())
    }

    /// The barrier of a CTA opens; whether the CTA has finished, its last instruction being the barrier.
    pub fn open_barrier(
        &mut self,
        cta: u8,
        now: u64,
        world: &mut World<'_>,
    ) -> Result<bool, GpuError> {
        let slot = &mut self.ctas[usize::from(cta)];
        let mut waiting = std::mem::take(&mut slot.waiting);
        slot.opening = false;
        self.at_barrier &= !waiting;
        let mut finished = false;
        while waiting != 0 {
            let index = waiting.trailing_zeros() as usize;
            waiting &= waiting - 1;
            self.examine(index, world);
            finished |= self.retire_if_done(index as u8, now, world)?;
        }
        Ok(finished)
    }

    /// The last instruction of a warp has left the pipeline; whether its CTA has finished.
    pub fn retire(&mut self, index: u8, now: u64, world: &mut World<'_>) -> Result<bool, GpuError> {
        self.warps[usize::from(index)].drained = true;
        self.retire_if_done(index, now, world)
    }

    /// Frees the warp once nothing of it is pending; whether its CTA has finished.
    pub(super) fn retire_if_done(
        &mut self,
        index: u8,
        now: u64,
        world: &mut World<'_>,
    ) -> Result<bool, GpuError> {
        let warp = &mut self.warps[usize::from(index)];
        let bit = 1 << index;
        if !warp.drained || !warp.entry.is_clear() || self.at_barrier & bit != 0 {
            return Ok(false);
        }
        warp.drained = false;
        self.counts
            .add(Counter::ResidentWarpCycles, now - warp.placed);
        self.live &= !bit;
        for scheduler in &mut self.schedulers {
            scheduler.active &= !bit;
        }
        for observer in &mut self.observers {
            observer.retired(index);
        }
        for hook in &mut self.issue_hooks {
            hook.retired(now, index);
        }
        let cta = warp.cta;
        self.ctas[usize::from(cta)].warps &= !bit;
        if self.ctas[usize::from(cta)].warps != 0 {
            self.open_if_complete(cta, now, world)?;
            return Ok(false);
        }
        self.registers_used -= world.demand.registers;
        self.shared_used -= world.demand.shared_bytes;
        Ok(true)
    }

    /// The SM's counters and those of what is attached to it.
    pub fn report(&mut self, now: u64, kept: impl Fn(&CounterInfo) -> bool) -> Activity {
        self.account(now);
        let mut activity = self.counts.activity(kept);
        if let Some(filter) = &mut self.filter {
            if let Some(late) = self.late_fill.take() {
                filter.fill(late.pc());
            }
            filter.report(&mut activity);
        }
        for observer in &self.observers {
            observer.report(&mut activity);
        }
        for hook in &self.issue_hooks {
            hook.report(&mut activity);
        }
        activity
    }

    /// One line a warp, for the report of a deadlock.
    pub fn states(&self) -> Vec<String> {
        let state = |(index, warp): (usize, &super::Warp<'t>)| {
            let bit = 1 << index;
            let doing = if self.at_barrier & bit != 0 {
                "waits at a barrier"
            } else if self.missing & bit != 0 {
                "waits for an I-cache line"
            } else if warp.branch {
                "waits for a branch"
            } else if warp.head == Head::Blocked {
                "waits for the scoreboard"
            } else if warp.exhausted() {
                "has issued everything"
            } else {
                "can go on"
            };
            let next = warp
                .oldest()
                .or(warp.next())
                .map_or_else(String::new, |step| format!(", instruction {}", step.inst));
            format!(
                "SM {} warp {index} (CTA slot {}): {doing}{next}",
                self.id, warp.cta
            )
        };
        self.warps
            .iter()
            .enumerate()
            .filter(|(index, _)| self.live >> index & 1 != 0)
            .map(state)
            .collect()
    }
}
