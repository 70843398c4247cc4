//! `warpwatt validate`: the project's own evidence.

mod flips;

use std::path::Path;

use clap::ValueEnum;

use super::arguments::{Suite, ValidateArguments};
use super::console::{Exit, first, out, out_json, reject};
use super::files::{writable, writable_into, write_all_into, write_one};
use super::progress::Progress;
use crate::diag::{Diag, Rejection, Sink, render};
use crate::outcome::Outcome;
use crate::run::{resolve_text, run_all};
use crate::validate::oracle::{CACTI7, CACTI65};
use crate::validate::{Check, Evidence, Validation, gpu, macros, silicon, suite, watts};

/// Compares our numbers with the papers' and shows both.
pub fn run(arguments: &ValidateArguments) -> Exit {
    let mut sink = Sink::default();
    if let Err(rejection) = drawable(arguments) {
        return reject(&rejection, arguments.json);
    }
    let shown = match arguments.suite.unwrap_or(Suite::FilterCache) {
        Suite::All => all(arguments, &mut sink),
        suite => one(suite, arguments, &mut sink),
    };
    shown.unwrap_or_else(|diag| {
        sink.diags.extend(diag);
        reject(&Rejection(sink), arguments.json)
    })
}

/// Row by row. `Err(None)`: the findings are in the sink already.
fn one(suite: Suite, arguments: &ValidateArguments, sink: &mut Sink) -> Result<Exit, Option<Diag>> {
    let validation = Validation::new(checks(suite, arguments, sink)?);
    let name = suite.to_possible_value();
    let named = name.iter().map(|name| (name.get_name(), &validation));
    draw(arguments, || validation.picture(), named)?;
    if arguments.json {
        out_json(&serde_json::json!(validation));
    } else if arguments.markdown {
        out(&validation.markdown());
    } else {
        out(&validation.table());
    }
    Ok(exit(validation.is_met()))
}

/// Every suite: its sums, or with `--json` its rows. `Err(None)`: the findings are in the sink already.
fn all(arguments: &ValidateArguments, sink: &mut Sink) -> Result<Exit, Option<Diag>> {
    let mut evidence = Evidence::default();
    for suite in Suite::value_variants() {
        let name = suite.to_possible_value();
        if let (Some(name), false) = (name, matches!(suite, Suite::All)) {
            let checks = checks(*suite, arguments, sink)?;
            evidence.add(name.get_name(), Validation::new(checks), &why(*suite));
        }
    }
    draw(arguments, || evidence.picture(), evidence.suites())?;
    if arguments.json {
        out_json(&serde_json::json!(evidence.rows()));
    } else if arguments.markdown {
        out(&evidence.markdown());
    } else {
        out(&evidence.table());
    }
    Ok(exit(evidence.is_met()))
}

/// What most gaps of a suite hang on; empty if that is not said.
fn why(suite: Suite) -> String {
    let said = match suite {
        Suite::Silicon => silicon::why().ok(),
        _ => file(suite).and_then(|name| suite::shipped(name).map(|suite| suite.why).ok()),
    };
    said.unwrap_or_default()
}

/// Whether the pictures that are asked for can be written: some suites take an hour, and it is told before that.
fn drawable(arguments: &ValidateArguments) -> Result<(), Rejection> {
    arguments.picture.as_deref().map_or(Ok(()), writable)?;
    arguments.pictures.as_deref().map_or(Ok(()), writable_into)
}

/// Writes the pictures that are asked for: the one of all that is compared, and one a suite.
fn draw<'e>(
    arguments: &ValidateArguments,
    picture: impl Fn() -> String,
    suites: impl Iterator<Item = (&'e str, &'e Validation)>,
) -> Result<(), Option<Diag>> {
    if let Some(path) = &arguments.picture {
        write_one(path, picture().as_bytes()).map_err(first)?;
    }
    if let Some(directory) = &arguments.pictures {
        let suites = suites.map(|(name, suite)| (format!("{name}.svg"), suite.places(name)));
        let files: Vec<(String, String)> = suites.collect();
        write_all_into(directory, &files).map_err(first)?;
    }
    Ok(())
}

