//! `warpwatt inject`: what flipped bits do.

mod arguments;
mod flops;
mod lanes;
mod protected;
mod show;

use std::io::{self, IsTerminal};
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget};
use serde_json::Value;
use sha2::{Digest, Sha256};
use warpwatt_gpu::{Control, GpuSpec, Run};
use warpwatt_reliability::BitCycles;
use warpwatt_reliability::inject::statistics::sample_size;
use warpwatt_reliability::inject::{Class, Sites, Tally, Target, Timeline};

pub use arguments::InjectArguments;
use arguments::Struck;
use protected::Wanted;
use show::{Facts, text};

use super::console::{Exit, err, first, out, out_json, reject};
use super::files::write_one;
use crate::diag::{Diag, Rejection, Sink};
use crate::inject::{Draw, Golden, Journal, MODEL_VERSION, Plan, Unfinished, campaign};
use crate::reliability::{measure, together};
use crate::report::json;
use crate::run::execute::{explain, untimed};
use crate::run::kernel::{Form, LoadedKernel, load};

/// Executions that `--exhaustive` may take.
const MOST: usize = 500_000;

/// The margin that is asked for if nothing else is.
const MARGIN: f64 = 0.01;

/// The GPU and the kernel that are asked about, and what `also` makes of the GPU. What is wrong with each is in the sink.
fn asked<T>(
    arguments: &InjectArguments,
    sink: &mut Sink,
    also: impl FnOnce(&GpuSpec, &mut Sink) -> Option<T>,
) -> Option<(GpuSpec, LoadedKernel, T)> {
    let spec = arguments.kernel.gpu(&arguments.gpu, None, sink);
    let also = spec.as_ref().and_then(|spec| also(spec, sink));
    let request = arguments.kernel.request(spec.as_ref(), sink);
    let kernel = request.and_then(|request| load(sink, &request, None));
    Some((spec?, kernel?, also?))
}

/// Flips bits and shows what came of it.
pub fn run(arguments: &InjectArguments) -> Exit {
    let mut sink = Sink::default();
    let document = match arguments.structure {
        _ if lanes::refuse_misplaced(arguments, &mut sink) => Err(None),
        Struck::Bits(target) => document(arguments, target, &mut sink),
        Struck::Lanes => lanes::document(arguments, &mut sink),
        Struck::FlipFlops => flops::document(arguments, &mut sink),
    };
    let document = document.and_then(|document| match &arguments.out {
        Some(path) => write(path, &document).map(|()| document),
        None => Ok(document),
    });
    match document {
        Ok(document) if arguments.json => out_json(&document),
        Ok(document) if arguments.structure == Struck::Lanes => out(&lanes::text(&document)),
        Ok(document) if arguments.structure == Struck::FlipFlops => out(&flops::text(&document)),
        Ok(document) => out(&format!(
            "{}{}",
            text(&document),
            protected::text(&document)
        )),
        Err(diag) => {
            if let Some(diag) = diag {
                sink.push(diag);
            }
            return reject(&Rejection(sink), arguments.json);
        }
    }
    Exit::Done
}

/// What was found. `Err(None)`: the findings are in the sink already.
fn document(
    arguments: &InjectArguments,
    target: Target,
    sink: &mut Sink,
) -> Result<Value, Option<Diag>> {
    let wanted = |_: &_, sink: &mut _| Wanted::read(arguments, target, sink);
    let (spec, kernel, wanted) = asked(arguments, sink, wanted).ok_or(None)?;
    let golden = golden_run(arguments, &spec, &kernel, sink)?;
    let (run, timeline) = timed(&spec, &golden)?;
    let sites = Sites::new(&spec, &run, &timeline, target);
    let plan = plan(arguments, &sites, Draw::new(&golden, &timeline, &sites))?;
    let key = key(arguments, &spec, &kernel, &plan);
    let tally = executed(arguments, &golden, &plan, &key)?;
    let ace = ace(target, &spec, &golden)?;
    let samples = tally.total();
    let techniques = wanted.documents(arguments, (&golden, &spec), (target, samples))?;
    let facts = Facts {
        arguments,
        kernel: &kernel,
        golden: &golden,
        cycles: run.cycles,
        sites: &sites,
        executed: plan.strikes.len(),
        tally,
        ace,
        techniques,
    };
    Ok(facts.document())
}

/// What flips change shows in an execution.
fn must_be_executed(kernel: &LoadedKernel) -> Result<(), Diag> {
    if !matches!(kernel.form, Form::Recorded(_)) {
        return Ok(());
    }
    let message = "bits are flipped while a kernel is executed, and this one was recorded";
    let help = "inject into the PTX of the same kernel";
    Err(Diag::error("inject::recorded", message).help(help))
}

/// The run that others are compared with.
fn golden_run<'k>(
    arguments: &InjectArguments,
    spec: &GpuSpec,
    kernel: &'k LoadedKernel,
    sink: &Sink,
) -> Result<Golden<'k>, Diag> {
    must_be_executed(kernel)?;
    let golden = Golden::run(kernel, spec.sm.warp_width, arguments.limit);
    let golden = golden.map_err(|error| explain(&error, kernel, &sink.sources))?;
    if golden.passes() {
        return Ok(golden);
    }
    let message = format!(
        "`{}` computes a wrong result without a flip",
        kernel.name.name
    );
    let diag = Diag::error("inject::wrong_result", message);
    Err(diag.help("`warpwatt kernel` shows what is wrong"))
}

