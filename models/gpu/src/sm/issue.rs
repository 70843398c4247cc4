//! Issue: each scheduler sends an instruction of one ready warp a cycle to its unit through operand collection.

use warpwatt_simt::trace::{Asynchronous, Step};

use super::ldst::{Waiting, Wanted};
use super::select::Seen;
use super::units::{Collected, Issuer, UnitTimes};
use super::{Attached, Scheduler, Sm, World};
use crate::counters::Counter;
use crate::engine::NEVER;
use crate::program::{Inst, Port};
use crate::sm::warp::Head;
use crate::{BranchFetch, Choice, Extent, FetchEvent, GpuError, IssueEvent, IssuePlan};

/// Cycles of an issue.
#[derive(Clone, Copy, Debug)]
struct IssueTimes {
    issued: u64,
    /// When the operands are there.
    read: u64,
}

/// What a scheduler has issued in a cycle.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    warps: u64,
    ports: u8,
}

impl Taken {
    /// The oldest instruction of a warp issues.
    fn add(&mut self, warp: u32, head: Head) {
        self.warps |= 1 << warp;
        if let Head::Ready(port) = head {
            self.ports |= 1 << port as u8;
        }
    }
}

impl IssueTimes {
    /// Of what reads nothing.
    fn at(now: u64) -> Self {
        Self {
            issued: now,
            read: now,
        }
    }
}

impl Sm {
    /// Each scheduler issues for one of its warps; how many instructions were issued.
    pub(super) fn issue(&mut self, now: u64, world: &mut World<'_>) -> Result<u64, GpuError> {
        let mut issued = 0;
        self.held.refused = 0;
        for scheduler in 0..self.schedulers.len() {
            let Scheduler {
                own, issues_from, ..
            } = self.schedulers[scheduler];
            if issues_from > now || self.turn(scheduler, now) > now {
                continue;
            }
            if self.held.hook.is_some() && self.issue_move(scheduler, now, world)? {
                issued += 1;
                continue;
            }
            if self.unitless_beside {
                issued += self.issue_unitless(scheduler, now, world)?;
            }
            if self.any_ready & own == 0 {
                continue;
            }
            if let Some(warp) = self.choose(scheduler, now, Taken::default(), world.attached) {
                if self.reexecutor.is_some() && !self.repeats_before(warp, now, world) {
                    self.schedulers[scheduler].issues_from = now + 1;
                    continue;
                }
                let mut taken = Taken::default();
                taken.add(warp, self.warps[warp as usize].head);
                self.schedulers[scheduler].last_issued = warp;
                self.schedulers[scheduler].issues_from = now;
                self.issue_for(scheduler, warp, now, world)?;
                issued += 1;
                issued += match world.spec.scheduler.choice {
                    Choice::OneWarp => self.issue_again(scheduler, warp, now, world)?,
                    Choice::Kinds => self.issue_kinds(scheduler, taken, now, world)?,
                };
            }
        }
        Ok(issued)
    }

    /// Issues what takes no unit, which the scheduler does not count; how many.
    fn issue_unitless(
        &mut self,
        scheduler: usize,
        now: u64,
        world: &mut World<'_>,
    ) -> Result<u64, GpuError> {
        let issues_from = self.schedulers[scheduler].issues_from;
        let own = self.schedulers[scheduler].own;
        let mut ready = self.admitted(
            self.ready[Port::Barrier as usize] & own,
            now,
            world.attached,
        );
        let issued = u64::from(ready.count_ones());
        while ready != 0 {
            let warp = ready.trailing_zeros();
            ready &= ready - 1;
            self.issue_for(scheduler, warp, now, world)?;
        }
        self.schedulers[scheduler].issues_from = issues_from;
        Ok(issued)
    }

    /// The next instructions of the warp that a scheduler has just served, up to its width; how many.
    fn issue_again(
        &mut self,
        scheduler: usize,
        warp: u32,
        now: u64,
        world: &mut World<'_>,
    ) -> Result<u64, GpuError> {
        let mut issued = 0;
        for _ in 1..world.spec.scheduler.width {
            let again = self.candidates(scheduler, now, Taken::default()) & 1 << warp;
            if again == 0 || self.admitted(again, now, world.attached) == 0 {
                break;
            }
            if self.reexecutor.is_some() && !self.repeats_before(warp, now, world) {
                break;
            }
            self.issue_for(scheduler, warp, now, world)?;
            issued += 1;
        }
        Ok(issued)
    }

