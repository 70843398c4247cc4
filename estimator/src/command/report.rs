//! `warpwatt report`: renders what a store holds.

use std::path::{Path, PathBuf};

use clap::Args;

use super::console::{Exit, reject};
use super::open::open;
use super::present::Formats;
use super::run::report_store;
use super::shown::ShowArguments;
use crate::diag::{Diag, Rejection, Sink};
use crate::outcome::Outcome;
use crate::report::Details;
use crate::report::digest::MOST_SHOWN;
use crate::report::metric::{Metrics, Objective};
use crate::store::{Manifest, Store, StoreError};
use crate::study::Format;

/// Render the results of a study again: print the tables and write CSV, JSON and HTML anew.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt report results
  warpwatt report results --pareto energy_j,area_m2
  warpwatt report results --json
  warpwatt report results --formats csv,parquet

Exit codes: 0 done; 1 the study has a budget and no point with a technique is inside it; 2 there is nothing to report.")]
pub struct ReportArguments {
    /// The directory that `warpwatt run` wrote its results to
    #[arg(value_name = "RESULTS_DIR")]
    pub results: PathBuf,
    /// Mark the best compromises between metrics: two or more, each alone or as min:NAME or max:NAME [default: the study's]
    #[arg(long, value_name = "METRIC,METRIC", value_delimiter = ',')]
    pub pareto: Vec<String>,
    /// The files to write: csv, csv-safe (no cell is a formula of a spreadsheet), json, html, latex (report.tex), svg (a file a picture), and parquet where it was built in [default: csv,json,html]
    #[arg(long, value_name = "FORMAT,FORMAT", value_delimiter = ',')]
    pub formats: Vec<String>,
    /// Show the page in the browser: the program that BROWSER names, or the system's
    #[arg(long)]
    pub open: bool,
    /// Details below the answer
    #[command(flatten)]
    pub show: ShowArguments,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
}

/// How a report is shown.
pub struct Shape<'a> {
    /// Metrics to compromise between, instead of the study's.
    pub pareto: &'a [String],
    /// Details below the answer.
    pub details: Details,
    /// Whether standard output gets JSON.
    pub json: bool,
    /// Whether standard error stays empty.
    pub quiet: bool,
}

/// Shows the report.
pub fn run(arguments: &ReportArguments) -> Exit {
    let shown = Shape {
        pareto: &arguments.pareto,
        details: arguments.show.details(),
        json: arguments.json,
        quiet: false,
    };
    let reported =
        formats(&arguments.formats).and_then(|files| report_on(&arguments.results, files, shown));
    match reported {
        Ok(exit) => {
            if arguments.open {
                open(&arguments.results.join("report.html"));
            }
            exit
        }
        Err(rejection) => reject(&rejection, arguments.json),
    }
}

/// The formats that are asked for; the usual ones if none is.
fn formats(asked: &[String]) -> Result<Vec<Format>, Rejection> {
    if asked.is_empty() {
        return Ok(Format::DEFAULT.to_vec());
    }
    let mut sink = Sink::default();
    let mut formats = Vec::new();
    for name in asked {
        match Format::of(name) {
            Ok(format) if !formats.contains(&format) => formats.push(format),
            Ok(_) => {}
            Err(diag) => sink.push(diag),
        }
    }
    sink.finish(Some(formats))
}

/// Writes and prints the report of the store in `results` as these files, in this shape.
///
/// # Errors
/// There is nothing to report, or a file cannot be written.
pub fn report_on(results: &Path, files: Vec<Format>, shape: Shape) -> Result<Exit, Rejection> {
    let (manifest, store) = opened(results)?;
    let objectives = match shape.pareto {
        [] => manifest.pareto.clone(),
        // Techniques' metrics are known from the points.
        asked => {
            let few = &manifest.points[..manifest.points.len().min(MOST_SHOWN)];
            let points = store.outcomes(few).map_err(|error| error.diag())?;
            objectives(asked, &points)?
        }
    };
    let formats = Formats {
        directory: results.to_path_buf(),
        files,
        json: shape.json,
        quiet: shape.quiet,
        details: shape.details,
    };
    report_store(&manifest, &store, &objectives, &formats)
}

/// What a finished study left in `results`.
///
/// # Errors
/// There is no store, or no study was finished in it.
pub fn stored(results: &Path) -> Result<(Manifest, Vec<Outcome>), Diag> {
    let (manifest, store) = opened(results)?;
    let outcomes = store.collect(&manifest).map_err(|error| error.diag())?;
    Ok((manifest, outcomes))
}

/// The store of a finished study in `results`, and what it is about.
pub fn opened(results: &Path) -> Result<(Manifest, Store), Diag> {
    Store::open_finished(results).map_err(|error| match error {
        StoreError::NoStudy { .. } => Diag::error(
            "store::unfinished",
            format!("no study was finished in `{}`", results.display()),
        )
        .help("run the study again: it goes on where it stopped"),
        other => other.diag(),
    })
}

/// The metrics that are asked for.
fn objectives(asked: &[String], outcomes: &[Outcome]) -> Result<Vec<Objective>, Rejection> {
    let metrics = Metrics::known().with_points(outcomes);
    let mut sink = Sink::default();
    let mut objectives: Vec<Objective> = Vec::new();
    for text in asked {
        match Objective::read(text, &metrics) {
            Ok(objective) if !objectives.contains(&objective) => objectives.push(objective),
            Ok(_) => {}
            Err(diag) => sink.push(diag),
        }
    }
    if !sink.has_errors() && objectives.len() < 2 {
        let message = "a compromise is between two or more metrics";
        sink.push(
            Diag::error("metric::too_few", message)
                .help("write for example `--pareto energy_j,area_m2`"),
        );
    }
    sink.finish(Some(objectives))
}
