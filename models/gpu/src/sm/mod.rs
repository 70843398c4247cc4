//! A streaming multiprocessor. It ticks only in cycles in which it can fetch or issue; events wake it.

mod arrivals;
mod attached;
mod banks;
mod constant;
mod debug_view;
mod fetch;
mod icache;
mod issue;
mod jump;
mod l1;
mod l15;
mod ldst;
mod outstanding;
mod paces;
mod pending;
mod repeat;
mod reservation_ring;
mod residency;
mod scoreboard;
mod select;
mod shared;
mod slots;
mod tally;
mod texture;
mod throttle;
mod units;
mod wakeup_wheel;
mod warp;
mod world;

pub(crate) use attached::Attached;
pub use debug_view::{WarpState, WarpView};
pub(crate) use jump::{Passed, Road};
pub(crate) use paces::{Paces, Places};

use warpwatt_simt::trace::KernelTrace;

use crate::counters::{Counter, Counts};
use crate::engine::NEVER;
use crate::memory::coalesce::Coalescer;
use crate::program::{PORTS, Port, Program};
use crate::request::{Kind, Reply};
use crate::{CacheEvent, GpuError, GpuSpec, SmCache, Turns, Unitless};
use arrivals::Arrivals;
use constant::Constants;
use fetch::LateFill;
use icache::{Icache, Misses};
use l1::L1;
use l15::L15;
use ldst::{LdstUnit, Loads, Wanted};
use outstanding::Accesses;
use pending::{Copies, Products};
use residency::CtaSlot;
use select::{Ages, Select};
use shared::SharedBanks;
pub(crate) use tally::{Tally, count_work};
use texture::Textures;
use throttle::HeldBack;
use units::{Units, modulo};
use wakeup_wheel::WakeupWheel;
use warp::{Head, Warp};
pub(crate) use world::{Deed, Ground, Shared, World};

/// One SM.
pub(crate) struct Sm {
    id: u16,
    warps: Vec<Warp>,
    ctas: Vec<CtaSlot>,
    registers_used: u32,
    shared_used: u32,
    /// CTAs that have finished since the block dispatcher last asked.
    finished: u32,
    /// Warps on the SM.
    live: u64,
    /// Warps for which the fetch stage may fetch.
    can_fetch: u64,
    /// Warps whose oldest instruction can go, by port, and all of them; ports that have such warps.
    ready: [u64; PORTS],
    any_ready: u64,
    ready_ports: u8,
    /// Warps whose oldest instruction waits for the scoreboard.
    blocked: u64,
    at_barrier: u64,
    /// Warps with a load's result on its way.
    loading: u64,
    /// Warps without a decoded instruction, and those that have issued everything.
    empty: u64,
    exhausted: u64,
    /// The next cycle in which something can be done, as far as is known.
    next: u64,
    /// It may be earlier than that: there is room where there was none.
    awake: bool,
    /// When to look at warps again.
    wakeups: WakeupWheel,
    /// Warps that wait for an I-cache line.
    missing: u64,
    arrivals: Arrivals,
    last_fetched: u32,
    schedulers: Vec<Scheduler>,
    select: Select,
    ages: Ages,
    icache: Icache,
    l15: L15,
    misses: Misses,
    units: Units,
    banks: SharedBanks,
    ldst: LdstUnit,
    /// Transactions in flight from which on no memory instruction issues.
    outstanding: u32,
    loads: Loads,
    /// By warp slot.
    products: Vec<Products>,
    copies: Copies,
    /// By warp slot, where warps wait for counts of accesses.
    accesses: Vec<Accesses>,
    /// Instructions may have to wait for something else than their registers.
    gated: bool,
    /// What takes no unit issues beside the rest.
    unitless_beside: bool,
    /// Cycles in which every scheduler has its turn once; 1 where they do not take turns.
    round: u64,
    l1: L1,
    constants: Constants,
    textures: Textures,
    coalescer: Coalescer,
    late_fill: Option<LateFill>,
    held: HeldBack,
    /// The hook that executes instructions again.
    reexecutor: Option<usize>,
    counts: Counts,
    tally: Tally,
    /// Cycles before this one are accounted for as issuing, stalled or idle.
    accounted: u64,
    /// What cycles without issue are put down to until something changes.
    why: Counter,
}

