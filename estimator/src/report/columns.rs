//! The columns of the comparison table, for every rendering that people read.

use super::compare::Comparison;
use super::format::{self, NONE};
use super::model::Block;
use super::protection;

/// A column: its heading in lines, what it means, and its cells, one a comparison of the block.
pub struct Column {
    /// The lines of the heading, unit last.
    pub heading: Vec<String>,
    /// What the figures are.
    pub meaning: String,
    /// The figures.
    pub cells: Vec<String>,
}

/// The figures of every comparison that the block can show: columns without any value are left out.
pub fn figures(block: &Block) -> Vec<Column> {
    ALL.iter()
        .map(|figure| Column {
            heading: figure
                .heading
                .iter()
                .map(|line| (*line).to_owned())
                .collect(),
            meaning: figure.meaning.to_owned(),
            cells: block.comparisons.iter().map(figure.text).collect(),
        })
        .filter(|column| column.cells.iter().any(|cell| cell != NONE))
        .collect()
}

/// What the techniques report beyond energy, except for the hit rate, which is among the figures, and for failures, which have tables of their own.
pub fn metrics(block: &Block) -> Vec<Column> {
    let mut names: Vec<(&str, &str)> = Vec::new();
    for metric in block.comparisons.iter().flat_map(|c| &c.metrics) {
        let name = (metric.name.as_str(), metric.unit.as_str());
        if metric.name != HIT_RATE && !protection::shows(name.0) && !names.contains(&name) {
            names.push(name);
        }
    }
    names
        .into_iter()
        .map(|(name, unit)| metric(block, name, unit))
        .collect()
}

const HIT_RATE: &str = "filter_cache.hit_rate";

fn metric(block: &Block, name: &str, unit: &str) -> Column {
    let short = name.split_once('.').map_or(name, |(_, short)| short);
    let cell = |comparison: &Comparison| {
        let found = comparison.metrics.iter().find(|metric| metric.name == name);
        or_none(found.map(|metric| match unit {
            "1" => format::percent(metric.value),
            _ => format!("{} {unit}", format::number(metric.value)),
        }))
    };
    Column {
        heading: short
            .split('.')
            .map(|word| word.replace('_', " "))
            .collect(),
        meaning: name.to_owned(),
        cells: block.comparisons.iter().map(cell).collect(),
    }
}

/// A figure of a comparison.
struct Figure {
    heading: &'static [&'static str],
    meaning: &'static str,
    text: fn(&Comparison) -> String,
}

/// Every figure in its place.
const ALL: &[Figure] = &[
    Figure {
        heading: &["fetches"],
        meaning: "warp instructions fetched by the baseline",
        text: |c| format::count(c.fetches),
    },
    Figure {
        heading: &["FC hits"],
        meaning: "fetches that the filter cache served",
        text: |c| or_none(c.hit_rate.map(format::percent)),
    },
    Figure {
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
    Figure {
        heading: &["I-cache", "nJ"],
        meaning: "dynamic energy of the I-cache without the technique, fills included",
        text: |c| format::nanojoules(c.icache.without_j),
    },
    Figure {
        heading: &["with", "nJ"],
        meaning: "the same with the technique, its own structures included",
        text: |c| format::nanojoules(c.icache.with_j),
    },
    Figure {
        heading: &["I-cache", "change"],
        meaning: "change of that energy, counted structure by structure, with its 95 % interval",
        text: |c| format::estimate(c.icache.relative),
    },
    Figure {
        heading: &["Table 4", "sum"],
        meaning: "the same change under the sum that the paper's Table 4 implies: a hit costs tag + 2 data, a miss I-cache + 2 tag",
        text: |c| {
            or_none(
                c.implied
                    .map(|implied| format::estimate(implied.icache.relative)),
            )
        },
    },
    Figure {
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
    Figure {
        heading: &["front end", "change"],
        meaning: "change of the front end's dynamic energy, with its 95 % interval",
        text: |c| format::estimate(c.front_end.relative),
    },
    Figure {
        heading: &["Table 4", "sum"],
        meaning: "the same change with the I-cache part under the sum that Table 4 implies",
        text: |c| {
            or_none(
                c.implied
                    .map(|implied| format::estimate(implied.front_end.relative)),
            )
        },
    },
    Figure {
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
    Figure {
        heading: &["cycles"],
        meaning: "cycles with the technique",
        text: |c| format::count(c.cycles),
    },
    Figure {
        heading: &["slower", "by"],
        meaning: "rise of the cycles over the baseline",
        text: |c| format!("{:.2}%", 100.0 * c.slowdown + 0.0),
    },
];

fn or_none(text: Option<String>) -> String {
    text.unwrap_or_else(|| NONE.to_owned())
}
