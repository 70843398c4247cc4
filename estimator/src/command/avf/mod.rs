//! `warpwatt avf`: how vulnerable a GPU's storage is while a kernel runs.

mod arguments;
mod show;

use warpwatt_gpu::GpuSpec;
use warpwatt_reliability::{Outcome, Shape, Structure, Whole};
use warpwatt_suite::RunOptions;
use warpwatt_techlib::Flavour;

pub use self::arguments::AvfArguments;
use self::show::Shown;
use super::cache::show_notes;
use super::console::{Exit, out, out_json, reject};
use super::files::write_one;
use crate::diag::{Diag, Rejection, Sink, did_you_mean};
use crate::reliability::{Rate, measure};
use crate::run::execute::{first_mismatch, trace, untimed};
use crate::run::kernel::load;
use crate::technology;

/// The nodes at which failures are given if none is asked for: that of the paper, and the last two for which a rate was found.
const NODES: [&str; 3] = ["40nm", "28nm", "16nm"];

/// Measures the kernel and says what was found.
pub fn run(arguments: &AvfArguments) -> Exit {
    let mut sink = Sink::default();
    let Some(shown) = measured(arguments, &mut sink) else {
        return reject(&Rejection(sink), arguments.json);
    };
    if let Some(path) = &arguments.over_time
        && let Err(rejection) = write_one(path, shown.over_time().as_bytes())
    {
        return reject(&rejection, arguments.json);
    }
    if arguments.json {
        out_json(&shown.json());
    } else {
        out(&shown.text());
    }
    Exit::Done
}

/// What there is to show; else the findings are in the sink.
fn measured(arguments: &AvfArguments, sink: &mut Sink) -> Option<Shown> {
    let spec = arguments.gpu.spec(arguments.warp_width.as_deref(), sink);
    let kernel = (arguments.kernel.request(sink)).and_then(|request| load(sink, &request, None));
    let cache = arguments.cache.open(sink);
    let structures = structures(&arguments.structure, sink);
    let protections = protections(&arguments.protect, sink);
    let rates = rates(&arguments.node, sink);
    let (spec, kernel, cache) = (spec?, kernel?, cache?);
    let (structures, protections, rates) = (structures?, protections?, rates?);
    let structures = watched(&spec, structures, sink)?;
    let options = RunOptions {
        warp_width: spec.sm.warp_width,
        limit: arguments.limit,
        listed: 1,
        ..RunOptions::default()
    };
    let push = |sink: &mut Sink, diag| {
        sink.push(diag);
        None
    };
    let traced = match trace(&kernel, options, &sink.sources, cache.as_ref()) {
        Ok(traced) => traced,
        Err(diag) => return push(sink, diag),
    };
    if let Some(cache) = &cache {
        show_notes(cache);
    }
    if let Some(mismatch) = first_mismatch(&traced.run) {
        let message = format!("`{}` computes a wrong result: {mismatch}", kernel.name.name);
        let help = "`warpwatt kernel` shows more; what a faulty kernel needs says nothing";
        return push(sink, Diag::error("avf::mismatch", message).help(help));
    }
    let traces = traced.run.into_traces();
    let launches = match measure(&spec, &traces, &protections, arguments.cycle_limit) {
        Ok(launches) => launches,
        Err(error) => return push(sink, untimed("avf::timing", &error)),
    };
    Some(Shown {
        kernel: kernel.name.name.to_string(),
        case: kernel.name.case.to_string(),
        preset: arguments.gpu.name().to_owned(),
        shape: Shape::new(&spec),
        structures,
        protections,
        rates,
        launches,
    })
}

/// The structure called `name`.
fn structure(option: &str, name: &str, sink: &mut Sink) -> Option<Structure> {
    let found = Structure::of(name);
    if found.is_err() {
        let names = Structure::ALL.map(Structure::name);
        let diag = Diag::error(
            "avf::structure",
            format!("`{option}`: no structure `{name}`"),
        );
        let help = did_you_mean(name, names);
        sink.push(diag.help(help));
    }
    found.ok()
}

/// The structures to show; all if none is named.
fn structures(names: &[String], sink: &mut Sink) -> Option<Vec<Structure>> {
    let found: Vec<Option<Structure>> = names
        .iter()
        .map(|name| structure("--structure", name, sink))
        .collect();
    found.into_iter().collect()
}

/// Those of them that the GPU has and the probe watches; one that was asked for and is not is a fault.
fn watched(spec: &GpuSpec, asked: Vec<Structure>, sink: &mut Sink) -> Option<Vec<Structure>> {
    let shape = Shape::new(spec);
    if asked.is_empty() {
        return Some(
            Structure::ALL
                .into_iter()
                .filter(|&it| shape.measures(it))
                .collect(),
        );
    }
    let missing = asked.iter().find(|it| !shape.measures(**it));
    if let Some(missing) = missing {
        let has = Structure::ALL.into_iter().filter(|&it| shape.measures(it));
        let has: Vec<&str> = has.map(Structure::name).collect();
        let message = format!("this GPU has no `{missing}` that is watched");
        let help = format!("there are {}", has.join(", "));
        sink.push(Diag::error("avf::structure", message).help(help));
        return None;
    }
    Some(asked)
}

/// What protects which structure.
fn protections(texts: &[String], sink: &mut Sink) -> Option<Vec<Whole>> {
    let mut read = |text: &String| {
        let (name, how) = text.split_once('=').unwrap_or((text, ""));
        let outcome = match how {
            "detect" => Some(Outcome::Detected),
            "correct" => Some(Outcome::Corrected),
            _ => {
                let message = format!("`--protect {text}` says neither `detect` nor `correct`");
                let help = "write for example `--protect register_file=correct`";
                sink.push(Diag::error("avf::protect", message).help(help));
                None
            }
        };
        let structure = structure("--protect", name, sink);
        Some(Whole {
            structure: structure?,
            outcome: outcome?,
        })
    };
    let found: Vec<Option<Whole>> = texts.iter().map(&mut read).collect();
    found.into_iter().collect()
}

/// The raw rates of the nodes.
fn rates(nodes: &[String], sink: &mut Sink) -> Option<Vec<Rate>> {
    let mut rate = |name: &str| match technology::load(name, "silicon", Flavour::Hp) {
        Ok(technology) => Rate::of(name, technology.feature)
            .map_err(|error| sink.push(Diag::error("avf::rate", error.to_string())))
            .ok(),
        Err(Rejection(faults)) => {
            faults.diags.into_iter().for_each(|diag| sink.push(diag));
            None
        }
    };
    let found: Vec<Option<Rate>> = match nodes {
        [] => NODES.iter().map(|name| rate(name)).collect(),
        nodes => nodes.iter().map(|name| rate(name)).collect(),
    };
    found.into_iter().collect()
}
