//! Aged sampling DMR: some work-groups run a second time on another compute unit that is slowed down as age would slow it, and what both store is compared.
//!
//! R. Balasubramanian, K. Sankaralingam, "Virtually-Aged Sampling DMR: Unifying Circuit Failure Prediction and Circuit Failure Detection", MICRO 2013; on a GPU: R. Balasubramanian et al.,
//! ACM TACO 12(2), 2015, section 6.1. Of each epoch of CTAs of a launch a few are sampled, the first one among them. Where one goes, the next SM is to check it: it takes no other CTA from
//! then on, and when it is empty, a copy runs there alone, at the voltage that ages it. Its stores and atomics of global memory reach nothing; what they would have stored is summed up, as
//! that of the CTA that it checks is.
//!
//! Slower gates do not show on paths with much slack, so that flip-flops at their ends take an earlier phase of the clock meanwhile: a multiplexer and a delay for each. How many
//! there are is `fast_paths`: 23 % in the paper (Table VIII), from its own timing, which is not known here.
//!
//! When the check notices that gates are old, [`age`] says: thresholds drift with time, the checker's gates are slower by its lower supply, and what still fits the period there and
//! then does so longer elsewhere.
//!
//! ```
//! let technique = warpwatt_techniques::aged_sampling_dmr::DEFINITION.parse(&"sampling = 10".parse().unwrap());
//! assert_eq!(technique.unwrap().label(), "aged_sampling_dmr(sampling=10)");
//! ```

mod age;
mod copies;
mod dispatcher;
mod structures;

use warpwatt_activity::Activity;
use warpwatt_circuit::CircuitError;
use warpwatt_gpu::trace::{KernelTrace, MemoryOpKind};
use warpwatt_gpu::{GpuSpec, Hooks, IssueEvent, IssueHook, IssuePlan, PlaceEvent, Run};
use warpwatt_reliability::{Journals, ProtectionFactory};

use crate::parameter::{Count, count};
use crate::{Circuits, Claim, Definition, Fit, Judged, Metric, Structure, Technique};
use copies::{Sampling, with_copies};
use dispatcher::Checking;

/// The registry's entry.
pub static DEFINITION: Definition = Definition {
    name: "aged_sampling_dmr",
    summary: "some CTAs run again on an SM that is slowed down as age would, and what both store is compared",
    citation: "R. Balasubramanian, K. Sankaralingam, \"Virtually-Aged Sampling DMR: Unifying Circuit Failure Prediction and Circuit Failure Detection\", MICRO 2013",
    parameters: &[
        SAMPLING.declared(),
        EPOCH.declared(),
        FAST_PATHS.declared(),
        GUARD_BAND.declared(),
        CHECKER_SUPPLY.declared(),
    ],
    counters: &[
        ("aged_sampling_dmr_ctas", "CTAs that ran a second time"),
        ("aged_sampling_dmr_program_ctas", "CTAs of the program"),
        (
            "aged_sampling_dmr_instructions",
            "warp instructions of second runs",
        ),
        (
            "aged_sampling_dmr_held",
            "cycles in which an SM had a second run and nothing else",
        ),
        (
            "aged_sampling_dmr.checksum.read",
            "words that were summed up: those stored in global memory by CTAs that are checked, and those that their copies would have stored",
        ),
    ],
    metrics: &[Judged::headline("redundant"), Judged::lower("held")],
    configure: |values| {
        Ok(Box::new(AgedSamplingDmr {
            sampling: Sampling {
                percent: values.get(&SAMPLING),
                epoch: values.get(&EPOCH),
            },
            fast_paths: values.get(&FAST_PATHS),
            guard_band: values.get(&GUARD_BAND),
            checker_supply: values.get(&CHECKER_SUPPLY),
            label: values.label(),
        }))
    },
};

const SAMPLING: Count = count(
    "sampling",
    1,
    1..=100,
    "CTAs of an epoch that run a second time, in percent; one at the least",
);
const EPOCH: Count = count(
    "epoch",
    100,
    2..=10_000,
    "CTAs of an epoch; the last one of a launch may be shorter",
);
const FAST_PATHS: Count = count(
    "fast_paths",
    23,
    0..=100,
    "flip-flops at the ends of fast paths, in percent of those that are none of a register file: each has an earlier phase of the clock",
)
.priced_only();
const GUARD_BAND: Count = count(
    "guard_band",
    5,
    1..=50,
    "what the longest path is shorter than the period when it is new, in percent",
)
.priced_only();
const CHECKER_SUPPLY: Count = count(
    "checker_supply",
    99,
    70..=100,
    "the checker's supply, in percent of that of the others",
)
.priced_only();

/// The configured technique.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AgedSamplingDmr {
    sampling: Sampling,
    fast_paths: u32,
    guard_band: u32,
    checker_supply: u32,
    label: String,
}

impl Technique for AgedSamplingDmr {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    fn label(&self) -> String {
        self.label.clone()
    }

    /// No structure of it is on a path; what is said is when the check notices.
    fn fit(&self, _: &mut GpuSpec, circuits: &dyn Circuits) -> Result<Fit, CircuitError> {
        let note = circuits.conditions().map(|(technology, at)| {
            let percents = (self.guard_band, self.checker_supply);
            let found = age::Notice::of(technology, &at, percents);
            found.map_or_else(
                |why| format!("aged_sampling_dmr: {why}"),
                |it| it.in_words(),
            )
        });
        Ok(Fit {
            notes: note.into_iter().collect(),
            ..Fit::default()
        })
    }

