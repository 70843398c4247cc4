//! `warpwatt run`: a study from its file to its report.

use std::path::Path;

use super::arguments::RunArguments;
use super::cache::show_notes;
use super::console::{Exit, err, reject, show};
use super::open::open;
use super::present::{Formats, budget_exit, present};
use super::progress::Progress;
use super::study_timeline::StudyTimeline;
use crate::cache::TraceCache;
use crate::diag::{Diag, Rejection, Sink};
use crate::outcome::Outcome;
use crate::recipe::Recipes;
use crate::report::Report;
use crate::run::{Means, Resolved, resolve, run_points};
use crate::store::{Manifest, Store, StoreError};

/// Runs the study and reports it.
pub fn run(arguments: &RunArguments) -> Exit {
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

fn run_resolved(
    arguments: &RunArguments,
    resolved: &Resolved,
    directory: &Path,
    (sink, cache): (&Sink, Option<&TraceCache>),
) -> Result<Exit, Diag> {
    if arguments.fresh {
        Store::remove(directory).map_err(|error| error.diag())?;
    }
    let manifest = Manifest {
        title: resolved.study.title.clone(),
        study: sink.sources.text(resolved.source).to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        inputs: resolved.plan.inputs(),
        sampling: resolved.study.design.sampling().cloned(),
        budget: resolved.study.budget.clone(),
        pareto: resolved.study.pareto.clone(),
        points: resolved.plan.points.iter().map(|point| point.key).collect(),
    };
    let outcomes = match finished_already(directory, &manifest) {
        Some(outcomes) => {
            if !arguments.quiet {
                err(&format!(
                    "all {} points are in the result store already\n",
                    outcomes.len()
                ));
            }
            outcomes
        }
        None => run_to_the_end(arguments, resolved, &manifest, (directory, sink, cache))?,
    };
    let formats = Formats {
        directory: directory.to_path_buf(),
        files: resolved.study.output.formats.clone(),
        json: arguments.json,
        quiet: arguments.quiet,
    };
    let report = Report::new(&manifest.title, &outcomes)
        .with_goals(manifest.budget.as_ref(), &manifest.pareto)?;
    present(&report, &manifest, &formats)?;
    if arguments.open {
        open(&directory.join("report.html"));
    }
    Ok(budget_exit(&report))
}

/// The outcomes of a study that was finished before. Whatever is in the way of reading them is reported when the store is opened for writing.
fn finished_already(directory: &Path, manifest: &Manifest) -> Option<Vec<Outcome>> {
    let store = Store::open_existing(directory).ok()?;
    if store.manifest().ok()?.as_ref() != Some(manifest) || !store.has_recipes().ok()? {
        return None;
    }
    collect(manifest, &store)
        .ok()
        .filter(|outcomes| outcomes.len() == manifest.points.len())
}

fn run_to_the_end(
    arguments: &RunArguments,
    resolved: &Resolved,
    manifest: &Manifest,
    (directory, sink, cache): (&Path, &Sink, Option<&TraceCache>),
) -> Result<Vec<Outcome>, Diag> {
    let store = Store::open(directory).map_err(|error| error.diag())?;
    let done = fill(arguments, resolved, &store, (sink, cache));
    let outcomes = done.and_then(|()| {
        let outcomes = collect(manifest, &store).map_err(|error| error.diag())?;
        store
            .put_recipes(&Recipes::of(&resolved.plan))
            .map_err(|error| error.diag())?;
        store.put_manifest(manifest).map_err(|error| error.diag())?;
        Ok(outcomes)
    });
    store.close();
    outcomes
}

/// Runs what the store does not hold yet.
fn fill(
    arguments: &RunArguments,
    resolved: &Resolved,
    store: &Store,
    (sink, cache): (&Sink, Option<&TraceCache>),
) -> Result<(), Diag> {
    let plan = &resolved.plan;
    let finished: Result<Vec<bool>, StoreError> = plan
        .points
        .iter()
        .map(|point| Ok(store.get(&point.key)?.is_some()))
        .collect();
    let finished = finished.map_err(|error| error.diag())?;
    let held = finished.iter().filter(|finished| **finished).count();
    if held > 0 && !arguments.quiet {
        let all = plan.points.len();
        let share = match held == all {
            true => format!("all {all}"),
            false => format!("{held} of {all}"),
        };
        err(&format!("{share} points are in the result store already\n"));
    }
    let executions = plan.work(&finished).len();
    let mut progress = Progress::new(plan, plan.points.len() - held, executions, arguments.quiet);
    let means = Means {
        jobs: arguments.jobs,
        cache,
    };
    let result = run_points(
        resolved,
        &sink.sources,
        (&finished, means),
        |news| progress.tell(news),
        |point, outcome| {
            store
                .put(&plan.points[point].key, &outcome)
                .map_err(|error| error.diag())
        },
    );
    progress.end();
    result
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