    /// Instructions of other warps for other ports than those taken, up to a scheduler's width; how many.
    fn issue_kinds(
        &mut self,
        scheduler: usize,
        mut taken: Taken,
        now: u64,
        world: &mut World<'_>,
    ) -> Result<u64, GpuError> {
        let mut issued = 0;
        while issued + 1 < u64::from(world.spec.scheduler.width) {
            let Some(warp) = self.choose(scheduler, now, taken, world.attached) else {
                break;
            };
            taken.add(warp, self.warps[warp as usize].head);
            if self.reexecutor.is_some() && !self.repeats_before(warp, now, world) {
                break;
            }
            self.issue_for(scheduler, warp, now, world)?;
            issued += 1;
        }
        Ok(issued)
    }

    /// The first cycle from one on in which a scheduler may issue as far as others have their turns.
    #[inline]
    pub(super) fn turn(&self, scheduler: usize, from: u64) -> u64 {
        match self.round {
            1 => from,
            _ if from == NEVER => NEVER,
            round => from + (scheduler as u64 % round + round - from % round) % round,
        }
    }

    /// The warp that a scheduler issues for, if there is one.
    #[inline]
    fn choose(
        &mut self,
        scheduler: usize,
        now: u64,
        taken: Taken,
        attached: &mut Attached,
    ) -> Option<u32> {
        let candidates = self.candidates(scheduler, now, taken);
        let candidates = self.admitted(candidates, now, attached);
        if candidates == 0 {
            return None;
        }
        let seen = Seen {
            last: self.schedulers[scheduler].last_issued,
            waiting: self.waiting(),
            ages: &self.ages,
            warps: &self.warps,
        };
        self.select
            .issue(candidates, &seen, &mut self.schedulers[scheduler].active)
    }

    /// Warps that wait for something which is not their unit.
    #[inline]
    fn waiting(&self) -> u64 {
        (self.blocked & self.loading) | self.at_barrier | self.held.refused | self.held.behind
    }

    /// Of a scheduler's warps those that it may choose before something happens to one of them. Who holds warps back sees every cycle.
    #[inline]
    pub(super) fn within_reach(&self, scheduler: &Scheduler) -> u64 {
        if !self.select.has_pool() || self.held.hook.is_some() {
            return scheduler.own;
        }
        self.select
            .pool_reaches(scheduler.own, self.waiting(), scheduler.active)
    }

    fn issue_for(
        &mut self,
        scheduler: usize,
        index: u32,
        now: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        let Some(mut step) = self.warps[index as usize].issue() else {
            return Ok(());
        };
        let program = world.program;
        let inst = &program.insts[step.inst as usize];
        self.tally.issue(&step);
        self.observe(&step, index as u8, now, world);
        let plan = self.plan(&step, inst, index as u8, now, world);
        let busy = busy_cycles(&plan, u64::from(world.spec.scheduler.interval));
        let issues_from = &mut self.schedulers[scheduler].issues_from;
        *issues_from = (*issues_from).max(now + busy);
        if self.gated {
            self.gate_passed(index as usize, now);
        }
        let warp = &mut self.warps[index as usize];
        let slots = warp.entry.reserve(program, inst);
        self.empty |= u64::from(warp.delivered == 0) << index;
        if slots != 0 && inst.memory.is_some() {
            self.loading |= 1 << index;
        }
        let wanted = Wanted {
            warp: index as u8,
            inst: step.inst,
            slots,
            writes: plan.writes + plan.narrow_writes,
            told: false,
        };
        let told = step.addresses.as_ref();
        let beyond = told.and_then(|at| Some((at.first(), at.beyond()?)));
        let last_cycle = match inst.port {
            // Whoever does not execute it does not wait.
            Port::Barrier if step.executed == 0 || !inst.barrier => {
                self.watch_issue(&step, index as u8, &plan, IssueTimes::at(now), world);
                let done = now + u64::from(world.spec.timing.control.latency);
                self.results_at(wanted, done, world)?;
                done
            }
            Port::Barrier => {
                self.watch_issue(&step, index as u8, &plan, IssueTimes::at(now), world);
                self.reach_barrier(wanted, step.barrier(), now, world)?
            }
            port => {
                let issuer = Issuer {
                    scheduler,
                    warp: index,
                };
                let collected = self.units.collect(program, inst, &plan, issuer, now);
                self.counts
                    .add(Counter::BankConflictCycles, collected.conflict_cycles);
                for hook in &mut world.attached.issue {
                    hook.collected(index as u8, collected.ready);
                }
                let times = IssueTimes {
                    issued: now,
                    read: collected.ready,
                };
                self.watch_issue(&step, index as u8, &plan, times, world);
                if let (Port::Ldst, Some(op)) = (port, inst.memory) {
                    self.count_access(index as usize, step.inst, op);
                }
                if port == Port::Ldst {
                    self.issue_memory(wanted, &mut step, &plan, collected, world)?
                } else if inst.asynchronous == Some(Asynchronous::Tensor) {
                    self.issue_tensor_work(wanted, &step, &collected, world)?
                } else {
                    self.issue_arithmetic(wanted, inst, &plan, &collected, world)?
                }
            }
        };
        if inst.asynchronous.is_some() || beyond.is_some() {
            self.begin_or_wait(index as usize, inst, beyond, last_cycle, world)?;
        }
        self.after(index as usize, inst, now, last_cycle, world)
    }

