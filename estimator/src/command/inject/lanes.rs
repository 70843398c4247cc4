//! Faults of lanes: what they do, and which techniques find them.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use warpwatt_gpu::GpuSpec;
use warpwatt_reliability::inject::Class;
use warpwatt_reliability::inject::statistics::{clopper_pearson, margin, sample_size, wilson};

use super::arguments::{InjectArguments, Struck};
use super::show::{described, percent};
use super::{asked, bar, golden_run, unrepeated};
use crate::diag::{Diag, Sink};
use crate::inject::lanes::{
    Campaign, Checker, Fault, Found, Permanent, Transients, permanent, transient,
};
use crate::inject::{Golden, HANG_FACTOR, HANG_LEAST, MODEL_VERSION};
use crate::run::execute::untimed;
use crate::run::kernel::{Form, LoadedKernel};
use crate::study::{Asked, Configuration};

/// What is asked if nothing is: each is the one before it with something else.
const TECHNIQUES: [&str; 6] = [
    "warped_dmr(shuffle=false)",
    "warped_dmr",
    "warped_dmr(enhanced=true)",
    "full_dmr",
    "full_dmr(design=kernel)",
    "full_dmr(design=threads)",
];

/// The margin that is asked for if nothing else is: a permanent fault takes a run of the whole kernel.
const MARGIN: f64 = 0.05;

/// Options that only lanes have, or that they do not have.
pub fn refuse_misplaced(arguments: &InjectArguments, sink: &mut Sink) -> bool {
    let before = sink.diags.len();
    let lanes = arguments.structure == Struck::Lanes;
    if !arguments.fault.is_empty() && !lanes {
        let message = "`--fault` is about faults of lanes";
        let help = "add `--structure lanes`, or leave it out";
        sink.push(Diag::error("inject::not_lanes", message).help(help));
    }
    if arguments.exhaustive && !lanes && !arguments.technique.is_empty() {
        let message = "flips under techniques are drawn";
        let help = "leave `--exhaustive` out, or say how many with `--samples N`";
        sink.push(Diag::error("inject::techniques_sampled", message).help(help));
    }
    if arguments.node.is_some() && lanes {
        let message = "`--node` prices corrections, of which faults of lanes have none";
        let help = "leave it out";
        sink.push(Diag::error("inject::no_correction", message).help(help));
    }
    let flip_flops = arguments.structure == Struck::FlipFlops;
    if flip_flops && (arguments.exhaustive || !arguments.technique.is_empty()) {
        let message = "flips in flip-flops are drawn, and no technique is asked about them";
        let help = "leave `--exhaustive` and `--technique` out";
        sink.push(Diag::error("inject::flip_flops_sampled", message).help(help));
    }
    if !flip_flops && !arguments.without.is_empty() {
        let message = "`--without` leaves blocks of flip-flops out";
        let help = "add `--structure flip_flops`, or leave it out";
        sink.push(Diag::error("inject::not_flip_flops", message).help(help));
    }
    if arguments.exhaustive && lanes {
        let help = "leave it out, or say how many with `--samples N`";
        let diag = Diag::error("inject::lanes_sampled", "faults of lanes are drawn");
        sink.push(diag.help(help));
    }
    sink.diags.len() > before
}

/// What was found. `Err(None)`: the findings are in the sink already.
pub fn document(arguments: &InjectArguments, sink: &mut Sink) -> Result<Value, Option<Diag>> {
    let finding = |spec: &_, sink: &mut _| checkers(arguments, spec, sink);
    let (spec, kernel, checkers) = asked(arguments, sink, finding).ok_or(None)?;
    if matches!(kernel.form, Form::MachineCode(_)) {
        let message = "lanes that compute wrongly are executed in PTX, and this is machine code";
        let help = "leave `--code` or `--build gfx600` out, or flip bits: `--structure flip_flops`";
        return Err(Some(Diag::error("inject::code", message).help(help)));
    }
    let golden = golden_run(arguments, &spec, &kernel, sink)?;
    let places = Permanent::new(&golden, &spec, &checkers);
    let places = places.map_err(|error| untimed("inject::timing", &error))?;
    let mut faults = Vec::new();
    for fault in Fault::ALL {
        if !arguments.fault.is_empty() && !arguments.fault.contains(&fault) {
            continue;
        }
        let population = match fault {
            Fault::Transient => Transients::of(&golden).population(),
            _ => places.population(),
        };
        let samples = samples(arguments, population);
        let campaign = campaign(arguments, &golden, (&places, &checkers), (fault, samples))?;
        faults.push(of_fault(arguments, fault, &campaign, &checkers));
    }
    Ok(whole(arguments, &kernel, &golden, faults))
}

/// The techniques that are asked whether they find a fault.
fn checkers(arguments: &InjectArguments, spec: &GpuSpec, sink: &mut Sink) -> Option<Vec<Checker>> {
    let techniques = match arguments.technique.is_empty() {
        true => TECHNIQUES.map(str::to_owned).to_vec(),
        false => arguments.technique.clone(),
    };
    let asked = Asked::read(&techniques, &[], sink).configurations(sink)?;
    let before = sink.diags.len();
    let mut checkers = Vec::new();
    for Configuration { label, stack, .. } in asked.into_iter().skip(1) {
        match stack.lane_check(spec) {
            Some(check) => checkers.push(Checker { label, check }),
            None => {
                let message = format!("`{label}` compares no results of lanes");
                let help = "`warped_dmr` and `full_dmr` do";
                sink.push(Diag::error("inject::no_check", message).help(help));
            }
        }
    }
    (sink.diags.len() == before).then_some(checkers)
}

