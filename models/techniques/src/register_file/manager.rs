//! The management of one SM's register file, in the pipeline.

mod counts;
mod holding;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use warpwatt_activity::Activity;
use warpwatt_gpu::trace::KernelTrace;
use warpwatt_gpu::{Extent, GpuSpec, IssueEvent, IssueHook, IssuePlan, PlaceEvent, Throttle};
use warpwatt_reliability::{Journal, Structure as Storage, What};

use self::counts::Counts;
use self::holding::Hold;
use super::frames::Frames;
use super::traffic::Traffic;
use super::{Allocation, Code, Domain, Inst, Management, Physical, Selection};
use crate::registers_over_time::RegistersOverTime;

/// No physical register.
const NONE: u16 = u16::MAX;

/// What a warp's slot holds.
#[derive(Clone, Default)]
struct Warp {
    /// By register of the program: the physical one.
    map: Vec<u16>,
    cta: u32,
    /// By then the operands of everything issued are read.
    read_by: u64,
    /// What its last instruction releases.
    dying: Vec<u16>,
    /// Cycles that the look-up adds before the operands of its last instruction are read.
    stage: u64,
    /// By register of the program: written, and not read since. The write may still be on its way.
    unread: Vec<bool>,
    /// Registers that are not renamed have their places.
    started: bool,
    /// What the `pbr` in front of the next instruction releases is released.
    met: bool,
}

/// The register file of one SM.
pub(super) struct Manager {
    management: Management,
    gpu: GpuSpec,
    /// Facts of the code go into the results once, not once an SM.
    first: bool,
    code: Code,
    file: Physical,
    /// Registers whose last readers are on their way, and when these have read them.
    leaving: BinaryHeap<Reverse<(u64, u16)>>,
    warps: Vec<Warp>,
    frames: Frames,
    /// Registers of the program that a warp has.
    registers: usize,
    /// Who may take registers, where there may be too few.
    hold: Option<Hold>,
    counts: Counts,
    /// Where it notes what the renaming table holds, if somebody follows that.
    journal: Option<Journal>,
}

impl Manager {
    pub fn new(management: Management, gpu: GpuSpec, first: bool) -> Self {
        let registers = management.geometry(&gpu).registers;
        let hold = management.is_shrunk();
        Self {
            hold: hold.then(|| Hold::new(registers, gpu.warps_per_sm())),
            code: Code::default(),
            file: Physical::new(management.geometry(&gpu)),
            leaving: BinaryHeap::new(),
            warps: vec![Warp::default(); gpu.warps_per_sm() as usize],
            frames: Frames::default(),
            registers: 0,
            counts: Counts::default(),
            journal: None,
            management,
            gpu,
            first,
        }
    }

    /// As it is where somebody follows what the renaming table holds.
    pub fn noting(mut self, journal: Option<Journal>) -> Self {
        self.journal = journal;
        self
    }

    /// As it is where somebody wants to know its registers over time.
    pub fn telling(mut self, log: Option<RegistersOverTime>) -> Self {
        if let Some(log) = log {
            self.file.tell(log.clone());
            self.frames.tell(log);
        }
        self
    }

    /// Notes that the table's entry for a register changes.
    fn note(&self, cycle: u64, warp: usize, word: u16, what: What) {
        if let Some(journal) = &self.journal
            && self.code.renamed[usize::from(word)]
        {
            let entry = (warp << u16::BITS) as u32 | u32::from(word);
            journal.note(Storage::RenamingTable, entry, cycle, what);
        }
    }

    /// Registers whose time has come are free.
    fn settle(&mut self, cycle: u64) {
        while let Some(&Reverse((at, register))) = self.leaving.peek() {
            if at > cycle {
                break;
            }
            self.leaving.pop();
            self.free(at, register);
        }
    }

    /// A physical register is free.
    fn free(&mut self, cycle: u64, register: u16) {
        self.file.release(cycle, register);
        if let Some(hold) = &mut self.hold {
            hold.throttle.freed(register);
        }
    }

