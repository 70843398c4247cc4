//! An SM on the page: what its cycles went into, what each warp does, and values by interval.

use std::io::Write;

use serde_json::json;
use warpwatt_gpu::{SmView, WarpState, WarpView};

use super::Extent;
use super::events::{Events, Row};
use super::gauge::Gauge;
use super::track::Track;

/// Rows of an SM besides those of its warp slots.
const CYCLES: u32 = 1;
/// Rows before those of the first slot.
const FIRST: u32 = 2;

/// An SM.
#[derive(Debug)]
pub struct SmPage {
    pid: u32,
    cycles: Track,
    /// By slot: the warp that is there.
    warps: Vec<Option<Warp>>,
    /// Slots whose rows have their names.
    named: u64,
    /// The interval that runs, and what was counted in it and before it.
    interval: u64,
    counted: Counted,
    at_boundary: Counted,
    seen: u64,
    gauges: [Gauge; 4],
}

/// What intervals are made of; sums from the beginning of the run.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    instructions: u64,
    l1_reads: u64,
    l1_hits: u64,
    /// Warps times cycles.
    resident: u64,
    transactions: u32,
    warps: u32,
}

#[derive(Debug)]
struct Warp {
    serial: u64,
    issued: u64,
    states: Track,
    /// Since when a load has been on its way.
    loading: Option<u64>,
}

/// Rows of a slot: what its warp does, and whether loads are on their way.
fn rows(pid: u32, slot: usize) -> [Row; 2] {
    let tid = FIRST + 2 * slot as u32;
    [tid, tid + 1].map(|tid| Row { pid, tid })
}

/// The process of an SM.
pub(super) fn pid(number: u16) -> u32 {
    u32::from(number) + 1
}

/// What its process is called.
pub(super) fn name(number: u16) -> String {
    format!("SM {number}")
}

/// The label of a slice.
fn label(state: WarpState) -> &'static str {
    match state {
        WarpState::Ready => "ready",
        WarpState::Memory => "memory",
        WarpState::Dependence => "dependence",
        WarpState::Barrier => "barrier",
        WarpState::Icache => "icache",
        WarpState::Branch => "branch",
        WarpState::Fetch => "fetch",
        WarpState::Drain => "drain",
    }
}

impl SmPage {
    /// The page of SM `number`.
    pub fn new<W: Write>(number: u16, extent: &Extent, events: &mut Events<W>) -> Self {
        let pid = pid(number);
        events.name(Row { pid, tid: 0 }, &name(number));
        let cycles = Row { pid, tid: CYCLES };
        events.name(cycles, "cycles of the SM");
        let mut page = Self {
            pid,
            cycles: Track::new(cycles),
            warps: std::iter::repeat_with(|| None).take(64).collect(),
            named: 0,
            interval: 0,
            counted: Counted::default(),
            at_boundary: Counted::default(),
            seen: 0,
            gauges: [
                "IPC",
                "active warps",
                "L1 hit rate",
                "transactions in flight",
            ]
            .map(|name| Gauge::new(pid, name)),
        };
        // Until something happens to it, an SM is idle.
        page.cycles.switch(0, "idle_cycles", extent, events);
        page
    }

    /// What the SM is from cycle `now` on.
    pub fn show<W: Write>(
        &mut self,
        now: u64,
        view: &SmView<'_>,
        kernel: &str,
        extent: &Extent,
        events: &mut Events<W>,
    ) {
        self.roll(now, extent, events);
        let mut from = now;
        if view.issues() {
            self.cycles.switch(now, "issue_cycles", extent, events);
            from = now + 1;
        }
        self.cycles.switch(from, view.spends(), extent, events);
        let live = view.live();
        for slot in 0..self.warps.len() {
            let occupant = (live >> slot & 1 != 0).then(|| (view.warp(slot), kernel));
            self.show_slot(slot, (now, from), occupant, extent, events);
        }
        let (l1_reads, l1_hits) = view.l1_reads();
        self.counted = Counted {
            l1_reads,
            l1_hits,
            transactions: view.transactions(),
            warps: live.count_ones(),
            ..self.counted
        };
    }