impl Sm {
    /// SM number `id`, with what is attached to it.
    pub fn new(id: u16, spec: &GpuSpec, attached: &mut Attached) -> Self {
        let warps = spec.warps_per_sm();
        Self {
            id,
            warps: (0..warps)
                .map(|_| Warp::new(spec.fetch.buffer_entries))
                .collect(),
            ctas: vec![CtaSlot::default(); spec.sm.ctas as usize],
            registers_used: 0,
            shared_used: 0,
            finished: 0,
            live: 0,
            can_fetch: 0,
            ready: [0; PORTS],
            any_ready: 0,
            ready_ports: 0,
            blocked: 0,
            at_barrier: 0,
            loading: 0,
            empty: 0,
            exhausted: 0,
            awake: false,
            next: NEVER,
            wakeups: WakeupWheel::new(),
            missing: 0,
            arrivals: Arrivals::new((warps * spec.fetch.buffer_entries) as usize + 1),
            last_fetched: warps - 1,
            schedulers: (0..spec.scheduler.count)
                .map(|number| Scheduler::new(number, spec))
                .collect(),
            select: Select::new(spec),
            ages: Ages::new(warps, spec),
            icache: Icache::new(spec.icache_sets(), spec.icache.ways),
            l15: L15::new(spec),
            misses: Misses::new(warps),
            units: Units::new(spec),
            banks: SharedBanks::new(spec),
            ldst: LdstUnit::default(),
            outstanding: spec.ldst.outstanding,
            loads: Loads::default(),
            products: vec![Products::default(); warps as usize],
            copies: Copies::default(),
            accesses: outstanding::of_warps(spec),
            gated: outstanding::gates(spec),
            unitless_beside: spec.scheduler.unitless == Unitless::Beside,
            round: match spec.scheduler.turns {
                Turns::Any => 1,
                Turns::Rotating => u64::from(spec.scheduler.interval),
            },
            l1: L1::new(spec),
            constants: Constants::new(spec),
            textures: Textures::new(spec),
            coalescer: Coalescer::default(),
            late_fill: None,
            held: HeldBack::new(&mut attached.issue),
            reexecutor: repeat::find(&mut attached.issue),
            counts: Counts::new(),
            tally: Tally::default(),
            accounted: 0,
            why: Counter::IdleCycles,
        }
    }

    /// A launch begins whose resident CTAs take `shared_bytes` of shared memory.
    pub fn begin(&mut self, spec: &GpuSpec, trace: &KernelTrace, shared_bytes: u32) {
        self.tally.begin(trace.code.len(), spec.sm.warp_width);
        self.l1.begin(spec, shared_bytes);
        self.constants.begin(spec);
        self.textures.begin(spec);
    }

    /// All that was issued has been executed, and all stores are in memory, in cycle `now`. When the launch ends.
    pub fn end(&mut self, program: &Program, attached: &mut Attached, now: u64) -> u64 {
        self.tally.settle(program, &mut self.counts);
        self.repeats_last(program, attached, now)
    }

    /// One cycle: what warps waited for is there, instructions arrive in the buffers, schedulers issue, fetch fetches. Gives the next cycle that needs a
    /// tick; [`NEVER`] if only an event can change anything.
    pub fn tick(&mut self, now: u64, world: &mut World<'_>) -> Result<u64, GpuError> {
        self.account(now);
        self.look(now, world);
        if self.next > now && std::mem::take(&mut self.awake) {
            self.next = self.next_tick(now);
        }
        if self.next <= now {
            self.arrive(now, world);
            let issued = self.issue(now, world)?;
            if issued > 0 {
                self.counts.add(Counter::IssueCycles, 1);
                self.accounted = now + 1;
            }
            self.fetch(now, world)?;
            if self.held.hook.is_some() {
                self.hold_back(now, issued, world.attached);
            }
            self.awake = false;
            self.next = self.next_tick(now + 1);
        }
        self.why = self.classify();
        Ok(self.next.min(self.wakeups.first(now + 1)))
    }

    /// Puts the cycles up to `now` down to what the last tick found.
    pub fn account(&mut self, now: u64) {
        if now > self.accounted {
            self.counts.add(self.why, now - self.accounted);
            self.accounted = now;
        }
    }

