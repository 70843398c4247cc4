//! Timing speculation: a supply below the one that every path needs, and what came late is executed again.
//!
//! D. Ernst et al., "Razor: A Low-Power Pipeline Based on Circuit-Level Timing Speculation", MICRO 2003; on a GPU with idempotent regions: J. Menon, M. de Kruijf, K. Sankaralingam, "iGPU:
//! Exception Support and Speculative Execution on GPUs", ISCA 2012; R. Balasubramanian et al., ACM TACO 12(2), 2015, section 6.2. The longest path of a compute unit fills its period. Few
//! operations exercise it, so that at a lower supply few are late ([`lateness`]). A latch behind each flip-flop that may be late notices that; then the warp waits for what it has under way and
//! goes back to where its region began ([`regions`]), of which nothing was overwritten that it had read.
//!
//! Which paths there are is known of a compute unit in gates and flip-flops (`chip.inventory = "compute-unit"`); other GPUs are priced by blocks of published energy, and refused.
//!
//! ```
//! let technique = warpwatt_techniques::timing_speculation::DEFINITION.parse(&"reduction = 60".parse().unwrap());
//! assert_eq!(technique.unwrap().label(), "timing_speculation(reduction=60)");
//! ```

mod chances;
mod lateness;
mod regions;
mod replay;
mod structures;

use std::cell::Cell;
use std::rc::Rc;

use warpwatt_activity::Activity;
use warpwatt_circuit::CircuitError;
use warpwatt_gpu::trace::KernelTrace;
use warpwatt_gpu::{GpuSpec, Hooks, Inventory, IssueEvent, IssueHook, IssuePlan, Run};
use warpwatt_reliability::{Journals, ProtectionFactory};

use crate::parameter::{Choice, Count, CountOr, choice, count, count_or};
use crate::{Circuits, Claim, Definition, Fit, Judged, Metric, Structure, Technique};
use chances::Chances;
use lateness::{Blocks, REFERENCE, Settings};
use regions::Rule;
use replay::{Replayed, replayed, surveyed};

/// The registry's entry.
pub static DEFINITION: Definition = Definition {
    name: "timing_speculation",
    summary: "a supply at which some operations are late; what was late is executed again from where its region began",
    citation: "D. Ernst et al., \"Razor: A Low-Power Pipeline Based on Circuit-Level Timing Speculation\", MICRO 2003",
    parameters: &[
        REDUCTION.declared(),
        PERIOD.declared(),
        SLOWEST_DIE.declared(),
        REGION.declared(),
        PENALTY.declared(),
        SHADOWED.declared(),
    ],
    counters: &[
        (
            "timing_speculation_instructions",
            "warp instructions of the program",
        ),
        (
            "timing_speculation_regions",
            "regions that warps executed of it",
        ),
        (
            "timing_speculation_errors",
            "instructions that were late, and after which a warp went back",
        ),
        (
            "timing_speculation_again",
            "warp instructions of the program that were executed once more",
        ),
        (
            "timing_speculation_expected",
            "errors that are expected if nothing were executed again, in millionths: the chance of each instruction of the program, summed up",
        ),
        (
            "timing_speculation_reduction",
            "what the supply is lower by, in millivolt, once a launch",
        ),
        ("timing_speculation_launches", "launches"),
        (
            "timing_speculation.starts.read",
            "beginnings of regions put down or gone back to",
        ),
    ],
    metrics: &[Judged::headline_low("error_rate"), Judged::lower("again")],
    configure: |values| {
        Ok(Box::new(TimingSpeculation {
            reduction: values.get(&REDUCTION),
            settings: Settings {
                period: values.get(&PERIOD),
                slowest_die: values.get(&SLOWEST_DIE),
                penalty: values.get(&PENALTY),
            },
            rule: values.get(&REGION),
            shadowed: values.get(&SHADOWED),
            label: values.label(),
        }))
    },
};

const REDUCTION: CountOr = count_or(
    "reduction",
    None,
    0..=500,
    "best",
    "what the supply is lower by, in millivolt; \"best\": by as much as costs an instruction the least energy, in steps of 5 mV",
);
const PERIOD: Count = count(
    "period",
    100,
    50..=100,
    "the clock's period, in percent of that in which the longest path ends",
);
const SLOWEST_DIE: Count = count(
    "slowest_die",
    0,
    0..=6,
    "the slowest die for which the period is long enough, in standard deviations of dies; the die that runs is the typical one",
);
const REGION: Choice<Rule, 3> = choice(
    "region",
    [
        ("overwritten", Rule::Overwritten),
        ("memory", Rule::Memory),
        ("instruction", Rule::Instruction),
    ],
    "overwritten",
    "what ends a region: a register or a word of memory overwritten that it has read; only memory, where a compiler renames registers; every instruction",
);
const PENALTY: Count = count(
    "penalty",
    4,
    0..=1000,
    "cycles that going back takes beside waiting for what is under way and fetching anew: assumed",
);
const SHADOWED: Count = count(
    "shadowed",
    8,
    0..=100,
    "flip-flops with a second latch, in percent of those that are none of a register file: Razor's 192 of 2,408, recalled",
)
.priced_only();

/// The configured technique.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TimingSpeculation {
    reduction: Option<u32>,
    settings: Settings,
    rule: Rule,
    shadowed: u32,
    label: String,
}

impl Technique for TimingSpeculation {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    fn label(&self) -> String {
        self.label.clone()
    }

    /// A shorter period is a faster clock; what is built is built for the other.
    fn reshape(&self, gpu: &mut GpuSpec) {
        if self.settings.period < 100 {
            if gpu.chip.clock_mhz == 0 {
                gpu.chip.clock_mhz = gpu.sm.clock_mhz;
            }
            gpu.sm.clock_mhz = gpu.sm.clock_mhz * 100 / self.settings.period;
        }
    }

