//! The suites that ship, and the studies that they run.

use std::collections::BTreeMap;

use super::Suite;
use warpwatt_input::diag::{Rejection, Sink};

macro_rules! texts {
    ($folder:literal: $($file:literal),+ $(,)?) => {
        &[$(($file, include_str!(concat!($folder, $file)))),+]
    };
}

/// Suites and studies of their own: file and text.
const OWN: &[(&str, &str)] = texts!("../../suites/":
    "chip_shares.toml",
    "dies.toml",
    "filter_cache.toml",
    "miaow.toml",
    "register_virtualization.toml",
    "soft_error.toml",
    "soft_error_avf.toml",
    "uniform_vectors.toml",
    "uniform_vectors_table_3.toml",
    "warped_dmr.toml",
);

/// Papers' numbers that reports show too: file and text.
const PAPERS: &[(&str, &str)] = texts!("../../../report/papers/": "filter_cache.toml");

/// Studies that ship: file and text.
const STUDIES: &[(&str, &str)] = texts!("../../../../workloads/studies/":
    "aged_sampling_dmr.toml",
    "fetch_redundancy.toml",
    "filter_cache.toml",
    "filter_cache_sensitivity.toml",
    "filter_cache_table_4.toml",
    "miaow.toml",
    "register_shrink.toml",
    "register_virtualization.toml",
    "soft_error.toml",
    "soft_error_schedulers.toml",
    "timing_speculation.toml",
    "uniform_vectors_fast.toml",
    "warped_dmr.toml",
);

/// The suite in `NAME.toml`.
///
/// # Errors
/// There is none, or it has faults.
pub fn shipped(name: &str) -> Result<Suite, Box<Rejection>> {
    let file = format!("{name}.toml");
    let mut sink = Sink::default();
    let source = sink.sources.add(&file, text(OWN, &file).unwrap_or(""));
    Suite::read(&mut sink, source).ok_or_else(|| Box::new(Rejection(sink)))
}

/// The text of a study that suites run.
pub fn study(file: &str) -> Option<&'static str> {
    text(STUDIES, file).or_else(|| text(OWN, file))
}

/// The files of all of them.
pub(super) fn studies() -> impl Iterator<Item = &'static str> {
    STUDIES.iter().chain(OWN).map(|(file, _)| *file)
}

/// The files of papers' numbers.
pub(super) fn papers() -> impl Iterator<Item = &'static str> {
    PAPERS.iter().map(|(file, _)| *file)
}

/// The numbers of a paper's file by the path of their keys; a table of a list is called by its `abbr` or `name`.
pub(super) fn numbers(file: &str) -> BTreeMap<String, f64> {
    let table = text(PAPERS, file).and_then(|text| text.parse::<toml::Table>().ok());
    let mut numbers = BTreeMap::new();
    collect(
        "",
        &toml::Value::Table(table.unwrap_or_default()),
        &mut numbers,
    );
    numbers
}

fn collect(path: &str, value: &toml::Value, numbers: &mut BTreeMap<String, f64>) {
    let below = |key: &str| match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    };
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                collect(&below(key), value, numbers);
            }
        }
        toml::Value::Array(items) => {
            for item in items {
                let name = item.get("abbr").or_else(|| item.get("name"));
                if let Some(name) = name.and_then(toml::Value::as_str) {
                    collect(&below(name), item, numbers);
                }
            }
        }
        toml::Value::Integer(number) => {
            numbers.insert(path.to_owned(), *number as f64);
        }
        other => numbers.extend(other.as_float().map(|number| (path.to_owned(), number))),
    }
}

fn text(files: &'static [(&str, &str)], file: &str) -> Option<&'static str> {
    let found = files.iter().find(|(known, _)| *known == file);
    found.map(|(_, text)| *text)
}
