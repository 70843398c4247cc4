//! Looking on while a run goes its way. Who looks on sees every change of what SMs and warps do, and changes nothing.

use warpwatt_activity::Activity;

use crate::counters::{COUNTERS, Counter, Counts, Selection};
use crate::program::Program;
use crate::sm::{Sm, WarpView};
use crate::sms::Sms;

/// Looks on. Every method is called in the order of simulated time; nothing that it does reaches the run.
pub trait Watcher {
    /// A launch begins.
    fn launch(&mut self, cycle: u64, kernel: &str);
    /// Whether [`Self::sm`] is wanted of SM number `sm`; asked again and again, so that the answer may change.
    fn watches(&self, sm: u16) -> bool;
    /// Something of an SM has happened in `cycle`; what the view shows holds from now on, until the next call for this SM.
    fn sm(&mut self, cycle: u64, view: &SmView<'_>);
    /// Nothing of `cycle` has happened yet; the view shows the counters up to here. Returns the cycle from which on it is to be called again.
    fn memory(&mut self, cycle: u64, view: &MemoryView<'_>) -> u64;
    /// The run ends.
    fn end(&mut self, cycle: u64, view: &MemoryView<'_>);
}

/// Several that look on together; each sees what it would see alone, and is asked about memory at least as often.
pub struct Watchers<'w>(pub Vec<&'w mut dyn Watcher>);

impl Watcher for Watchers<'_> {
    fn launch(&mut self, cycle: u64, kernel: &str) {
        for one in &mut self.0 {
            one.launch(cycle, kernel);
        }
    }

    fn watches(&self, sm: u16) -> bool {
        self.0.iter().any(|one| one.watches(sm))
    }

    fn sm(&mut self, cycle: u64, view: &SmView<'_>) {
        for one in &mut self.0 {
            if one.watches(view.number()) {
                one.sm(cycle, view);
            }
        }
    }

    fn memory(&mut self, cycle: u64, view: &MemoryView<'_>) -> u64 {
        let next = self.0.iter_mut().map(|one| one.memory(cycle, view));
        next.min().unwrap_or(u64::MAX)
    }

    fn end(&mut self, cycle: u64, view: &MemoryView<'_>) {
        for one in &mut self.0 {
            one.end(cycle, view);
        }
    }
}

/// An SM as it is now.
#[derive(Clone, Copy)]
pub struct SmView<'v> {
    sm: &'v Sm,
    cycle: u64,
}

/// The counters of network, second-level cache and DRAM so far, and of everything else for who asks.
#[derive(Clone, Copy)]
pub struct MemoryView<'v> {
    pub(crate) counts: &'v Counts,
    pub(crate) sms: &'v Sms,
    /// That of the launch that runs, if one does.
    pub(crate) program: Option<&'v Program>,
    pub(crate) cycle: u64,
}

impl<'v> SmView<'v> {
    pub(crate) fn new(sm: &'v Sm, cycle: u64) -> Self {
        Self { sm, cycle }
    }

    /// Its number.
    pub fn number(&self) -> u16 {
        self.sm.number()
    }

    /// Whether it issued in this cycle.
    pub fn issues(&self) -> bool {
        self.sm.accounted() > self.cycle
    }

    /// The counter that its cycles are put down to from now on (from the next cycle on, if it issues in this one).
    pub fn spends(&self) -> &'static str {
        COUNTERS[self.sm.why() as usize].name
    }

    /// Slots that hold a warp, as bits.
    pub fn live(&self) -> u64 {
        self.sm.live()
    }

    /// The warp in a slot.
    pub fn warp(&self, slot: usize) -> WarpView {
        self.sm.warp_view(slot)
    }

    /// Transactions of stores, and of loads and atomics that pass no cache, in flight.
    pub fn transactions(&self) -> u32 {
        self.sm.transactions()
    }

    /// Sectors looked up in the first-level data cache so far, and how many of them were there.
    pub fn l1_reads(&self) -> (u64, u64) {
        (
            self.sm.counted(Counter::L1Reads),
            self.sm.counted(Counter::L1ReadHits),
        )
    }
}

impl MemoryView<'_> {
    /// As it was at an earlier cycle, at or behind which nothing has happened until now but waiting.
    #[must_use]
    pub fn at(self, cycle: u64) -> Self {
        Self {
            cycle: cycle.min(self.cycle),
            ..self
        }
    }

    /// Sectors read in the second-level cache so far, and how many of them were there.
    pub fn l2_reads(&self) -> (u64, u64) {
        (
            self.counts.get(Counter::L2Reads),
            self.counts.get(Counter::L2ReadHits),
        )
    }

    /// Everything that was counted so far, over the whole GPU: what [`Run::activity`](crate::Run::activity) would be if the run ended here, but for `launches` and
    /// what is only known at the end of a launch. Takes as long as the run has SMs, counters and instructions of the kernel.
    pub fn activity(&self) -> Activity {
        let mut counts = self.counts.clone();
        counts.add(Counter::Cycles, self.cycle);
        let mut attached = Activity::new();
        let (at, of_sms) = ((self.cycle, self.program), Selection::of_sms());
        for (sm, with) in self.sms.iter() {
            sm.so_far(at, with, &of_sms, (&mut counts, &mut attached));
        }
        let mut activity = counts.activity(&Selection::new(|_| true));
        activity += &attached;
        activity
    }

    /// What each SM has counted of that with what is attached to it, in the order of their numbers.
    pub fn activity_by_sm(&self) -> impl Iterator<Item = Activity> {
        let (at, of_sms) = ((self.cycle, self.program), Selection::of_sms());
        let all = Selection::new(|_| true);
        self.sms.iter().map(move |(sm, with)| {
            let (mut counts, mut attached) = (Counts::new(), Activity::new());
            sm.so_far(at, with, &of_sms, (&mut counts, &mut attached));
            let mut activity = counts.activity(&all);
            activity += &attached;
            activity
        })
    }

    /// Cycles of the DRAM clock in which data buses were in use, summed over controllers, for all requests begun so far.
    pub fn dram_busy_cycles(&self) -> u64 {
        self.counts.get(Counter::DramBusyCycles)
    }
}