    /// A physical register for register `word` of the program, and the cycles that the instruction waits for it.
    fn take(&mut self, cycle: u64, warp: usize, word: u16, choice: Selection) -> u64 {
        let bank = (u32::from(word) + warp as u32) % self.management.geometry(&self.gpu).banks;
        let mut waits = 0;
        let taken = loop {
            if let Some(taken) = self.file.take(cycle + waits, bank, choice) {
                break taken;
            }
            // Every register is taken: the next that is on its way out will do.
            let Some(Reverse((at, register))) = self.leaving.pop() else {
                return waits;
            };
            self.counts.full += 1;
            waits = waits.max(at.saturating_sub(cycle));
            self.free(at, register);
        };
        if let Some(hold) = &mut self.hold {
            hold.throttle.takes(self.warps[warp].cta, taken.register);
        }
        self.warps[warp].map[usize::from(word)] = taken.register;
        let bits = self.management.entry_bits(&self.gpu);
        self.note(cycle, warp, word, What::Written { bits, all: bits });
        self.counts.table_writes += 1;
        self.counts.entries += 1;
        self.counts.most_entries = self.counts.most_entries.max(self.counts.entries);
        let wakes = match self.management.gating {
            None => false,
            Some(Domain::Subarray) => taken.woken,
            Some(Domain::Register) => true,
        };
        waits + u64::from(wakes) * u64::from(self.management.wake_cycles)
    }

    /// The program's register is no longer mapped; its physical one, if it had one.
    fn unmap(&mut self, cycle: u64, warp: usize, word: u16) -> Option<u16> {
        let slot = &mut self.warps[warp].map[usize::from(word)];
        let register = std::mem::replace(slot, NONE);
        if register == NONE {
            return None;
        }
        self.counts.table_writes += 1;
        self.counts.entries -= 1;
        self.note(cycle, warp, word, What::Freed);
        Some(register)
    }

    /// Gives the registers that are not renamed their places, if the warp has none.
    fn start(&mut self, cycle: u64, warp: usize, choice: Selection) -> u64 {
        if std::mem::replace(&mut self.warps[warp].started, true) {
            return 0;
        }
        let mut waits = 0;
        for word in 0..self.code.renamed.len() as u16 {
            if self.code.is_exempt(word) {
                waits = waits.max(self.take(cycle, warp, word, choice));
            }
        }
        waits
    }

    /// A `pbr` releases what no lane needs, once what was issued before it has been read. What nobody has read yet may not have been written, and stays.
    fn meet(&mut self, cycle: u64, warp: usize, inst: &Inst) {
        let at = cycle.max(self.warps[warp].read_by);
        for &word in &inst.meeting {
            if self.warps[warp].unread[usize::from(word)] {
                continue;
            }
            if let Some(register) = self.unmap(cycle, warp, word) {
                self.leaving.push(Reverse((at, register)));
            }
        }
    }

    /// Counts the accesses of an instruction to the registers where they lie.
    fn access(&mut self, warp: usize, words: impl Iterator<Item = u16>) {
        for word in words {
            let register = self.warps[warp].map[usize::from(word)];
            if register != NONE {
                self.file.access(register);
            }
        }
    }

    /// The renamed among some registers.
    fn renamed(&self, words: impl Iterator<Item = u16>) -> u64 {
        words
            .filter(|&word| self.code.renamed[usize::from(word)])
            .count() as u64
    }

    /// What another technique keeps elsewhere is neither looked up nor given a place.
    fn rename(
        &mut self,
        cycle: u64,
        warp: usize,
        inst: &Inst,
        traffic: Traffic<'_>,
        choice: Selection,
    ) -> u64 {
        self.counts.metadata += inst.pbrs() + u64::from(inst.pir.is_some());
        let met = std::mem::take(&mut self.warps[warp].met);
        if !met {
            self.meet(cycle, warp, inst);
        }
        let mut waits = self.start(cycle, warp, choice);
        self.counts.table_reads += self.renamed(traffic.reads()) + self.renamed(traffic.writes());
        self.access(warp, traffic.reads());
        for &word in &inst.reads {
            self.warps[warp].unread[usize::from(word)] = false;
        }
        let mut dying: Vec<u16> = inst
            .releases
            .iter()
            .filter_map(|&word| self.unmap(cycle, warp, word))
            .collect();
        for &word in &inst.writes {
            self.warps[warp].unread[usize::from(word)] = true;
            if !traffic.stores() {
                // The value moves out of the file; the old one's place is free once it is read.
                let moves = self.code.renamed[usize::from(word)];
                dying.extend(moves.then(|| self.unmap(cycle, warp, word)).flatten());
            } else if self.warps[warp].map[usize::from(word)] == NONE {
                waits = waits.max(self.take(cycle, warp, word, choice));
            }
        }
        self.warps[warp].dying = dying;
        self.access(warp, traffic.writes());
        waits
    }
}