/// The timing run, with the times of everything.
fn timed(spec: &GpuSpec, golden: &Golden<'_>) -> Result<(Run, Timeline), Diag> {
    crate::inject::timed(spec, golden).map_err(|error| untimed("inject::timing", &error))
}

/// What ACE analysis says of the structure, if it knows it.
fn ace(target: Target, spec: &GpuSpec, golden: &Golden<'_>) -> Result<Option<BitCycles>, Diag> {
    let Some(structure) = target.structure() else {
        return Ok(None);
    };
    let launches = measure(spec, &golden.traces, &[], Control::CYCLE_LIMIT);
    let launches = launches.map_err(|error| untimed("inject::timing", &error))?;
    Ok(Some(together(&launches).1[structure as usize]))
}

/// What is to be executed.
fn plan(arguments: &InjectArguments, sites: &Sites<'_>, draw: Draw<'_>) -> Result<Plan, Diag> {
    if sites.population() == 0 {
        let message = format!("the GPU has no `{}`", arguments.structure.name());
        return Err(Diag::error("inject::no_bits", message));
    }
    if arguments.exhaustive {
        return draw.all(MOST).ok_or_else(|| {
            let message =
                format!("trying every bit in every cycle takes more than {MOST} executions");
            let help = "draw a sample instead, with `--samples N` or `--margin SHARE`";
            Diag::error("inject::too_many", message).help(help)
        });
    }
    let samples = arguments.samples.unwrap_or_else(|| {
        let margin = arguments.margin.unwrap_or(MARGIN);
        sample_size(sites.population(), margin, arguments.confidence)
    });
    Ok(draw.samples(samples, arguments.seed))
}

/// What decides the outcome of every execution, and their order.
fn key(arguments: &InjectArguments, spec: &GpuSpec, kernel: &LoadedKernel, plan: &Plan) -> String {
    let drawn = plan.strikes.iter().map(|(_, count)| count).sum::<u64>() + plan.known.total();
    let decides = serde_json::json!({
        "model_version": MODEL_VERSION, "version": env!("CARGO_PKG_VERSION"), "kernel": kernel.hash,
        "registers": arguments.kernel.registers, "gpu": spec, "structure": arguments.structure.name(),
        "exhaustive": arguments.exhaustive, "samples": drawn, "seed": arguments.seed,
    });
    let hash = Sha256::digest(decides.to_string());
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The outcomes: from the journal as far as they are there.
fn executed(
    arguments: &InjectArguments,
    golden: &Golden<'_>,
    plan: &Plan,
    key: &str,
) -> Result<Tally, Diag> {
    let count = plan.strikes.len();
    let path = arguments.out.as_deref().map(Journal::beside);
    let opened = path.as_deref().map(|path| Journal::open(path, key, count));
    let opened = opened.transpose().map_err(|error| unwritable(&error))?;
    if opened.as_ref().is_some_and(|opened| opened.of_another) && !arguments.quiet {
        err("the journal there is of another campaign or version: this one begins anew\n");
    }
    let (mut journal, known) = opened.map_or((None, Vec::new()), |it| (Some(it.journal), it.known));
    let jobs = warpwatt_run::threads(arguments.jobs);
    let done = known.iter().flatten().count();
    let bar = bar(count - done, arguments.quiet);
    if done > 0 && !arguments.quiet {
        err(&format!(
            "{done} of {count} executions are known from the journal\n"
        ));
    }
    let mut failure = None;
    let found = |number: usize, class: Class| {
        bar.inc(1);
        let written = journal.as_mut().map(|it| it.write(number, class));
        failure = written.and_then(Result::err);
        failure.is_none()
    };
    let tally = campaign(golden, plan, &known, jobs, found);
    bar.finish_and_clear();
    if let Some(error) = failure {
        return Err(unwritable(&error));
    }
    tally.map_err(unrepeated)
}

/// Why executions that must go as before did not.
fn unrepeated(unfinished: Unfinished) -> Diag {
    let message = match unfinished {
        Unfinished::Run(error) => {
            format!("the run without a flip went another way when it was repeated: {error}")
        }
        // Only a journal that cannot be written stops one, which is told before.
        Unfinished::Stopped => "the campaign was stopped".to_owned(),
    };
    Diag::error("inject::defect", message)
        .help("this is a fault of warpwatt: please report it with the kernel")
}

/// Writes the document, and then removes the journal.
fn write(path: &Path, document: &Value) -> Result<(), Option<Diag>> {
    let text = json::document(document).unwrap_or_else(|_| document.to_string());
    write_one(path, text.as_bytes()).map_err(first)?;
    match std::fs::remove_file(Journal::beside(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Some(unwritable(&error))),
        _ => Ok(()),
    }
}

fn unwritable(error: &io::Error) -> Diag {
    let message = format!("cannot keep the journal beside `--out`: {error}");
    Diag::error("output::unwritable", message).help("choose a place that exists and is writable")
}

fn bar(count: usize, quiet: bool) -> ProgressBar {
    let shown = !quiet && io::stderr().is_terminal();
    let target = match shown {
        true => ProgressDrawTarget::stderr(),
        false => ProgressDrawTarget::hidden(),
    };
    ProgressBar::with_draw_target(Some(count as u64), target)
}
