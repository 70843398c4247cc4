//! Registers in use over time, as small multiples: a panel a run.

use std::fmt::Write;

use super::at_most;
use super::grid::Grid;
use super::legend::{self, Mark};
use super::svg::{Anchor, Canvas};

/// Panels beside each other.
const ACROSS: usize = 2;
/// Height of a panel's plot, of what stands above it and of what stands below.
const PLOT: f64 = 90.0;
const ABOVE: f64 = 40.0;
const BELOW: f64 = 28.0;
/// Room at the sides of a plot.
const LEFT: f64 = 40.0;
const RIGHT: f64 = 14.0;

/// What is drawn.
const OF_RESERVED: &str = "live of those reserved";
const OF_POWERED: &str = "live in subarrays with power";

/// Registers in use over time in one run.
#[derive(Clone, Debug)]
pub struct InUse {
    /// What runs.
    pub name: String,
    /// What manages the registers.
    pub technique: String,
    /// Cycles from the first column to the last.
    pub cycles: u64,
    /// In columns of equal length: live registers by those reserved; none where none are.
    pub of_reserved: Vec<Option<f64>>,
    /// Live registers by all of subarrays that have power.
    pub of_powered: Vec<Option<f64>>,
}

/// The picture; nothing of no run.
pub fn registers(runs: &[InUse], id: &str) -> Option<String> {
    if runs.is_empty() {
        return None;
    }
    let mut canvas = Canvas::default();
    let keys = [
        (Mark::Square, "s0", OF_RESERVED),
        (Mark::Square, "s1", OF_POWERED),
    ];
    let top = legend::draw(&mut canvas, &keys) + 4.0;
    let grid = Grid {
        top,
        across: ACROSS,
        height: ABOVE + PLOT + BELOW,
    };
    for (number, run) in runs.iter().enumerate() {
        draw(&mut canvas, run, (grid.corner(number), grid.width()));
    }
    let description = "A panel for every run: over its cycles the share of reserved registers that hold a value which is still to be read, and the share of the registers of subarrays with power that do.";
    Some(canvas.finish(
        id,
        "Registers in use over time",
        description,
        grid.size(runs.len()),
    ))
}

fn draw(canvas: &mut Canvas, run: &InUse, ([left, top], width): ([f64; 2], f64)) {
    let (from, to) = (left + LEFT, left + width - RIGHT);
    let (ceiling, floor) = (top + ABOVE, top + ABOVE + PLOT);
    canvas.text(Anchor::Start, from, top + 10.0, &at_most(40, &run.name));
    let technique = at_most(46, &run.technique);
    canvas.text(Anchor::Start, from, top + 26.0, &technique);
    for percent in [0, 50, 100] {
        let y = floor - PLOT * f64::from(percent) / 100.0;
        canvas.line("grid", [from, y, to, y]);
        canvas.text(Anchor::End, from - 5.0, y, &format!("{percent}%"));
    }
    canvas.text(Anchor::Start, from, floor + 12.0, "0");
    let cycles = format!("{} cycles", run.cycles);
    canvas.text(Anchor::End, to, floor + 12.0, &cycles);
    let edges = [from, to, ceiling, floor];
    let tooltip = |what: &str| format!("{} · {}: {what}", run.name, run.technique);
    let area = filled(&run.of_reserved, edges);
    canvas.shape("s0 stream", &area, &tooltip(OF_RESERVED));
    let reserved = stepped(&run.of_reserved, edges);
    canvas.shape("roof line-s0", &reserved, &tooltip(OF_RESERVED));
    let powered = stepped(&run.of_powered, edges);
    canvas.shape("roof line-s1", &powered, &tooltip(OF_POWERED));
}

/// Steps from the first value to the last, broken where there is none.
fn stepped(values: &[Option<f64>], [from, to, ceiling, floor]: [f64; 4]) -> String {
    let step = (to - from) / values.len().max(1) as f64;
    let mut path = String::new();
    let mut pen_is_down = false;
    for (number, value) in values.iter().enumerate() {
        let Some(value) = value else {
            pen_is_down = false;
            continue;
        };
        let x = from + step * number as f64;
        let y = floor - (floor - ceiling) * value.clamp(0.0, 1.0);
        let begin = if pen_is_down { "L" } else { "M" };
        let _ = write!(path, "{begin}{x:.1} {y:.1}H{:.1}", x + step);
        pen_is_down = true;
    }
    path
}

/// What lies under the steps; nothing where there is none.
fn filled(values: &[Option<f64>], [from, to, ceiling, floor]: [f64; 4]) -> String {
    let step = (to - from) / values.len().max(1) as f64;
    let mut path = format!("M{from:.1} {floor:.1}");
    for (number, value) in values.iter().enumerate() {
        let y = floor - (floor - ceiling) * value.unwrap_or(0.0).clamp(0.0, 1.0);
        let _ = write!(path, "V{y:.1}H{:.1}", from + step * (number + 1) as f64);
    }
    let _ = write!(path, "V{floor:.1}Z");
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_a_run_and_a_gap_where_nothing_is_reserved() {
        let run = InUse {
            name: "bfs & co".to_owned(),
            technique: "register_shrink".to_owned(),
            cycles: 12_000,
            of_reserved: vec![Some(0.5), None, Some(1.0)],
            of_powered: vec![Some(0.25); 3],
        };
        let picture = registers(&[run.clone(), run], "in-use").unwrap();
        assert_eq!(picture.matches("bfs &amp; co · ").count(), 6, "{picture}");
        // Half the height, then a gap, then the whole: a panel's plot is 40 to 306 wide, a third of it 88.7.
        let edges = [40.0, 306.0, 0.0, 90.0];
        let shares = [Some(0.5), None, Some(1.0)];
        let steps = "M40.0 45.0H128.7M217.3 0.0H306.0";
        assert_eq!(stepped(&shares, edges), steps);
        let area = "M40.0 90.0V45.0H128.7V90.0H217.3V0.0H306.0V90.0Z";
        assert_eq!(filled(&shares, edges), area);
        assert_eq!(registers(&[], "in-use"), None);
    }
}
