//! The levels that the instructions of an SM read and write.

use warpwatt_activity::Activity;
use warpwatt_gpu::trace::KernelTrace;
use warpwatt_gpu::{IssueEvent, IssueHook, IssuePlan, PlaceEvent, Run};

use super::DEFINITION;
use super::allocate::Sizes;
use super::code::{Code, Inst, Level};
use crate::Metric;
use crate::register_file::Frames;

/// What is counted.
pub(super) const COUNTERS: &[(&str, &str)] = &[
    (
        "operand_register_file.read",
        "words that lanes read from the operand register file",
    ),
    (
        "operand_register_file.write",
        "words that lanes write to it, those that they read from the main register file for later reads among them",
    ),
    (
        "last_result_file.read",
        "words that lanes read from the last result file",
    ),
    ("last_result_file.write", "words that lanes write to it"),
    (
        "hierarchy_operands",
        "words that lanes read, from whichever register file; what barriers read is not among them",
    ),
    (
        "hierarchy_results",
        "words that instructions leave to lanes, whether written to one register file or two",
    ),
    (
        "main_registers",
        "registers of a thread that the main register file must have; the most of any launch",
    ),
    (
        "main_registers_cycles",
        "registers that resident CTAs have in the main register file, summed over cycles",
    ),
    ("main_registers_wakes", "registers given to CTAs there"),
    (
        "main_registers_most",
        "most registers that resident CTAs had there at once, summed over SMs",
    ),
    (
        "hierarchy_registers_most",
        "most registers that resident CTAs asked for at once, summed over SMs",
    ),
    (
        "hierarchy_warps",
        "warps for which the small register files have room, summed over SMs that worked",
    ),
];

/// What an instruction reads and writes, whenever it issues.
#[derive(Clone, Copy, Debug, Default)]
struct Access {
    /// Operand words that come from the main register file, a bit each.
    main: u64,
    operands: u32,
    results: u32,
    /// Results that go to the main register file.
    written: u32,
    operand_reads: u32,
    operand_writes: u32,
    last_reads: u32,
    last_writes: u32,
}

impl Access {
    fn of(inst: &Inst) -> Self {
        let mut access = Self {
            main: u64::MAX,
            operands: inst.operands.len() as u32,
            results: inst.results.len() as u32,
            ..Self::default()
        };
        for (at, operand) in inst.operands.iter().enumerate() {
            match operand.from {
                Level::Main => {}
                Level::Operand(_) => access.operand_reads += 1,
                Level::Last => access.last_reads += 1,
            }
            if operand.from != Level::Main {
                access.main &= !(1 << at);
            }
            access.operand_writes += u32::from(operand.fetched.is_some());
        }
        for result in &inst.results {
            access.written += u32::from(result.main);
            match result.kept {
                Some(Level::Operand(_)) => access.operand_writes += 1,
                Some(Level::Last) => access.last_writes += 1,
                Some(Level::Main) | None => {}
            }
        }
        access
    }
}

/// Words that lanes read and wrote.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    operands: u64,
    results: u64,
    operand_reads: u64,
    operand_writes: u64,
    last_reads: u64,
    last_writes: u64,
}

/// Follows the warps of an SM.
pub(super) struct Follower {
    sizes: Sizes,
    active_warps: u32,
    accesses: Vec<Access>,
    counts: Counts,
    /// Registers of a thread of this launch.
    registers: u32,
    /// Those of them in the main register file, and the most of any launch.
    main_registers: u32,
    main_registers_most: u32,
    asked: Frames,
    main: Frames,
    woken: u64,
    /// The CTA in each slot.
    ctas: Vec<u32>,
    /// Facts of the code go into the results once, not once an SM.
    first: bool,
}

/// Warps of an SM.
#[derive(Clone, Copy, Debug)]
pub(super) struct Warps {
    /// Slots for them.
    pub slots: u32,
    /// Those for which the small register files have room.
    pub active: u32,
}

impl Follower {
    /// Of an SM; of the first one, if that is so.
    pub fn new(sizes: Sizes, warps: Warps, first: bool) -> Self {
        Self {
            sizes,
            active_warps: warps.active,
            accesses: Vec::new(),
            counts: Counts::default(),
            registers: 0,
            main_registers: 0,
            main_registers_most: 0,
            asked: Frames::default(),
            main: Frames::default(),
            woken: 0,
            ctas: vec![0; warps.slots as usize],
            first,
        }
    }
}