fn samples(arguments: &InjectArguments, population: u64) -> u64 {
    arguments.samples.unwrap_or_else(|| {
        let margin = arguments.margin.unwrap_or(MARGIN);
        sample_size(u128::from(population), margin, arguments.confidence)
    })
}

fn campaign(
    arguments: &InjectArguments,
    golden: &Golden<'_>,
    (places, checkers): (&Permanent<'_>, &[Checker]),
    (fault, samples): (Fault, u64),
) -> Result<Campaign, Diag> {
    let jobs = warpwatt_run::threads(arguments.jobs);
    let drawn = (samples, arguments.seed);
    let bar = bar(samples as usize, arguments.quiet);
    let seen = || bar.inc(1);
    let done = match fault.held() {
        None => transient(golden, checkers, drawn, jobs, seen),
        Some(at) => permanent(places, at, drawn, jobs, seen),
    };
    bar.finish_and_clear();
    done.map_err(unrepeated)
}

fn whole(
    arguments: &InjectArguments,
    kernel: &LoadedKernel,
    golden: &Golden<'_>,
    faults: Vec<Value>,
) -> Value {
    let ctas: usize = golden.launches.iter().map(|it| it.instructions.len()).sum();
    json!({
        "kernel": kernel.name.name, "case": kernel.name.case, "preset": arguments.gpu.name(),
        "structure": Struck::Lanes.name(), "model_version": MODEL_VERSION,
        "golden": {
            "launches": golden.launches.len(), "ctas": ctas, "warp_instructions": golden.warp_instructions(),
        },
        "hang": { "times_golden": HANG_FACTOR, "at_least_warp_instructions": HANG_LEAST },
        "has_tolerance": golden.has_tolerance,
        "seed": arguments.seed, "confidence": arguments.confidence,
        "faults": faults,
    })
}

fn of_fault(
    arguments: &InjectArguments,
    fault: Fault,
    campaign: &Campaign,
    checkers: &[Checker],
) -> Value {
    let tally = &campaign.tally;
    let (samples, confidence) = (tally.total(), arguments.confidence);
    let counts = classes().map(|class| (key(class).to_owned(), tally.of(class).into()));
    let found = checkers.iter().zip(&campaign.found);
    let found =
        found.map(|(checker, found)| of_technique(arguments, &checker.label, found, campaign));
    json!({
        "fault": fault.name(),
        "population": campaign.population, "samples": samples, "executed": campaign.executed,
        "margin": margin(u128::from(campaign.population), samples, confidence),
        "counts": Map::from_iter(counts),
        "harmful": tally.vulnerable(),
        "techniques": found.collect::<Vec<Value>>(),
    })
}

fn of_technique(
    arguments: &InjectArguments,
    label: &str,
    found: &Found,
    campaign: &Campaign,
) -> Value {
    let tally = &campaign.tally;
    let share = |hits: u64, of: u64| {
        if of == 0 {
            return Value::Null;
        }
        let score = wilson(hits, of, arguments.confidence);
        let exact = clopper_pearson(hits, of, arguments.confidence);
        json!({
            "share": hits as f64 / of as f64, "wilson": [score.low, score.high], "clopper_pearson": [exact.low, exact.high],
        })
    };
    json!({
        "technique": label,
        "found": found.all, "found_share": share(found.all, tally.total()),
        "harmful_found": found.harmful, "coverage": share(found.harmful, tally.vulnerable()),
        "silent_left": tally.silent() - found.silent,
    })
}

/// What can become of a fault: a lane that computes is read, or nobody cares.
fn classes() -> impl Iterator<Item = Class> {
    let all = Class::ALL.into_iter();
    all.filter(|class| *class != Class::Dead)
}

/// Lanes are nobody's: what nothing holds is a lane none of whose results differ.
fn key(class: Class) -> &'static str {
    match class {
        Class::Unoccupied => "idle",
        class => class.name(),
    }
}

/// The document for people.
pub fn text(document: &Value) -> String {
    let word = |at: &Value| at.as_str().unwrap_or_default().to_owned();
    let mut text = format!(
        "{}, case {}: lanes on {}; drawn with seed {}\n",
        word(&document["kernel"]),
        word(&document["case"]),
        word(&document["preset"]),
        document["seed"],
    );
    for fault in document["faults"].as_array().into_iter().flatten() {
        let _ = writeln!(
            text,
            "\n{}: {} of {}, {} executions; margin {} at {} confidence",
            word(&fault["fault"]),
            fault["samples"],
            fault["population"],
            fault["executed"],
            percent(&fault["margin"]),
            percent(&document["confidence"]),
        );
        for class in classes() {
            let what = match class {
                Class::Unoccupied => "in no result",
                class => described(class),
            };
            let _ = writeln!(
                text,
                "  {what:<28}{:>10}",
                fault["counts"][key(class)].to_string()
            );
        }
        let _ = writeln!(
            text,
            "  {:<28}{:>10}{:>12}{:>13}   of harmful, Clopper-Pearson",
            "found by", "of all", "of harmful", "silent left"
        );
        for technique in fault["techniques"].as_array().into_iter().flatten() {
            let coverage = &technique["coverage"];
            let interval = coverage["clopper_pearson"].as_array();
            let interval =
                interval.map(|ends| format!("{} to {}", percent(&ends[0]), percent(&ends[1])));
            let line = format!(
                "  {:<28}{:>10}{:>12}{:>13}   {}",
                word(&technique["technique"]),
                percent(&technique["found_share"]["share"]),
                percent(&coverage["share"]),
                technique["silent_left"].to_string(),
                interval.unwrap_or_default(),
            );
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    text
}
