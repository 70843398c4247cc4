//! The suites that ship, and the studies that they run.

use super::Suite;
use crate::diag::{Rejection, Sink};

macro_rules! texts {
    ($folder:literal: $($file:literal),+ $(,)?) => {
        &[$(($file, include_str!(concat!($folder, $file)))),+]
    };
}

/// Suites and studies of their own: file and text.
const OWN: &[(&str, &str)] = texts!("../../../validation/":
    "soft_error.toml",
    "uniform_vectors.toml",
    "uniform_vectors_table_3.toml",
    "warped_dmr.toml",
);

/// Studies that ship: file and text.
const STUDIES: &[(&str, &str)] = texts!("../../../../workloads/studies/":
    "soft_error.toml",
    "soft_error_schedulers.toml",
    "uniform_vectors.toml",
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

fn text(files: &'static [(&str, &str)], file: &str) -> Option<&'static str> {
    let found = files.iter().find(|(known, _)| *known == file);
    found.map(|(_, text)| *text)
}
