//! Thread-block compaction: warps of a CTA that come to a branch are formed anew, so that each holds threads of one side.
//!
//! W. W. L. Fung, T. M. Aamodt, "Thread Block Compaction for Efficient SIMT Control Flow", HPCA 2011; what it takes of a compute unit: R. Balasubramanian et al., ACM
//! TACO 12(2), 2015, section 5. The CTA has one stack, of program counters and meeting points, for all its warps. At a branch that may diverge the warps of its top
//! entry wait for each other; threads keep their lanes, and each side gets as few warps as its fullest lane has threads. Where the sides meet, the warps are again
//! those from before. Without it, every warp has a stack of its own and runs both sides with the lanes that it has (post-dominator stacks).
//!
//! What each thread executes is what it executed before: only which threads go together changes, and when. A launch is refused where that is not so simple: a barrier or
//! an asynchronous copy in divergent code, lanes that part at calls, returns or indexed branches; and machine code of Southern Islands, whose compiler masks lanes
//! and lets no branch diverge.
//!
//! ```
//! let technique = warpwatt_techniques::thread_block_compaction::DEFINITION.parse(&"stack_entries = 32".parse().unwrap());
//! assert_eq!(technique.unwrap().label(), "thread_block_compaction(stack_entries=32)");
//! ```

mod block;
mod regroup;
mod structures;
mod threads;

use warpwatt_activity::Activity;
use warpwatt_gpu::trace::KernelTrace;
use warpwatt_gpu::{GpuSpec, Hooks, IssueEvent, IssueHook, IssuePlan, Run};
use warpwatt_reliability::{Journals, ProtectionFactory};

use crate::parameter::{Count, count};
use crate::{Claim, Definition, Judged, Metric, Structure, Technique};
use regroup::{MEETINGS, may_regroup, regrouped};

/// The registry's entry.
pub static DEFINITION: Definition = Definition {
    name: "thread_block_compaction",
    summary: "warps of a CTA are formed anew at branches, lane by lane, by a stack for the whole CTA",
    citation: "W. W. L. Fung, T. M. Aamodt, \"Thread Block Compaction for Efficient SIMT Control Flow\", HPCA 2011",
    parameters: &[STACK_ENTRIES.declared()],
    counters: &[
        (
            "thread_block_compaction_meetings",
            "instructions with which a warp waits for others of its CTA, at a branch and where the stack's entry changes",
        ),
        (
            "thread_block_compaction_instructions",
            "instructions of the program that warps issued",
        ),
        (
            "thread_block_compaction_lanes",
            "lanes with a thread, summed over them",
        ),
        (
            "thread_block_compaction_warp_lanes",
            "lanes of a warp, summed over them",
        ),
        (
            "thread_block_compaction.stack.read",
            "entries of the stack read: once a meeting",
        ),
        (
            "thread_block_compaction.stack.write",
            "entries of the stack written: once a meeting",
        ),
        (
            "thread_block_compaction.formation.read",
            "lanes of which the next thread was looked for: all lanes of a warp at a meeting",
        ),
        (
            "thread_block_compaction.base_table.read",
            "lanes whose registers' first row was looked up: those with a thread, once an instruction",
        ),
        (
            "thread_block_compaction.base_table.write",
            "lanes whose registers' first row was put down: all lanes of a warp at a meeting",
        ),
        (
            "thread_block_compaction.base_adder.read",
            "rows that were added up: one a lane for every word of a register read or written",
        ),
    ],
    metrics: &[
        Judged::headline("simd_efficiency"),
        Judged::lower("meetings"),
    ],
    configure: |values| {
        Ok(Box::new(ThreadBlockCompaction {
            stack_entries: values.get(&STACK_ENTRIES),
            label: values.label(),
        }))
    },
};

const STACK_ENTRIES: Count = count(
    "stack_entries",
    16,
    1..=64,
    "entries of the stack of a CTA; of the structure, the run takes as many as it needs",
)
.priced_only();

