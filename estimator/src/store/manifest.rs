//! What a study's results were made from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::PointKey;
use crate::report::metric::{Bound, Limit, Objective};
use crate::study::Sampling;
use crate::uncertainty::Draws;

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

/// What a point may cost and must reach.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Area that a technique may add to the structures that were priced, over theirs.
    pub area_overhead: Option<f64>,
    /// Cycles that it may add, over the baseline's.
    pub slowdown: Option<f64>,
    /// Bounds on other metrics, in the order of the study.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
}

impl Budget {
    /// Every bound.
    pub fn all(&self) -> Vec<Limit> {
        let named = [
            ("area_overhead", self.area_overhead),
            ("slowdown", self.slowdown),
        ];
        let named = named.into_iter().filter_map(|(metric, limit)| {
            Some(Limit {
                metric: metric.to_owned(),
                bound: Bound::AtMost,
                limit: limit?,
            })
        });
        named.chain(self.limits.iter().cloned()).collect()
    }
}
