//! Points against a budget and on a Pareto front, as the tables that people read.

use super::budget::Verdict;
use super::format::{self, NONE};
use super::metric::quantity;
use super::model::Report;
use super::pareto::{Front, Fronts};
use super::text::Column;
use crate::outcome::{KernelName, Outcome, Point, gpu_label};
use crate::peak::Peak;

/// Rows of a table that people read; files have all.
const MOST_ROWS: usize = 200;

/// What is shown of a point with its peak.
type OfPeak = fn(&Outcome, &Peak) -> String;

fn watts(value: f64) -> String {
    quantity::show(value, "W")
}

/// A table of points.
pub struct PointTable {
    /// What it shows, in one line.
    pub heading: String,
    /// The kernels.
    pub names: Vec<String>,
    /// The figures.
    pub columns: Vec<Column>,
    /// How many rows there is no room for.
    pub left_out: usize,
}

impl Report {
    /// The budget in a sentence or two; none if the study has none.
    pub fn budget_words(&self) -> Option<String> {
        let budget = self.budget.as_ref()?;
        let count = budget.count(self);
        let what = if count.with_technique {
            "points with a technique"
        } else {
            "points"
        };
        let within = match count.within_error {
            0 => String::new(),
            some => format!(", {some} of {} within their error", count.judged),
        };
        Some(format!(
            "budget: {} of {} {what} are inside{within} ({})",
            count.inside,
            count.judged,
            budget.bounds().join("; ")
        ))
    }

    /// Every judged point with the bound that binds.
    pub fn budget_table(&self) -> Option<PointTable> {
        let budget = self.budget.as_ref()?;
        let judged = self.points.iter().zip(&budget.points);
        let judged = judged.filter_map(|(point, verdict)| Some((point, verdict.as_ref()?)));
        let all: Vec<(&Outcome, &Verdict)> = judged.collect();
        let shown = &all[..all.len().min(MOST_ROWS)];
        let points: Vec<&Point> = shown.iter().map(|(outcome, _)| &outcome.point).collect();
        let mut columns = context(&points);
        let mark = |(_, verdict): &(&Outcome, &Verdict)| verdict.mark().to_owned();
        let binds = |(_, verdict): &(&Outcome, &Verdict)| budget.words(verdict);
        columns.push(column(
            "budget",
            "inside or outside",
            shown.iter().map(mark),
        ));
        let meaning = "the bound that is the nearest or the most broken, relative to its limit";
        columns.push(column("what binds", meaning, shown.iter().map(binds)));
        Some(PointTable {
            heading: self.budget_words()?,
            names: names(&points),
            columns,
            left_out: all.len() - shown.len(),
        })
    }

    /// The Pareto fronts, a table a kernel, each from its best value of the first metric on.
    pub fn pareto_tables(&self) -> Vec<PointTable> {
        let fronts = self.pareto.iter();
        let tables = fronts.flat_map(|all| all.fronts.iter().map(|front| self.front(all, front)));
        tables.collect()
    }

    /// The window of time that takes the most power, point by point; none if no windows were counted.
    pub fn peak_table(&self) -> Option<PointTable> {
        let points = self.points.iter();
        let all: Vec<(&Outcome, &Peak)> = points
            .filter_map(|point| Some((point, point.peak.as_ref()?)))
            .collect();
        let cycles = all.first()?.1.window_cycles;
        let shown = &all[..all.len().min(MOST_ROWS)];
        let points: Vec<&Point> = shown.iter().map(|(outcome, _)| &outcome.point).collect();
        let mut columns = context(&points);
        let figures: [(&str, &str, OfPeak); 3] = [
            (
                "peak power",
                "of the window that takes the most",
                |outcome, peak| watts(peak.power_w(outcome)),
            ),
            ("mean power", "of the whole run", |outcome, _| {
                watts(outcome.energy_j() / outcome.time_s)
            }),
            ("from cycle", "in which the window begins", |_, peak| {
                format::count(peak.from_cycle)
            }),
        ];
        for (heading, meaning, text) in figures {
            let cells = shown.iter().map(|(outcome, peak)| text(outcome, peak));
            columns.push(column(heading, meaning, cells));
        }
        Some(PointTable {
            heading: format!(
                "Peak power over windows of {} cycles",
                format::count(cycles)
            ),
            names: names(&points),
            columns,
            left_out: all.len() - shown.len(),
        })
    }

