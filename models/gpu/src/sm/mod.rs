//! A streaming multiprocessor. It ticks only in cycles in which it can fetch or issue; events wake it.

mod fetch;
mod icache;
mod issue;
mod ldst;
mod residency;
mod scoreboard;
mod select;
mod shared;
mod units;
mod warp;

use std::collections::VecDeque;

use crate::counters::{Counter, Counts};
use crate::event::Queue;
use crate::memory::Memory;
use crate::memory::coalesce::Coalescer;
use crate::occupancy::Demand;
use crate::program::{PORTS, Port, Program, UNITS};
use crate::{FetchFilter, FetchObserver, GpuError, GpuSpec, Hooks};
use fetch::LateFill;
use icache::{Icache, Misses};
use ldst::Loads;
use residency::CtaSlot;
use select::Select;
use shared::SharedBanks;
use units::Units;
use warp::{Head, Warp};

/// What every SM reads and nobody changes during a launch, and what all SMs share.
pub(crate) struct World<'w> {
    pub spec: &'w GpuSpec,
    pub program: &'w Program,
    pub demand: Demand,
    pub queue: &'w mut Queue,
    pub memory: &'w mut Memory,
}

/// One SM.
pub(crate) struct Sm<'t> {
    id: u16,
    warps: Vec<Warp<'t>>,
    ctas: Vec<CtaSlot>,
    registers_used: u32,
    shared_used: u32,
    /// Warps on the SM.
    live: u64,
    /// Warps for which the fetch stage may fetch.
    can_fetch: u64,
    /// Warps whose oldest instruction can go, by port.
    ready: [u64; PORTS],
    /// Warps whose oldest instruction waits for the scoreboard.
    blocked: u64,
    at_barrier: u64,
    /// Warps with a load's result on its way.
    loading: u64,
    /// Something can be done that could not before: the SM must tick.
    awake: bool,
    /// Warps that wait for an I-cache line.
    missing: u64,
    /// Instructions on their way from an I-cache or filter hit to the buffer: the latency is constant, so they arrive in order.
    arrivals: VecDeque<(u64, u8)>,
    last_fetched: u32,
    last_issued: u32,
    select: Select,
    icache: Icache,
    misses: Misses,
    units: Units,
    banks: SharedBanks,
    loads: Loads,
    coalescer: Coalescer,
    filter: Option<Box<dyn FetchFilter>>,
    late_fill: Option<LateFill>,
    observers: Vec<Box<dyn FetchObserver>>,
    counts: Counts,
    /// Cycles before this one are accounted for as issuing, stalled or idle.
    accounted: u64,
    /// What cycles without issue are put down to until something changes.
    why: Counter,
}

impl<'t> Sm<'t> {
    pub fn new(id: u16, spec: &GpuSpec, hooks: &Hooks) -> Self {
        let warps = spec.warps_per_sm();
        Self {
            id,
            warps: (0..warps).map(|_| Warp::default()).collect(),
            ctas: vec![CtaSlot::default(); spec.sm.ctas as usize],
            registers_used: 0,
            shared_used: 0,
            live: 0,
            can_fetch: 0,
            ready: [0; PORTS],
            blocked: 0,
            at_barrier: 0,
            loading: 0,
            awake: false,
            missing: 0,
            arrivals: VecDeque::with_capacity((warps * spec.fetch.buffer_entries) as usize + 1),
            last_fetched: warps - 1,
            last_issued: warps - 1,
            select: Select::new(spec),
            icache: Icache::new(spec.icache_sets(), spec.icache.ways),
            misses: Misses::new(warps),
            units: Units::new(spec),
            banks: SharedBanks::new(spec),
            loads: Loads::default(),
            coalescer: Coalescer::default(),
            filter: hooks.fetch_filter.as_ref().map(|make| make(u32::from(id))),
            late_fill: None,
            observers: hooks
                .fetch_observers
                .iter()
                .map(|make| make(u32::from(id)))
                .collect(),
            counts: Counts::new(),
            accounted: 0,
            why: Counter::IdleCycles,
        }
    }

