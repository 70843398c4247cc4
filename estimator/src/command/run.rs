//! `warpwatt run`: a study from its file to its report.

use std::path::Path;

use super::arguments::RunArguments;
use super::cache::show_notes;
use super::console::{Exit, err, first, reject, show};
use super::dry_run;
use super::files::sweep;
use super::large;
use super::open::open;
use super::present::{Formats, budget_exit, is_of_report, present};
use super::progress::Progress;
use super::registers_over_time::StudyLive;
use super::results::recipes;
use super::study_timeline::StudyTimeline;
use crate::cache::TraceCache;
use crate::diag::{Diag, Rejection, Sink};
use crate::report::digest::MOST_SHOWN;
use crate::report::metric::Objective;
use crate::run::kept::{self, Begin, Keeping, MOST_EXPLAINED, Told, Whole};
use crate::run::plan::Plan;
use crate::run::{Means, Resolved, parameters, reported};
use crate::store::{Manifest, Store};

/// Runs the study and reports it.
pub fn run(arguments: &RunArguments) -> Exit {
    if arguments.dry_run {
        return dry_run::run(arguments);
    }
    let mut sink = Sink::default();
    let cache = arguments.cache.open(&mut sink);
    let resolved = arguments.sample.resolve(&arguments.study, &mut sink);
    let timeline = resolved
        .as_ref()
        .and_then(|resolved| StudyTimeline::open(&arguments.timeline, &resolved.plan, &mut sink));
    let live = resolved
        .as_ref()
        .and_then(|resolved| StudyLive::open(&arguments.live, &resolved.plan, &mut sink));
    let (Some(cache), Some(resolved), Some(timeline), Some(live)) =
        (cache, resolved, timeline, live)
    else {
        return reject(&Rejection(sink), arguments.json);
    };
    show(&sink);
    sink.diags.clear();
    let directory = arguments
        .out
        .clone()
        .unwrap_or_else(|| resolved.study.output.directory.clone());
    let ended = run_resolved(arguments, &resolved, &directory, &sink, Some(&cache));
    let ended = ended.and_then(|exit| {
        if let Some(timeline) = timeline {
            let written = timeline.write(&resolved, &sink.sources, Some(&cache))?;
            if !arguments.quiet {
                err(&written.text());
            }
        }
        if let Some(live) = live {
            let means = (Some(&cache), arguments.jobs);
            let written = live
                .write(&resolved, &sink.sources, means)
                .map_err(finding)?;
            if !arguments.quiet {
                err(&written);
            }
        }
        Ok(exit)
    });
    if !arguments.quiet {
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
    sink: &Sink,
    cache: Option<&TraceCache>,
) -> Result<Exit, Diag> {
    let sources = &sink.sources;
    let manifest = kept::manifest(resolved, sources, parameters(&resolved.plan));
    let study = Whole {
        resolved,
        sources,
        manifest: &manifest,
    };
    let jobs = arguments.jobs;
    let keeping = Keeping {
        directory,
        begin: match (arguments.fresh, arguments.repair) {
            (true, _) => Begin::Fresh,
            (_, true) => Begin::Repair,
            _ => Begin::Resume,
        },
        shard: arguments.shard,
        means: Means {
            jobs,
            cache,
            ..Means::default()
        },
    };
    if arguments.shard.is_some() {
        let mut shown = Shown::new(&resolved.plan, arguments.quiet);
        let points = study.finish_part(keeping, |told| shown.tell(told))?;
        if !arguments.quiet {
            err(&format!(
                "\n{points} of {} points are in {}: `warpwatt merge OUT IN...` puts parts together\n",
                manifest.points.len(),
                directory.display()
            ));
        }
        return Ok(Exit::Done);
    }
    let formats = Formats {
        directory: directory.to_path_buf(),
        files: resolved.study.output.formats.clone(),
        json: arguments.json,
        quiet: arguments.quiet,
        details: arguments.show.details(),
    };
    let exit = finish(study, keeping, &formats)?;
    if arguments.open {
        open(&directory.join("report.html"));
    }
    Ok(exit)
}

/// Runs what is left of a study, and reports it.
///
/// # Errors
/// The study cannot be run, or not be reported.
pub fn finish(study: Whole<'_>, keeping: Keeping<'_>, formats: &Formats) -> Result<Exit, Diag> {
    let mut shown = Shown::new(&study.resolved.plan, formats.quiet);
    let store = study.finish(keeping, |told| shown.tell(told))?;
    let manifest = study.manifest;
    report_store(manifest, &store, &manifest.pareto, formats).map_err(finding)
}

/// What is shown of a run on its way.
struct Shown<'p> {
    plan: &'p Plan,
    quiet: bool,
    progress: Option<Progress<'p>>,
}

impl<'p> Shown<'p> {
    fn new(plan: &'p Plan, quiet: bool) -> Self {
        Self {
            plan,
            quiet,
            progress: None,
        }
    }

    fn tell(&mut self, told: Told) {
        let say = |text: String| {
            if !self.quiet {
                err(&text);
            }
        };
        match told {
            Told::Repaired { kept, points } => say(format!(
                "{kept} of {points} points of the damaged result store are whole and stay\n"
            )),
            Told::Held { held, points } if held == points => {
                say(format!(
                    "all {points} points are in the result store already\n"
                ));
            }
            Told::Held { held, points } => say(format!(
                "{held} of {points} points are in the result store already\n"
            )),
            Told::Begun { points, executions } => {
                self.progress = Some(Progress::new(self.plan, points, executions, self.quiet));
            }
            Told::News(news) => {
                if let Some(progress) = &mut self.progress {
                    progress.tell(news);
                }
            }
            Told::Ended => {
                if let Some(progress) = self.progress.take() {
                    progress.end();
                }
            }
        }
    }
}

/// Writes and prints the report of a study that is finished.
///
/// # Errors
/// The store cannot be read, a metric is none, or a file cannot be written.
pub fn report_store(
    manifest: &Manifest,
    store: &Store,
    objectives: &[Objective],
    formats: &Formats,
) -> Result<Exit, Rejection> {
    // What was being written when a process was killed may be in a format that nobody asks for any more.
    sweep(&formats.directory, is_of_report);
    // Draws need what few enough points were priced from.
    let drawn = manifest.uncertainty.is_some() && manifest.points.len() <= MOST_EXPLAINED;
    if manifest.points.len() > MOST_SHOWN && !drawn {
        return large::present(manifest, store, objectives, formats);
    }
    let outcomes = store.collect(manifest).map_err(|error| error.diag())?;
    let report = reported(manifest, &outcomes, objectives, || recipes(store))?;
    present(&report, manifest, formats)?;
    Ok(budget_exit(&report))
}

/// The finding of a rejection that has one.
fn finding(rejection: Rejection) -> Diag {
    let none = || Diag::error("report::defect", "the report cannot be made");
    first(rejection).unwrap_or_else(none)
}