    fn front(&self, fronts: &Fronts, front: &Front) -> PointTable {
        let first = |number: usize| {
            let values = fronts.values[number].as_deref().unwrap_or_default();
            fronts.objectives[0].cost(values.first().copied().unwrap_or(f64::INFINITY))
        };
        let mut order = front.points.clone();
        order.sort_by(|&a, &b| first(a).total_cmp(&first(b)));
        let left_out = order.len().saturating_sub(MOST_ROWS);
        order.truncate(MOST_ROWS);
        let points: Vec<&Point> = order.iter().map(|&n| &self.points[n].point).collect();
        let mut columns = context(&points);
        for (place, metric) in fronts.metrics.iter().enumerate() {
            let cell = |&number: &usize| {
                let values = fronts.values[number].as_ref();
                values.map_or(NONE.to_owned(), |v| quantity::show(v[place], metric.unit()))
            };
            columns.push(column(
                metric.name(),
                metric.meaning(),
                order.iter().map(cell),
            ));
        }
        if !fronts.chances.is_empty() {
            let cell = |&number: &usize| {
                let chance = fronts.chances[number];
                chance.map_or(NONE.to_owned(), |chance| quantity::show(chance, "1"))
            };
            let meaning = "the share of the draws in which it is on the front";
            columns.push(column("on the front", meaning, order.iter().map(cell)));
        }
        if let Some(budget) = &self.budget {
            let cell = |&number: &usize| {
                budget
                    .of_point(number)
                    .map_or(NONE, Verdict::mark)
                    .to_owned()
            };
            columns.push(column(
                "budget",
                "inside or outside",
                order.iter().map(cell),
            ));
        }
        let objectives = fronts.objectives.iter();
        let wanted = objectives.map(|objective| {
            let way = if objective.maximise { "most" } else { "least" };
            format!("{way} {}", objective.metric)
        });
        PointTable {
            heading: format!(
                "Pareto front of {}: {} of {} points{} ({})",
                front.kernel.name,
                front.points.len(),
                front.candidates.len(),
                fronts.others(front),
                wanted.collect::<Vec<_>>().join(", ")
            ),
            names: names(&points),
            columns,
            left_out,
        }
    }
}

fn names(points: &[&Point]) -> Vec<String> {
    let kernels: Vec<&KernelName> = points.iter().map(|point| &*point.kernel).collect();
    format::kernels(&kernels)
}

/// What a point is in one respect.
type Text = fn(&Point) -> String;

/// What tells the points apart beside the kernel: GPU, technology, technique, as far as they differ.
fn context(points: &[&Point]) -> Vec<Column> {
    let texts: [(&str, &str, Text); 3] = [
        ("technique", "what is added to the GPU", |p| {
            p.technique.to_string()
        }),
        ("GPU", "preset and swept settings", |p| {
            gpu_label(&p.gpu, &p.axes)
        }),
        ("technology", "node and operating point", |p| {
            p.technology.label()
        }),
    ];
    let columns = texts.map(|(heading, meaning, text)| {
        column(heading, meaning, points.iter().map(|point| text(point)))
    });
    let differ = |column: &Column| column.cells.windows(2).any(|pair| pair[0] != pair[1]);
    let columns = columns.into_iter().enumerate();
    let told = columns.filter(|(place, column)| *place == 0 || differ(column));
    told.map(|(_, column)| column).collect()
}

fn column(heading: &str, meaning: &str, cells: impl Iterator<Item = String>) -> Column {
    Column {
        heading: vec![heading.to_owned()],
        meaning: meaning.to_owned(),
        cells: cells.collect(),
    }
}
