//! Points of a study by benchmark.

use std::collections::BTreeMap;

use warpwatt_suite::{Benchmark, Paper};

use super::Selection;
use warpwatt_pricing::label;
use warpwatt_pricing::outcome::{Outcome, Point};

/// A point and the one that it is compared with.
#[derive(Clone, Copy)]
pub(super) struct Pair<'o> {
    pub with: &'o Outcome,
    pub without: Option<&'o Outcome>,
}

/// Those that a row is about, in the order of the benchmarks' abbreviations; pairs without the other point are left out where it is `needed`.
pub(super) fn pairs<'o>(
    outcomes: &'o [Outcome],
    paper: Option<&Paper>,
    selection: &Selection,
    needed: bool,
) -> Vec<Pair<'o>> {
    let (with, without) = (
        by_benchmark(outcomes, paper, selection, &selection.technique),
        by_benchmark(outcomes, paper, selection, &selection.against),
    );
    let pairs = with.into_iter().map(|(benchmark, with)| Pair {
        with,
        without: without.get(benchmark).copied(),
    });
    pairs
        .filter(|pair| !needed || pair.without.is_some())
        .collect()
}

fn by_benchmark<'o>(
    outcomes: &'o [Outcome],
    paper: Option<&Paper>,
    selection: &Selection,
    technique: &str,
) -> BTreeMap<&'o str, &'o Outcome> {
    let kernels = &selection.kernels;
    let asked =
        |row: &&Benchmark| kernels.is_empty() || kernels.iter().any(|kernel| row.is_called(kernel));
    let of_row = outcomes.iter().filter(|outcome| {
        label::same(&outcome.point.technique, technique) && fits(&outcome.point, selection)
    });
    let Some(paper) = paper else {
        let name = |outcome: &'o Outcome| outcome.point.kernel.name.as_str();
        let own = of_row.map(|outcome| (name(outcome), outcome));
        return own
            .filter(|(name, _)| kernels.is_empty() || kernels.iter().any(|kernel| kernel == name))
            .collect();
    };
    of_row
        .flat_map(|outcome| {
            let rows = benchmarks(paper, &outcome.point).into_iter().filter(asked);
            let rows = rows.map(move |row| (row.abbreviation, outcome));
            let name = outcome.point.kernel.name.as_str();
            let itself = kernels.iter().any(|kernel| kernel == name);
            rows.chain(itself.then_some((name, outcome)))
        })
        .collect()
}

/// Whether GPU, node and swept settings are those that are asked for.
fn fits(point: &Point, selection: &Selection) -> bool {
    let is = |asked: &Option<String>, found: &str| asked.as_deref().is_none_or(|it| it == found);
    is(&selection.gpu, &point.gpu)
        && is(&selection.node, &point.technology.node)
        && selection
            .axes
            .iter()
            .all(|(name, value)| point.axes.get(name) == Some(value))
}

/// The benchmarks that a point's kernel stands for in this case; in a case that no benchmark has, those that it stands for in any.
fn benchmarks(paper: &Paper, point: &Point) -> Vec<&'static Benchmark> {
    let (name, case) = (point.kernel.name.as_str(), point.kernel.case.as_str());
    let mut rows: Vec<&Benchmark> = paper.benchmarks.iter().collect();
    rows.retain(|row| row.stands.is_some_and(|(kernel, _)| kernel == name));
    if rows.iter().any(|row| row.stands == Some((name, case))) {
        rows.retain(|row| row.stands == Some((name, case)));
    }
    rows
}
