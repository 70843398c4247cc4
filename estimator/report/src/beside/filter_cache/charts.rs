//! The paper's pictures: I-cache energy, hit rates, and the one against the other.

use std::borrow::Cow;

use super::{breakdown, scatter};
use crate::chart::{Canvas, Frame, Look, Mark, WIDTH, legend};
use crate::estimate::Estimate;
use crate::paper::PaperChart;
use crate::papers::FilterCachePaper;
use crate::{Block, Comparison, format};

/// The pictures of a configuration with a filter cache; none of any other.
pub(super) fn all(block: &Block, paper: &FilterCachePaper, index: usize) -> Vec<PaperChart> {
    let id = |name: &str| format!("{name}-{}", index + 1);
    if block.comparisons.iter().all(|c| hit_rate(c).is_none()) {
        return Vec::new();
    }
    vec![
        PaperChart {
            heading: Cow::Borrowed("I-cache energy"),
            caption: "Energy of I-cache and filter cache, relative to the I-cache alone (100%). Whiskers: 95 % interval of the circuit models' error; diamonds: the paper.",
            svg: icache_energy(block, &id("icache")),
        },
        PaperChart {
            heading: Cow::Borrowed("Front-end energy"),
            caption: "Dynamic energy of the front end by structure, relative to the whole without the technique: without on top, with below. On the right the sums.",
            svg: breakdown::front_end(block, &id("breakdown")),
        },
        PaperChart {
            heading: Cow::Borrowed("Filter-cache hit rate"),
            caption: "Fraction of the fetches that the filter cache served.",
            svg: hit_rates(block, &id("hits")),
        },
        PaperChart {
            heading: Cow::Borrowed("Energy ratio against miss rate"),
            caption: "Table 4 of the paper is a straight line in the hit rate; ours are too, as far as I-cache fills do not matter.",
            svg: scatter::ratio_against_miss_rate(block, paper, &id("line")),
        },
    ]
}

/// A figure of the paper's at a comparison.
pub(super) fn figure(comparison: &Comparison, key: &str) -> Option<Estimate> {
    comparison.beside.as_ref()?.get(key)
}

pub(super) fn hit_rate(comparison: &Comparison) -> Option<f64> {
    figure(comparison, "filter_cache_hit_rate").map(|rate| rate.value)
}

/// The paper's row with one of its figures.
fn published<'c>(comparison: &'c Comparison, key: &str) -> Option<(&'c str, f64)> {
    let beside = comparison.beside.as_ref()?;
    Some((beside.row.as_deref()?, beside.get(key)?.value))
}

/// I-cache energy with the technique over that without, by both countings, with error bars and the paper's value.
fn icache_energy(block: &Block, id: &str) -> String {
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
    let frame = Frame::draw(&mut canvas, &block.names(), &remarks, look);
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
    let implied = figure(comparison, "implied_icache_change");
    for (bar, (class, change)) in [("s0", figure(comparison, "icache_change")), ("s1", implied)]
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
    if let Some((name, ratio)) = published(comparison, "paper_icache_ratio") {
        let y = frame.y(row, 1) - 1.0;
        let tooltip = format!("{name} in the paper: {}", format::percent(ratio));
        canvas.diamond("paper", frame.scale.at(ratio), y, &tooltip);
    }
}

/// The last key is the paper's, of which a block may have no value.
fn shown<'a, T>(block: &Block, keys: &'a [T]) -> &'a [T] {
    let hidden = usize::from(
        block
            .comparisons
            .iter()
            .all(|c| published(c, "paper_hit_rate").is_none()),
    );
    &keys[..keys.len() - hidden]
}

fn energies(comparison: &Comparison) -> String {
    let energy = |key: &str| {
        let energy = figure(comparison, key);
        energy.map_or_else(
            || format::NONE.to_owned(),
            |energy| format::nanojoules(energy.value),
        )
    };
    format!(
        "{} → {} nJ",
        energy("icache_without_j"),
        energy("icache_with_j")
    )
}

fn largest_ratio(comparison: &Comparison) -> f64 {
    let implied = figure(comparison, "implied_icache_change");
    [figure(comparison, "icache_change"), implied]
        .into_iter()
        .flatten()
        .map(|change| change.value + 1.0 + change.half_width())
        .chain(published(comparison, "paper_icache_ratio").map(|(_, ratio)| ratio))
        .fold(0.0, f64::max)
}

/// Filter-cache hit rates, ours and the paper's.
fn hit_rates(block: &Block, id: &str) -> String {
    let mut canvas = Canvas::default();
    let keys = [
        (Mark::Square, "s0", "ours"),
        (Mark::Diamond, "paper", "the paper, on its own inputs"),
    ];
    let top = legend::draw(&mut canvas, shown(block, &keys));
    let remarks: Vec<String> = block
        .comparisons
        .iter()
        .map(|c| hit_rate(c).map_or_else(|| format::NONE.to_owned(), format::percent))
        .collect();
    let look = Look {
        top,
        bars: 1,
        largest: 1.0,
    };
    let frame = Frame::draw(&mut canvas, &block.names(), &remarks, look);
    for (row, comparison) in block.comparisons.iter().enumerate() {
        let y = frame.y(row, 0);
        if let Some(rate) = hit_rate(comparison) {
            let tooltip = format!(
                "{}: {}",
                comparison.point.kernel.name,
                format::percent(rate)
            );
            canvas.rect("s0", frame.bar(y, 0.0, rate), &tooltip);
        }
        if let Some((name, rate)) = published(comparison, "paper_hit_rate") {
            let tooltip = format!("{name} in the paper: {}", format::percent(rate));
            canvas.diamond("paper", frame.scale.at(rate), Frame::middle(y), &tooltip);
        }
    }
    canvas.finish(
        id,
        "Filter-cache hit rate",
        "For every kernel the fraction of the fetches that the filter cache served, and the paper's value.",
        [WIDTH, frame.height(block.comparisons.len())],
    )
}
