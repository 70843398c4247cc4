//! Traces whose records lie in a file, because memory has no room for them.

use std::fmt::Display;

use crate::diag::Diag;

/// What to do if records of traces cannot be kept, or not be had back.
pub(crate) const ROOM: &str =
    "name a folder with more room in TMPDIR, or give `--trace-memory MIB` more";

/// Why a trace cannot be used: its store's error, or that of what could not go on without it.
pub fn unstored(error: &impl Display) -> Diag {
    Diag::error("trace::store", error.to_string()).help(ROOM)
}
