//! The window of a run that takes the most power.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Outcome;

/// The window of a run that takes the most power.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peak {
    /// Cycles of a window.
    pub window_cycles: u64,
    /// Windows of the run.
    pub windows: u64,
    /// The cycle in which this one begins.
    pub from_cycle: u64,
    /// Its cycles.
    pub cycles: u64,
    /// Its events, by structure and action.
    pub counts: BTreeMap<String, u64>,
}

impl Peak {
    /// How often `action` happened to `structure` in the window; nothing if the windows do not hold it.
    pub fn count(&self, structure: &str, action: &str) -> Option<u64> {
        self.counts.get(&format!("{structure}.{action}")).copied()
    }

    /// Its power: dynamic power of its events, and the mean of what the windows do not hold, leakage with it.
    pub fn power_w(&self, outcome: &Outcome) -> f64 {
        let seconds = self.cycles as f64 / outcome.clock_hz;
        let mut watts = outcome.leakage_power_w();
        for structure in &outcome.structures {
            for (action, priced) in structure.actions.iter() {
                watts += match self.count(&structure.name, action.name()) {
                    Some(count) => count as f64 * priced.unit_j / seconds,
                    None => priced.total_j / outcome.time_s,
                };
            }
        }
        watts
    }
}
