//! CSV: one row a point, one row a comparison. SI units, the unit in the column's name.

use std::collections::BTreeMap;

use super::answer::{COLUMNS, Value};
use super::compare::Comparison;
use super::metric::{Def, PAPER, POINT, VERSUS};
use super::model::Report;
use super::operating;
use super::protection::Protected;
use super::stacked::StackedPoint;
use crate::outcome::{Outcome, Point, TechnologyName};

/// The columns that name a point.
pub(super) const POINT_NAME: [&str; 11] = [
    "kernel",
    "case",
    "gpu",
    "axes",
    "library",
    "node",
    "flavour",
    "profile",
    "temperature_k",
    "vdd_v",
    "technique",
];

/// Those of them that are numbers.
#[cfg(feature = "parquet")]
pub(super) const POINT_NUMBERS: [&str; 2] = ["temperature_k", "vdd_v"];

type Figure<T> = (&'static str, fn(&T) -> String);

/// The figures of a stack beside its members alone: relative changes against the baseline.
const STACKED: [Figure<StackedPoint>; 14] = [
    ("energy_sum", |s| real(s.energy.sum)),
    ("energy_product", |s| real(s.energy.product)),
    ("energy_stacked", |s| real(s.energy.stack)),
    ("energy_excess", |s| real(s.energy.excess.value)),
    ("energy_excess_halfwidth", |s| {
        real(s.energy.excess.half_width())
    }),
    ("dynamic_sum", |s| real(s.dynamic.sum)),
    ("dynamic_stacked", |s| real(s.dynamic.stack)),
    ("leakage_sum", |s| real(s.leakage.sum)),
    ("leakage_stacked", |s| real(s.leakage.stack)),
    ("cycles_sum", |s| real(s.cycles.sum)),
    ("cycles_product", |s| real(s.cycles.product)),
    ("cycles_stacked", |s| real(s.cycles.stack)),
    ("area_sum", |s| real(s.area.sum)),
    ("area_stacked", |s| real(s.area.stack)),
];

impl Report {
    /// One row a point: its metrics.
    pub fn points_csv(&self) -> String {
        let peaks = self.points.iter().any(|outcome| outcome.peak.is_some());
        let columns = POINT.iter().map(|def| def.name);
        let columns = columns.chain(peaks.then_some("peak_power_w"));
        let row = |outcome: &Outcome| {
            let mut row = cells(POINT, outcome);
            row.extend(peaks.then(|| option(outcome.peak_power_w())));
            row
        };
        let rows = self.points.iter();
        write(columns, rows.map(|outcome| (&outcome.point, row(outcome))))
    }

    /// One row a comparison of a technique with its baseline: its metrics, and the row of the filter-cache paper beside which it stands.
    pub fn comparisons_csv(&self) -> String {
        let columns = VERSUS.iter().map(|def| def.name);
        let columns = columns.chain(["paper_row"]);
        let columns = columns.chain(PAPER.iter().map(|def| def.name));
        let comparisons = self.blocks.iter().flat_map(|block| &block.comparisons);
        let row = |c: &Comparison| {
            let mut row = cells(VERSUS, c);
            let paper = c.paper.as_ref();
            row.push(paper.map(|p| p.abbreviation.clone()).unwrap_or_default());
            row.extend(cells(PAPER, c));
            row
        };
        write(columns, comparisons.map(|c| (&c.point, row(c))))
    }

    /// One row a configuration and technology: the answer. Kernels are counted, as in the other tables of means; a technique's headline figures are one field.
    pub fn answer_csv(&self) -> String {
        let mut text = line(COLUMNS.iter().map(|column| column.key.to_owned()));
        for row in self.answer() {
            let cells = COLUMNS.iter().map(|column| match (column.value)(&row) {
                None => String::new(),
                Some(Value::Text(text)) => text,
                Some(Value::Names(names)) => names.len().to_string(),
                Some(Value::Number(number)) => real(number),
                Some(Value::Flag(flag)) => flag.to_string(),
                Some(Value::Named(named)) => {
                    let named = named.into_iter();
                    let named = named.map(|(name, value)| format!("{name}={}", real(value)));
                    named.collect::<Vec<_>>().join(" ")
                }
            });
            text.push_str(&line(cells));
        }
        text
    }

    /// One row a judged point: whether it is inside the budget, what binds, and each bounded metric with its margin. Empty without a budget.
    pub fn budget_csv(&self) -> String {
        let Some(budget) = &self.budget else {
            return String::new();
        };
        let drawn = self.uncertainty.is_some();
        let mut columns = vec!["inside".to_owned(), "binding".to_owned()];
        columns.extend(drawn.then(|| "inside_chance".to_owned()));
        for (number, limit) in budget.limits.iter().enumerate() {
            // A metric with two bounds has its value and margin twice.
            let earlier = budget.limits[..number].iter();
            let again = earlier.filter(|other| other.metric == limit.metric).count();
            let suffix = if again > 0 {
                format!("_{}", again + 1)
            } else {
                String::new()
            };
            columns.push(format!("{}{suffix}", limit.metric));
            columns.push(format!("{}{suffix}_margin", limit.metric));
        }
        let judged = self.points.iter().zip(&budget.points);
        let rows = judged.filter_map(|(outcome, verdict)| {
            let verdict = verdict.as_ref()?;
            let binding = budget.limits[verdict.binding].metric.clone();
            let mut row = vec![verdict.inside.to_string(), binding];
            row.extend(drawn.then(|| option(verdict.chance)));
            for margin in &verdict.margins {
                row.push(option(margin.and_then(|margin| margin.value)));
                row.push(option(margin.and_then(|margin| margin.margin)));
            }
            Some((&outcome.point, row))
        });
        write(columns.into_iter(), rows)
    }

    /// One row a point: its values of the metrics, and whether it is on its kernel's front; nothing if it lacks a value. Empty if no front is asked for.
    pub fn pareto_csv(&self) -> String {
        let Some(fronts) = &self.pareto else {
            return String::new();
        };
        let metrics = fronts.metrics.iter().map(|metric| metric.name().to_owned());
        let drawn = !fronts.chances.is_empty();
        let columns = metrics.chain(["front".to_owned()]);
        let columns = columns.chain(drawn.then(|| "front_chance".to_owned()));
        let rows = self.points.iter().enumerate().map(|(number, outcome)| {
            let comparison = self.comparison(number);
            let values = fronts.metrics.iter();
            let values = values.map(|metric| option(metric.value(outcome, comparison)));
            let front = fronts.holds(number).map(|holds| holds.to_string());
            let chance = drawn.then(|| option(fronts.chances[number]));
            let row = values.chain([front.unwrap_or_default()]).chain(chance);
            (&outcome.point, row.collect())
        });
        write(columns, rows)
    }

    /// One row a stack whose members are among the points too.
    pub fn stacks_csv(&self) -> String {
        let columns = STACKED.iter().map(|figure| figure.0);
        let points = self.stacks.iter().flat_map(|stacked| &stacked.points);
        let row = |s: &StackedPoint| STACKED.iter().map(|figure| (figure.1)(s)).collect();
        write(columns, points.map(|s| (&s.point, row(s))))
    }

    /// One row a configuration, GPU variant and technology whose needed bits were followed: means over kernels.
    pub fn protection_csv(&self) -> String {
        // A point's name but its kernel, which the means are over.
        let columns = POINT_NAME[2..].iter().copied().chain(["kernels"]);
        let columns = columns.chain(PROTECTED.iter().map(|figure| figure.0));
        let mut text = line(columns.chain(["pareto_front"]).map(str::to_owned));
        for table in &self.protection {
            let gpu = gpu_name(&table.gpu, &table.axes, &table.technology);
            for row in &table.rows {
                let named = gpu.iter().cloned();
                let named = named.chain([row.technique.clone(), row.kernels.to_string()]);
                let figures = PROTECTED.iter().map(|figure| (figure.1)(row));
                let front = [row.on_front.to_string()];
                text.push_str(&line(named.chain(figures).chain(front)));
            }
        }
        text
    }
}

impl Report {
    /// One row a point that was run at one of several supplies, or at the temperature of its own heat; nothing if none was.
    pub fn operating_csv(&self) -> Option<String> {
        let tables = operating::tables(&self.points);
        if tables.is_empty() {
            return None;
        }
        let points = tables.iter().flat_map(|table| &table.points);
        let row = |point: &Outcome| {
            let (values, rest) = operating::csv_values(point);
            let mut row: Vec<String> = values.into_iter().map(option).collect();
            row.push(rest.to_owned());
            row
        };
        Some(write(
            operating::csv_columns(),
            points.map(|point| (&point.point, row(point))),
        ))
    }
}
/// The figures of a protection.
const PROTECTED: [Figure<Protected>; 11] = [
    ("fit_sdc", |p| real(p.fit_sdc)),
    ("fit_due", |p| real(p.fit_due)),
    ("coverage", |p| real(p.coverage)),
    ("sdc_left", |p| real(p.sdc_left)),
    ("sdc_left_a_run", |p| real(p.sdc_left_a_run)),
    ("failures_left", |p| real(p.failures_left)),
    ("energy_change", |p| real(p.energy)),
    ("power_change", |p| real(p.power)),
    ("area_change", |p| real(p.area)),
    ("slowdown", |p| real(p.slowdown)),
    ("power_over_reduction", |p| {
        p.power_over_reduction.map_or_else(String::new, real)
    }),
];

/// The values of metrics; nothing where there is none.
fn cells<T>(metrics: &[Def<T>], subject: &T) -> Vec<String> {
    let cell = |def: &Def<T>| match (def.value)(subject) {
        Some(value) if def.is_count() => format!("{value:.0}"),
        value => option(value),
    };
    metrics.iter().map(cell).collect()
}

fn write<'a>(
    columns: impl Iterator<Item = impl Into<String>>,
    rows: impl Iterator<Item = (&'a Point, Vec<String>)>,
) -> String {
    let names = POINT_NAME.into_iter().map(str::to_owned);
    let mut text = line(names.chain(columns.map(Into::into)));
    for (point, row) in rows {
        text.push_str(&line(name(point).into_iter().chain(row)));
    }
    text
}

/// One record, quoted where needed. Writing to memory cannot fail, so a failure leaves the line empty rather than the program dead.
fn line(fields: impl Iterator<Item = String>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let written = writer.write_record(fields);
    let bytes = written.ok().and_then(|()| writer.into_inner().ok());
    String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default()
}

fn axes(axes: &BTreeMap<String, String>) -> String {
    let each = axes.iter().map(|(key, value)| format!("{key}={value}"));
    each.collect::<Vec<_>>().join(" ")
}

fn name(point: &Point) -> Vec<String> {
    let kernel = [point.kernel.name.clone(), point.kernel.case.clone()];
    let mut name = kernel.to_vec();
    name.extend(gpu_name(&point.gpu, &point.axes, &point.technology));
    name.push(point.technique.clone());
    name
}

/// A GPU with its settings, technology and operating point, as points and their means are named.
fn gpu_name(
    gpu: &str,
    settings: &BTreeMap<String, String>,
    technology: &TechnologyName,
) -> [String; 8] {
    [
        gpu.to_owned(),
        axes(settings),
        technology.library.clone(),
        technology.node.clone(),
        technology.flavour.clone(),
        technology.profile.clone(),
        real(technology.temperature_k),
        real(technology.vdd_v),
    ]
}

/// The shortest text that reads back to the same number.
fn real(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e6).contains(&value.abs()) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

fn option(value: Option<f64>) -> String {
    value.map(real).unwrap_or_default()
}