    /// After an event: the cycles from here on may be put down to something else. Gives the next cycle that needs a tick.
    pub fn wakes(&mut self, now: u64) -> u64 {
        // A tick in this cycle sees to everything.
        if self.next != now {
            self.account(now);
            self.why = self.classify();
            if std::mem::take(&mut self.awake) {
                self.next = self.next_tick(now);
            }
        }
        self.next.min(self.wakeups.first(now))
    }

    /// What a cycle without issue is put down to.
    fn classify(&self) -> Counter {
        if self.live == 0 {
            Counter::IdleCycles
        } else if self.any_ready != 0 {
            Counter::StallUnit
        } else if self.blocked & self.loading != 0 {
            Counter::StallMemory
        } else if self.blocked != 0 {
            Counter::StallDependence
        } else if self.missing != 0 {
            Counter::StallIcache
        } else if self.at_barrier == self.live {
            Counter::StallBarrier
        } else if self.live & !self.at_barrier & !self.exhausted == 0 {
            Counter::StallDrain
        } else {
            Counter::StallFetch
        }
    }

    /// The first cycle from `from` on in which something can be done without an event.
    fn next_tick(&self, from: u64) -> u64 {
        if self.can_fetch != 0 {
            return from;
        }
        let mut next = self.held.until;
        if self.held.moving != 0 {
            next = next.min(self.moves_from());
        }
        let ready = self.any_ready & !self.held.parked;
        if ready != 0 {
            for (number, scheduler) in self.schedulers.iter().enumerate() {
                let opens = self.opens(number, ready & self.within_reach(scheduler));
                let goes = opens.max(scheduler.issues_from);
                next = next.min(self.turn(number, goes.max(from)));
                if next <= from {
                    return from;
                }
            }
        }
        // What arrives behind an older instruction of its warp can wait for the next tick.
        if self.empty != 0 {
            next = next.min(self.arrivals.first_for(self.empty));
        }
        next.max(from)
    }

    /// The oldest instruction of a warp, which could go to `port`, has gone.
    #[inline]
    fn withdraw(&mut self, index: usize, port: Port) {
        let ready = &mut self.ready[port as usize];
        *ready &= !(1 << index);
        self.ready_ports &= !(u8::from(*ready == 0) << port as u8);
        self.any_ready &= !(1 << index);
        self.warps[index].head = Head::Absent;
    }

    /// Finds out whether a warp's oldest instruction, of which the issue stage knows nothing yet, can go, if there is one. Without an effect on `next`: whoever
    /// is not within a tick says that the SM is awake.
    #[inline]
    fn consider(&mut self, index: usize, world: &World<'_>) {
        let bit = 1 << index;
        let warp = &mut self.warps[index];
        let Some(oldest) = warp.oldest() else {
            return;
        };
        if self.at_barrier & bit != 0 {
            return;
        }
        let inst = &world.program.insts[oldest as usize];
        let regions = world.spec.scoreboard.regions;
        let now = world.now;
        let mut opens = if warp.entry.look_at(world.program, inst, regions, now) {
            warp.entry.opens()
        } else {
            now
        };
        if self.gated {
            opens = opens.max(self.gate_opens(index, inst, now));
        }
        if opens > now {
            self.blocked |= bit;
            self.warps[index].head = Head::Blocked;
            self.wakeups.plan(index, opens, now);
        } else {
            self.make_ready(index, inst.port, now);
        }
    }

    /// The warp's oldest instruction can go.
    #[inline]
    fn make_ready(&mut self, index: usize, port: Port, now: u64) {
        self.ready[port as usize] |= 1 << index;
        self.any_ready |= 1 << index;
        self.ready_ports |= 1 << port as u8;
        self.ages.is_ready(index, now);
        self.warps[index].head = Head::Ready(port);
    }

