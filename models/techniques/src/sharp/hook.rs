//! SHARP in the pipeline of an SM.

use warpwatt_activity::Activity;
use warpwatt_gpu::trace::{KernelTrace, LaneMask, MemoryOp, MemoryOpKind, Space, Step};
use warpwatt_gpu::{GpuSpec, IssueEvent, IssueHook, IssuePlan, PlaceEvent, SharedUse};
use warpwatt_reliability::{Cover, Protection, Residency, Structure};

use super::engine::{Engine, Shape};
use super::guards::Guards;
use super::ports::Ports;
use super::store::Store;
use crate::protection::{Words, in_file, is_whole};

/// Follows the warps of an SM.
pub(super) struct Hook {
    engine: Engine,
    code: Vec<Words>,
    ops: Vec<Option<MemoryOp>>,
    lanes: LaneMask,
    width: u64,
    banks: u32,
    /// Cycles from an issue to the first operand.
    collect: u64,
    /// Shared memory in words, and the last cycle in which something happened.
    words: u64,
    last: u64,
    warps: usize,
}

impl Hook {
    pub fn new(gpu: &GpuSpec) -> Self {
        let shape = Shape {
            registers: 1,
            groups: (gpu.sm.warp_width / 4).min(16),
            cycles: 1,
        };
        let ports = Ports::new(gpu.operands.banks, gpu.shared.banks);
        let store = Store::new(gpu.sm.shared_bytes, gpu.sm.ctas);
        Self {
            engine: Engine::new(shape, gpu.warps_per_sm(), ports, store),
            code: Vec::new(),
            ops: Vec::new(),
            lanes: LaneMask::MAX >> (LaneMask::BITS - gpu.sm.warp_width),
            width: u64::from(gpu.sm.warp_width),
            banks: gpu.shared.banks,
            collect: u64::from(gpu.operands.collect_cycles),
            words: u64::from(gpu.sm.shared_bytes / 4),
            last: 0,
            warps: gpu.warps_per_sm() as usize,
        }
    }

    /// As it is where somebody follows needed bits.
    pub fn guarding(mut self) -> Self {
        let (warps, groups) = (self.warps, self.engine.shape.groups);
        self.engine.guards = Some(Guards::new(warps, groups));
        self
    }

    fn reads(&mut self, event: &IssueEvent<'_>, plan: &IssuePlan) {
        let (from_file, _) = in_file(plan);
        let first = event.cycle + self.collect;
        let words = self.code[event.step.inst as usize].reads.iter().enumerate();
        for (place, &word) in words.filter(|(place, _)| from_file(*place)) {
            self.engine.read(event.warp, word, event.cycle);
            self.engine
                .ports
                .read(event.warp, word, first + place as u64);
        }
    }

    fn writes(&mut self, event: &IssueEvent<'_>, plan: &IssuePlan) {
        let words = &self.code[event.step.inst as usize].writes;
        if self.ops[event.step.inst as usize].is_some_and(|op| leaves(&op, event.step)) {
            self.engine.load(event.warp, words, event.cycle);
            return;
        }
        let (_, to_file) = in_file(plan);
        let whole = is_whole(event, self.lanes);
        for &word in words.iter().filter(|_| to_file) {
            self.engine.write(event.warp, word, whole, event.cycle);
        }
    }

    /// Words of shared memory that the program writes belong to it.
    fn stores(&mut self, event: &IssueEvent<'_>) {
        let op = self.ops[event.step.inst as usize];
        let stores = |op: &MemoryOp| {
            let space = matches!(op.space, Space::Shared | Space::Generic);
            space && matches!(op.kind, MemoryOpKind::Store | MemoryOpKind::Atomic)
        };
        let (Some(op), Some(addresses)) = (op.filter(stores), &event.step.addresses) else {
            return;
        };
        let engine = &mut self.engine;
        addresses.for_each(event.step.executed, |_, address| {
            if op.space == Space::Generic && Space::of(address) != Space::Shared {
                return;
            }
            let offset = address % Space::WINDOW;
            for word in offset / 4..(offset + u64::from(op.bytes)).div_ceil(4) {
                if let Some((place, holder)) = engine.store.write(event.warp, 4 * word, event.cycle)
                {
                    engine.pushed_out(place, holder);
                }
            }
        });
    }
}

