//! Instructions that a hook holds back, and registers that it moves between file and memory.

use warpwatt_simt::trace::{Addresses, LaneMask, MemoryOp, MemoryOpKind, Space};

use super::ldst::{SPILL_BASE, Waiting, Wanted};
use super::units::Issuer;
use super::{Attached, Sm, World};
use crate::counters::Counter;
use crate::engine::NEVER;
use crate::event::Event;
use crate::program::Port;
use crate::{GpuError, GpuSpec, IssueHook, Move};

/// What the SM knows of instructions that are held back.
#[derive(Clone, Debug)]
pub(crate) struct HeldBack {
    /// The hook that does.
    pub hook: Option<usize>,
    /// Warps whose instruction was refused in this cycle.
    pub refused: u64,
    /// Warps that may issue, but not before the preferred ones.
    pub behind: u64,
    /// Warps with registers to move.
    pub moving: u64,
    /// Warps that need not be asked about until something happens.
    pub parked: u64,
    /// Or until then.
    pub until: u64,
}

impl HeldBack {
    pub fn new(hooks: &mut [Box<dyn IssueHook>]) -> Self {
        Self {
            hook: hooks.iter_mut().position(|hook| hook.throttle().is_some()),
            refused: 0,
            behind: 0,
            moving: 0,
            parked: 0,
            until: NEVER,
        }
    }
}

impl Sm {
    /// Of the warps that could issue, those that may: the preferred ones, if there are such.
    #[inline]
    pub(super) fn admitted(&mut self, candidates: u64, now: u64, attached: &mut Attached) -> u64 {
        match self.held.hook {
            None => candidates,
            Some(hook) => self.admitted_by(hook, candidates, now, attached),
        }
    }

    #[inline(never)]
    fn admitted_by(
        &mut self,
        hook: usize,
        candidates: u64,
        now: u64,
        attached: &mut Attached,
    ) -> u64 {
        let Some(throttle) = attached.issue[hook].throttle() else {
            return candidates;
        };
        let mut admitted = candidates;
        let mut rest = candidates;
        while rest != 0 {
            let index = rest.trailing_zeros();
            rest &= rest - 1;
            let mut of_plain = None;
            let step = self.warps[index as usize].oldest_step(&mut of_plain);
            if step.is_some_and(|step| !throttle.admits(now, index as u8, step)) {
                admitted &= !(1 << index);
            }
        }
        self.held.refused |= candidates & !admitted;
        let preferred = match admitted & throttle.preferred() {
            0 => admitted,
            preferred => preferred,
        };
        self.held.behind = admitted & !preferred;
        preferred
    }

    /// When the next register can move.
    pub(super) fn moves_from(&self) -> u64 {
        let schedulers = self.schedulers.iter().enumerate();
        let due = schedulers.filter(|(_, scheduler)| self.held.moving & scheduler.own != 0);
        let from = due.map(|(number, scheduler)| {
            let accepts = self.accepts_from(number, Port::Ldst as usize);
            accepts.max(scheduler.issues_from)
        });
        from.min().unwrap_or(NEVER)
    }

    /// Issues the next move of a register of a scheduler's warps, if there is one and the load-store unit takes it.
    pub(super) fn issue_move(
        &mut self,
        scheduler: usize,
        now: u64,
        world: &mut World<'_>,
    ) -> Result<bool, GpuError> {
        let own = self.schedulers[scheduler].own;
        if self.accepts_from(scheduler, Port::Ldst as usize) > now {
            return Ok(false);
        }
        let throttle = self
            .held
            .hook
            .map(|hook| world.attached.issue[hook].throttle());
        let Some(throttle) = throttle.flatten() else {
            return Ok(false);
        };
        let Some(register) = throttle.next_move(now, own) else {
            return Ok(false);
        };
        let read = register.to_memory.then_some(register.word);
        let issuer = Issuer {
            scheduler,
            warp: u32::from(register.warp),
        };
        let collected = self.units.collect_move(read, issuer, now);
        if register.to_memory {
            throttle.moved(collected.ready, register);
        }
        self.count_move(register, world.spec.sm.warp_width);
        self.schedulers[scheduler].issues_from = now + u64::from(world.spec.scheduler.interval);
        let waiting = Waiting {
            wanted: Wanted::by_move(register.warp, register.word),
            op: MemoryOp::new(
                Space::Global,
                match register.to_memory {
                    true => MemoryOpKind::Store,
                    false => MemoryOpKind::Load,
                },
                4,
            ),
            addresses: Addresses::Affine {
                base: address(self.id, register, world.spec),
                stride: 4,
            },
            executed: LaneMask::MAX >> (64 - world.spec.sm.warp_width),
            collected,
            interval: u64::from(world.spec.interval(world.spec.ldst.lanes)),
        };
        self.pass_memory(waiting, world)?;
        Ok(true)
    }

