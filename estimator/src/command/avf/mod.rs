//! `warpwatt avf`: how vulnerable a GPU's storage is while a kernel runs.

mod arguments;
mod show;

use warpwatt_reliability::{Outcome, Shape, Structure, Whole};
use warpwatt_techlib::Flavour;

pub use self::arguments::AvfArguments;
use self::show::Shown;
use super::cache::show_notes;
use super::console::{Exit, out, out_json, reject};
use super::files::write_one;
use super::subject::GpuChoice;
use crate::diag::{Diag, Rejection, Sink, did_you_mean};
use crate::run::kernel::load;
use crate::study::Asked;
use crate::technology;
use crate::vulnerability::{Measuring, Node, Run, plan};

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
    let (of_gpu, of_techniques) = arguments.settings();
    let asked = Asked::read(&arguments.technique, &of_techniques, sink);
    let configurations = asked.configurations(sink);
    let spec = GpuChoice {
        preset: arguments.preset.clone(),
        set: of_gpu,
    };
    let width = arguments.warp_width.as_deref();
    let (preset, spec) = (
        spec.name().to_owned(),
        arguments.kernel.gpu(&spec, width, sink),
    );
    let kernel = (arguments.kernel.request(spec.as_ref(), sink))
        .and_then(|request| load(sink, &request, None));
    let cache = arguments.cache.open(sink);
    let structures = structures(&arguments.structure, sink);
    let protections = protections(&arguments.protect, sink);
    let nodes = nodes(&arguments.node, sink);
    let (spec, kernel, cache) = (spec?, kernel?, cache?);
    let (structures, protections, nodes) = (structures?, protections?, nodes?);
    let runs = plan(&spec, configurations?, nodes, sink)?;
    let structures = watched(&runs, structures, sink)?;
    let measuring = Measuring {
        limit: arguments.limit,
        cycle_limit: arguments.cycle_limit,
        kernel: &kernel,
        cache: Some(&cache),
        plain: &spec,
        codes: &protections,
        structures: &structures,
    };
    let mut found = match measuring.all(runs, &sink.sources) {
        Ok(found) => found.into_iter(),
        Err(diag) => {
            sink.push(diag);
            return None;
        }
    };
    show_notes(&cache);
    Some(Shown {
        kernel: kernel.name.name.to_string(),
        case: kernel.name.case.to_string(),
        preset,
        plain: found.next()?,
        techniques: found.collect(),
        protections,
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

/// Those of them that a GPU has and the probe watches; one that was asked for and is not is a fault.
fn watched(runs: &[Run], asked: Vec<Structure>, sink: &mut Sink) -> Option<Vec<Structure>> {
    let shapes: Vec<Shape> = runs.iter().map(Run::shape).collect();
    let measures = |it: &Structure| shapes.iter().any(|shape| shape.measures(*it));
    let has: Vec<Structure> = Structure::ALL.into_iter().filter(measures).collect();
    if asked.is_empty() {
        return Some(has);
    }
    if let Some(missing) = asked.iter().find(|it| !has.contains(it)) {
        let has: Vec<&str> = has.into_iter().map(Structure::name).collect();
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

/// The nodes.
fn nodes(names: &[String], sink: &mut Sink) -> Option<Vec<Node>> {
    let mut node = |name: &str| match technology::load(name, "silicon", Flavour::Hp) {
        Ok(technology) => Node::new(name, technology)
            .map_err(|error| sink.push(Diag::error("avf::rate", error.to_string())))
            .ok(),
        Err(Rejection(faults)) => {
            faults.diags.into_iter().for_each(|diag| sink.push(diag));
            None
        }
    };
    let found: Vec<Option<Node>> = match names {
        [] => NODES.iter().map(|name| node(name)).collect(),
        names => names.iter().map(|name| node(name)).collect(),
    };
    found.into_iter().collect()
}