/// Whether an instruction is a load or an atomic that goes to memory outside the SM, as the load-store unit decides it.
fn leaves(op: &MemoryOp, step: &Step) -> bool {
    let Some(addresses) = step
        .addresses
        .as_ref()
        .filter(|_| op.kind != MemoryOpKind::Store)
    else {
        return false;
    };
    let mut space = op.space;
    if space == Space::Generic {
        space = Space::Global;
        let first = step.executed & step.executed.wrapping_neg();
        addresses.for_each(first, |_, address| space = Space::of(address));
    }
    matches!(space, Space::Global | Space::Local)
}

impl IssueHook for Hook {
    fn begin(&mut self, trace: &KernelTrace) {
        self.code = Words::of(trace);
        self.ops = trace.code.iter().map(|inst| inst.memory).collect();
        self.engine.shape.registers = Words::count(&self.code, trace).max(1);
        self.engine.shape.cycles = u64::from(self.engine.shape.groups.div_ceil(self.banks));
        self.engine.store.begin(trace.launch.shared_bytes);
    }

    fn placed(&mut self, event: PlaceEvent) {
        self.engine.advance(event.cycle);
        let registers = self.engine.shape.registers;
        self.engine.lives.start(event.warp, registers);
        if let Some(guards) = &mut self.engine.guards {
            guards.start(event.warp, registers);
        }
        self.engine.store.placed(event.warp, event.cta);
    }

    fn issued(&mut self, event: &IssueEvent<'_>, plan: &mut IssuePlan) {
        self.engine.advance(event.cycle);
        if let Some(checked) = self.engine.checked_at(event.warp) {
            let wait = checked.saturating_sub(event.cycle);
            self.engine.counts.stalled += wait;
            plan.delay += wait;
        }
        self.reads(event, plan);
        self.writes(event, plan);
        self.stores(event);
    }

    fn shared_taken(&mut self, taken: &SharedUse<'_>) {
        let mut from = taken.from;
        for banks in taken.banks() {
            self.engine.ports.shared(from, taken.pass_cycles, banks);
            from += taken.pass_cycles;
        }
    }

    fn loaded(&mut self, cycle: u64, warp: u8) {
        self.engine.loaded(cycle, warp);
    }

    fn retired(&mut self, cycle: u64, warp: u8) {
        self.engine.advance(cycle);
        self.engine.retire(warp);
        self.engine.store.retired(warp, cycle);
        self.last = cycle;
    }

    fn report(&self, activity: &mut Activity) {
        let (engine, counts) = (&self.engine, &self.engine.counts);
        let registers = counts.recorded + counts.checked;
        let groups = counts.groups_written + counts.groups_read;
        for (name, count) in [
            ("register_file.read", registers),
            ("register_words_read", registers * self.width),
            ("sharp.queue.write", counts.requests),
            ("sharp.queue.read", counts.taken),
            ("sharp.warp_table.read", counts.taken),
            (
                "sharp.warp_table.write",
                counts.taken - counts.dropped.min(counts.taken),
            ),
            ("sharp.waiting_queue.write", groups),
            ("sharp.waiting_queue.read", groups),
            ("sharp.generator.read", counts.recorded * self.width),
            ("sharp.checker.read", 4 * counts.groups_read),
            (
                "sharp.shared_bank.write",
                counts.groups_written + counts.resets,
            ),
            ("sharp.shared_bank.read", counts.groups_read),
            ("sharp_dropped", counts.dropped),
            ("sharp_registers_recorded", counts.recorded),
            ("sharp_registers_checked", counts.checked),
            ("sharp_groups_refused", counts.groups_refused),
            ("sharp_groups_pushed_out", counts.evicted),
            ("sharp_groups_reset", counts.resets),
            ("sharp_waited_cycles", counts.waited),
            ("sharp_stalled_cycles", counts.stalled),
            ("sharp_live_cycles", engine.lives.live),
            ("sharp_guarded_cycles", engine.lives.guarded),
            ("shared_word_cycles", self.words * self.last),
            ("shared_valid_cycles", engine.store.valid_cycles),
            ("sharp_shared_words", self.words),
            ("shared_untouched", engine.store.untouched),
        ] {
            activity.add(name, count);
        }
    }
}

impl Protection for Hook {
    fn cover(&mut self, residency: &Residency, covers: &mut Vec<Cover>) {
        if residency.structure != Structure::RegisterFile {
            return;
        }
        let word = residency.entry as u16;
        let pending = self.engine.pending(residency.warp, word);
        if let Some(guards) = &mut self.engine.guards {
            guards.cover(residency, pending, covers);
        }
    }

    fn read(&mut self, warp: u8, entry: u32, cycle: u64) {
        if let Some(guards) = &mut self.engine.guards {
            guards.read(warp, entry as usize, cycle);
        }
    }
}
