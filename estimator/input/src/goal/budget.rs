//! What points may cost and must reach.

use serde::{Deserialize, Serialize};

use super::{Bound, Limit};

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
