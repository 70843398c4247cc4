//! What a study's results were made from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::PointKey;
use crate::study::Sampling;
use crate::uncertainty::Draws;
use warpwatt_input::goal::{Budget, Objective};

/// Versions and hashes of everything that went into a study, and its points in order. No clock times and no paths of the host, so that equal
/// studies have equal manifests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The study's title.
    pub title: String,
    /// The paper whose figures the study asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<String>,
    /// The text of the study.
    #[serde(default)]
    pub study: String,
    /// The version of the program.
    pub version: String,
    /// SHA-256 of each input by its name: `kernel matrix_mul`, `technology itrs`.
    pub inputs: BTreeMap<String, String>,
    /// How points were drawn, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
    /// The study's budget, if it has one.
    pub budget: Option<Budget>,
    /// Metrics whose best compromises the study asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pareto: Vec<Objective>,
    /// How the study finds intervals, if not to first order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncertainty: Option<Draws>,
    /// What the study chose, by name: a column each in every table.
    #[serde(default)]
    pub parameters: Vec<String>,
    /// The keys of the study's points in their order.
    pub points: Vec<PointKey>,
}
