//! Horizontal bars, a row a kernel.

use super::legend::{self, Mark};
use super::scale::Scale;
use super::svg::{Anchor, Canvas};
use super::{WIDTH, short, text_width};
use crate::report::compare::Comparison;
use crate::report::format;
use crate::report::model::Block;

/// Height of a bar.
const BAR: f64 = 13.0;
/// Free height between rows.
const GAP: f64 = 12.0;

/// The frame of a bar chart: rows with names on the left and remarks on the right.
pub(super) struct Frame {
    pub(super) scale: Scale,
    top: f64,
    row: f64,
}

impl Frame {
    /// Draws names, grid and remarks of the rows, `bars` bars each, below `top`.
    pub(super) fn draw(canvas: &mut Canvas, block: &Block, rows: &[String], look: Look) -> Self {
        let names: Vec<String> = block.names().iter().map(|name| short(name)).collect();
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
    pub(super) fn y(&self, row: usize, bar: usize) -> f64 {
        self.top + GAP / 4.0 + self.row * row as f64 + BAR * bar as f64
    }

    /// A bar from value to value.
    pub(super) fn bar(&self, y: f64, from: f64, to: f64) -> [f64; 4] {
        let (left, right) = (self.scale.at(from), self.scale.at(to));
        [left, y, right - left, BAR - 2.0]
    }

    /// Middle of a bar that starts at `y`.
    pub(super) fn middle(y: f64) -> f64 {
        y + (BAR - 2.0) / 2.0
    }

    /// Height of the whole chart.
    pub(super) fn height(&self, rows: usize) -> f64 {
        self.top + self.row * rows as f64 + 26.0
    }
}

/// What decides a frame.
pub(super) struct Look {
    /// Where the rows begin.
    pub(super) top: f64,
    /// Bars in a row.
    pub(super) bars: usize,
    /// The largest value to show.
    pub(super) largest: f64,
}

/// I-cache energy with the technique over that without, by both countings, with error bars and the paper's value.
pub fn icache_energy(block: &Block, id: &str) -> String {
    let mut canvas = Canvas::default();
    let keys = [
        (Mark::Square, "s0", "counted structure by structure"),
        (Mark::Square, "s1", "the sum that Table 4 implies"),
        (Mark::Diamond, "paper", "the paper"),
    ];
    let top = legend::draw(&mut canvas, shown(block, &keys));
    let remarks: Vec<String> = block.comparisons.iter().map(energies).collect();
    let look = Look {
        top,
        bars: 2,
        largest: block
            .comparisons
            .iter()
            .map(largest_ratio)
            .fold(1.0, f64::max),
    };
    let frame = Frame::draw(&mut canvas, block, &remarks, look);
    for (row, comparison) in block.comparisons.iter().enumerate() {
        ratio_bars(&mut canvas, &frame, row, comparison);
    }
    let rows = block.comparisons.len();
    let x = frame.scale.at(1.0);
    canvas.line("reference", [x, top - 2.0, x, frame.height(rows) - 26.0]);
    canvas.finish(
        id,
        "I-cache energy with the filter cache, relative to without",
        "For every kernel the dynamic energy of I-cache and technique over that of the I-cache alone, by two countings, with 95 % intervals, and the paper's value.",
        [WIDTH, frame.height(rows)],
    )
}

fn ratio_bars(canvas: &mut Canvas, frame: &Frame, row: usize, comparison: &Comparison) {
    let implied = comparison
        .implied
        .and_then(|implied| implied.icache.relative);
    for (bar, (class, change)) in [("s0", comparison.icache.relative), ("s1", implied)]
        .into_iter()
        .enumerate()
    {
        let Some(change) = change else { continue };
        let (ratio, half_width) = (change.value + 1.0, change.half_width());
        let y = frame.y(row, bar);
        let tooltip = format!(
            "{}: {} of the I-cache energy without",
            comparison.point.kernel.name,
            format::percent(ratio)
        );
        canvas.rect(class, frame.bar(y, 0.0, ratio), &tooltip);
        let (from, to) = (
            frame.scale.at(ratio - half_width),
            frame.scale.at(ratio + half_width),
        );
        canvas.error_bar(from, to, Frame::middle(y));
    }
    if let Some(paper) = &comparison.paper {
        let y = frame.y(row, 1) - 1.0;
        let tooltip = format!(
            "{} in the paper: {}",
            paper.abbreviation,
            format::percent(paper.icache_ratio)
        );
        canvas.diamond("paper", frame.scale.at(paper.icache_ratio), y, &tooltip);
    }
}

/// The last key is the paper's, of which a block may have no value.
fn shown<'a, T>(block: &Block, keys: &'a [T]) -> &'a [T] {
    let hidden = usize::from(block.comparisons.iter().all(|c| c.paper.is_none()));
    &keys[..keys.len() - hidden]
}

fn energies(comparison: &Comparison) -> String {
    format!(
        "{} → {} nJ",
        format::nanojoules(comparison.icache.without_j),
        format::nanojoules(comparison.icache.with_j)
    )
}

fn largest_ratio(comparison: &Comparison) -> f64 {
    let implied = comparison
        .implied
        .and_then(|implied| implied.icache.relative);
    [comparison.icache.relative, implied]
        .into_iter()
        .flatten()
        .map(|change| change.value + 1.0 + change.half_width())
        .chain(comparison.paper.as_ref().map(|paper| paper.icache_ratio))
        .fold(0.0, f64::max)
}

/// Filter-cache hit rates, ours and the paper's.
pub fn hit_rates(block: &Block, id: &str) -> String {
    let mut canvas = Canvas::default();
    let keys = [
        (Mark::Square, "s0", "ours"),
        (Mark::Diamond, "paper", "the paper, on its own inputs"),
    ];
    let top = legend::draw(&mut canvas, shown(block, &keys));
    let remarks: Vec<String> = block
        .comparisons
        .iter()
        .map(|c| {
            c.hit_rate
                .map_or_else(|| format::NONE.to_owned(), format::percent)
        })
        .collect();
    let look = Look {
        top,
        bars: 1,
        largest: 1.0,
    };
    let frame = Frame::draw(&mut canvas, block, &remarks, look);
    for (row, comparison) in block.comparisons.iter().enumerate() {
        let y = frame.y(row, 0);
        if let Some(rate) = comparison.hit_rate {
            let tooltip = format!(
                "{}: {}",
                comparison.point.kernel.name,
                format::percent(rate)
            );
            canvas.rect("s0", frame.bar(y, 0.0, rate), &tooltip);
        }
        if let Some(paper) = &comparison.paper {
            let tooltip = format!(
                "{} in the paper: {}",
                paper.abbreviation,
                format::percent(paper.hit_rate)
            );
            canvas.diamond(
                "paper",
                frame.scale.at(paper.hit_rate),
                Frame::middle(y),
                &tooltip,
            );
        }
    }
    canvas.finish(
        id,
        "Filter-cache hit rate",
        "For every kernel the fraction of the fetches that the filter cache served, and the paper's value.",
        [WIDTH, frame.height(block.comparisons.len())],
    )
}
