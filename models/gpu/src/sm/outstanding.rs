//! What an instruction waits for besides its registers: the way to the scheduler, and accesses that machine code counts.

use std::collections::VecDeque;

use warpwatt_simt::trace::{Asynchronous, MemoryOp, Outstanding, Space};

use super::{Sm, World};
use crate::engine::NEVER;
use crate::program::{Inst, Program};
use crate::sm::warp::Head;
use crate::{CountWaits, GpuSpec};

/// Accesses of a warp that go on, and how many of them may.
#[derive(Clone, Debug)]
pub(crate) struct Accesses {
    vector: Count,
    near: Count,
    most: Outstanding,
}

/// Accesses of a count, in the order of their issue: it falls in that order.
#[derive(Clone, Debug, Default)]
struct Count(VecDeque<Access>);

/// The instruction, and when its access ends; never, as long as that is not known.
#[derive(Clone, Copy, Debug)]
struct Access {
    inst: u32,
    until: u64,
}

/// Any number of accesses.
const ANY: Outstanding = Outstanding {
    vector: Outstanding::ANY,
    near: Outstanding::ANY,
};

/// Those of the warps of an SM, if it heeds counts.
pub(super) fn of_warps(spec: &GpuSpec) -> Vec<Accesses> {
    let warps = match spec.scoreboard.counts {
        CountWaits::Ignored => 0,
        CountWaits::Honoured => spec.warps_per_sm() as usize,
    };
    let none = Accesses {
        vector: Count::default(),
        near: Count::default(),
        most: ANY,
    };
    vec![none; warps]
}

/// Whether instructions may wait for anything here.
pub(super) fn gates(spec: &GpuSpec) -> bool {
    let scheduler = &spec.scheduler;
    let distances = [
        scheduler.warp_interval,
        scheduler.word_interval,
        scheduler.wait_interval,
    ];
    spec.scoreboard.counts == CountWaits::Honoured || distances != [0; 3]
}

impl Accesses {
    fn clear(&mut self) {
        self.vector.0.clear();
        self.near.0.clear();
        self.most = ANY;
    }

    fn count(&mut self, op: MemoryOp) -> &mut Count {
        match op.space {
            Space::Shared | Space::Const | Space::Param => &mut self.near,
            Space::Global | Space::Local | Space::Generic => &mut self.vector,
        }
    }

    /// When no more go on than may.
    fn opens(&mut self, now: u64) -> u64 {
        let opens = self.vector.falls_to(self.most.vector, now);
        opens.max(self.near.falls_to(self.most.near, now))
    }
}

impl Count {
    /// When no more than `most` go on, the latest ones.
    fn falls_to(&mut self, most: u8, now: u64) -> u64 {
        while self.0.front().is_some_and(|access| access.until <= now) {
            self.0.pop_front();
        }
        let awaited = self.0.len().saturating_sub(usize::from(most));
        let awaited = self.0.iter().take(awaited);
        awaited.map(|access| access.until).max().unwrap_or(0)
    }
}

impl Sm {
    /// A warp begins in a slot.
    pub(super) fn forget_accesses(&mut self, index: usize) {
        if let Some(accesses) = self.accesses.get_mut(index) {
            accesses.clear();
        }
    }

    /// A warp has issued an access.
    pub(super) fn count_access(&mut self, index: usize, inst: u32, op: MemoryOp) {
        if let Some(accesses) = self.accesses.get_mut(index) {
            let until = NEVER;
            accesses.count(op).0.push_back(Access { inst, until });
        }
    }

    /// The access of an instruction ends in `cycle`, of several the first of which that is not known.
    pub(super) fn access_ends(
        &mut self,
        index: usize,
        inst: u32,
        cycle: u64,
        world: &mut World<'_>,
    ) {
        let Some(accesses) = self.accesses.get_mut(index) else {
            return;
        };
        let Some(op) = world
            .program
            .insts
            .get(inst as usize)
            .and_then(|inst| inst.memory)
        else {
            return;
        };
        let mut all = accesses.count(op).0.iter_mut();
        if let Some(access) = all.find(|access| access.inst == inst && access.until == NEVER) {
            access.until = cycle;
        }
        let now = world.now;
        if self.warps[index].head != Head::Blocked {
            return;
        }
        match cycle > now {
            true => self.wakeups.plan(index, cycle, now),
            false => {
                self.let_go();
                self.look_at(index, now, world);
                self.awake = true;
            }
        }
    }

    /// The next instruction of a warp waits until no more accesses go on than the one that it issued says.
    pub(super) fn wait_for_accesses(&mut self, index: usize, inst: &Inst) {
        if let (Some(Asynchronous::Outstanding(most)), Some(accesses)) =
            (inst.asynchronous, self.accesses.get_mut(index))
        {
            accesses.most.vector = accesses.most.vector.min(most.vector);
            accesses.most.near = accesses.most.near.min(most.near);
        }
    }

    /// A warp issues an instruction: what its oldest one waited for is over.
    pub(super) fn gate_passed(&mut self, index: usize, now: u64) {
        self.warps[index].issued_at = Some(now);
        if let Some(accesses) = self.accesses.get_mut(index) {
            accesses.most = ANY;
        }
    }

    /// From when on nothing but its registers holds up the oldest instruction of a warp; never, as long as that is not known. What only waits for accesses
    /// is not held up by them itself.
    pub(super) fn gate_opens(&mut self, index: usize, inst: &Inst, now: u64) -> u64 {
        let issued = self.warps[index].issued_at;
        let comes = issued.map_or(0, |issued| issued + inst.distance);
        match self.accesses.get_mut(index) {
            Some(accesses) if !matches!(inst.asynchronous, Some(Asynchronous::Outstanding(_))) => {
                comes.max(accesses.opens(now))
            }
            _ => comes,
        }
    }

    /// When to look again at a warp whose oldest instruction is held up by something else than its registers.
    pub(super) fn gate_shut(&mut self, index: usize, now: u64, program: &Program) -> Option<u64> {
        if !self.gated {
            return None;
        }
        let oldest = self.warps[index].oldest()? as usize;
        let opens = self.gate_opens(index, &program.insts[oldest], now);
        (opens > now).then_some(opens)
    }
}
