//! What becomes of an instruction whose bits were wrong and could be corrected: the time and the work that this takes.

use warpwatt_activity::Activity;
use warpwatt_circuit::logic::Code;
use warpwatt_gpu::trace::KernelTrace;
use warpwatt_gpu::{GpuSpec, Hooks, IssueEvent, IssueHook, IssuePlan};

use crate::protection::{CORRECTION_CYCLES, Words};

/// How a technique corrects a word of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The counter of the corrector, whose structure is priced.
    pub corrector: &'static str,
    /// The code, and the bits of the words that it is of.
    pub code: (Code, u64),
    /// When the error is found.
    pub found: Found,
    /// Whether the register gets its right value again: a write of it.
    pub rewrites: bool,
}

/// When an error is found, and what that means for the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// At its issue: it is dropped, corrected, and issues again.
    Issue,
    /// When its operands are read: it is dropped, the operand is corrected, and it issues and reads them again.
    Operands,
    /// Before it issues: it waits.
    Before,
}

impl Found {
    /// Whether the instruction issues a second time.
    pub fn reissues(self) -> bool {
        self != Self::Before
    }

    /// Cycles from the first issue to the second, or for which it waits.
    pub fn cycles(self, gpu: &GpuSpec) -> u64 {
        let correction = u64::from(CORRECTION_CYCLES);
        match self {
            Self::Issue | Self::Before => correction,
            Self::Operands => correction + u64::from(gpu.operands.collect_cycles),
        }
    }
}

/// The instruction that is struck: what a warp issues on an SM in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Struck {
    /// The SM.
    pub sm: u32,
    /// The slot of the warp.
    pub warp: u8,
    /// The cycle of its issue in the run without the error.
    pub cycle: u64,
}

/// Puts the correction of one error into a run: behind everything else that is attached.
pub fn attach_recovery(gpu: &GpuSpec, recovery: Recovery, struck: Struck, hooks: &mut Hooks) {
    let cycles = recovery.found.cycles(gpu);
    hooks.issue.push(Box::new(move |sm| {
        Box::new(Redo {
            struck: (sm == struck.sm).then_some(struck),
            recovery,
            cycles,
            code: Vec::new(),
            done: None,
        })
    }));
}

/// Corrects once.
struct Redo {
    struck: Option<Struck>,
    recovery: Recovery,
    cycles: u64,
    code: Vec<Words>,
    /// Words that were read again and written again, by all lanes that execute.
    done: Option<Done>,
}

#[derive(Clone, Copy)]
struct Done {
    reads: u64,
    lanes: u64,
}

impl IssueHook for Redo {
    fn begin(&mut self, trace: &KernelTrace) {
        if self.struck.is_some() {
            self.code = Words::of(trace);
        }
    }

    fn issued(&mut self, event: &IssueEvent<'_>, plan: &mut IssuePlan) {
        let here = |struck: &Struck| (struck.warp, struck.cycle) == (event.warp, event.cycle);
        if self.struck.take_if(|struck| here(struck)).is_none() {
            return;
        }
        plan.delay += self.cycles;
        plan.copies += u32::from(self.recovery.found.reissues());
        let words = self.code[event.step.inst as usize].reads.len();
        let again = self.recovery.found == Found::Operands;
        self.done = Some(Done {
            reads: if again { plan.count_reads(words) } else { 0 },
            lanes: u64::from(event.step.executed.count_ones()),
        });
    }

    fn report(&self, activity: &mut Activity) {
        let Some(done) = self.done else { return };
        let writes = u64::from(self.recovery.rewrites);
        let issues = u64::from(self.recovery.found == Found::Issue);
        for (name, count) in [
            (self.recovery.corrector, 1),
            ("instruction_buffer.read", issues),
            ("register_file.read", done.reads),
            ("register_words_read", done.reads * done.lanes),
            ("register_file.write", writes),
            ("register_words_written", writes),
        ] {
            activity.add(name, count);
        }
    }
}
