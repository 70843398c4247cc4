//! Horizontal bars, a row a kernel.

use super::scale::Scale;
use super::svg::{Anchor, Canvas};
use super::{WIDTH, short, text_width};

/// Height of a bar.
const BAR: f64 = 13.0;
/// Free height between rows.
const GAP: f64 = 12.0;

/// The frame of a bar chart: rows with names on the left and remarks on the right.
pub(crate) struct Frame {
    pub(crate) scale: Scale,
    top: f64,
    row: f64,
}

impl Frame {
    /// Draws names, grid and remarks of the rows, `bars` bars each, below `top`.
    pub(crate) fn draw(canvas: &mut Canvas, names: &[String], rows: &[String], look: Look) -> Self {
        let names: Vec<String> = names.iter().map(|name| short(name)).collect();
        let widths = names.iter().map(|name| text_width(name));
        let left = 12.0 + widths.fold(0.0, f64::max);
        let remarks = rows.iter().map(|text| text_width(text)).fold(0.0, f64::max);
        let scale = Scale::new(look.largest, left, WIDTH - remarks - 18.0);
        let frame = Self {
            scale,
            top: look.top,
            row: look.bars as f64 * BAR + GAP,
        };
        let bottom = frame.top + frame.row * rows.len() as f64;
        for tick in scale.ticks() {
            let x = scale.at(tick);
            canvas.line("grid", [x, frame.top - 2.0, x, bottom]);
            let label = format!("{:.0}%", 100.0 * tick);
            canvas.text(Anchor::Middle, x, bottom + 12.0, &label);
        }
        for (index, (name, remark)) in names.iter().zip(rows).enumerate() {
            let y = frame.top + frame.row * index as f64 + (frame.row - GAP / 2.0) / 2.0;
            canvas.text(Anchor::End, left - 8.0, y, name);
            canvas.text(Anchor::End, WIDTH - 4.0, y, remark);
        }
        frame
    }

    /// Top of bar `bar` in row `row`.
    pub(crate) fn y(&self, row: usize, bar: usize) -> f64 {
        self.top + GAP / 4.0 + self.row * row as f64 + BAR * bar as f64
    }

    /// A bar from value to value.
    pub(crate) fn bar(&self, y: f64, from: f64, to: f64) -> [f64; 4] {
        let (left, right) = (self.scale.at(from), self.scale.at(to));
        [left, y, right - left, BAR - 2.0]
    }

    /// Middle of a bar that starts at `y`.
    pub(crate) fn middle(y: f64) -> f64 {
        y + (BAR - 2.0) / 2.0
    }

    /// Height of the whole chart.
    pub(crate) fn height(&self, rows: usize) -> f64 {
        self.top + self.row * rows as f64 + 26.0
    }
}

/// What decides a frame.
pub(crate) struct Look {
    /// Where the rows begin.
    pub(crate) top: f64,
    /// Bars in a row.
    pub(crate) bars: usize,
    /// The largest value to show.
    pub(crate) largest: f64,
}
