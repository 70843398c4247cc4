//! Flips of bits that techniques protect: what is found, what is corrected, and what that costs.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use warpwatt_gpu::GpuSpec;
use warpwatt_reliability::inject::{Class, Tally, Target};
use warpwatt_techniques::Stack;
use warpwatt_techniques::recovery::Found;

use super::arguments::InjectArguments;
use super::show::{described, percent};
use super::{bar, unrepeated};
use crate::command::energy::Conditions;
use crate::diag::{Diag, Sink};
use crate::inject::protected::{Corrected, Drawn, Protected};
use crate::inject::{Golden, campaign};
use crate::pricing::NodeCircuits;
use crate::run::execute::untimed;
use crate::run::plain::energy_with;
use crate::study::{Asked, Configuration};

/// What is asked with `--technique`, read before anything runs.
pub struct Wanted {
    configurations: Vec<Configuration>,
    circuits: Option<NodeCircuits>,
}

impl Wanted {
    /// Reads it; nothing if something is wrong, which is in `sink` then.
    pub fn read(arguments: &InjectArguments, target: Target, sink: &mut Sink) -> Option<Self> {
        if arguments.technique.is_empty() {
            return Some(Self {
                configurations: Vec::new(),
                circuits: None,
            });
        }
        let before = sink.diags.len();
        if target == Target::PipelineLatch {
            let message = "no technique protects what is in `pipeline_latch`";
            let help = "`--structure lanes` asks who finds wrong results";
            sink.push(Diag::error("inject::unprotected", message).help(help));
        }
        let asked = Asked::read(&arguments.technique, &[], sink).configurations(sink);
        let circuits = conditions(arguments).circuits(sink);
        (sink.diags.len() == before).then_some(())?;
        Some(Self {
            configurations: asked?.into_iter().skip(1).collect(),
            circuits,
        })
    }

