//! A report on the terminal and in files.

use std::path::PathBuf;

use serde_json::json;

use super::console::{Exit, err, out, out_json};
use super::files::write_all;
use crate::diag::Diag;
use crate::outcome::Outcome;
use crate::report::{Comparison, Report};
use crate::store::{Budget, FILE_NAME, Manifest};
use crate::study::Format;

/// Where a report goes.
pub struct Formats {
    /// The directory of the result store.
    pub directory: PathBuf,
    /// The files beside it.
    pub files: Vec<Format>,
    /// Whether standard output gets JSON instead of tables.
    pub json: bool,
    /// Whether standard error stays empty.
    pub quiet: bool,
}

/// Writes the files, all or none, and prints the report.
///
/// # Errors
/// A file cannot be written.
pub fn present(
    manifest: &Manifest,
    outcomes: &[Outcome],
    formats: &Formats,
) -> Result<Report, Diag> {
    let report = Report::new(&manifest.title, outcomes);
    let defect = |error: String| {
        Diag::error(
            "report::defect",
            format!("the report cannot be made: {error}"),
        )
    };
    let json_text = report.json().map_err(|error| defect(error.to_string()))?;
    let mut files = Vec::new();
    for format in &formats.files {
        match format {
            Format::Csv => {
                files.push(("points.csv", report.points_csv()));
                files.push(("comparisons.csv", report.comparisons_csv()));
                if !report.stacks.is_empty() {
                    files.push(("stacks.csv", report.stacks_csv()));
                }
            }
            Format::Json => files.push(("report.json", json_text.clone())),
            Format::Html => files.push((
                "report.html",
                report.html().map_err(|error| defect(error.to_string()))?,
            )),
        }
    }
    let files: Vec<(String, Vec<u8>)> = files
        .into_iter()
        .map(|(name, text)| (name.to_owned(), text.into_bytes()))
        .collect();
    let written = write_all(&formats.directory, &files);
    written.map_err(|rejection| {
        rejection
            .0
            .diags
            .into_iter()
            .next()
            .unwrap_or_else(|| defect(String::new()))
    })?;
    if formats.json {
        let mut value: serde_json::Value =
            serde_json::from_str(&json_text).map_err(|error| defect(error.to_string()))?;
        value["manifest"] = json!(manifest);
        value["within_budget"] = json!(manifest.budget.map(|budget| inside(&report, budget)));
        out_json(&value);
    } else {
        out(&report.table(width()));
        if let Some(budget) = manifest.budget {
            out(&budget_text(&report, budget));
        }
    }
    if !formats.quiet {
        let names: Vec<&str> = [FILE_NAME]
            .into_iter()
            .chain(files.iter().map(|(name, _)| name.as_str()))
            .collect();
        err(&format!(
            "\nwrote {} in {}\n",
            names.join(", "),
            formats.directory.display()
        ));
    }
    Ok(report)
}

/// Columns of the terminal; wide where there is none, so that files hold whole tables.
pub fn width() -> usize {
    comfy_table::Table::new().width().map_or(200, usize::from)
}

/// How a command ends that has reported against `budget`.
pub fn budget_exit(report: &Report, budget: Option<Budget>) -> Exit {
    match budget {
        Some(budget) if !inside(report, budget).contains(&true) => Exit::NotMet,
        _ => Exit::Done,
    }
}

/// For every comparison in the report's order, whether it is within the budget.
fn inside(report: &Report, budget: Budget) -> Vec<bool> {
    report
        .blocks
        .iter()
        .flat_map(|block| &block.comparisons)
        .map(|comparison| is_inside(comparison, budget))
        .collect()
}

fn is_inside(comparison: &Comparison, budget: Budget) -> bool {
    let area = comparison
        .overhead
        .sm_area
        .map_or(0.0, |growth| growth.value);
    budget.area_overhead.is_none_or(|limit| area <= limit)
        && budget
            .slowdown
            .is_none_or(|limit| comparison.slowdown <= limit)
}

fn budget_text(report: &Report, budget: Budget) -> String {
    let marks = inside(report, budget);
    let within = marks.iter().filter(|mark| **mark).count();
    let mut text = format!(
        "\nbudget: {within} of {} points with a technique are inside\n",
        marks.len()
    );
    let comparisons = report.blocks.iter().flat_map(|block| &block.comparisons);
    for (comparison, _) in comparisons.zip(&marks).filter(|(_, mark)| !**mark) {
        let point = &comparison.point;
        text.push_str(&format!(
            "  outside: {} with {} at {}\n",
            point.kernel.name, point.technique, point.technology.node
        ));
    }
    text
}
