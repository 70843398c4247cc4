//! `warpwatt validate`: the project's own evidence.

use std::path::Path;

use super::arguments::{Suite, ValidateArguments};
use super::console::{Exit, out, out_json, reject};
use super::progress::Progress;
use crate::diag::{Diag, Rejection, Sink, render};
use crate::outcome::Outcome;
use crate::run::{resolve_text, run_all};
use crate::validate::oracle::{CACTI7, CACTI65};
use crate::validate::{Check, Validation, gpu, macros, suite, watts};

/// Compares our numbers with the papers' and shows both.
pub fn run(arguments: &ValidateArguments) -> Exit {
    let mut sink = Sink::default();
    match checks(arguments, &mut sink) {
        Ok(checks) => show(&Validation::new(checks), arguments),
        Err(diag) => {
            sink.diags.extend(diag);
            reject(&Rejection(sink), arguments.json)
        }
    }
}

fn show(validation: &Validation, arguments: &ValidateArguments) -> Exit {
    if arguments.json {
        out_json(&serde_json::json!(validation));
    } else if arguments.markdown {
        out(&validation.markdown());
    } else {
        out(&validation.table());
    }
    if validation.gaps == 0 {
        Exit::Done
    } else {
        Exit::NotMet
    }
}

/// Those of the suites that are asked for. `Err(None)`: the findings are in the sink already.
fn checks(arguments: &ValidateArguments, sink: &mut Sink) -> Result<Vec<Check>, Option<Diag>> {
    let suites: &[Suite] = match &arguments.suite {
        Some(suite) => std::slice::from_ref(suite),
        None => &[Suite::FilterCache],
    };
    let mut checks = Vec::new();
    for suite in suites {
        let of_suite = match suite {
            Suite::FilterCache => shipped("filter_cache", arguments, sink)?,
            Suite::Cacti7 => tool(arguments, |pool| CACTI7.checks(pool))?,
            Suite::Cacti65 => tool(arguments, |pool| CACTI65.checks(pool))?,
            Suite::Refused => tool(arguments, |pool| {
                let mut checks = CACTI7.refused(pool)?;
                checks.extend(CACTI65.refused(pool)?);
                Ok(checks)
            })?,
            Suite::Macros => tool(arguments, |_| macros::checks())?,
            Suite::Dies => shipped("dies", arguments, sink)?,
            Suite::Gpu => tool(arguments, gpu::gpgpusim)?,
            Suite::UniformVectors => shipped("uniform_vectors", arguments, sink)?,
            Suite::RegisterVirtualization => shipped("register_virtualization", arguments, sink)?,
            Suite::WarpedDmr => shipped("warped_dmr", arguments, sink)?,
            Suite::Watts => tool(arguments, |_| watts::checks())?,
            Suite::SoftError => shipped("soft_error", arguments, sink)?,
        };
        checks.extend(of_suite);
    }
    Ok(checks)
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
    suite.checks(&studies).map_err(defect)
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
