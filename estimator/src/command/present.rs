//! A report on the terminal and in files.

use std::path::PathBuf;

use serde_json::json;

use super::console::{Exit, err, out, out_json};
use super::files::write_all;
use crate::diag::Diag;
use crate::report::Report;
use crate::store::{FILE_NAME, Manifest, RECORD, Record};
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
pub fn present(report: &Report, manifest: &Manifest, formats: &Formats) -> Result<(), Diag> {
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
                if let Some(rows) = report.operating_csv() {
                    files.push(("operating.csv", rows));
                }
                if !report.stacks.is_empty() {
                    files.push(("stacks.csv", report.stacks_csv()));
                }
                if report.budget.is_some() {
                    files.push(("budget.csv", report.budget_csv()));
                }
                if report.pareto.is_some() {
                    files.push(("pareto.csv", report.pareto_csv()));
                }
                if !report.protection.is_empty() {
                    files.push(("protection.csv", report.protection_csv()));
                }
                if report.uncertainty.is_some() {
                    files.push(("uncertainty.csv", report.uncertainty_csv()));
                }
            }
            Format::Json => files.push(("report.json", json_text.clone())),
            Format::Html => files.push((
                "report.html",
                report.html().map_err(|error| defect(error.to_string()))?,
            )),
        }
    }
    let record = Record::of(manifest, &report.points).text();
    files.push((RECORD, record.map_err(|error| defect(error.to_string()))?));
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
        value["within_budget"] = json!(report.within_budget());
        out_json(&value);
    } else {
        out(&report.table(width()));
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
    Ok(())
}

/// Columns of the terminal; wide where there is none, so that files hold whole tables.
pub fn width() -> usize {
    comfy_table::Table::new().width().map_or(200, usize::from)
}

/// How a command ends that has reported against a budget, if there is one.
pub fn budget_exit(report: &Report) -> Exit {
    match &report.budget {
        Some(budget) if budget.count(report).inside == 0 => Exit::NotMet,
        _ => Exit::Done,
    }
}
