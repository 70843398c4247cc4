//! A report on the terminal and in files.

use std::fmt::Display;
use std::path::PathBuf;

use serde_json::json;

use super::console::{Exit, err, out, out_json};
use super::files::write_all;
use super::formulas::escaped;
use super::large::DIGEST;
use crate::diag::Diag;
#[cfg(feature = "parquet")]
use crate::report::parquet;
use crate::report::sheet::Sheet;
use crate::report::{Details, Picture, Report, Table};
use crate::store::{FILE_NAME, Manifest, RECORD, Record, hashes, remove_files};
use crate::study::Format;
use warpwatt_page::{counts, turnable};

/// The report for programs, the one for people, and its tables for a paper.
const REPORT_JSON: &str = "report.json";
const REPORT_PAGE: &str = "report.html";
const REPORT_TABLES: &str = "report.tex";
/// How names of pictures begin.
const PICTURE: &str = "picture-";

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
    /// What is shown below the answer.
    pub details: Details,
}

/// Writes the files, all or none, removes those that a report of other results left there, and prints the report.
///
/// # Errors
/// A file cannot be written or removed.
pub fn present(report: &Report, manifest: &Manifest, formats: &Formats) -> Result<(), Diag> {
    let json_text = report.json().map_err(defect)?;
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for format in &formats.files {
        match format {
            Format::Csv => {
                let file = |(name, sheet): (&str, Sheet)| {
                    (format!("{name}.csv"), sheet.csv().into_bytes())
                };
                files.extend(tables(report).map(file));
            }
            Format::CsvSafe => {
                for (name, sheet) in tables(report) {
                    let csv = escaped(sheet.csv().as_bytes());
                    let csv = csv.map_err(defect)?;
                    files.push((format!("{name}.{}", format.extension()), csv));
                }
            }
            #[cfg(feature = "parquet")]
            Format::Parquet => {
                for (name, sheet) in tables(report) {
                    let table = parquet::table(&sheet).map_err(defect)?;
                    files.push((format!("{name}.parquet"), table));
                }
            }
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => {}
            Format::Json => files.push((REPORT_JSON.to_owned(), json_text.clone().into_bytes())),
            Format::Html => {
                let page = page(report, manifest)?;
                files.push((REPORT_PAGE.to_owned(), page.into_bytes()));
            }
            Format::Latex => {
                files.push((REPORT_TABLES.to_owned(), report.latex().into_bytes()));
            }
            Format::Svg => {
                let pictures = named(report.all_pictures()).into_iter();
                files.extend(pictures.map(|(name, svg)| (name, svg.into_bytes())));
            }
        }
    }
    let mut record = Record::of(manifest, &report.points);
    record.files = hashes(&files);
    let left = record.take_over(Record::beside(&formats.directory));
    let record = record.text().map_err(defect)?;
    files.push((RECORD.to_owned(), record.into_bytes()));
    let written = write_all(&formats.directory, &files);
    written.map_err(|rejection| {
        rejection
            .0
            .diags
            .into_iter()
            .next()
            .unwrap_or_else(|| defect(""))
    })?;
    remove_files(&formats.directory, &left).map_err(|error| error.diag())?;
    if formats.json {
        let mut value: serde_json::Value = serde_json::from_str(&json_text).map_err(defect)?;
        value["manifest"] = json!(manifest);
        value["within_budget"] = json!(report.within_budget());
        out_json(&value);
    } else {
        out(&report.terminal(width(), &formats.details));
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

/// Pictures with the names of their files, which are their headings; of equal ones the later have a number.
pub fn named(pictures: Vec<Picture>) -> Vec<(String, String)> {
    let mut named: Vec<(String, String)> = Vec::with_capacity(pictures.len());
    for picture in pictures {
        let words: String = picture
            .heading
            .to_lowercase()
            .replace(|letter: char| !letter.is_ascii_alphanumeric(), " ");
        let words: Vec<&str> = words.split_whitespace().collect();
        let name = format!("{PICTURE}{}", words.join("-"));
        let known = |name: &str| {
            named
                .iter()
                .any(|(known, _)| *known == format!("{name}.svg"))
        };
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.clone())
            .chain(numbered)
            .find(|name| !known(name));
        named.extend(free.map(|name| (format!("{name}.svg"), picture.svg)));
    }
    named
}

/// The finding that a report cannot be made, which is nobody's fault but ours.
pub fn defect(error: impl Display) -> Diag {
    Diag::error(
        "report::defect",
        format!("the report cannot be made: {error}"),
    )
}

/// The page, which can be turned if what was counted follows from the results.
fn page(report: &Report, manifest: &Manifest) -> Result<String, Diag> {
    let page = report.html().map_err(defect)?;
    Ok(match counts(manifest, &report.points) {
        Some(counts) => turnable(page, &counts, None),
        None => page,
    })
}

/// Whether a report, of however many points, may have a file of this name.
pub fn is_of_report(name: &str) -> bool {
    let Some((stem, extension)) = name.split_once('.') else {
        return false;
    };
    let named = |format: Format| format.extension() == extension;
    let is_picture = || name.starts_with(PICTURE) && extension == Format::Svg.extension();
    let table = || Table::ALL.iter().any(|table| table.name() == stem);
    let is_table = || Format::ALL.into_iter().any(named) && table();
    [RECORD, DIGEST, REPORT_JSON, REPORT_PAGE, REPORT_TABLES].contains(&name)
        || is_table()
        || is_picture()
}

/// The tables of a report.
fn tables(report: &Report) -> impl Iterator<Item = (&'static str, Sheet)> {
    let tables = Table::ALL.into_iter();
    tables.filter_map(|table| Some((table.name(), report.sheet(table)?)))
}

/// Columns of a line where neither COLUMNS nor a terminal says how many there are.
const USUAL_WIDTH: usize = 100;
/// Fewer hold no table.
const LEAST_WIDTH: usize = 40;

/// Columns of a line, as many as are usual if nothing says how many there are.
pub fn width() -> usize {
    known_width().unwrap_or(USUAL_WIDTH)
}

/// Columns of a line: what COLUMNS says, else the terminal's.
pub fn known_width() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok();
    let said = said.and_then(|columns| columns.trim().parse().ok());
    let terminal = || comfy_table::Table::new().width().map(usize::from);
    let width = said.or_else(terminal);
    width.map(|width| width.max(LEAST_WIDTH))
}

/// How a command ends that has reported against a budget, if there is one.
pub fn budget_exit(report: &Report) -> Exit {
    match &report.budget {
        Some(budget) if budget.count(report).inside == 0 => Exit::NotMet,
        _ => Exit::Done,
    }
}
