//! What belongs to no SM: launches, the second-level cache, DRAM.

use std::io::Write;

use warpwatt_gpu::{GpuSpec, MemoryView};

use super::Extent;
use super::events::{Events, Row};
use super::gauge::Gauge;

/// The whole GPU is shown behind its SMs.
pub(super) const PID: u32 = 100_000;
const LAUNCHES: Row = Row { pid: PID, tid: 1 };

/// The GPU's page.
#[derive(Debug)]
pub struct GpuPage {
    /// Cycles of DRAM data buses in a million cycles of the SM clock.
    bus_cycles: u64,
    launch: Option<(u64, String)>,
    /// The interval that runs, and what was counted before it.
    interval: u64,
    before: Counted,
    counted: Counted,
    /// Bus cycles of requests that were begun and have not had their turn on the bus.
    backlog: u64,
    dram: Gauge,
    l2: Gauge,
    sectors: Gauge,
}

/// Sums from the beginning of the run.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    dram: u64,
    l2_reads: u64,
    l2_hits: u64,
}

impl GpuPage {
    /// The page of a GPU.
    pub fn new<W: Write>(spec: &GpuSpec, events: &mut Events<W>) -> Self {
        events.name(Row { pid: PID, tid: 0 }, "GPU");
        events.name(LAUNCHES, "launches");
        let clocks = 1_000_000 * u64::from(spec.dram.clock_mhz) / u64::from(spec.sm.clock_mhz);
        Self {
            bus_cycles: clocks * u64::from(spec.dram.controllers),
            launch: None,
            interval: 0,
            before: Counted::default(),
            counted: Counted::default(),
            backlog: 0,
            dram: Gauge::new(PID, "DRAM bus utilisation"),
            l2: Gauge::new(PID, "L2 hit rate"),
            sectors: Gauge::new(PID, "L2 sectors read a cycle"),
        }
    }

    /// A launch begins at cycle `at`.
    pub fn launch<W: Write>(
        &mut self,
        at: u64,
        kernel: &str,
        extent: &Extent,
        events: &mut Events<W>,
    ) {
        self.end_launch(at, extent, events);
        self.launch = Some((at, kernel.to_owned()));
    }

    fn end_launch<W: Write>(&mut self, at: u64, extent: &Extent, events: &mut Events<W>) {
        let Some((since, kernel)) = self.launch.take() else {
            return;
        };
        let (from, to) = extent.clip(since, at);
        if from < to {
            events.slice(LAUNCHES, (from, to), &kernel, "");
        }
    }

    /// Shows the values of intervals that end by cycle `now`; gives the next cycle in which one does.
    pub fn show<W: Write>(
        &mut self,
        now: u64,
        view: &MemoryView<'_>,
        extent: &Extent,
        events: &mut Events<W>,
    ) -> u64 {
        let length = extent.interval();
        let (l2_reads, l2_hits) = view.l2_reads();
        self.counted = Counted {
            dram: view.dram_busy_cycles(),
            l2_reads,
            l2_hits,
        };
        let over = now / length;
        while self.interval < over {
            let from = self.interval * length;
            self.gauge((from, from + length), extent, events);
            self.interval += 1;
            if self.backlog == 0 && self.interval + 1 < over {
                // All intervals that follow are like the next.
                self.gauge((from + length, from + 2 * length), extent, events);
                self.interval = over;
            }
        }
        (over + 1) * length
    }

    fn gauge<W: Write>(&mut self, span: (u64, u64), extent: &Extent, events: &mut Events<W>) {
        let now = self.counted;
        let before = std::mem::replace(&mut self.before, now);
        let length = span.1 - span.0;
        // A request is counted when it is begun and moves its data later: the bus is never more than busy.
        let capacity = (length * self.bus_cycles / 1_000_000).max(1);
        self.backlog += now.dram - before.dram;
        let busy = self.backlog.min(capacity);
        self.backlog -= busy;
        let (from, to) = extent.clip(span.0, span.1);
        if from < to {
            let reads = now.l2_reads - before.l2_reads;
            self.dram.show(from, (busy, capacity), events);
            self.l2
                .show(from, (now.l2_hits - before.l2_hits, reads), events);
            self.sectors.show(from, (reads, length), events);
        }
    }

    /// Ends all rows before cycle `at`.
    pub fn close<W: Write>(&mut self, at: u64, extent: &Extent, events: &mut Events<W>) {
        self.end_launch(at, extent, events);
        let from = self.interval * extent.interval();
        if from < at {
            self.gauge((from, at), extent, events);
        }
    }
}
