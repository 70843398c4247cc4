//! `warpwatt run`: a study from its file to its report.

use std::path::Path;

use super::arguments::RunArguments;
use super::cache::show_notes;
use super::console::{Exit, err, reject, show};
use super::dry_run;
use super::large;
use super::open::open;
use super::present::{Formats, budget_exit, present};
use super::progress::Progress;
use super::results::recipes;
use super::study_timeline::StudyTimeline;
use crate::cache::TraceCache;
use crate::diag::{Diag, Rejection, Sink};
use crate::outcome::Outcome;
use crate::recipe::Recipes;
use crate::report::Report;
use crate::report::beside;
use crate::report::digest::MOST_SHOWN;
use crate::report::metric::Objective;
use crate::report::parameters::Parameters;
use crate::run::plan::Plan;
use crate::run::{Means, Resolved, resolve, run_points};
use crate::store::{Manifest, PointKey, Store, StoreError};

/// Runs the study and reports it.
pub fn run(arguments: &RunArguments) -> Exit {
    if arguments.dry_run {
        return dry_run::run(arguments);
    }
    let mut sink = Sink::default();
    let cache = arguments.cache.open(&mut sink);
    let resolved = resolve(&arguments.study, &mut sink);
    let timeline = resolved
        .as_ref()
        .and_then(|resolved| StudyTimeline::open(&arguments.timeline, &resolved.plan, &mut sink));
    let (Some(cache), Some(resolved), Some(timeline)) = (cache, resolved, timeline) else {
        return reject(&Rejection(sink), arguments.json);
    };
    show(&sink);
    sink.diags.clear();
    let directory = arguments
        .out
        .clone()
        .unwrap_or_else(|| resolved.study.output.directory.clone());
    let ended = run_resolved(arguments, &resolved, &directory, (&sink, cache.as_ref()));
    let ended = ended.and_then(|exit| {
        if let Some(timeline) = timeline {
            let written = timeline.write(&resolved, &sink.sources, cache.as_ref())?;
            if !arguments.quiet {
                err(&written.text());
            }
        }
        Ok(exit)
    });
    if let Some(cache) = cache.filter(|_| !arguments.quiet) {
        show_notes(&cache);
    }
    match ended {
        Ok(exit) => exit,
        Err(diag) => {
            sink.push(diag);
            reject(&Rejection(sink), arguments.json)
        }
    }
}

/// What a study chose, by name.
fn parameters(plan: &Plan) -> Vec<String> {
    let settings = plan.axes.gpus.iter().flat_map(|gpu| gpu.axes.keys());
    let techniques = plan.axes.configurations.iter();
    let techniques = techniques.map(|configuration| configuration.label.as_str());
    Parameters::names(settings.map(String::as_str), techniques)
}

fn run_resolved(
    arguments: &RunArguments,
    resolved: &Resolved,
    directory: &Path,
    (sink, cache): (&Sink, Option<&TraceCache>),
) -> Result<Exit, Diag> {
    if arguments.fresh {
        Store::clear(directory).map_err(|error| error.diag())?;
    }
    let manifest = Manifest {
        title: resolved.study.title.clone(),
        paper: resolved.study.paper.clone(),
        study: sink.sources.text(resolved.source).to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        inputs: resolved.plan.inputs(),
        sampling: resolved.study.design.sampling().cloned(),
        budget: resolved.study.budget.clone(),
        pareto: resolved.study.pareto.clone(),
        uncertainty: resolved.study.uncertainty,
        parameters: parameters(&resolved.plan),
        points: resolved.plan.points.iter().map(|point| point.key).collect(),
    };
    if arguments.shard.is_some() {
        return run_shard(arguments, resolved, &manifest, (directory, sink, cache));
    }
    let formats = Formats {
        directory: directory.to_path_buf(),
        files: resolved.study.output.formats.clone(),
        json: arguments.json,
        quiet: arguments.quiet,
        details: arguments.show.details(),
    };
    let store = match finished_already(directory, &manifest) {
        Some(store) => {
            if !arguments.quiet {
                let points = manifest.points.len();
                err(&format!(
                    "all {points} points are in the result store already\n"
                ));
            }
            store
        }
        None => {
            run_to_the_end(arguments, resolved, &manifest, (directory, sink, cache))?;
            Store::open_existing(directory).map_err(|error| error.diag())?
        }
    };
    let exit = report_store(&manifest, &store, (&manifest.pareto, &formats)).map_err(first)?;
    if arguments.open {
        open(&directory.join("report.html"));
    }
    Ok(exit)
}

/// Writes and prints the report of a study that is finished.
///
/// # Errors
/// The store cannot be read, a metric is none, or a file cannot be written.
pub fn report_store(
    manifest: &Manifest,
    store: &Store,
    (objectives, formats): (&[Objective], &Formats),
) -> Result<Exit, Rejection> {
    // Draws need what few enough points were priced from.
    let drawn = manifest.uncertainty.is_some() && manifest.points.len() <= MOST_EXPLAINED;
    if manifest.points.len() > MOST_SHOWN && !drawn {
        return large::present(manifest, store, (objectives, formats));
    }
    let outcomes = collect(manifest, store).map_err(|error| error.diag())?;
    let report = Report::beside(
        &manifest.title,
        &outcomes,
        beside::load(manifest.paper.as_deref()),
    )
    .with_goals(manifest.budget.as_ref(), objectives)?;
    let report = match manifest.uncertainty {
        Some(draws) => {
            let recipes = recipes(store)?.at_rest(&outcomes);
            report.with_uncertainty(&recipes, draws)?
        }
        None => report,
    };
    present(&report, manifest, formats)?;
    Ok(budget_exit(&report))
}