impl IssueHook for Manager {
    fn begin(&mut self, trace: &KernelTrace) {
        self.code = self.management.code(&self.gpu, trace);
        self.registers = trace.launch.registers as usize;
        let granule = self.gpu.sm.thread_register_granule.max(1);
        let frame = trace.launch.registers.next_multiple_of(granule).max(1);
        let physical = self.management.geometry(&self.gpu).registers;
        self.frames
            .begin(frame, physical / frame, trace.launch.warps_per_cta() as u32);
        // CTAs are numbered anew.
        self.settle(u64::MAX);
        if let Some(hold) = &mut self.hold {
            let warps = trace.launch.warps_per_cta() as u64;
            hold.throttle.begin(self.code.registers(), warps);
        }
        let counts = &mut self.counts;
        counts.static_instructions += self.code.insts.len() as u64;
        counts.static_metadata += self.code.metadata();
        counts.exempt = counts.exempt.max(self.code.exempt());
    }

    fn placed(&mut self, event: PlaceEvent) {
        self.settle(event.cycle);
        let index = usize::from(event.warp);
        self.frames
            .reserve(event.cycle, event.cta, self.registers as u32);
        self.warps[index] = Warp {
            map: vec![NONE; self.code.renamed.len()],
            unread: vec![false; self.code.renamed.len()],
            cta: event.cta,
            ..Warp::default()
        };
        match self.management.allocation {
            Allocation::Static => {
                let Some(first) = self.frames.place(event.cta) else {
                    return;
                };
                for word in 0..self.registers as u16 {
                    let register = (first + u32::from(word)) as u16;
                    self.file.take_register(event.cycle, register);
                    self.warps[index].map[usize::from(word)] = register;
                    self.frames.holds(event.cta, register);
                }
            }
            Allocation::Renamed(choice) => {
                // Where they may have to wait for their places, they do so at the first instruction.
                match &mut self.hold {
                    Some(hold) => hold.places(event),
                    None => {
                        self.start(event.cycle, index, choice);
                    }
                }
            }
        }
    }

    fn issued(&mut self, event: &IssueEvent<'_>, plan: &mut IssuePlan) {
        self.settle(event.cycle);
        if let Some(hold) = &mut self.hold {
            hold.issues(event.cycle, event.warp);
        }
        self.counts.issued += 1;
        let warp = usize::from(event.warp);
        let inst = std::mem::take(&mut self.code.insts[event.step.inst as usize]);
        let traffic = Traffic::of(&inst, plan);
        match self.management.allocation {
            Allocation::Static => {
                self.access(warp, traffic.reads());
                self.access(warp, traffic.writes());
            }
            Allocation::Renamed(choice) => {
                let stage = u64::from(self.management.stage_cycles);
                plan.delay += self.rename(event.cycle, warp, &inst, traffic, choice);
                // The stage is in the latency of what executes. What does not execute passes it too.
                let skipped = plan.extent == Extent::Skipped;
                plan.delay += if skipped { stage } else { 0 };
                self.warps[warp].stage = if skipped { 0 } else { stage };
            }
        }
        self.code.insts[event.step.inst as usize] = inst;
    }

    fn collected(&mut self, warp: u8, cycle: u64) {
        let warp = &mut self.warps[usize::from(warp)];
        warp.read_by = warp.read_by.max(cycle + warp.stage);
        for register in warp.dying.drain(..) {
            self.leaving.push(Reverse((warp.read_by, register)));
        }
    }

    fn retired(&mut self, cycle: u64, warp: u8) {
        self.settle(cycle);
        let index = usize::from(warp);
        let cta = self.warps[index].cta;
        if let Allocation::Renamed(_) = self.management.allocation {
            for word in 0..self.warps[index].map.len() as u16 {
                if let Some(register) = self.unmap(cycle, index, word) {
                    self.free(cycle, register);
                }
            }
        }
        if let Some(hold) = &mut self.hold {
            hold.retires(cta, warp);
        }
        for register in self.frames.finish(cycle, cta, self.registers as u32) {
            self.free(cycle, register);
        }
    }

    fn throttle(&mut self) -> Option<&mut dyn Throttle> {
        match self.hold {
            Some(_) => Some(self),
            None => None,
        }
    }

    fn up_to(&mut self, cycle: u64) {
        self.settle(cycle);
        self.file.advance(cycle);
        self.frames.advance(cycle);
    }

    fn report(&self, activity: &mut Activity) {
        counts::report(self, activity);
    }

    fn report_levels(&self, activity: &mut Activity) {
        counts::report_levels(self, activity);
    }
}
