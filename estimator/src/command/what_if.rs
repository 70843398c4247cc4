//! `warpwatt what-if`: one question at the prompt, answered and forgotten.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::arguments::{PointArguments, given};
use super::cache::{CacheArguments, show_notes};
use super::console::{Exit, out, out_json, reject, show};
use super::files::write_one;
use super::present::{defect, width};
use super::shown::ShowArguments;
use crate::cache::TraceCache;
use crate::diag::{Diag, Rejection, Sink};
use crate::report::Report;
use crate::report::beside;
use crate::run::{Means, Resolved, resolve_text, run_in_memory};
use crate::study::Question;

/// Ask one question without a file: what a technique brings for a kernel, on a GPU, at a node.
///
/// The question stands for a study (docs/studies.md), whose lists are written with commas: --node 16nm,7nm. Nothing is kept but the kernel's trace.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt what-if --kernel hotspot --technique filter_cache --set entries=16 --node 7nm
  warpwatt what-if -k matrix_mul -t filter_cache --set entries=8,16,32 --set sm.threads=512
  warpwatt what-if -k bfs -t \"filter_cache(entries=16) + power_gating\" -t power_gating --node 28nm,7nm
  warpwatt what-if -k bfs --node 7nm --vdd 0.5V,0.6V,0.7V --clock follows_vdd
  warpwatt what-if -k my.toml --case small -t uniform_vector --json
  warpwatt what-if -k hotspot -t filter_cache --save study.toml

Exit codes: 0 done; 2 the question makes no sense, or the kernel cannot run.")]
pub struct WhatIfArguments {
    /// A kernel of the suite, a paper's name for one, or a launch file (repeatable)
    #[arg(
        long = "kernel",
        short = 'k',
        value_name = "KERNEL|LAUNCH.toml",
        required = true
    )]
    pub kernels: Vec<String>,
    /// The case of each kernel [default: its first]
    #[arg(long, value_name = "NAME")]
    pub case: Option<String>,
    /// A technique with or without parameters, or several joined by + that work together (repeatable: each is compared with the plain GPU)
    #[arg(long = "technique", short = 't', value_name = "TECHNIQUE")]
    pub techniques: Vec<String>,
    /// A parameter of the techniques, entries=16, or a setting of the GPU, sm.threads=512 (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// The GPU
    #[arg(long, value_name = "NAME", default_value = "tesla-16sm")]
    pub preset: String,
    /// What runs of PTX: ptx, sass-like [default: as the preset says]
    #[arg(long, value_name = "HOW")]
    pub lower: Option<String>,
    /// Technology node
    #[arg(long, value_name = "NODE", default_value = "7nm")]
    pub node: String,
    /// The technology library: silicon, itrs [default: silicon]
    #[arg(long, value_name = "NAME")]
    pub library: Option<String>,
    /// Rules of the circuit models: silicon, cacti7, cacti65 [default: the library's]
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Where in the technology
    #[command(flatten)]
    pub point: PointArguments,
    /// The core clock at another supply than the nominal one: fixed, follows_vdd [default: fixed]
    #[arg(long, value_name = "RULE")]
    pub clock: Option<String>,
    /// Write the question as a study, to go on from there
    #[arg(long, value_name = "STUDY.toml")]
    pub save: Option<PathBuf>,
    /// Threads to use [default: one a core]; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Where traces are kept
    #[command(flatten)]
    pub cache: CacheArguments,
    /// Details below the answer
    #[command(flatten)]
    pub show: ShowArguments,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
}

impl WhatIfArguments {
    fn question(&self) -> Question {
        let mut gpu = vec![("preset", self.preset.clone()), ("node", self.node.clone())];
        let own = [
            ("lower", &self.lower),
            ("library", &self.library),
            ("profile", &self.profile),
        ];
        let clock = given([("clock", &self.clock)]);
        gpu.extend(given(own).chain(self.point.given()).chain(clock));
        Question {
            kernels: self.kernels.clone(),
            case: self.case.clone(),
            techniques: self.techniques.clone(),
            settings: self.set.clone(),
            gpu,
            ..Question::default()
        }
    }
}

/// Answers the question.
pub fn run(arguments: &WhatIfArguments) -> Exit {
    let mut sink = Sink::default();
    let cache = arguments.cache.open(&mut sink);
    let study = arguments.question().study(&mut sink);
    let resolved = study
        .as_ref()
        .and_then(|text| resolve_text("the question, as a study", text, Path::new(""), &mut sink));
    let (Some(cache), Some(study), Some(resolved)) = (cache, study, resolved) else {
        return reject(&Rejection(sink), arguments.json);
    };
    show(&sink);
    sink.diags.clear();
    let answered = answer(arguments, &resolved, &sink, Some(&cache));
    show_notes(&cache);
    if let Err(diag) = answered {
        sink.push(diag);
        return reject(&Rejection(sink), arguments.json);
    }
    match &arguments.save {
        None => Exit::Done,
        Some(path) => match write_one(path, study.as_bytes()) {
            Ok(()) => Exit::Done,
            Err(rejection) => reject(&rejection, arguments.json),
        },
    }
}

fn answer(
    arguments: &WhatIfArguments,
    resolved: &Resolved,
    sink: &Sink,
    cache: Option<&TraceCache>,
) -> Result<(), Diag> {
    let finished = vec![false; resolved.plan.points.len()];
    let means = Means {
        jobs: arguments.jobs,
        cache,
        ..Means::default()
    };
    let outcomes = run_in_memory(resolved, &sink.sources, &finished, means, |_| ())?;
    let report = Report::beside(
        &resolved.study.title,
        &outcomes,
        beside::load(resolved.study.paper.as_deref()),
    );
    if arguments.json {
        let value = report.json().and_then(|text| serde_json::from_str(&text));
        let mut value: serde_json::Value = value.map_err(defect)?;
        value["inputs"] = json!(resolved.plan.inputs());
        out_json(&value);
    } else {
        out(&report.terminal(width(), &arguments.show.details()));
    }
    Ok(())
}