    /// What comes of flips under each technique.
    pub fn documents(
        &self,
        arguments: &InjectArguments,
        (golden, spec): (&Golden<'_>, &GpuSpec),
        (target, samples): (Target, u64),
    ) -> Result<Vec<Value>, Diag> {
        let each = self.configurations.iter();
        each.map(|Configuration { label, stack, .. }| {
            let protected = Protected::new(golden, spec, stack).map_err(timing)?;
            let drawn = protected.draw(target, samples, arguments.seed);
            let drawn = drawn.map_err(timing)?;
            let left = executed(arguments, golden, &drawn)?;
            let timed = protected.corrections(target, &drawn).map_err(timing)?;
            let recovery = protected.recovery(target).map(|recovery| {
                let energy = self.energy(&protected, stack, &timed);
                recovered(recovery.found, protected.spec(), &timed, energy)
            });
            Ok(of_technique(
                label,
                &protected,
                (samples, &drawn),
                &left,
                recovery,
            ))
        })
        .collect()
    }

    /// The energy that a correction takes, all and dynamic, on the mean over those that were timed; nothing without a node.
    fn energy(
        &self,
        protected: &Protected<'_>,
        stack: &Stack,
        timed: &[Corrected],
    ) -> Option<[f64; 2]> {
        let circuits = self.circuits.as_ref().filter(|_| !timed.is_empty())?;
        let of = |run| energy_with(protected.spec(), stack, run, circuits).ok();
        let plain = of(&protected.run)?;
        let mut sums = [0.0; 2];
        for corrected in timed {
            let (all, dynamic) = of(&corrected.run)?;
            sums[0] += all - plain.0;
            sums[1] += dynamic - plain.1;
        }
        Some(sums.map(|sum| sum / timed.len() as f64))
    }
}

fn timing(error: warpwatt_gpu::GpuError) -> Diag {
    untimed("inject::timing", &error)
}

fn conditions(arguments: &InjectArguments) -> Conditions {
    Conditions::at(arguments.node.clone(), arguments.library.clone())
}

/// What becomes of the flips that nobody finds.
fn executed(
    arguments: &InjectArguments,
    golden: &Golden<'_>,
    drawn: &Drawn,
) -> Result<Tally, Diag> {
    let jobs = warpwatt_run::threads(arguments.jobs);
    let bar = bar(drawn.left.strikes.len(), arguments.quiet);
    let tally = campaign(golden, &drawn.left, &[], jobs, |_, _| {
        bar.inc(1);
        true
    });
    bar.finish_and_clear();
    tally.map_err(unrepeated)
}

fn of_technique(
    label: &str,
    protected: &Protected<'_>,
    (samples, drawn): (u64, &Drawn),
    left: &Tally,
    recovery: Option<Value>,
) -> Value {
    let counts = Class::ALL.map(|class| (class.name().to_owned(), left.of(class).into()));
    let corrected = drawn.corrected();
    json!({
        "technique": label, "cycles": protected.run.cycles, "samples": samples,
        "population": { "bits": drawn.bits, "sites": drawn.population.to_string() },
        "counts": Map::from_iter(counts),
        "detected": drawn.detected, "corrected": corrected,
        "right": corrected - drawn.miscorrected,
        "silent_left": left.silent() + drawn.miscorrected,
        "recovery": recovery,
    })
}

fn recovered(found: Found, gpu: &GpuSpec, timed: &[Corrected], energy: Option<[f64; 2]>) -> Value {
    let cycles = timed.iter().map(|it| it.cycles);
    let count = timed.len();
    let mean = cycles.clone().sum::<i64>() as f64 / count.max(1) as f64;
    let when = match found {
        Found::Issue => "issue",
        Found::Operands => "operands",
        Found::Before => "before",
    };
    json!({
        "found": when, "issues_again": found.reissues(), "wait_cycles": found.cycles(gpu),
        "timed": count, "cycles_mean": (count > 0).then_some(mean), "cycles_most": cycles.max(),
        "energy_mean_j": energy.map(|[all, _]| all), "dynamic_mean_j": energy.map(|[_, dynamic]| dynamic),
    })
}

/// The techniques of a document for people.
pub fn text(document: &Value) -> String {
    let mut text = String::new();
    let techniques = document["techniques"].as_array();
    for of in techniques.into_iter().flatten() {
        let name = of["technique"].as_str().unwrap_or_default();
        let _ = writeln!(
            text,
            "\n{name}: {} flips in {} cycles",
            of["samples"], of["cycles"]
        );
        let mut line = |what: &str, figure: &Value| {
            let _ = writeln!(text, "  {what:<28}{:>20}", figure.to_string());
        };
        for class in Class::ALL {
            line(described(class), &of["counts"][class.name()]);
        }
        line("found, not corrected", &of["detected"]);
        line("corrected", &of["corrected"]);
        line("of it right in the end", &of["right"]);
        text += &cost(&of["recovery"]).unwrap_or_default();
        let share = of["corrected"].as_f64().zip(of["samples"].as_f64());
        let share = share.map(|(corrected, samples)| json!(corrected / samples));
        let _ = writeln!(
            text,
            "  {} of all flips corrected",
            percent(&share.unwrap_or_default())
        );
    }
    text
}

/// What a correction costs, if any was timed.
fn cost(recovery: &Value) -> Option<String> {
    let mean = recovery["cycles_mean"].as_f64()?;
    let joules = |key: &str| recovery[key].as_f64();
    let energy = joules("energy_mean_j").zip(joules("dynamic_mean_j"));
    let energy = energy.map_or_else(String::new, |(all, dynamic)| {
        format!(", {all:.3e} J (dynamic {dynamic:.3e} J)")
    });
    Some(format!(
        "  a correction costs {mean:.1} cycles of the run on the mean, {} at the most{energy}; {} were timed\n",
        recovery["cycles_most"], recovery["timed"],
    ))
}