    fn count_move(&mut self, register: Move, width: u32) {
        let (file, lanes) = match register.to_memory {
            true => (Counter::RegisterRead, Counter::RegisterWordsRead),
            false => (Counter::RegisterWrite, Counter::RegisterWordsWritten),
        };
        self.counts.add(file, 1);
        self.counts.add(lanes, u64::from(width));
        if register.to_memory {
            self.counts.add(Counter::OperandWrite, 1);
            self.counts.add(Counter::OperandRead, 1);
        }
    }

    /// The data of a register that returns come in `cycle`.
    pub(super) fn restores_at(
        &mut self,
        warp: u8,
        word: u16,
        cycle: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        let now = world.now;
        let written = self.units.write(&[word], u32::from(warp), cycle, now);
        self.counts
            .add(Counter::WriteConflictCycles, written - cycle);
        let sm = self.id;
        world.schedule(written, Event::Restored { sm, warp, word })
    }

    /// A register is back from memory.
    pub fn restored(&mut self, warp: u8, word: u16, now: u64, attached: &mut Attached) {
        let throttle = self.held.hook.map(|hook| attached.issue[hook].throttle());
        if let Some(throttle) = throttle.flatten() {
            throttle.moved(
                now,
                Move {
                    warp,
                    word,
                    to_memory: false,
                },
            );
        }
        self.let_go();
    }

    /// Something has happened: what is held back is asked about anew.
    #[inline]
    pub(super) fn let_go(&mut self) {
        if self.held.parked != 0 {
            self.held.parked = 0;
            self.awake = true;
        }
    }

    /// After a cycle: who need not be asked about again before something happens. Who has nothing else to wait for says so.
    pub(super) fn hold_back(&mut self, now: u64, issued: u64, attached: &mut Attached) {
        self.held.parked = if issued == 0 { self.held.refused } else { 0 };
        let starved = self.held.parked != 0 && self.nothing_under_way(now);
        let at_barrier = self.at_barrier;
        let throttle = self.held.hook.map(|hook| attached.issue[hook].throttle());
        let Some(throttle) = throttle.flatten() else {
            return;
        };
        self.held.until = NEVER;
        if self.held.parked != 0 {
            self.held.until = throttle.reconsiders().unwrap_or(NEVER);
            if starved && self.held.until == NEVER && throttle.starved(now, at_barrier) {
                self.held.parked = 0;
            }
        }
        self.held.moving = throttle.moving();
    }

    /// Whether every warp is held back or waits at a barrier that is not about to open, with no result on its way.
    fn nothing_under_way(&self, now: u64) -> bool {
        let waits = |index: usize| self.warps[index].entry.clears() <= now;
        let opening = |cta: &super::CtaSlot| cta.opening() != 0;
        self.live & !(self.held.parked | self.at_barrier) == 0
            && (0..self.warps.len()).all(|index| self.live >> index & 1 == 0 || waits(index))
            && !self.ctas.iter().any(opening)
    }
}

/// Where a register of a warp slot goes: its lanes side by side, the registers of a warp one after the other.
fn address(sm: u16, register: Move, spec: &GpuSpec) -> u64 {
    let slot = u64::from(sm) * u64::from(spec.warps_per_sm()) + u64::from(register.warp);
    let place = (slot << u16::BITS) + u64::from(register.word);
    SPILL_BASE + place * 4 * u64::from(spec.sm.warp_width)
}
