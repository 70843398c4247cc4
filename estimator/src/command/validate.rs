//! `warpwatt validate`: the project's own evidence.

use std::path::Path;

use warpwatt_circuit::{OperatingPoint, Profile};
use warpwatt_gpu::GpuSpec;
use warpwatt_techlib::quantity::Temperature;
use warpwatt_techlib::{Flavour, Library};

use super::arguments::ValidateArguments;
use super::console::{Exit, out, out_json, reject};
use super::progress::Progress;
use crate::diag::{Diag, Rejection, Sink};
use crate::papers::FilterCachePaper;
use crate::pricing::NodeCircuits;
use crate::report::Report;
use crate::run::{resolve_text, run_all};
use crate::validate::{Check, Setting, Validation, filter_cache_circuits, filter_cache_study};

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

/// `Err(None)`: the findings are in the sink already.
fn checks(arguments: &ValidateArguments, sink: &mut Sink) -> Result<Vec<Check>, Option<Diag>> {
    let mut checks =
        circuits().map_err(|message| Some(Diag::error("validate::defect", message)))?;
    let resolved = resolve_text("filter_cache.toml", STUDY, Path::new(""), sink).ok_or(None)?;
    let finished = vec![false; resolved.plan.points.len()];
    let executions = resolved.plan.work(&finished).len();
    let mut progress = Progress::new(&resolved.plan, finished.len(), executions, arguments.quiet);
    let ran = run_all(&resolved, &sink.sources, arguments.jobs, |news| {
        progress.tell(news);
    });
    progress.end();
    let outcomes = ran?;
    checks.extend(filter_cache_study(&Report::new(
        &resolved.study.title,
        &outcomes,
    )));
    Ok(checks)
}

/// The circuits of the paper's Table 1: 32 nm, high performance, CACTI 6.5.
fn circuits() -> Result<Vec<Check>, String> {
    let technology = Library::itrs()
        .and_then(|library| library.node("32nm", Flavour::Hp))
        .map_err(|error| error.to_string())?;
    let circuits = NodeCircuits::new(
        technology,
        OperatingPoint::at(Temperature::from_k(350.0)),
        Profile::Cacti65,
    );
    let gpu = GpuSpec::preset("tesla-16sm").ok_or("the preset `tesla-16sm` is missing")?;
    let paper = FilterCachePaper::load();
    filter_cache_circuits(&Setting {
        circuits: &circuits,
        gpu: &gpu,
        paper: &paper,
    })
    .map_err(|error| error.to_string())
}
