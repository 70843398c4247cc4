//! `warpwatt optimize`: the best point of a study under its budget, without running all of it.

mod show;

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::cache::{CacheArguments, show_notes};
use super::console::{Exit, err, out, out_json, reject, show};
use crate::cache::TraceCache;
use crate::diag::{Diag, Rejection, Sink};
use crate::optimise::{Effort, Found, Space, search};
use crate::optimise::{Evaluator, Goal};
use crate::report::metric::{Metrics, Objective};
use crate::run::{Means, Resolved, resolve};
use crate::store::Store;

/// Find the best point of a study under its budget without running all of it: annealing and descent over its axes, every axis one coordinate.
///
/// A candidate is a GPU with or without a technique at a technology, on all kernels of the study; its value is the mean over kernels, and it is inside
/// the budget if it is on every kernel. Points are kept in the study's result store, where `warpwatt run` and the next call find them.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("objective").required(true).args(["minimise", "maximise"]))]
#[command(after_long_help = "\
Examples:
  warpwatt optimize study.toml --minimise edp_js
  warpwatt optimize study.toml --maximise energy_saving --evaluations 60 --seed 3 --json

Exit codes: 0 the best candidate found is inside the budget; 1 none that was tried is; 2 the study or a metric is wrong.")]
pub struct OptimizeArguments {
    /// The study
    #[arg(value_name = "STUDY.toml")]
    pub study: PathBuf,
    /// The metric that should be small; `warpwatt list metrics`
    #[arg(long, visible_alias = "minimize", value_name = "METRIC")]
    pub minimise: Option<String>,
    /// The metric that should be large
    #[arg(long, visible_alias = "maximize", value_name = "METRIC")]
    pub maximise: Option<String>,
    /// Candidates to evaluate at most; if the study has no more, all are
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub evaluations: u32,
    /// Decides which candidates are tried
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Threads to use [default: one a core]; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Directory for results [default: the study's]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Where traces are kept
    #[command(flatten)]
    pub cache: CacheArguments,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
    /// Nothing on standard error unless something is wrong
    #[arg(long)]
    pub quiet: bool,
}

/// Looks for the best point.
pub fn run(arguments: &OptimizeArguments) -> Exit {
    let mut sink = Sink::default();
    let cache = arguments.cache.open(&mut sink);
    let goal = objective(arguments).map_err(|diag| sink.push(diag)).ok();
    let resolved = resolve(&arguments.study, &mut sink);
    let (Some(cache), Some(objective), Some(resolved)) = (cache, goal, resolved) else {
        return reject(&Rejection(sink), arguments.json);
    };
    show(&sink);
    sink.diags.clear();
    let ended = find(arguments, &resolved, &objective, &sink, Some(&cache));
    if !arguments.quiet {
        show_notes(&cache);
    }
    ended.unwrap_or_else(|diag| {
        sink.push(diag);
        reject(&Rejection(sink), arguments.json)
    })
}

fn objective(arguments: &OptimizeArguments) -> Result<Objective, Diag> {
    let (name, maximise) = match (&arguments.minimise, &arguments.maximise) {
        (_, Some(name)) => (name.as_str(), true),
        (name, None) => (name.as_deref().unwrap_or_default(), false),
    };
    let metric = Metrics::known().find(name)?;
    Ok(Objective {
        metric: metric.name().to_owned(),
        maximise,
    })
}

fn find(
    arguments: &OptimizeArguments,
    resolved: &Resolved,
    objective: &Objective,
    sink: &Sink,
    cache: Option<&TraceCache>,
) -> Result<Exit, Diag> {
    let goal = Goal::new(resolved.study.budget.as_ref(), objective)?;
    let space = Space::of(&resolved.plan, !goal.needs_baseline());
    if space.is_empty() {
        let message = format!(
            "no point of the study can have a value of `{}`",
            objective.metric
        );
        return Err(Diag::error("optimize::nothing", message)
            .help("it is a figure of techniques: add a [[technique]]"));
    }
    let directory = arguments.out.as_ref();
    let directory = directory.unwrap_or(&resolved.study.output.directory);
    let store = Store::open_for(directory, &resolved.study.title).map_err(|error| error.diag())?;
    let means = Means {
        jobs: arguments.jobs,
        cache,
        ..Means::default()
    };
    let mut evaluator = Evaluator::new(resolved, &sink.sources, &store, means, &goal);
    let effort = Effort {
        evaluations: arguments.evaluations as usize,
        seed: arguments.seed,
    };
    let mut tried = 0;
    let found = search(&space, effort, |candidate| {
        let score = evaluator.score(space.candidate(candidate))?;
        tried += 1;
        if !arguments.quiet {
            let of = effort.evaluations.min(space.len());
            err(&format!(
                "{tried} of {of}: {}\n",
                show::line(resolved, &space, candidate, &goal, &score)
            ));
        }
        Ok(score)
    });
    let shown = found.and_then(|found| {
        let found =
            found.ok_or_else(|| Diag::error("optimize::nothing", "there is no candidate"))?;
        let best = evaluator.best(space.candidate(found.best))?;
        Ok((found, best))
    });
    store.close();
    let (found, best) = shown?;
    if arguments.json {
        out_json(&show::value(&space, &goal, &found, effort, &best));
    } else {
        out(&show::text(&space, &goal, &found, effort, &best));
    }
    Ok(exit(&found))
}

fn exit(found: &Found) -> Exit {
    if found.score.is_inside() {
        Exit::Done
    } else {
        Exit::NotMet
    }
}
