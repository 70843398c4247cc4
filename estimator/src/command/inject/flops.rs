//! Flips in the flip-flops of a compute unit, by block.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use warpwatt_gpu::{GpuSpec, Inventory};
use warpwatt_reliability::inject::statistics::{clopper_pearson, margin, sample_size, wilson};

use super::arguments::{InjectArguments, Struck};
use super::show::percent;
use super::{MARGIN, asked, bar, golden_run, timed, unrepeated};
use crate::diag::{Diag, Sink, did_you_mean};
use crate::inject::flops::{Campaign, Outcome, Outcomes, Struck as Run, WINDOW, blocks};
use crate::inject::{Golden, MODEL_VERSION, Unfinished};
use crate::run::kernel::{Form, LoadedKernel};

/// What was found. `Err(None)`: the findings are in the sink already.
pub fn document(arguments: &InjectArguments, sink: &mut Sink) -> Result<Value, Option<Diag>> {
    let fitting = |spec: &_, sink: &mut _| fits(arguments, spec, sink).then_some(());
    let (spec, kernel, ()) = asked(arguments, sink, fitting).ok_or(None)?;
    if !matches!(kernel.form, Form::MachineCode(_)) {
        let message = "flips in flip-flops are executed in machine code of Southern Islands";
        let help = "take `--build gfx600`, or `--code FILE.o`";
        return Err(Some(Diag::error("inject::not_code", message).help(help)));
    }
    let golden = golden_run(arguments, &spec, &kernel, sink)?;
    let (run, timeline) = timed(&spec, &golden)?;
    let struck = Run::new(&golden, &spec, (&run, &timeline), &arguments.without);
    let samples = arguments.samples.unwrap_or_else(|| {
        let margin = arguments.margin.unwrap_or(MARGIN);
        sample_size(struck.population(), margin, arguments.confidence)
    });
    let bar = bar(samples as usize, arguments.quiet);
    let campaign = struck.campaign((samples, arguments.seed), || bar.inc(1));
    bar.finish_and_clear();
    let campaign = campaign.map_err(|error| unrepeated(Unfinished::Run(error)))?;
    Ok(whole(
        arguments,
        (&kernel, &golden),
        (&struck, run.cycles),
        &campaign,
    ))
}

/// Whether the GPU has flip-flops, and those that are left out.
fn fits(arguments: &InjectArguments, spec: &GpuSpec, sink: &mut Sink) -> bool {
    if spec.chip.inventory != Inventory::ComputeUnit {
        let message = "this GPU is not known by its flip-flops";
        let help = "take `--preset miaow`, or another one with `chip.inventory = \"compute-unit\"`";
        sink.push(Diag::error("inject::no_flip_flops", message).help(help));
        return false;
    }
    let before = sink.diags.len();
    let blocks = blocks(spec);
    for name in &arguments.without {
        if !blocks.contains(&name.as_str()) {
            let message = format!("there is no block `{name}`");
            let help = did_you_mean(name, blocks.iter().copied());
            sink.push(Diag::error("inject::unknown_block", message).help(help));
        }
    }
    if blocks
        .iter()
        .all(|block| arguments.without.iter().any(|it| it == block))
    {
        let message = "no block is left";
        let help = "leave a `--without` out";
        sink.push(Diag::error("inject::no_bits", message).help(help));
    }
    sink.diags.len() == before
}

fn counts(outcomes: &Outcomes) -> Value {
    let each = Outcome::ALL.map(|it| (it.name().to_owned(), outcomes.of(it).into()));
    Map::from_iter(each).into()
}

fn whole(
    arguments: &InjectArguments,
    (kernel, golden): (&LoadedKernel, &Golden<'_>),
    (struck, cycles): (&Run<'_>, u64),
    campaign: &Campaign,
) -> Value {
    let samples = campaign.all.total();
    let share = |outcome: Outcome| {
        let hits = campaign.all.of(outcome);
        let score = wilson(hits, samples, arguments.confidence);
        let exact = clopper_pearson(hits, samples, arguments.confidence);
        let share = json!({
            "share": hits as f64 / samples as f64, "wilson": [score.low, score.high], "clopper_pearson": [exact.low, exact.high],
        });
        (outcome.name().to_owned(), share)
    };
    let blocks = campaign.blocks.iter().map(|(block, (bits, outcomes))| {
        json!({ "block": block, "bits": bits, "counts": counts(outcomes) })
    });
    let ctas: usize = golden.launches.iter().map(|it| it.instructions.len()).sum();
    json!({
        "kernel": kernel.name.name, "case": kernel.name.case, "preset": arguments.gpu.name(),
        "structure": Struck::FlipFlops.name(), "without": arguments.without, "model_version": MODEL_VERSION,
        "golden": {
            "launches": golden.launches.len(), "ctas": ctas,
            "warp_instructions": golden.warp_instructions(), "cycles": cycles,
        },
        "window_cycles": WINDOW,
        "population": { "bits": struck.bits(), "cycles": cycles, "sites": struck.population().to_string() },
        "sampling": {
            "method": "random", "samples": samples, "seed": arguments.seed, "confidence": arguments.confidence,
            "margin": margin(struck.population(), samples, arguments.confidence),
        },
        "executed": campaign.executed,
        "counts": counts(&campaign.all),
        "shares": Map::from_iter(Outcome::ALL.map(share)),
        "blocks": blocks.collect::<Vec<_>>(),
    })
}

/// The document for people.
pub fn text(document: &Value) -> String {
    let word = |at: &Value| at.as_str().unwrap_or_default().to_owned();
    let mut text = format!(
        "{}, case {}: flip-flops of {}, {} flips with seed {} in {} of them, over {} cycles\n",
        word(&document["kernel"]),
        word(&document["case"]),
        word(&document["preset"]),
        document["sampling"]["samples"],
        document["sampling"]["seed"],
        document["population"]["bits"],
        document["population"]["cycles"],
    );
    let _ = writeln!(
        text,
        "  {:<18}{:>10}{:>9}{:>9}{:>12}{:>9}",
        "block", "bits", "match", "sdc", "terminated", "gray"
    );
    let mut row = |name: &str, bits: &Value, counts: &Value| {
        let [matches, sdc, terminated, gray] = Outcome::ALL.map(|it| counts[it.name()].to_string());
        let bits = bits.to_string();
        let _ = writeln!(
            text,
            "  {name:<18}{bits:>10}{matches:>9}{sdc:>9}{terminated:>12}{gray:>9}"
        );
    };
    for block in document["blocks"].as_array().into_iter().flatten() {
        row(&word(&block["block"]), &block["bits"], &block["counts"]);
    }
    row("all", &document["population"]["bits"], &document["counts"]);
    for outcome in Outcome::ALL {
        let share = &document["shares"][outcome.name()];
        let exact = &share["clopper_pearson"];
        let _ = writeln!(
            text,
            "  {:<18}{:>10}   Clopper-Pearson {} to {}",
            outcome.name(),
            percent(&share["share"]),
            percent(&exact[0]),
            percent(&exact[1])
        );
    }
    text
}