    /// Warps of a scheduler whose oldest instruction can issue now, beside what has been issued.
    #[inline]
    fn candidates(&self, scheduler: usize, now: u64, taken: Taken) -> u64 {
        let own = self.schedulers[scheduler].own & !taken.warps;
        let mut candidates = 0;
        let mut ports = self.ready_ports & !taken.ports;
        while ports != 0 {
            let port = ports.trailing_zeros() as usize;
            ports &= ports - 1;
            let ready = self.ready[port] & own;
            if ready != 0 && self.accepts_from(scheduler, port) <= now {
                candidates |= ready;
            }
        }
        candidates
    }

    /// When the first of a scheduler's ready warps can issue as far as units are concerned.
    #[inline]
    pub(super) fn opens(&self, scheduler: usize, own: u64) -> u64 {
        let mut opens = NEVER;
        let mut ports = self.ready_ports;
        while ports != 0 {
            let port = ports.trailing_zeros() as usize;
            ports &= ports - 1;
            if self.ready[port] & own != 0 {
                opens = opens.min(self.accepts_from(scheduler, port));
            }
        }
        opens
    }

    /// From when on an instruction for a port, given by its number, may issue.
    #[inline]
    pub(super) fn accepts_from(&self, scheduler: usize, port: usize) -> u64 {
        if port == Port::Barrier as usize {
            0
        } else if port == Port::Ldst as usize && self.loads.in_flight >= self.outstanding {
            NEVER
        } else if port == Port::Ldst as usize && self.units.memory_is_unqueued() {
            let unit = self.ldst.takes_next().saturating_sub(self.units.depth());
            unit.max(self.units.accepts_from(scheduler, port))
        } else {
            self.units.accepts_from(scheduler, port)
        }
    }

    #[inline]
    fn observe(&mut self, step: &Step, warp: u8, now: u64, world: &mut World<'_>) {
        if world.attached.observers.is_empty() {
            return;
        }
        let pc = world
            .program
            .address(step.inst, world.spec.fetch.instruction_bytes);
        for observer in &mut world.attached.observers {
            observer.issued(FetchEvent {
                cycle: now,
                warp,
                pc,
            });
        }
    }

    /// How an instruction goes through the back end: as attached hooks decide, in their order.
    #[inline]
    fn plan(
        &mut self,
        step: &Step,
        inst: &Inst,
        warp: u8,
        now: u64,
        world: &mut World<'_>,
    ) -> IssuePlan {
        let mut plan = IssuePlan::plain(world.program.writes(inst).len() as u32);
        if world.attached.issue.is_empty() {
            return plan;
        }
        let event = issue_event(step, warp, now, world);
        for hook in &mut world.attached.issue {
            hook.issued(&event, &mut plan);
        }
        self.tally.steer(
            world.program,
            inst,
            &plan,
            u64::from(step.executed.count_ones()),
            &mut self.counts,
        );
        plan.delay += u64::from(plan.copies) * u64::from(world.spec.scheduler.interval);
        plan
    }