    /// One cycle: instructions arrive in the buffers, one warp issues, one warp fetches. Gives the next cycle that needs a tick; `u64::MAX` if only an
    /// event can change anything.
    pub fn tick(&mut self, now: u64, world: &mut World<'_>) -> Result<u64, GpuError> {
        self.account(now);
        self.awake = false;
        self.arrive(now, world);
        if self.issue(now, world)? {
            self.counts.add(Counter::IssueCycles, 1);
            self.accounted = now + 1;
        }
        self.fetch(now, world)?;
        self.why = self.classify();
        Ok(self.next_tick(now, world))
    }

    /// Puts the cycles up to `now` down to what the last tick found.
    pub fn account(&mut self, now: u64) {
        if now > self.accounted {
            self.counts.add(self.why, now - self.accounted);
            self.accounted = now;
        }
    }

    /// After an event: whether the SM must tick. If not, the cycles from here on may still be put down to something else.
    pub fn wakes(&mut self, now: u64) -> bool {
        if !self.awake {
            self.account(now);
            self.why = self.classify();
        }
        self.awake
    }

    /// What a cycle without issue is put down to.
    fn classify(&self) -> Counter {
        if self.live == 0 {
            Counter::IdleCycles
        } else if self.ready.iter().any(|&ready| ready != 0) {
            Counter::StallUnit
        } else if self.blocked & self.loading != 0 {
            Counter::StallMemory
        } else if self.blocked != 0 {
            Counter::StallDependence
        } else if self.missing != 0 {
            Counter::StallIcache
        } else if self.at_barrier == self.live {
            Counter::StallBarrier
        } else if self.all_issued() {
            Counter::StallDrain
        } else {
            Counter::StallFetch
        }
    }

    /// Whether every warp that is not at a barrier has issued everything.
    fn all_issued(&self) -> bool {
        let mut others = self.live & !self.at_barrier;
        while others != 0 {
            if !self.warps[others.trailing_zeros() as usize].exhausted() {
                return false;
            }
            others &= others - 1;
        }
        true
    }

    /// The next cycle in which something can be done without an event.
    fn next_tick(&self, now: u64, world: &World<'_>) -> u64 {
        let mut next = u64::MAX;
        if self.can_fetch != 0 || self.ready[Port::Barrier as usize] != 0 {
            return now + 1;
        }
        // What arrives behind an older instruction of its warp can wait for the next tick.
        let needed = |&&(_, warp): &&(u64, u8)| self.warps[usize::from(warp)].delivered == 0;
        if let Some(&(arrival, _)) = self.arrivals.iter().find(needed) {
            next = arrival;
        }
        let collector = self.units.collector_free();
        for port in UNITS {
            let credit = port != Port::Ldst || self.loads.in_flight < world.spec.ldst.outstanding;
            if self.ready[port as usize] != 0 && credit {
                next = next.min(self.units.accepts_from(port).max(collector));
            }
        }
        next.max(now + 1)
    }

    /// Decides anew what the issue stage knows of a warp's oldest instruction.
    #[inline]
    fn examine(&mut self, index: usize, world: &World<'_>) {
        let bit = 1 << index;
        let warp = &mut self.warps[index];
        match warp.head {
            Head::Absent => {}
            Head::Blocked => self.blocked &= !bit,
            Head::Ready(port) => self.ready[port as usize] &= !bit,
        }
        warp.head = match warp.oldest() {
            Some(step) if self.at_barrier & bit == 0 => {
                let inst = &world.program.insts[step.inst as usize];
                if warp
                    .entry
                    .blocks(world.program, inst, world.spec.scoreboard.regions)
                {
                    self.blocked |= bit;
                    Head::Blocked
                } else {
                    self.ready[inst.port as usize] |= bit;
                    self.awake = true;
                    Head::Ready(inst.port)
                }
            }
            _ => Head::Absent,
        };
    }

    /// Results of a warp are there.
    pub fn release(
        &mut self,
        index: u8,
        slots: u16,
        now: u64,
        world: &mut World<'_>,
    ) -> Result<bool, GpuError> {
        if slots != 0 {
            let warp = &mut self.warps[usize::from(index)];
            warp.entry.release(slots);
            if !warp.entry.waits_for_memory() {
                self.loading &= !(1 << index);
            }
            self.counts.add(Counter::ScoreboardWrite, 1);
            if warp.head == Head::Blocked {
                self.examine(usize::from(index), world);
            }
        }
        self.retire_if_done(index, now, world)
    }
}
