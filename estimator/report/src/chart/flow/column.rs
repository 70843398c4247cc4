//! Bars below each other, and the bands between two columns of them.

use super::super::svg::Canvas;

/// Width of a bar.
pub const BAR: f64 = 10.0;

/// A bar: its top and its height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    pub top: f64,
    pub height: f64,
}

impl Bar {
    /// The height at which its label stands.
    pub fn middle(&self) -> f64 {
        self.top + self.height / 2.0
    }
}

/// Bars of these heights, each in the middle of a slot of at least `least`, all in the middle of `high`.
pub fn stacked(heights: &[f64], least: f64, high: f64) -> Vec<Bar> {
    let mut slot = (high - total(heights, least)) / 2.0;
    let bars = heights.iter().map(|&height| {
        let own = height.max(least);
        let top = slot + (own - height) / 2.0;
        slot += own;
        Bar { top, height }
    });
    bars.collect()
}

/// Height of such a column.
pub fn total(heights: &[f64], least: f64) -> f64 {
    heights.iter().map(|height| height.max(least)).sum()
}

/// A band from a bar of the left column to one of the right column.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// The bars, by their numbers.
    pub ends: [usize; 2],
    /// How wide it is.
    pub width: f64,
    /// Its colour.
    pub class: String,
    /// What flows in it.
    pub tooltip: String,
}

/// A column of bars with its place from the left.
pub type Column<'b> = (f64, &'b [Bar]);

/// Draws bands in their order: at both ends each begins where the one before ended.
pub fn bands(canvas: &mut Canvas, left: Column, right: Column, bands: impl Iterator<Item = Band>) {
    let mut from: Vec<f64> = left.1.iter().map(|bar| bar.top).collect();
    let mut to: Vec<f64> = right.1.iter().map(|bar| bar.top).collect();
    for band in bands {
        let [start, end] = band.ends;
        let shape = shape([left.0 + BAR, from[start]], [right.0, to[end]], band.width);
        canvas.shape(&format!("stream {}", band.class), &shape, &band.tooltip);
        from[start] += band.width;
        to[end] += band.width;
    }
}

/// Two parallel curves that leave and arrive level.
fn shape([x0, y0]: [f64; 2], [x1, y1]: [f64; 2], width: f64) -> String {
    let middle = f64::midpoint(x0, x1);
    let (low0, low1) = (y0 + width, y1 + width);
    format!(
        "M{x0:.1} {y0:.2}C{middle:.1} {y0:.2} {middle:.1} {y1:.2} {x1:.1} {y1:.2}V{low1:.2}C{middle:.1} {low1:.2} {middle:.1} {low0:.2} {x0:.1} {low0:.2}Z"
    )
}
