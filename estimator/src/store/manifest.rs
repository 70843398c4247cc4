//! What a study's results were made from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Versions and hashes of everything that went into a study, and its points in order. No clock times and no paths of the host, so that equal
/// studies have equal manifests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The study's title.
    pub title: String,
    /// The version of the program.
    pub version: String,
    /// SHA-256 of each input by its name: `kernel matrix_mul`, `technology itrs`.
    pub inputs: BTreeMap<String, String>,
    /// The study's budget, if it has one.
    pub budget: Option<Budget>,
    /// The keys of the study's points in their order.
    pub points: Vec<String>,
}

/// What a technique may cost, as fractions of the baseline's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Area that the technique may add to the structures that were priced.
    pub area_overhead: Option<f64>,
    /// Cycles that it may add.
    pub slowdown: Option<f64>,
}