    fn fit(&self, gpu: &mut GpuSpec, circuits: &dyn Circuits) -> Result<Fit, CircuitError> {
        if gpu.chip.inventory != Inventory::ComputeUnit {
            return Err(CircuitError::NotModelled {
                what: "path of a GPU that is not priced in gates and flip-flops (chip.inventory = \"compute-unit\")",
            });
        }
        let Some(blocks) = Blocks::of(gpu, circuits, self.settings)? else {
            return Ok(Fit::default());
        };
        let reduction = match self.reduction {
            Some(reduction) => reduction,
            None => blocks.best()?,
        };
        let late = blocks.late(reduction)?;
        let supply = blocks.lowered(reduction);
        let (slowest, longest) = blocks.slowest();
        let note = format!(
            "timing_speculation: at {supply}, {reduction} mV lower, an integer instruction of all lanes is late with a chance of {:.2e}; the longest path is one of {slowest}, {:.0} ps at the nominal supply and by its gates",
            Chances::new(&late).of(REFERENCE, gpu.sm.warp_width),
            longest.as_ps()
        );
        gpu.late = Some(late);
        Ok(Fit {
            notes: vec![note],
            supply: (reduction > 0).then_some(supply),
            ..Fit::default()
        })
    }

    fn attach(&self, gpu: &GpuSpec, hooks: &mut Hooks) {
        let rule = self.rule;
        let chances = gpu.late.as_ref().map(Chances::new);
        let chances = chances.filter(Chances::any);
        let found = Rc::new(Cell::new(Replayed::default()));
        let whole = Rc::clone(&found);
        match chances {
            Some(chances) => hooks.rewrites.push(Box::new(move |trace| {
                let before = whole.get();
                let (done, now) = replayed(trace, (&chances, rule, before.launches))?;
                whole.set(before.and(now));
                Ok(done)
            })),
            None => hooks.conditions.push(Box::new(move |trace| {
                whole.set(whole.get().and(surveyed(trace, rule)?));
                Ok(())
            })),
        }
        let penalty = u64::from(self.settings.penalty);
        let reduction = gpu.late.as_ref().map_or(0, |late| late.reduction);
        hooks.issue.push(Box::new(move |sm| {
            Box::new(Recovery {
                goes_back: u32::MAX,
                penalty: chances.map_or(0, |_| penalty),
                // What holds of all launches is told once.
                found: (sm == 0).then(|| (Rc::clone(&found), reduction)),
            })
        }));
    }

    /// Which bits are needed is followed by the instructions of the program, each once.
    fn attach_protecting(
        &self,
        gpu: &GpuSpec,
        hooks: &mut Hooks,
        _: &Journals,
    ) -> Option<ProtectionFactory> {
        self.attach(gpu, hooks);
        let late = gpu.late.as_ref().map(Chances::new);
        if late.is_some_and(|chances| chances.any()) {
            hooks.conditions.push(Box::new(|_| {
                Err("vulnerability is followed by the instructions of the program, and timing_speculation executes some again".to_owned())
            }));
        }
        None
    }

    fn structures(&self, gpu: &GpuSpec) -> Vec<Structure> {
        structures::structures(gpu, self.shadowed)
    }

    fn metrics(&self, run: &Run) -> Vec<Metric> {
        let of = |name: &str| run.activity.get(&format!("timing_speculation_{name}"));
        let ratio = |name: &str, part: u64, whole: u64| {
            Metric::ratio(format!("timing_speculation.{name}"), part, whole)
        };
        let mut found = vec![
            ratio("error_rate", of("expected"), MILLION * of("instructions")),
            ratio("again", of("again"), of("instructions")),
            ratio("region_length", of("instructions"), of("regions")),
        ];
        let mut reduction = ratio("reduction", of("reduction"), 1000 * of("launches"));
        reduction.unit = "V";
        found.push(reduction);
        found
    }

    /// Registers stay as they are until a region ends.
    fn claims(&self) -> &'static [Claim] {
        &[Claim::RegisterPlaces]
    }
}

/// Expected errors are counted in millionths.
const MILLION: u64 = 1_000_000;

/// Makes warps wait that go back.
struct Recovery {
    /// The instruction by which they do.
    goes_back: u32,
    penalty: u64,
    /// Of SM 0: what became of all launches, and what the supply is lower by.
    found: Option<(Rc<Cell<Replayed>>, u32)>,
}

impl IssueHook for Recovery {
    fn begin(&mut self, trace: &KernelTrace) {
        self.goes_back = (trace.code.len() as u32).wrapping_sub(1);
    }

    fn issued(&mut self, event: &IssueEvent<'_>, plan: &mut IssuePlan) {
        if self.penalty > 0 && event.step.inst == self.goes_back {
            plan.delay += self.penalty;
        }
    }

    fn report(&self, activity: &mut Activity) {
        let Some((found, reduction)) = &self.found else {
            return;
        };
        let mut add = |name: &str, count: u64| {
            activity.add(&format!("timing_speculation{name}"), count);
        };
        let found = found.get();
        add("_instructions", found.instructions);
        add("_regions", found.regions);
        add("_errors", found.errors);
        add("_again", found.again);
        add(
            "_expected",
            (found.expected * MILLION as f64).round() as u64,
        );
        add("_launches", found.launches);
        add("_reduction", found.launches * u64::from(*reduction));
        add(".starts.read", found.regions + found.errors);
    }
}

#[cfg(test)]
mod tests;