/// The finding of a rejection that has one.
fn first(rejection: Rejection) -> Diag {
    let mut diags = rejection.0.diags.into_iter();
    let none = || Diag::error("report::defect", "the report cannot be made");
    diags.next().unwrap_or_else(none)
}

/// The store of a study that was finished before. Whatever is in the way of reading it is reported when it is opened for writing.
fn finished_already(directory: &Path, manifest: &Manifest) -> Option<Store> {
    let store = Store::open_existing(directory).ok()?;
    let recipes = manifest.points.len() > MOST_EXPLAINED || store.has_recipes().ok()?;
    let known = store.manifest().ok()?.as_ref() == Some(manifest);
    let all = || Some(!store.held(&manifest.points).ok()?.contains(&false));
    (recipes && known && all()?).then_some(store)
}

/// Runs a part of the study. What it is a part of is kept beside it, so that parts can be put together.
fn run_shard(
    arguments: &RunArguments,
    resolved: &Resolved,
    manifest: &Manifest,
    (directory, sink, cache): (&Path, &Sink, Option<&TraceCache>),
) -> Result<Exit, Diag> {
    let store = Store::open_for(directory, &manifest.title).map_err(|error| error.diag())?;
    let done = fill(arguments, resolved, &store, (sink, cache)).and_then(|points| {
        let kept = keep_recipes(resolved, &store).and_then(|()| store.put_part(manifest));
        kept.map_err(|error| error.diag())?;
        Ok(points)
    });
    store.close();
    let points = done?;
    if !arguments.quiet {
        err(&format!(
            "\n{points} of {} points are in {}: `warpwatt merge OUT IN...` puts parts together\n",
            manifest.points.len(),
            directory.display()
        ));
    }
    Ok(Exit::Done)
}

fn run_to_the_end(
    arguments: &RunArguments,
    resolved: &Resolved,
    manifest: &Manifest,
    (directory, sink, cache): (&Path, &Sink, Option<&TraceCache>),
) -> Result<(), Diag> {
    let store = Store::open_for(directory, &manifest.title).map_err(|error| error.diag())?;
    let done = fill(arguments, resolved, &store, (sink, cache)).and_then(|_| {
        keep_recipes(resolved, &store)
            .and_then(|()| store.put_manifest(manifest))
            .map_err(|error| error.diag())
    });
    store.close();
    done
}

/// More points than are looked at one by one: what they were priced from is not kept.
const MOST_EXPLAINED: usize = 10_000;

/// Keeps what points were priced from, if they are few enough to be looked at one by one.
fn keep_recipes(resolved: &Resolved, store: &Store) -> Result<(), StoreError> {
    if resolved.plan.points.len() > MOST_EXPLAINED {
        return Ok(());
    }
    store.put_recipes(&Recipes::from(&resolved.plan))
}

/// Runs what the store does not hold yet, of the study or of its part; returns how many points that is in all.
fn fill(
    arguments: &RunArguments,
    resolved: &Resolved,
    store: &Store,
    (sink, cache): (&Sink, Option<&TraceCache>),
) -> Result<usize, Diag> {
    let plan = &resolved.plan;
    let keys: Vec<PointKey> = plan.points.iter().map(|point| point.key).collect();
    let held = store.held(&keys).map_err(|error| error.diag())?;
    let wanted = match arguments.shard {
        Some(shard) => shard.of(plan),
        None => vec![true; keys.len()],
    };
    let points = wanted.iter().filter(|wanted| **wanted).count();
    let done: Vec<bool> = wanted
        .iter()
        .zip(&held)
        .map(|(wanted, held)| !wanted || *held)
        .collect();
    let left = done.iter().filter(|done| !**done).count();
    if left < points && !arguments.quiet {
        let share = match left {
            0 => format!("all {points}"),
            _ => format!("{} of {points}", points - left),
        };
        err(&format!("{share} points are in the result store already\n"));
    }
    let executions = plan.work(&done).len();
    let mut progress = Progress::new(plan, left, executions, arguments.quiet);
    let means = Means {
        jobs: arguments.jobs,
        cache,
    };
    let result = run_points(
        resolved,
        &sink.sources,
        (&done, means),
        |news| progress.tell(news),
        |batch| {
            let batch: Vec<(PointKey, &Outcome)> = batch
                .iter()
                .map(|(point, outcome)| (keys[*point], outcome))
                .collect();
            store.put_all(&batch).map_err(|error| error.diag())
        },
    );
    progress.end();
    result.map(|()| points)
}

/// All outcomes that the manifest names and the store holds, in point order.
///
/// # Errors
/// The store cannot be read.
pub fn collect(manifest: &Manifest, store: &Store) -> Result<Vec<Outcome>, StoreError> {
    let mut outcomes = Vec::new();
    for key in &manifest.points {
        outcomes.extend(store.get(key)?);
    }
    Ok(outcomes)
}