impl IssueHook for Follower {
    fn begin(&mut self, trace: &KernelTrace) {
        let code = Code::new(trace, self.sizes);
        self.accesses = code.insts.iter().map(Access::of).collect();
        self.registers = trace.launch.registers;
        self.main_registers = code.main_registers();
        self.main_registers_most = self.main_registers_most.max(self.main_registers);
        let warps = trace.launch.warps_per_cta() as u32;
        for frames in [&mut self.asked, &mut self.main] {
            frames.begin(0, 0, warps);
        }
    }

    fn placed(&mut self, event: PlaceEvent) {
        self.ctas[usize::from(event.warp)] = event.cta;
        self.asked.reserve(event.cycle, event.cta, self.registers);
        self.main
            .reserve(event.cycle, event.cta, self.main_registers);
        self.woken += u64::from(self.main_registers);
    }

    fn issued(&mut self, event: &IssueEvent<'_>, plan: &mut IssuePlan) {
        let access = self.accesses[event.step.inst as usize];
        plan.reads &= access.main;
        plan.writes = access.written;
        let lanes = u64::from(event.step.executed.count_ones());
        let counts = &mut self.counts;
        counts.operands += lanes * u64::from(access.operands);
        counts.results += lanes * u64::from(access.results);
        counts.operand_reads += lanes * u64::from(access.operand_reads);
        counts.operand_writes += lanes * u64::from(access.operand_writes);
        counts.last_reads += lanes * u64::from(access.last_reads);
        counts.last_writes += lanes * u64::from(access.last_writes);
    }

    fn retired(&mut self, cycle: u64, warp: u8) {
        let cta = self.ctas[usize::from(warp)];
        self.asked.finish(cycle, cta, self.registers);
        self.main.finish(cycle, cta, self.main_registers);
    }

    fn up_to(&mut self, cycle: u64) {
        self.asked.advance(cycle);
        self.main.advance(cycle);
    }

    fn report(&self, activity: &mut Activity) {
        let counts = &self.counts;
        if self.sizes.entries > 0 {
            activity.add("operand_register_file.read", counts.operand_reads);
            activity.add("operand_register_file.write", counts.operand_writes);
        }
        if self.sizes.last {
            activity.add("last_result_file.read", counts.last_reads);
            activity.add("last_result_file.write", counts.last_writes);
        }
        activity.add("hierarchy_operands", counts.operands);
        activity.add("hierarchy_results", counts.results);
        activity.add("main_registers_cycles", self.main.cycles());
        activity.add("main_registers_wakes", self.woken);
        activity.add("main_registers_most", self.main.most());
        activity.add("hierarchy_registers_most", self.asked.most());
        let worked = self.asked.most() > 0;
        let warps = if worked { self.active_warps } else { 0 };
        activity.add("hierarchy_warps", u64::from(warps));
        if self.first {
            activity.add("main_registers", u64::from(self.main_registers_most));
        }
    }
}

/// Where operands come from and results go, and how many registers that leaves to the main register file.
pub(super) fn metrics(run: &Run, entries: u32) -> Vec<Metric> {
    let n = |counter: &str| run.activity.get(counter);
    let ratio =
        |what: &str, part, whole| Metric::ratio(format!("{}.{what}", DEFINITION.name), part, whole);
    let (operands, results) = (n("hierarchy_operands"), n("hierarchy_results"));
    let asked = n("hierarchy_registers_most");
    let taken = n("main_registers_most") + u64::from(entries) * n("hierarchy_warps");
    vec![
        ratio("reads_last", n("last_result_file.read"), operands),
        ratio("reads_operand", n("operand_register_file.read"), operands),
        ratio("reads_main", n("register_words_read"), operands),
        ratio("writes_last", n("last_result_file.write"), results),
        ratio("writes_operand", n("operand_register_file.write"), results),
        ratio("writes_main", n("register_words_written"), results),
        ratio(
            "main_allocation_reduction",
            asked.saturating_sub(n("main_registers_most")),
            asked,
        ),
        ratio("allocation_reduction", asked.saturating_sub(taken), asked),
    ]
}