    /// Shows an issue to those who see where bits lie.
    #[inline]
    fn watch_issue(
        &mut self,
        step: &Step,
        warp: u8,
        plan: &IssuePlan,
        times: IssueTimes,
        world: &mut World<'_>,
    ) {
        if world.attached.storage.is_empty() {
            return;
        }
        let event = issue_event(step, warp, times.issued, world);
        for observer in &mut world.attached.storage {
            observer.issued(&event, plan, times.read);
        }
    }

    /// Latencies count from the issue: operand collection is in them, conflicts and waiting come on top.
    fn issue_arithmetic(
        &mut self,
        wanted: Wanted,
        inst: &Inst,
        plan: &IssuePlan,
        collected: &Collected,
        world: &mut World<'_>,
    ) -> Result<u64, GpuError> {
        let done = if plan.extent == Extent::Skipped {
            self.units.pass(collected, collected.ready);
            world.attached.watch_entry(collected.ready, wanted);
            collected.ready + 1
        } else {
            let times = UnitTimes {
                interval: occupied(inst, plan),
                latency: inst.latency,
            };
            let executed = self.units.execute(collected, times, world.now);
            world.attached.watch_entry(executed.entered, wanted);
            self.counts
                .add(Counter::ResultConflictCycles, executed.waited);
            executed.done
        };
        self.results_at(wanted, done, world)?;
        Ok(done)
    }

    /// Issues a memory instruction; gives the cycle in which it has left the pipeline.
    fn issue_memory(
        &mut self,
        wanted: Wanted,
        step: &mut Step,
        plan: &IssuePlan,
        collected: Collected,
        world: &mut World<'_>,
    ) -> Result<u64, GpuError> {
        let inst = &world.program.insts[step.inst as usize];
        let interval = occupied(inst, plan);
        let through = collected.ready + inst.latency - self.units.depth().min(inst.latency);
        let (Some(op), Some(addresses)) = (inst.memory, step.addresses.take()) else {
            self.units.pass(&collected, collected.ready);
            world.attached.watch_entry(collected.ready, wanted);
            self.take_ldst(self.ldst.free.max(collected.ready), interval);
            self.results_at(wanted, through, world)?;
            return Ok(through);
        };
        let waiting = Waiting {
            wanted,
            op,
            addresses,
            executed: step.executed,
            collected,
            interval,
        };
        self.pass_memory(waiting, world)?;
        Ok(through)
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
        let resolves = match world.spec.fetch.branches {
            BranchFetch::Stall => inst.control,
            BranchFetch::NotTaken => {
                let slot = &self.warps[index];
                slot.wrong_delivered && slot.held == 0 && slot.next().is_some()
            }
        };
        if resolves {
            let resolved = now + u64::from(world.spec.fetch.branch_cycles);
            self.warps[index].resolves = resolved;
            self.wakeups.plan(index, resolved, now);
        }
        self.withdraw(index, inst.port);
        self.consider(index, world);
        self.update_fetch(index, world);
        if self.warps[index].exhausted() {
            self.exhausted |= 1 << index;
            self.retire_at(index as u8, last_cycle, world)?;
        }
        Ok(())
    }
}

/// What hooks are told of an issue.
fn issue_event<'e>(step: &'e Step, warp: u8, now: u64, world: &World<'_>) -> IssueEvent<'e> {
    let inst = &world.program.insts[step.inst as usize];
    let bytes = world.spec.fetch.instruction_bytes;
    IssueEvent {
        cycle: now,
        warp,
        pc: world.program.address(step.inst, bytes),
        latency: inst.latency,
        port: inst.port,
        interval: inst.interval,
        pass: inst.pass,
        step,
    }
}

/// Cycles for which an instruction keeps its scheduler busy, with the copies before it.
#[inline]
fn busy_cycles(plan: &IssuePlan, interval: u64) -> u64 {
    let own = match plan.extent {
        Extent::Warp => interval,
        Extent::OnePass { .. } | Extent::Skipped => 1,
    };
    own + u64::from(plan.copies) * interval
}

/// Cycles for which an instruction occupies its unit, with the copies before it.
#[inline]
pub(super) fn occupied(inst: &Inst, plan: &IssuePlan) -> u64 {
    let own = match plan.extent {
        Extent::Warp => inst.interval,
        Extent::OnePass { .. } | Extent::Skipped => inst.pass,
    };
    own + u64::from(plan.copies) * inst.interval
}
