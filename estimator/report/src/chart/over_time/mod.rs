//! What is spent over time, in layers on each other, with the launches above.

mod launches;
#[cfg(test)]
mod tests;

use std::fmt::Write;

use super::WIDTH;
use super::bins::Bins;
use super::legend::{self, Mark};
use super::scale::Scale;
use super::svg::{Anchor, Canvas};
use crate::format;
use crate::metric::quantity;

/// Height of the area with the layers.
const HEIGHT: f64 = 220.0;
/// Where the axis of time begins and ends.
const LEFT: f64 = 72.0;
const RIGHT: f64 = WIDTH - 34.0;
/// Windows beyond which they are brought together: no two share a column of a screen's points.
const MOST: usize = 320;
/// Colours that tell layers apart.
const COLOURS: usize = 8;

/// What is spent over time.
#[derive(Clone, Debug)]
pub struct OverTime<'t> {
    /// What the picture is called.
    pub title: &'t str,
    /// The unit of what is spent: `W`, or `1` for shares of a whole.
    pub unit: &'t str,
    /// Where each window begins and ends, in seconds; each begins where the one before ends.
    pub spans: &'t [(f64, f64)],
    /// The layers, the lowest first.
    pub layers: Vec<Layer>,
    /// When launches begin, in seconds, and what they launch.
    pub launches: &'t [(f64, String)],
}

/// A layer.
#[derive(Clone, Debug)]
pub struct Layer {
    /// What it is.
    pub name: String,
    /// By window.
    pub values: Vec<f64>,
    /// Whether it is what nothing is spent on, and is drawn in grey.
    pub is_idle: bool,
}

/// The picture; nothing without windows or layers.
pub fn over_time(over: &OverTime<'_>, id: &str) -> Option<String> {
    if over.spans.is_empty() || over.layers.is_empty() {
        return None;
    }
    let bins = Bins::of(over.spans, MOST);
    let layers = over.layers.iter();
    let layers: Vec<Vec<f64>> = layers.map(|it| bins.means(|at| it.values[at])).collect();
    let tops = stacked(&layers);
    let most = tops.last()?.iter().copied().fold(0.0, f64::max);
    let mut canvas = Canvas::default();
    let classes = over.layers.iter().enumerate().map(class);
    let classes: Vec<String> = classes.collect();
    let keys = over.layers.iter().zip(&classes);
    let keys: Vec<_> = keys
        .map(|(layer, class)| (Mark::Square, class.as_str(), layer.name.as_str()))
        .collect();
    let mut top = legend::draw(&mut canvas, &keys);
    let time = Time {
        begin: bins.edges[0],
        end: bins.edges[0] + bins.seconds(),
        scale: Scale::new(bins.seconds(), LEFT, RIGHT),
    };
    top += launches::draw(&mut canvas, over.launches, &time, [top, HEIGHT]);
    let scale = Scale::new(most, top + HEIGHT, top + 8.0);
    axes(&mut canvas, over.unit, (&time, &scale), top);
    let floor = vec![0.0; bins.edges.len() - 1];
    for (number, above) in tops.iter().enumerate() {
        let below = number.checked_sub(1).map_or(&floor, |under| &tops[under]);
        let shape = shape(&bins.edges, (below, above), &time, &scale);
        canvas.shape(
            &classes[number],
            &shape,
            &words(over, &bins, &layers[number], number),
        );
    }
    let sums = tops.last()?;
    let description = format!("{}: {}.", over.title, summary(over.unit, &bins, sums));
    Some(canvas.finish(id, over.title, &description, [WIDTH, top + HEIGHT + 28.0]))
}

/// From seconds to places on the canvas.
struct Time {
    begin: f64,
    end: f64,
    scale: Scale,
}

impl Time {
    fn at(&self, second: f64) -> f64 {
        self.scale.at(second - self.begin)
    }
}

fn class((number, layer): (usize, &Layer)) -> String {
    let colour = if layer.is_idle { COLOURS } else { number };
    format!("s{}", colour.min(COLOURS - 1))
}

/// The upper edges of layers that lie on each other.
fn stacked(layers: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut sum = vec![0.0; layers.first().map_or(0, Vec::len)];
    let tops = layers.iter().map(|layer| {
        sum.iter_mut().zip(layer).for_each(|(sum, own)| *sum += own);
        sum.clone()
    });
    tops.collect()
}

/// A layer between its edges, which go by steps: forth along the upper one and back along the lower one.
fn shape(edges: &[f64], (below, above): (&[f64], &[f64]), time: &Time, scale: &Scale) -> String {
    let mut path = format!("M{:.1} {:.1}", time.at(edges[0]), scale.at(above[0]));
    let mut last = f64::NAN;
    let mut step = |x: f64, y: f64| {
        let y = scale.at(y);
        // What does not rise or fall needs no point.
        if format!("{y:.1}") != format!("{last:.1}") {
            let _ = write!(path, "H{x:.1}V{y:.1}");
            last = y;
        }
    };
    for (number, value) in above.iter().enumerate() {
        step(time.at(edges[number]), *value);
    }
    for (number, value) in below.iter().enumerate().rev() {
        step(time.at(edges[number + 1]), *value);
    }
    let _ = write!(path, "H{:.1}Z", time.at(edges[0]));
    path
}

fn axes(canvas: &mut Canvas, unit: &str, (time, scale): (&Time, &Scale), top: f64) {
    for tick in scale.ticks() {
        let y = scale.at(tick);
        canvas.line("grid", [LEFT, y, RIGHT, y]);
        canvas.text(Anchor::End, LEFT - 8.0, y, &quantity::tick(tick, unit));
    }
    for tick in time.scale.ticks() {
        let x = time.scale.at(tick);
        canvas.line("grid", [x, top + HEIGHT, x, top + HEIGHT + 5.0]);
        let label = quantity::tick(time.begin + tick, "s");
        canvas.text(Anchor::Middle, x, top + HEIGHT + 15.0, &label);
    }
}

/// A layer in words.
fn words(over: &OverTime<'_>, bins: &Bins<'_>, values: &[f64], number: usize) -> String {
    format!(
        "{}: {}",
        over.layers[number].name,
        summary(over.unit, bins, values)
    )
}

/// Mean over time and the most that is shown.
fn summary(unit: &str, bins: &Bins<'_>, values: &[f64]) -> String {
    let (mean, most) = bins.mean_and_most(values);
    let show = |value: f64| match unit {
        "1" => format::percent(value),
        _ => quantity::show(value, unit),
    };
    format!("mean {}, at most {}", show(mean), show(most))
}
