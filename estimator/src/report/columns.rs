//! The columns of the comparison table, for every rendering that people read.

use super::compare::Comparison;
use super::format::{self, NONE};

/// A column: its heading in lines, what it means, and its text for one comparison.
pub struct Column {
    /// The lines of the heading, unit last.
    pub heading: &'static [&'static str],
    /// What the figure is.
    pub meaning: &'static str,
    /// The figure.
    pub text: fn(&Comparison) -> String,
}

/// Every column but the kernel's name.
pub const ALL: &[Column] = &[
    Column {
        heading: &["fetches"],
        meaning: "warp instructions fetched by the baseline",
        text: |c| format::count(c.fetches),
    },
    Column {
        heading: &["FC hits"],
        meaning: "fetches that the filter cache served",
        text: |c| or_none(c.hit_rate.map(format::percent)),
    },
    Column {
        heading: &["paper"],
        meaning: "the same in the paper, on its own inputs",
        text: |c| {
            or_none(
                c.paper
                    .as_ref()
                    .map(|paper| format::percent(paper.hit_rate)),
            )
        },
    },
    Column {
        heading: &["I-cache", "nJ"],
        meaning: "dynamic energy of the I-cache without the technique, fills included",
        text: |c| format::nanojoules(c.icache.without_j),
    },
    Column {
        heading: &["with", "nJ"],
        meaning: "the same with the technique, its own structures included",
        text: |c| format::nanojoules(c.icache.with_j),
    },
    Column {
        heading: &["I-cache", "change"],
        meaning: "change of that energy, counted structure by structure, with its 95 % interval",
        text: |c| format::estimate(c.icache.relative),
    },
    Column {
        heading: &["Table 4", "sum"],
        meaning: "the same change under the sum that the paper's Table 4 implies: a hit costs tag + 2 data, a miss I-cache + 2 tag",
        text: |c| {
            or_none(
                c.implied
                    .map(|implied| format::estimate(implied.icache.relative)),
            )
        },
    },
    Column {
        heading: &["paper"],
        meaning: "the paper's change of I-cache energy",
        text: |c| {
            or_none(
                c.paper
                    .as_ref()
                    .map(|paper| format::change(paper.icache_ratio - 1.0)),
            )
        },
    },
    Column {
        heading: &["front end", "change"],
        meaning: "change of the front end's dynamic energy, with its 95 % interval",
        text: |c| format::estimate(c.front_end.relative),
    },
    Column {
        heading: &["paper"],
        meaning: "the paper's change of front-end energy",
        text: |c| {
            or_none(
                c.paper
                    .as_ref()
                    .map(|paper| format::change(-paper.front_end_saving)),
            )
        },
    },
    Column {
        heading: &["cycles"],
        meaning: "cycles with the technique",
        text: |c| format::count(c.cycles),
    },
    Column {
        heading: &["slower", "by"],
        meaning: "rise of the cycles over the baseline",
        text: |c| format!("{:.2}%", 100.0 * c.slowdown + 0.0),
    },
];

fn or_none(text: Option<String>) -> String {
    text.unwrap_or_else(|| NONE.to_owned())
}
