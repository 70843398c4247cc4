//! `warpwatt validate`: the project's own evidence.

use std::path::Path;

use warpwatt_circuit::{OperatingPoint, Profile};
use warpwatt_gpu::GpuSpec;
use warpwatt_techlib::quantity::Temperature;
use warpwatt_techlib::{Flavour, Library};

use super::arguments::{Suite, ValidateArguments};
use super::console::{Exit, out, out_json, reject};
use super::progress::Progress;
use crate::diag::{Diag, Rejection, Sink, render};
use crate::outcome::Outcome;
use crate::papers::FilterCachePaper;
use crate::pricing::NodeCircuits;
use crate::report::Report;
use crate::run::{resolve_text, run_all};
use crate::validate::oracle::{CACTI7, CACTI65};
use crate::validate::{
    Check, Setting, Tolerance, Validation, filter_cache_circuits, filter_cache_study, gpu, macros,
    suite,
};

/// The study whose points are compared with the paper's Table 4.
const STUDY: &str = include_str!("../../../workloads/studies/filter_cache.toml");

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
            Suite::FilterCache => paper(arguments, sink)?,
            Suite::Cacti7 => tool(arguments, |pool| CACTI7.checks(pool))?,
            Suite::Cacti65 => tool(arguments, |pool| CACTI65.checks(pool))?,
            Suite::Refused => tool(arguments, |pool| {
                let mut checks = CACTI7.refused(pool)?;
                checks.extend(CACTI65.refused(pool)?);
                Ok(checks)
            })?,
            Suite::Macros => tool(arguments, |_| macro_checks())?,
            Suite::Gpu => tool(arguments, gpu::gpgpusim)?,
            Suite::UniformVectors => shipped("uniform_vectors", arguments, sink)?,
            Suite::RegisterVirtualization => shipped("register_virtualization", arguments, sink)?,
            Suite::WarpedDmr => shipped("warped_dmr", arguments, sink)?,
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

/// The memories of foundries and open kits that the calibration did without.
fn macro_checks() -> Result<Vec<Check>, String> {
    /// Of the relative errors.
    const MEDIAN: f64 = 0.20;
    /// Share of the intervals that miss.
    const MISSED: f64 = 0.20;
    let all = macros::macros(macros::TRUTH).map_err(|error| error.to_string())?;
    let mut checks = Vec::new();
    for (figure, name) in [("area_m2", "area"), ("access_time_s", "delay")] {
        let held_out = all
            .iter()
            .filter(|check| check.held_out && check.figure == figure);
        let Some(summary) = macros::summary(held_out) else {
            continue;
        };
        let place = format!("macros, {} held out", summary.checks);
        let mut check = |what: String, allowed, ours| {
            let of = (place.as_str(), what, "");
            checks.push(Check::new(of, allowed, ours, Tolerance::AtMost));
        };
        check(
            format!("{name}, median error"),
            MEDIAN,
            summary.median_error,
        );
        check(
            format!("{name}, outside the interval"),
            MISSED,
            1.0 - summary.covered,
        );
    }
    Ok(checks)
}

/// The filter-cache paper. `Err(None)`: the findings are in the sink already.
fn paper(arguments: &ValidateArguments, sink: &mut Sink) -> Result<Vec<Check>, Option<Diag>> {
    let mut checks =
        circuits().map_err(|message| Some(Diag::error("validate::defect", message)))?;
    let (title, outcomes) = study(("filter_cache.toml", STUDY), arguments, sink)?;
    checks.extend(filter_cache_study(&Report::new(&title, &outcomes)));
    Ok(checks)
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
        let (_, outcomes) = study((file, text), arguments, sink)?;
        studies.insert(file.clone(), outcomes);
    }
    suite.checks(&studies).map_err(defect)
}

/// Title and outcomes of a study that ships. `Err(None)`: the findings are in the sink already.
fn study(
    (name, text): (&str, &str),
    arguments: &ValidateArguments,
    sink: &mut Sink,
) -> Result<(String, Vec<Outcome>), Option<Diag>> {
    let resolved = resolve_text(name, text, Path::new(""), sink).ok_or(None)?;
    let finished = vec![false; resolved.plan.points.len()];
    let executions = resolved.plan.work(&finished).len();
    let mut progress = Progress::new(&resolved.plan, finished.len(), executions, arguments.quiet);
    let ran = run_all(&resolved, &sink.sources, arguments.jobs, |news| {
        progress.tell(news);
    });
    progress.end();
    Ok((resolved.study.title, ran?))
}

/// What the filter-cache paper built of: 32 nm, high performance, CACTI 6.5.
fn paper_circuits() -> Result<NodeCircuits, String> {
    let technology = Library::itrs()
        .and_then(|library| library.node("32nm", Flavour::Hp))
        .map_err(|error| error.to_string())?;
    Ok(NodeCircuits::new(
        technology,
        OperatingPoint::at(Temperature::from_k(350.0)),
        Profile::Cacti65,
    ))
}

/// The circuits of the paper's Table 1.
fn circuits() -> Result<Vec<Check>, String> {
    let circuits = paper_circuits()?;
    let gpu = GpuSpec::preset("tesla-16sm").ok_or("the preset `tesla-16sm` is missing")?;
    let paper = FilterCachePaper::load();
    filter_cache_circuits(&Setting {
        circuits: &circuits,
        gpu: &gpu,
        paper: &paper,
    })
    .map_err(|error| error.to_string())
}