    /// An answer from the memory system is there.
    pub fn replied(
        &mut self,
        reply: &Reply,
        now: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        match reply.kind {
            Kind::Load if world.spec.has_l1() => self.fill_l1(reply.cookie, reply.mask, now, world),
            Kind::Load | Kind::Atomic | Kind::Copy => {
                self.returned(world);
                self.block_arrived(reply.cookie, now, world)
            }
            Kind::Store => {
                self.returned(world);
                Ok(())
            }
            Kind::Code => self.fill(reply.cookie as u8, now, world),
            Kind::Constant => self.fill_constant(reply.cookie, now, world),
            Kind::Texture => self.fill_texture(reply.cookie, now, world),
        }
    }

    /// Shows them that sectors are read which are there.
    #[inline]
    fn watch_read(
        &self,
        attached: &mut Attached,
        (cycle, cache): (u64, SmCache),
        (place, sectors): (u32, u8),
        load: u32,
    ) {
        if attached.storage.is_empty() || sectors == 0 {
            return;
        }
        let Wanted { warp, inst, .. } = self.loads.wanted(load);
        let event = CacheEvent::Read {
            place,
            sectors,
            warp,
            inst,
        };
        attached.watch_cache(cycle, cache, event);
    }

    /// WakeupWheel at the warps whose time has come.
    fn look(&mut self, now: u64, world: &mut World<'_>) {
        let mut warps = self.wakeups.take(now);
        if warps != 0 {
            self.let_go();
        }
        while warps != 0 {
            self.look_at(warps.trailing_zeros() as usize, now, world);
            warps &= warps - 1;
        }
    }

    /// WakeupWheel at what a warp waits for: some of it may be there.
    pub(super) fn look_at(&mut self, index: usize, now: u64, world: &mut World<'_>) {
        let bit = 1 << index;
        let warp = &mut self.warps[index];
        warp.entry.forget(now);
        let mut again = NEVER;
        if self.loading & bit != 0 {
            again = warp.entry.next_of_memory();
            if !warp.entry.waits_for_memory() {
                self.loading &= !bit;
            }
        }
        if warp.head == Head::Blocked {
            if warp.entry.blocks() {
                again = again.min(warp.entry.opens());
            } else if let Some(gate) = self.gate_shut(index, now, world.program) {
                again = again.min(gate);
            } else if let Some(oldest) = self.warps[index].oldest() {
                let port = world.program.insts[oldest as usize].port;
                self.blocked &= !bit;
                self.make_ready(index, port, now);
                let scheduler = modulo(index as u32, self.schedulers.len() as u32);
                let opens = self.accepts_from(scheduler, port as usize);
                let goes = opens.max(self.schedulers[scheduler].issues_from);
                let goes = self.turn(scheduler, goes.max(now));
                self.next = self.next.min(goes.max(now));
            }
        }
        let warp = &self.warps[index];
        if warp.resolves > now {
            again = again.min(warp.resolves);
        } else {
            self.resolve(index, world);
        }
        self.wakeups.plan(index, again, now);
    }

    /// Results of a warp will be there in `cycle`.
    pub(super) fn release_at(
        &mut self,
        Wanted { warp, slots, .. }: Wanted,
        cycle: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        if slots == 0 {
            return Ok(());
        }
        let (index, now) = (usize::from(warp), world.now);
        let state = &mut self.warps[index];
        if cycle > now {
            state.entry.release_at(slots, cycle);
            if self.loading >> index & 1 != 0 || self.held.hook.is_some() {
                self.wakeups.plan(index, cycle, now);
            }
        } else {
            state.entry.release(slots);
            self.let_go();
            self.look_at(index, now, world);
        }
        if self.warps[index].drained {
            self.retire(warp, now, world)
        } else {
            Ok(())
        }
    }
}

/// What one scheduler knows.
#[derive(Clone, Debug)]
struct Scheduler {
    /// Its warps, and those of them in its pool.
    own: u64,
    active: u64,
    /// When it can issue again.
    issues_from: u64,
    /// The warp that it served last.
    last_issued: u32,
}

impl Scheduler {
    /// Warps go around the schedulers.
    fn new(number: u32, spec: &GpuSpec) -> Self {
        let own = |warp: &u32| warp % spec.scheduler.count == number;
        Self {
            own: (0..u64::BITS)
                .filter(own)
                .fold(0, |mask, warp| mask | 1 << warp),
            active: 0,
            issues_from: 0,
            last_issued: spec.warps_per_sm() - 1,
        }
    }
}