fn exit(is_met: bool) -> Exit {
    if is_met { Exit::Done } else { Exit::NotMet }
}

/// Those of a suite. `Err(None)`: the findings are in the sink already.
fn checks(
    suite: Suite,
    arguments: &ValidateArguments,
    sink: &mut Sink,
) -> Result<Vec<Check>, Option<Diag>> {
    if let Some(name) = file(suite) {
        return shipped(name, arguments, sink);
    }
    match suite {
        Suite::Cacti7 => tool(arguments, |pool| CACTI7.checks(pool)),
        Suite::Cacti65 => tool(arguments, |pool| CACTI65.checks(pool)),
        Suite::Refused => tool(arguments, |pool| {
            let mut checks = CACTI7.refused(pool)?;
            checks.extend(CACTI65.refused(pool)?);
            Ok(checks)
        }),
        Suite::Macros => tool(arguments, |_| macros::checks()),
        Suite::Gpu => tool(arguments, gpu::gpgpusim),
        Suite::Silicon => tool(arguments, silicon::checks),
        Suite::Watts => tool(arguments, |_| watts::checks()),
        _ => Ok(Vec::new()),
    }
}

/// The suite of the project's data that it is, if it is one.
fn file(suite: Suite) -> Option<&'static str> {
    match suite {
        Suite::FilterCache => Some("filter_cache"),
        Suite::Dies => Some("dies"),
        Suite::Miaow => Some("miaow"),
        Suite::UniformVectors => Some("uniform_vectors"),
        Suite::RegisterVirtualization => Some("register_virtualization"),
        Suite::WarpedDmr => Some("warped_dmr"),
        Suite::SoftError => Some("soft_error"),
        Suite::Cacti7 | Suite::Cacti65 | Suite::Refused | Suite::Macros => None,
        Suite::Gpu | Suite::Silicon | Suite::Watts | Suite::All => None,
    }
}

/// Checks on as many threads as are asked for.
fn tool(
    arguments: &ValidateArguments,
    checks: impl FnOnce(&rayon::ThreadPool) -> Result<Vec<Check>, String>,
) -> Result<Vec<Check>, Option<Diag>> {
    let jobs = arguments.jobs.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    let pool = pool.map_err(|error| Some(Diag::error("run::threads", error.to_string())))?;
    checks(&pool).map_err(|message| Some(Diag::error("validate::defect", message)))
}

/// A suite of the project's data. `Err(None)`: the findings are in the sink already.
fn shipped(
    name: &str,
    arguments: &ValidateArguments,
    sink: &mut Sink,
) -> Result<Vec<Check>, Option<Diag>> {
    let defect = |message: String| Some(Diag::error("validate::defect", message));
    let suite = suite::shipped(name).map_err(|faults| defect(render(&faults.0, false)))?;
    let mut studies = suite::Studies::new();
    for file in &suite.studies {
        let text = suite::study(file).ok_or_else(|| defect(format!("there is no `{file}`")))?;
        let outcomes = study((file, text), arguments, sink)?;
        studies.insert(file.clone(), outcomes);
    }
    let flipped = flips::flipped(&suite, sink)?;
    suite.checks_with(&studies, &flipped).map_err(defect)
}

/// Outcomes of a study that ships. `Err(None)`: the findings are in the sink already.
fn study(
    (name, text): (&str, &str),
    arguments: &ValidateArguments,
    sink: &mut Sink,
) -> Result<Vec<Outcome>, Option<Diag>> {
    let resolved = resolve_text(name, text, Path::new(""), sink).ok_or(None)?;
    let finished = vec![false; resolved.plan.points.len()];
    let executions = resolved.plan.work(&finished).len();
    let mut progress = Progress::new(&resolved.plan, finished.len(), executions, arguments.quiet);
    let ran = run_all(&resolved, &sink.sources, arguments.jobs, |news| {
        progress.tell(news);
    });
    progress.end();
    ran.map_err(Some)
}