    /// What a slot holds from cycle `now` on: a warp of a kernel, or nothing. What the warp waits for begins at `from`.
    fn show_slot<W: Write>(
        &mut self,
        slot: usize,
        (now, from): (u64, u64),
        occupant: Option<(WarpView, &str)>,
        extent: &Extent,
        events: &mut Events<W>,
    ) {
        let gone = |known: &Warp| occupant.is_none_or(|(warp, _)| warp.serial != known.serial);
        if self.warps[slot].as_ref().is_some_and(gone) {
            self.leave(slot, now, extent, events);
        }
        let Some((warp, kernel)) = occupant else {
            return;
        };
        if self.warps[slot].is_none() {
            self.enter(slot, &warp, kernel, extent, events);
        }
        let Some(known) = &mut self.warps[slot] else {
            return;
        };
        let mut since = now;
        if warp.issued != known.issued {
            self.counted.instructions += warp.issued - known.issued;
            known.issued = warp.issued;
            known.states.switch(now, "issue", extent, events);
            since = from;
        }
        known
            .states
            .switch(since, label(warp.state), extent, events);
        match (known.loading, warp.loading) {
            (None, true) => known.loading = Some(now),
            (Some(since), false) => {
                known.loading = None;
                load(rows(self.pid, slot)[1], (since, now), extent, events);
            }
            _ => {}
        }
    }

    /// A warp takes its slot.
    fn enter<W: Write>(
        &mut self,
        slot: usize,
        warp: &WarpView,
        kernel: &str,
        extent: &Extent,
        events: &mut Events<W>,
    ) {
        let [states, loads] = rows(self.pid, slot);
        if self.named >> slot & 1 == 0 {
            self.named |= 1 << slot;
            events.name(states, &format!("warp slot {slot}"));
            events.name(loads, &format!("warp slot {slot}: loads in flight"));
        }
        let at = extent.clip(warp.placed, u64::MAX).0;
        let name = format!("CTA {}", warp.cta);
        let args = format!("\"kernel\":{},\"warp\":{}", json!(kernel), warp.serial);
        events.begin(states, at, &name, args);
        self.warps[slot] = Some(Warp {
            serial: warp.serial,
            issued: 0,
            states: Track::new(states),
            loading: None,
        });
    }

    /// The warp in a slot is gone from cycle `at` on.
    fn leave<W: Write>(&mut self, slot: usize, at: u64, extent: &Extent, events: &mut Events<W>) {
        let Some(mut warp) = self.warps[slot].take() else {
            return;
        };
        let [states, loads] = rows(self.pid, slot);
        warp.states.close(at, extent, events);
        events.end(states, extent.clip(0, at).1);
        if let Some(since) = warp.loading {
            load(loads, (since, at), extent, events);
        }
    }

    /// Shows the values of intervals that are over.
    fn roll<W: Write>(&mut self, now: u64, extent: &Extent, events: &mut Events<W>) {
        let length = extent.interval();
        for _ in 0..2 {
            let (from, to) = (self.interval * length, (self.interval + 1) * length);
            if to > now {
                break;
            }
            self.elapse(to);
            self.gauge((from, to), extent, events);
            self.interval += 1;
        }
        // Nothing was counted since the last call, so that whole intervals after the first are alike.
        if (self.interval + 1) * length <= now {
            self.interval = now / length;
            self.elapse(self.interval * length);
            self.at_boundary = self.counted;
        }
        self.elapse(now);
    }

    /// Warps stay where they are until cycle `now`.
    fn elapse(&mut self, now: u64) {
        let cycles = now.saturating_sub(self.seen);
        self.counted.resident += cycles * u64::from(self.counted.warps);
        self.seen = self.seen.max(now);
    }

    /// Shows the values of an interval.
    fn gauge<W: Write>(&mut self, span: (u64, u64), extent: &Extent, events: &mut Events<W>) {
        let (now, before) = (self.counted, self.at_boundary);
        self.at_boundary = now;
        let (from, to) = extent.clip(span.0, span.1);
        if from >= to {
            return;
        }
        let length = span.1 - span.0;
        let reads = now.l1_reads - before.l1_reads;
        let shares = [
            (now.instructions - before.instructions, length),
            (now.resident - before.resident, length),
            (now.l1_hits - before.l1_hits, reads),
            (u64::from(now.transactions), 1),
        ];
        for (gauge, share) in self.gauges.iter_mut().zip(shares) {
            gauge.show(from, share, events);
        }
    }

    /// Ends all rows before cycle `at`.
    pub fn close<W: Write>(&mut self, at: u64, extent: &Extent, events: &mut Events<W>) {
        self.roll(at, extent, events);
        let from = self.interval * extent.interval();
        if at > from {
            self.gauge((from, at), extent, events);
        }
        self.cycles.close(at, extent, events);
        for slot in 0..self.warps.len() {
            self.leave(slot, at, extent, events);
        }
    }
}

/// A slice in which loads of a warp were on their way.
fn load<W: Write>(row: Row, (from, to): (u64, u64), extent: &Extent, events: &mut Events<W>) {
    let (from, to) = extent.clip(from, to);
    if from < to {
        events.slice(row, (from, to), "loads in flight", "");
    }
}