    fn decides(&self) -> String {
        format!("{}({:?})", DEFINITION.name, self.sampling)
    }

    fn attached(&self) -> Vec<String> {
        vec![self.decides()]
    }

    fn attach(&self, _: &GpuSpec, hooks: &mut Hooks) {
        let sampling = self.sampling;
        hooks
            .rewrites
            .push(Box::new(move |trace| with_copies(trace, sampling)));
        hooks.dispatcher = Some(Box::new(move || Box::new(Checking::new(sampling))));
        hooks.issue.push(Box::new(move |_| {
            Box::new(Counts {
                sampling: Some(sampling),
                ..Counts::default()
            })
        }));
    }

    /// Which bits are needed is followed by the CTAs of the program.
    fn attach_protecting(
        &self,
        gpu: &GpuSpec,
        hooks: &mut Hooks,
        _: &Journals,
    ) -> Option<ProtectionFactory> {
        self.attach(gpu, hooks);
        hooks.conditions.push(Box::new(|_| {
            Err("vulnerability is followed by the CTAs of the program, and aged_sampling_dmr runs others".to_owned())
        }));
        None
    }

    fn structures(&self, gpu: &GpuSpec) -> Vec<Structure> {
        structures::structures(gpu, self.sampling.epoch, self.fast_paths)
    }

    fn metrics(&self, run: &Run) -> Vec<Metric> {
        let of = |name: &str| run.activity.get(&format!("aged_sampling_dmr_{name}"));
        let sms = run.per_sm.len() as u64;
        vec![
            Metric::ratio(
                "aged_sampling_dmr.redundant",
                of("ctas"),
                of("program_ctas"),
            ),
            Metric::ratio("aged_sampling_dmr.held", of("held"), sms * run.cycles),
        ]
    }

    fn claims(&self) -> &'static [Claim] {
        &[Claim::SecondExecution]
    }
}

/// What second runs did on one SM.
#[derive(Clone, Debug, Default)]
struct Counts {
    sampling: Option<Sampling>,
    /// CTAs of the program in this launch.
    program: usize,
    /// Words that each instruction stores in global memory.
    stores: Vec<u32>,
    /// What is in each slot: nothing of interest, a CTA that is checked, or a copy.
    slots: Vec<Role>,
    /// Warps of copies, and since when there are any.
    copies: u32,
    since: u64,
    /// The CTA that was placed last.
    last: Option<u32>,
    ctas: u64,
    program_ctas: u64,
    instructions: u64,
    held: u64,
    words: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Role {
    #[default]
    Plain,
    Checked,
    Copy,
}

impl IssueHook for Counts {
    fn begin(&mut self, trace: &KernelTrace) {
        let Some(sampling) = self.sampling else {
            return;
        };
        self.program = sampling.program(trace.launch.ctas());
        self.last = None;
        let code = trace.code.iter();
        let stores = code.map(|inst| {
            let memory = inst.memory.filter(copies::reaches_others);
            let memory = memory.filter(|it| it.kind != MemoryOpKind::Load);
            memory.map_or(0, |memory| u32::from(memory.bytes).div_ceil(4))
        });
        self.stores = stores.collect();
    }

    fn placed(&mut self, event: PlaceEvent) {
        let slot = usize::from(event.warp);
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, Role::Plain);
        }
        let cta = event.cta as usize;
        let is_new = self.last != Some(event.cta);
        self.last = Some(event.cta);
        let sampled = self.sampling.is_some_and(|it| it.samples(cta));
        self.slots[slot] = match cta >= self.program {
            true => {
                if self.copies == 0 {
                    self.since = event.cycle;
                }
                self.copies += 1;
                Role::Copy
            }
            false if sampled => Role::Checked,
            false => Role::Plain,
        };
        if is_new && cta >= self.program {
            self.ctas += 1;
        } else if is_new {
            self.program_ctas += 1;
        }
    }

    fn issued(&mut self, event: &IssueEvent<'_>, _: &mut IssuePlan) {
        let role = self.slots.get(usize::from(event.warp)).copied();
        let lanes = match role {
            Some(Role::Copy) => {
                self.instructions += 1;
                event.step.active.count_ones()
            }
            Some(Role::Checked) => event.step.executed.count_ones(),
            _ => return,
        };
        let words = self.stores.get(event.step.inst as usize);
        self.words += u64::from(lanes * words.copied().unwrap_or(0));
    }

    fn retired(&mut self, cycle: u64, warp: u8) {
        let role = self.slots.get_mut(usize::from(warp));
        if role.is_some_and(|role| std::mem::take(role) == Role::Copy) {
            self.copies -= 1;
            if self.copies == 0 {
                self.held += cycle - self.since;
            }
        }
    }

    fn report(&self, activity: &mut Activity) {
        for (name, count) in [
            ("aged_sampling_dmr_ctas", self.ctas),
            ("aged_sampling_dmr_program_ctas", self.program_ctas),
            ("aged_sampling_dmr_instructions", self.instructions),
            ("aged_sampling_dmr_held", self.held),
            ("aged_sampling_dmr.checksum.read", self.words),
        ] {
            activity.add(name, count);
        }
    }
}

#[cfg(test)]
mod tests;
