//! Change of energy by configuration: a dot with its interval a row.

use super::scale::Scale;
use super::svg::{Anchor, Canvas};
use super::{WIDTH, cut, ends};
use crate::estimate::Estimate;
use crate::format;
use crate::metric::quantity;

/// Height of a row: a line of words above a dot.
const ROW: f64 = 36.0;

/// A configuration.
pub struct Change {
    /// What it is.
    pub label: String,
    /// Its change of energy.
    pub energy: Estimate,
    /// Whether it is outside the budget.
    pub outside: bool,
}

/// The mean change of energy of every configuration with its 95 % interval. Those outside the budget are hollow.
pub fn energy_changes(changes: &[Change], id: &str) -> Option<String> {
    if changes.is_empty() {
        return None;
    }
    let mut canvas = Canvas::default();
    let height = ROW * changes.len() as f64;
    let range = ends(changes.iter().map(|change| change.energy));
    let x = Scale::over(range, 40.0, WIDTH - 40.0);
    for tick in x.ticks() {
        let class = if tick.abs() < 1e-9 {
            "reference"
        } else {
            "grid"
        };
        canvas.line(class, [x.at(tick), 4.0, x.at(tick), height]);
        canvas.text(
            Anchor::Middle,
            x.at(tick),
            height + 14.0,
            &quantity::tick(tick, "1"),
        );
    }
    for (row, change) in changes.iter().enumerate() {
        let y = ROW * row as f64;
        canvas.text(Anchor::Start, 4.0, y + 10.0, &cut(&change.label));
        let (value, half) = (change.energy.value, change.energy.half_width());
        canvas.error_bar(x.at(value - half), x.at(value + half), y + 25.0);
        let tooltip = format!(
            "{}: {}",
            change.label,
            format::estimate(Some(change.energy))
        );
        let class = if change.outside { "paper" } else { "s0" };
        canvas.circle(class, x.at(value), y + 25.0, &tooltip);
    }
    let description = "For every configuration the mean change of dynamic and leakage energy over the kernels, with its 95 % interval. The table has the figures.";
    Some(canvas.finish(id, "Change of energy", description, [WIDTH, height + 24.0]))
}
