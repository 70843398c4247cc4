//! Issue: one ready warp a cycle goes to its unit through operand collection.

use warpwatt_simt::trace::Step;

use super::{Sm, World};
use crate::counters::Counter;
use crate::event::Event;
use crate::program::{Inst, Port, UNITS};
use crate::{FetchEvent, GpuError};

impl Sm<'_> {
    /// Issues for one warp; whether there was one.
    pub(super) fn issue(&mut self, now: u64, world: &mut World<'_>) -> Result<bool, GpuError> {
        let candidates = self.candidates(now, world);
        if candidates == 0 {
            return Ok(false);
        }
        let index = self
            .select
            .next(candidates, self.last_issued, self.last_issued);
        self.last_issued = index;
        let Some(step) = self.warps[index as usize].issue() else {
            return Ok(false);
        };
        let program = world.program;
        let inst = &program.insts[step.inst as usize];
        self.count(&step, inst, world);
        self.observe(&step, index as u8, now, world);
        let slots = self.warps[index as usize]
            .entry
            .reserve(program, inst, inst.memory.is_some());
        if slots != 0 && inst.memory.is_some() {
            self.loading |= 1 << index;
        }
        let last_cycle = match inst.port {
            Port::Barrier => self.wait_at_barrier(index as usize, now, world)?,
            Port::Ldst => self.issue_memory(index, &step, slots, now, world)?,
            Port::Sp | Port::Sfu | Port::Fp64 => {
                self.issue_arithmetic(index, inst, slots, now, world)?
            }
        };
        self.after(index as usize, inst, now, last_cycle, world)?;
        Ok(true)
    }

    /// Warps whose oldest instruction can issue now.
    #[inline]
    fn candidates(&self, now: u64, world: &World<'_>) -> u64 {
        let mut candidates = self.ready[Port::Barrier as usize];
        if UNITS.iter().all(|&port| self.ready[port as usize] == 0)
            || self.units.collector_free() > now
        {
            return candidates;
        }
        for port in UNITS {
            let credit = port != Port::Ldst || self.loads.in_flight < world.spec.ldst.outstanding;
            if credit && self.units.accepts_from(port) <= now {
                candidates |= self.ready[port as usize];
            }
        }
        candidates
    }

    #[inline]
    fn count(&mut self, step: &Step<'_>, inst: &Inst, world: &World<'_>) {
        let counts = &mut self.counts;
        counts.add(Counter::WarpInstructions, 1);
        counts.add(
            Counter::ThreadInstructions,
            u64::from(step.active.count_ones()),
        );
        counts.add(Counter::BufferRead, 1);
        counts.add(Counter::ScoreboardRead, 1);
        counts.add(
            Counter::ScoreboardWrite,
            u64::from(!world.program.results(inst).is_empty()),
        );
        counts.add(Counter::RegisterWrite, u64::from(inst.writes));
        if inst.port != Port::Barrier {
            let reads = world.program.words(inst).len() as u64;
            counts.add(Counter::RegisterRead, reads);
            counts.add(Counter::OperandWrite, reads);
            counts.add(Counter::OperandRead, reads);
        }
        let issued = match inst.port {
            Port::Sp => Counter::IssuedSp,
            Port::Sfu => Counter::IssuedSfu,
            Port::Fp64 => Counter::IssuedFp64,
            Port::Ldst => Counter::IssuedLdst,
            Port::Barrier => Counter::IssuedBarrier,
        };
        counts.add(issued, 1);
    }

    #[inline]
    fn observe(&mut self, step: &Step<'_>, warp: u8, now: u64, world: &World<'_>) {
        if self.observers.is_empty() {
            return;
        }
        let pc = world.program.base
            + u64::from(step.inst) * u64::from(world.spec.fetch.instruction_bytes);
        for observer in &mut self.observers {
            observer.issued(FetchEvent {
                cycle: now,
                warp,
                pc,
            });
        }
    }

    /// Latencies count from the issue: the first cycle of operand collection is in them, conflicts and waiting come on top.
    fn issue_arithmetic(
        &mut self,
        warp: u32,
        inst: &Inst,
        slots: u16,
        now: u64,
        world: &mut World<'_>,
    ) -> Result<u64, GpuError> {
        let dispatch = self.units.collect(world.program, inst, warp, now);
        self.counts
            .add(Counter::BankConflictCycles, dispatch.conflict_cycles);
        self.units.occupy(inst.port, dispatch.cycle, inst.interval);
        let done = dispatch.cycle + inst.latency - 1;
        if slots != 0 {
            world.queue.schedule(
                done,
                Event::Release {
                    sm: self.id,
                    warp: warp as u8,
                    slots,
                },
            )?;
        }
        Ok(done)
    }

    /// What follows from an issue for the warp: the branch is on its way, the next instruction can be looked at, there is room to fetch, or it was the last.
    fn after(
        &mut self,
        index: usize,
        inst: &Inst,
        now: u64,
        last_cycle: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        let warp = index as u8;
        if inst.control {
            let resolved = now + u64::from(world.spec.fetch.branch_cycles);
            world
                .queue
                .schedule(resolved, Event::Resolve { sm: self.id, warp })?;
        }
        self.examine(index, world);
        self.update_fetch(index, world);
        if self.warps[index].exhausted() {
            world
                .queue
                .schedule(last_cycle, Event::Retire { sm: self.id, warp })?;
        }
        Ok(())
    }
}
