//! Intervals by Monte Carlo, as a report shows them.

use std::fmt::Write;

use super::drawn::{Share, Spread};
use super::format::INSIDE_OWN_ERROR;
use super::model::Report;

/// The deltas that a reader looks at first; without comparisons, the figures.
const DELTAS: [&str; 3] = ["front_end_saving", "energy_saving", "area_overhead"];
const FIGURES: [&str; 3] = ["energy_j", "power_w", "area_m2"];

/// A line of the report: a point, a metric, its interval, what dominates it.
#[derive(Debug, serde::Serialize)]
pub struct UncertaintyLine {
    /// The point.
    pub point: String,
    /// The metric.
    pub metric: String,
    /// Value and interval.
    pub interval: String,
    /// The causes that dominate, with their parts.
    pub dominated_by: String,
}

impl Report {
    /// The intervals of the main deltas of every comparison, or of the main figures of every point where nothing is compared.
    pub fn uncertainty_lines(&self) -> Vec<UncertaintyLine> {
        let Some(uncertainty) = &self.uncertainty else {
            return Vec::new();
        };
        let metrics = if self.blocks.is_empty() {
            FIGURES
        } else {
            DELTAS
        };
        let mut lines = Vec::new();
        for (number, outcome) in self.points.iter().enumerate() {
            let spreads = metrics
                .iter()
                .filter_map(|metric| uncertainty.spread(number, metric));
            for spread in spreads {
                let point = &outcome.point;
                lines.push(UncertaintyLine {
                    point: format!(
                        "{} · {} · {}",
                        point.kernel.name, point.technology.node, point.technique
                    ),
                    metric: spread.metric.clone(),
                    interval: interval(spread),
                    dominated_by: dominated(&spread.dominated_by),
                });
            }
        }
        lines
    }

    /// The intervals for the terminal; nothing where none were asked for.
    pub(super) fn uncertainty_text(&self) -> String {
        let Some(uncertainty) = &self.uncertainty else {
            return String::new();
        };
        let sampling = uncertainty.sampling;
        let mut text = format!(
            "\n95 % intervals of {} draws of the technology's values{} (seed {}); * inside its own error; all of them: uncertainty.csv\n",
            sampling.samples,
            sampling
                .process
                .map_or("", |_| " and of its transistors' variation"),
            sampling.seed
        );
        for line in self.uncertainty_lines() {
            let _ = writeln!(
                text,
                "  {}: {} {}; {}",
                line.point, line.metric, line.interval, line.dominated_by
            );
        }
        text
    }
}

fn interval(spread: &Spread) -> String {
    let mark = if spread.inside_own_error == Some(true) {
        INSIDE_OWN_ERROR
    } else {
        ""
    };
    if spread.unit == "1" {
        let percent = |value: f64| format!("{:+.2}", 100.0 * value);
        return format!(
            "{}% [{}, {}]{mark}",
            percent(spread.value),
            percent(spread.low),
            percent(spread.high)
        );
    }
    let shown = |value: f64| crate::goal::quantity::readable(value, &spread.unit);
    format!(
        "{} [{}, {}]{mark}",
        shown(spread.value),
        shown(spread.low),
        shown(spread.high)
    )
}

fn dominated(shares: &[Share]) -> String {
    let each = shares
        .iter()
        .map(|share| format!("{} {:.0} %", share.cause, 100.0 * share.variance_share));
    format!("dominated by {}", each.collect::<Vec<_>>().join(", "))
}
