//! Budget and Pareto fronts on the page.

use std::borrow::Cow;

use serde::Serialize;

use super::view::{Chart, Grid, named_grid};
use crate::chart;
use crate::goals::PointTable;
use crate::model::Report;
use crate::pareto::{Front, Fronts};

/// A table of points.
#[derive(Serialize)]
pub struct PointsView {
    heading: String,
    table: Grid,
    left_out: usize,
}

/// The front of a kernel: pictures and table.
#[derive(Serialize)]
pub struct FrontView {
    charts: Vec<Chart>,
    points: PointsView,
}

impl PointsView {
    /// A table as the page has it.
    pub fn of(table: PointTable) -> Self {
        Self {
            table: named_grid(&table.names, &table.columns),
            heading: table.heading,
            left_out: table.left_out,
        }
    }
}

/// Every front: the first metric against each of the others.
pub fn fronts(report: &Report) -> Vec<FrontView> {
    let Some(fronts) = &report.pareto else {
        return Vec::new();
    };
    let tables = report.pareto_tables().into_iter();
    let views = fronts.fronts.iter().enumerate().zip(tables);
    let view = |(front, table)| FrontView {
        charts: charts_of(report, fronts, front),
        points: PointsView::of(table),
    };
    views.map(view).collect()
}

/// The pictures of a front, which has a number in its page.
pub(super) fn charts_of(
    report: &Report,
    fronts: &Fronts,
    (number, front): (usize, &Front),
) -> Vec<Chart> {
    let others = 1..fronts.metrics.len();
    let drawn = others.filter(|_| !front.candidates.is_empty());
    let charts = drawn.map(|second| Chart {
        heading: Cow::Owned(format!(
            "{}: {} against {}",
            front.kernel.name,
            fronts.metrics[second].name(),
            fronts.metrics[0].name()
        )),
        caption: Cow::Borrowed("A point is a GPU with or without a technique at one technology; with two metrics a line leads along the front. Whiskers: 95 % interval of the circuit models' error against the point that is best in the first metric, errors that both share cancelled."),
        svg: chart::front(report, fronts, front, second, &format!("pareto-{}-{second}", number + 1)),
    });
    charts.collect()
}
