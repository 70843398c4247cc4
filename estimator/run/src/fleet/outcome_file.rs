//! What a unit came to, as a file.

use std::fs;
use std::io;
use std::path::Path;

use crate::diag::Diag;
use crate::drive::Batch;
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::store::{PointKey, bundle, unbundle};

/// The bytes of a unit's outcomes.
///
/// # Errors
/// They cannot be written to memory.
pub fn encode(plan: &Plan, outcomes: Batch<Outcome>) -> Result<Vec<u8>, Diag> {
    let points = outcomes.into_iter();
    let points = points.map(|(point, outcome)| (plan.points[point].key, outcome));
    bundle(points.collect()).map_err(|error| Diag::error("run::defect", error.to_string()))
}

/// What a unit came to; `None` if the file is not there or not what was written.
///
/// # Errors
/// It is there and cannot be read.
pub fn read(path: &Path) -> io::Result<Option<Vec<(PointKey, Outcome)>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(unbundle(&bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
