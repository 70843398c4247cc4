//! Change of energy kernel by kernel, as small multiples: a panel a kernel, a row a configuration.

use super::grid::Grid;
use super::legend::{self, Mark};
use super::scale::Scale;
use super::svg::{Anchor, Canvas};
use super::{cut, ends, short};
use crate::estimate::Estimate;
use crate::format;
use crate::metric::quantity;

/// Configurations that colours tell apart.
pub const MOST: usize = 8;
const CLASSES: [&str; MOST] = ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"];
/// Panels beside each other.
const ACROSS: usize = 3;
/// Height of a row of a panel, of what stands above its rows and of what stands below.
const ROW: f64 = 14.0;
const ABOVE: f64 = 20.0;
const BELOW: f64 = 26.0;

/// A panel.
pub struct Panel {
    /// The kernel.
    pub name: String,
    /// The change under each configuration, in the order of the labels.
    pub changes: Vec<Option<Estimate>>,
}

/// Panels on one scale, `labels` naming their rows: at most [`MOST`].
pub fn by_kernel(panels: &[Panel], labels: &[String], id: &str) -> Option<String> {
    if panels.len() < 2 || labels.is_empty() || labels.len() > MOST {
        return None;
    }
    let mut canvas = Canvas::default();
    let cut: Vec<String> = labels.iter().map(|label| cut(label)).collect();
    let keys: Vec<(Mark, &str, &str)> = cut
        .iter()
        .zip(CLASSES)
        .map(|(label, class)| (Mark::Circle, class, label.as_str()))
        .collect();
    let top = legend::draw(&mut canvas, &keys) + 4.0;
    let range = ends(
        panels
            .iter()
            .flat_map(|panel| panel.changes.iter().flatten().copied()),
    );
    let grid = Grid {
        top,
        across: ACROSS,
        height: ABOVE + ROW * labels.len() as f64 + BELOW,
    };
    for (number, panel) in panels.iter().enumerate() {
        let [left, y] = grid.corner(number);
        let x = Scale::over(range, left + 18.0, left + grid.width() - 18.0);
        draw(&mut canvas, panel, labels, (&x, y));
    }
    let description = "A panel for every kernel: the change of dynamic and leakage energy under each configuration with its 95 % interval, all on one scale. comparisons.csv has the figures.";
    Some(canvas.finish(
        id,
        "Change of energy by kernel",
        description,
        grid.size(panels.len()),
    ))
}

fn draw(canvas: &mut Canvas, panel: &Panel, labels: &[String], (x, top): (&Scale, f64)) {
    let bottom = top + ABOVE + ROW * labels.len() as f64;
    canvas.text(
        Anchor::Start,
        x.at(f64::NEG_INFINITY),
        top + 8.0,
        &short(&panel.name),
    );
    let last = x.ticks().count() - 1;
    for (place, tick) in x.ticks().enumerate() {
        let class = if tick.abs() < 1e-9 {
            "reference"
        } else {
            "grid"
        };
        canvas.line(class, [x.at(tick), top + ABOVE, x.at(tick), bottom]);
        // Names of the ends are enough: all panels have one scale.
        if place == 0 || place == last || class == "reference" {
            let text = quantity::tick(tick, "1");
            canvas.text(Anchor::Middle, x.at(tick), bottom + 11.0, &text);
        }
    }
    for (row, (change, label)) in panel.changes.iter().zip(labels).enumerate() {
        let Some(change) = change else { continue };
        let y = top + ABOVE + ROW * (row as f64 + 0.5);
        let half = change.half_width();
        canvas.error_bar(x.at(change.value - half), x.at(change.value + half), y);
        let tooltip = format!(
            "{}, {label}: {}",
            panel.name,
            format::estimate(Some(*change))
        );
        canvas.circle(CLASSES[row], x.at(change.value), y, &tooltip);
    }
}