/// The configured technique.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ThreadBlockCompaction {
    stack_entries: u32,
    label: String,
}

impl Technique for ThreadBlockCompaction {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    fn label(&self) -> String {
        self.label.clone()
    }

    fn decides(&self) -> String {
        DEFINITION.name.to_owned()
    }

    fn attached(&self) -> Vec<String> {
        vec![self.decides()]
    }

    fn adds_up(&self) -> bool {
        true
    }

    fn attach(&self, gpu: &GpuSpec, hooks: &mut Hooks) {
        hooks.rewrites.push(Box::new(regrouped));
        let width = gpu.sm.warp_width;
        hooks.issue.push(Box::new(move |_| {
            Box::new(Counts {
                width: u64::from(width),
                ..Counts::default()
            })
        }));
    }

    /// Which bits are needed is followed by warps and lanes of the program.
    fn attach_protecting(
        &self,
        gpu: &GpuSpec,
        hooks: &mut Hooks,
        _: &Journals,
    ) -> Option<ProtectionFactory> {
        self.attach(gpu, hooks);
        let refused = |trace: &KernelTrace| {
            match may_regroup(trace) {
            true => Err("vulnerability is followed by the warps of the program, and thread_block_compaction forms others".to_owned()),
            false => Ok(()),
        }
        };
        hooks.conditions.push(Box::new(refused));
        None
    }

    fn structures(&self, gpu: &GpuSpec) -> Vec<Structure> {
        structures::structures(gpu, self.stack_entries)
    }

    fn metrics(&self, run: &Run) -> Vec<Metric> {
        let of = |name: &str| run.activity.get(&format!("thread_block_compaction_{name}"));
        let ratio = |name: &str, part: u64, whole: u64| {
            Metric::ratio(format!("thread_block_compaction.{name}"), part, whole)
        };
        vec![
            ratio("simd_efficiency", of("lanes"), of("warp_lanes")),
            ratio("meetings", of("meetings"), of("instructions")),
        ]
    }

    fn claims(&self) -> &'static [Claim] {
        &[Claim::RegisterPlaces, Claim::Operands, Claim::Scalars]
    }
}

/// What the warps of one SM did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Counts {
    width: u64,
    /// Instructions of the program; those behind are meetings.
    program: u32,
    meetings: u64,
    instructions: u64,
    lanes: u64,
    /// Words of registers that each instruction reads and writes.
    words_of: Vec<u32>,
    words: u64,
}

impl IssueHook for Counts {
    fn begin(&mut self, trace: &KernelTrace) {
        self.program = trace.code.len().saturating_sub(MEETINGS) as u32;
        let code = trace.code.iter();
        let words = code.map(|inst| {
            let registers = inst.sources.iter().chain(&inst.destinations);
            registers.map(|register| register.kind.words()).sum()
        });
        self.words_of = words.collect();
    }

    fn issued(&mut self, event: &IssueEvent<'_>, _: &mut IssuePlan) {
        if event.step.inst >= self.program {
            self.meetings += 1;
            return;
        }
        let lanes = u64::from(event.step.active.count_ones());
        self.instructions += 1;
        self.lanes += lanes;
        let words = self.words_of.get(event.step.inst as usize);
        self.words += lanes * u64::from(words.copied().unwrap_or(0));
    }

    fn report(&self, activity: &mut Activity) {
        let mut add = |name: &str, count: u64| {
            activity.add(&format!("thread_block_compaction{name}"), count);
        };
        let formed = self.width * self.meetings;
        add("_meetings", self.meetings);
        add("_instructions", self.instructions);
        add("_lanes", self.lanes);
        add("_warp_lanes", self.width * self.instructions);
        add(".stack.read", self.meetings);
        add(".stack.write", self.meetings);
        add(".formation.read", formed);
        add(".base_table.read", self.lanes);
        add(".base_table.write", formed);
        add(".base_adder.read", self.words);
    }
}

#[cfg(test)]
mod tests;
