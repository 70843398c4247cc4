//! The instruction buffer of an SM with its table, followed in time.

use warpwatt_activity::Activity;
use warpwatt_gpu::{FetchEvent, FetchObserver};
use warpwatt_reliability::{Cover, Outcome, Protection, Residency, Structure};

use super::Sawp;
use super::table::Table;

/// Watches what comes into the buffer and leaves it.
pub(super) struct Buffer {
    settings: Sawp,
    /// Slots of a warp.
    entries: usize,
    table: Table,
    /// Since when each slot has an instruction that waits.
    slots: Vec<Option<u64>>,
    warps: Vec<Progress>,
    /// Warps that run, and instructions that they have issued.
    running: u64,
    issued: u64,
    left: u64,
    table_reads: u64,
    /// Slots times cycles with an instruction that was issued; of them those that could be corrected.
    occupied: u64,
    protected: u64,
}

/// How far a warp is.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    runs: bool,
    came: u64,
    issued: u64,
    /// Whether what left last could be corrected.
    corrected: bool,
}

impl Buffer {
    pub fn new(settings: &Sawp, warps: u32, entries: u32) -> Self {
        let slots = (warps * entries) as usize;
        Self {
            settings: settings.clone(),
            entries: entries as usize,
            table: Table::new(settings.entries(), slots, settings.replacement()),
            slots: vec![None; slots],
            warps: vec![Progress::default(); warps as usize],
            running: 0,
            issued: 0,
            left: 0,
            table_reads: 0,
            occupied: 0,
            protected: 0,
        }
    }

    /// The slot of the `number`th instruction of a warp.
    fn slot(&self, warp: u8, number: u64) -> usize {
        usize::from(warp) * self.entries + number as usize % self.entries
    }

    /// Whether a warp has issued about as many instructions as all have on the average.
    fn near(&self, warp: u8) -> bool {
        let own = self.warps[usize::from(warp)].issued * self.running;
        own.abs_diff(self.issued) <= u64::from(self.settings.progress) * self.running
    }

    /// An instruction has left its slot; whether it could be corrected.
    fn leave(&mut self, slot: usize, cycle: u64) -> bool {
        let Some(since) = self.slots[slot].take() else {
            return false;
        };
        let cycles = cycle.saturating_sub(since);
        self.left += 1;
        self.occupied += cycles;
        let corrected = self.table.leaves(slot);
        self.protected += if corrected { cycles } else { 0 };
        self.table_reads += u64::from(corrected);
        corrected
    }
}

impl FetchObserver for Buffer {
    fn buffered(&mut self, event: FetchEvent) {
        let warp = &mut self.warps[usize::from(event.warp)];
        let (number, starts) = (warp.came, !warp.runs);
        warp.came += 1;
        warp.runs = true;
        self.running += u64::from(starts);
        let (slot, near) = (self.slot(event.warp, number), self.near(event.warp));
        self.table.arrives(slot, event.pc, near);
        self.table_reads += 1;
        self.slots[slot] = Some(event.cycle);
    }

    fn issued(&mut self, event: FetchEvent) {
        let warp = &mut self.warps[usize::from(event.warp)];
        let number = warp.issued;
        warp.issued += 1;
        self.issued += 1;
        let corrected = self.leave(self.slot(event.warp, number), event.cycle);
        self.warps[usize::from(event.warp)].corrected = corrected;
    }

    fn retired(&mut self, warp: u8) {
        let warp = std::mem::take(&mut self.warps[usize::from(warp)]);
        self.running -= u64::from(warp.runs);
        self.issued -= warp.issued;
    }

    fn report(&self, activity: &mut Activity) {
        let counts = &self.table.counts;
        activity.add("sawp.comparator.read", counts.comparisons);
        if self.settings.compare_reads {
            activity.add("sawp.copies.write", counts.copied);
        }
        activity.add("sawp.generator.read", counts.generated);
        activity.add("sawp.parity.read", counts.arrivals + self.left);
        if self.settings.entries() > 1 {
            activity.add("sawp.analyser.read", counts.arrivals);
            activity.add("sawp.minimum.read", counts.searches);
        }
        let slots = self.slots.len() as u64;
        activity.add("sawp.broadcast.read", counts.evictions * slots);
        activity.add("sawp.table.read", self.table_reads);
        activity.add("sawp.table.write", counts.updates + counts.generated);
        if self.settings.counts_progress() {
            activity.add("sawp.progress.read", self.left + counts.searches);
            activity.add("sawp.progress.write", self.left);
            activity.add("sawp.increment.read", self.left);
            activity.add("sawp.mean.read", self.left);
            activity.add("sawp.distance.read", counts.searches);
            activity.add("sawp.bound.read", counts.searches);
            activity.add("sawp.threshold.read", counts.searches);
        }
        activity.add("sawp_arrivals", counts.arrivals);
        activity.add("sawp_hits", counts.hits);
        activity.add("sawp_evictions", counts.evictions);
        activity.add("sawp_refused", counts.refused);
        activity.add("sawp_occupied_cycles", self.occupied);
        activity.add("sawp_protected_cycles", self.protected);
    }
}

/// Check bits correct what has them when it is issued, however long it waited; the slot's parity bit tells of a flip in anything else.
impl Protection for Buffer {
    fn cover(&mut self, residency: &Residency, covers: &mut Vec<Cover>) {
        if residency.structure == Structure::InstructionBuffer {
            let corrected = self.warps[usize::from(residency.warp)].corrected;
            covers.push(Cover::always(if corrected {
                Outcome::Corrected
            } else {
                Outcome::Detected
            }));
        }
    }
}
