//! The columns of the comparison table, for every rendering that people read.

use std::collections::BTreeSet;

use super::board;
use super::compare::{Change, Comparison};
use super::format::{self, NONE};
use super::model::Block;
use super::paper::{Paper, PaperFigure};
use super::protection;
use super::text::Column;

/// The figures of every comparison that the block can show: columns without any value are left out.
pub fn figures(block: &Block) -> Vec<Column> {
    let fixed = ALL.iter().map(|figure| Column {
        heading: figure
            .heading
            .iter()
            .map(|line| (*line).to_owned())
            .collect(),
        meaning: figure.meaning.to_owned(),
        cells: block.comparisons.iter().map(figure.text).collect(),
    });
    let columns = fixed.chain(groups(block));
    columns
        .filter(|column| column.cells.iter().any(|cell| cell != NONE))
        .collect()
}

/// The change of dynamic energy of each group of structures that the technique changes.
fn groups(block: &Block) -> Vec<Column> {
    let comparisons = || block.comparisons.iter();
    let changed = |change: &Change| change.without_j.to_bits() != change.with_j.to_bits();
    let groups = comparisons().flat_map(|c| c.groups.iter().filter(|(_, change)| changed(change)));
    let names: BTreeSet<&str> = groups.map(|(name, _)| &**name).collect();
    let column = |name: &str| {
        let words = name.replace('_', " ");
        let change = |c: &Comparison| c.groups.get(name).and_then(|group| group.relative);
        Column {
            meaning: format!("change of the dynamic energy of {words}, with its 95 % interval"),
            heading: vec![words, "change".to_owned()],
            cells: comparisons().map(|c| format::estimate(change(c))).collect(),
        }
    };
    names.into_iter().map(column).collect()
}

/// The figures of the paper that the study asks for, those without any value left out.
pub fn beside(block: &Block, paper: &dyn Paper) -> Vec<Column> {
    let shown = paper.figures().iter();
    let shown = shown.filter(|figure| !figure.heading.is_empty());
    let column = |figure: &PaperFigure| Column {
        heading: figure
            .heading
            .iter()
            .map(|line| (*line).to_owned())
            .collect(),
        meaning: figure.meaning.to_owned(),
        cells: block
            .comparisons
            .iter()
            .map(|c| figure.text(c.beside.as_ref()))
            .collect(),
    };
    let columns = shown.map(column);
    columns
        .filter(|column| column.cells.iter().any(|cell| cell != NONE))
        .collect()
}

/// What the techniques report beyond energy, except for failures and watts of a board, which have tables of their own.
pub fn metrics(block: &Block) -> Vec<Column> {
    let mut names: Vec<(&str, &str)> = Vec::new();
    for metric in block.comparisons.iter().flat_map(|c| c.metrics.iter()) {
        let name = (metric.name.as_str(), metric.unit.as_str());
        if !protection::shows(name.0) && !board::shows(name.0) && !names.contains(&name) {
            names.push(name);
        }
    }
    names
        .into_iter()
        .map(|(name, unit)| metric(block, name, unit))
        .collect()
}

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
        heading: &["energy", "change"],
        meaning: "change of dynamic and leakage energy, with its 95 % interval",
        text: |c| format::estimate(c.total.relative),
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
