//! Operations a joule over operations a byte of DRAM: a mark a run, a roof a configuration.

mod curves;
mod log;
mod names;
mod roof;

pub use curves::{Curve, Curves};

use std::fmt::Write;

use log::LogScale;
use names::Names;

use super::legend::{self, Mark};
use super::svg::{Anchor, Canvas};
use super::{WIDTH, cut};
use crate::format;

/// Height of the area with the marks.
const HEIGHT: f64 = 300.0;
/// Left end of the area.
const LEFT: f64 = 64.0;
/// Right end.
const RIGHT: f64 = WIDTH - 24.0;
/// Pieces of a roof.
const PIECES: u32 = 96;

/// The runs of configurations with their roofs. `None` where there is nothing to compare.
pub fn roofline(curves: &Curves, id: &str) -> Option<String> {
    if !curves.compare() {
        return None;
    }
    let curves = &curves.curves;
    let mut canvas = Canvas::default();
    let labels: Vec<String> = curves.iter().map(|curve| cut(&curve.label)).collect();
    let classes: Vec<String> = (0..curves.len()).map(|place| format!("s{place}")).collect();
    let keys = classes.iter().zip(&labels);
    let keys = keys.map(|(class, label)| (Mark::Circle, class.as_str(), label.as_str()));
    let top = legend::draw(&mut canvas, &keys.collect::<Vec<_>>()) + 20.0;
    let runs = || curves.iter().flat_map(|curve| &curve.runs);
    let x = LogScale::over(range(runs().map(|(_, run)| run.intensity())), LEFT, RIGHT);
    let ends = curves.iter().map(Curve::roof);
    let ends = ends.flat_map(|roof| x.ends().map(|intensity| roof.efficiency(intensity)));
    let efficiencies = runs().map(|(_, run)| run.efficiency());
    let y = LogScale::over(range(efficiencies.chain(ends)), top + HEIGHT, top);
    axes(&mut canvas, &x, &y, top);
    for (curve, class) in curves.iter().zip(&classes) {
        roof(&mut canvas, curve, (&x, &y), class);
    }
    for (curve, class) in curves.iter().zip(&classes) {
        marks(&mut canvas, curve, (&x, &y), class);
    }
    let place = |run: &roof::Work| [x.at(run.intensity()), y.at(run.efficiency())];
    let area = [LEFT, top, RIGHT, top + HEIGHT];
    let mut names = Names::among(area, runs().map(|(_, run)| place(run)));
    // Configurations differ little beside kernels: the names of the first say what the others are too.
    for (kernel, run) in curves.first().into_iter().flat_map(|curve| &curve.runs) {
        names.write(&mut canvas, place(run), kernel);
    }
    let description = "For every kernel and configuration operations a joule over operations a byte of DRAM, on logarithmic axes; a line for every configuration is the roof that its lowest costs make.";
    let size = [WIDTH, top + HEIGHT + 44.0];
    Some(canvas.finish(id, "Energy roofline", description, size))
}

/// The least and the largest.
fn range(values: impl Iterator<Item = f64>) -> [f64; 2] {
    let none = [f64::INFINITY, f64::NEG_INFINITY];
    values.fold(none, |[least, most], value| {
        [least.min(value), most.max(value)]
    })
}

fn axes(canvas: &mut Canvas, x: &LogScale, y: &LogScale, top: f64) {
    let bottom = top + HEIGHT;
    for tick in x.ticks() {
        canvas.line("grid", [x.at(tick), top, x.at(tick), bottom]);
        canvas.text(Anchor::Middle, x.at(tick), bottom + 14.0, &prefixed(tick));
    }
    for tick in y.ticks() {
        canvas.line("grid", [LEFT, y.at(tick), RIGHT, y.at(tick)]);
        canvas.text(Anchor::End, LEFT - 8.0, y.at(tick), &prefixed(tick));
    }
    let middle = f64::midpoint(LEFT, RIGHT);
    let across = "operations a byte of DRAM";
    canvas.text(Anchor::Middle, middle, bottom + 34.0, across);
    canvas.text(Anchor::Start, 4.0, top - 16.0, "operations a joule");
}

fn roof(canvas: &mut Canvas, curve: &Curve, (x, y): (&LogScale, &LogScale), class: &str) {
    let roof = curve.roof();
    let mut path = String::new();
    for piece in 0..=PIECES {
        let intensity = x.value(f64::from(piece) / f64::from(PIECES));
        let command = if piece == 0 { 'M' } else { 'L' };
        let (at, high) = (x.at(intensity), y.at(roof.efficiency(intensity)));
        let _ = write!(path, "{command}{at:.1} {high:.1}");
    }
    let tooltip = format!(
        "roof of {}: {} an operation, {} a byte, {} constant",
        curve.label,
        quantity(roof.operation_j, "J"),
        quantity(roof.byte_j, "J"),
        quantity(roof.constant_w, "W")
    );
    canvas.shape(&format!("roof line-{class}"), &path, &tooltip);
}

fn marks(canvas: &mut Canvas, curve: &Curve, (x, y): (&LogScale, &LogScale), class: &str) {
    let roof = curve.roof();
    for (kernel, run) in &curve.runs {
        let (intensity, efficiency) = (run.intensity(), run.efficiency());
        let tooltip = format!(
            "{kernel}, {}: {} operations a joule, {} a byte; {} of the roof",
            curve.label,
            prefixed(efficiency),
            format::three(intensity),
            format::percent(efficiency / roof.efficiency(intensity))
        );
        canvas.circle(class, x.at(intensity), y.at(efficiency), &tooltip);
    }
}

fn quantity(value: f64, unit: &str) -> String {
    crate::metric::quantity::show(value, unit)
}

/// A number with a prefix: `20 G`.
fn prefixed(value: f64) -> String {
    let prefixes = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let found = prefixes
        .into_iter()
        .find(|(factor, _)| value >= *factor * (1.0 - 1e-9));
    let (factor, prefix) = found.unwrap_or((1.0, ""));
    let number = format::three(value / factor);
    let number = match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => &number,
    };
    format!("{number} {prefix}").trim_end().to_owned()
}

#[cfg(test)]
mod tests;
