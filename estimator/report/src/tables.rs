//! The tables of a report: one row a point, one row a comparison, one row a configuration. SI units, the unit in the column's name.

use std::collections::BTreeMap;

use warpwatt_board::reported::names;

use super::answer::{Answer, COLUMNS, Value};
use super::board;
use super::compare::Comparison;
use super::estimate::Estimate;
use super::metric::{Def, POINT, VERSUS};
use super::model::Report;
use super::operating;
use super::paper::{Beside, PaperFigure};
use super::parameters::Parameters;
use super::protection::Protected;
use super::sheet::{Cell, Kind, Sheet, SheetColumn};
use super::stacked::StackedPoint;
use crate::outcome::{Outcome, Point, TechnologyName};

/// A table of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// One row a point: its metrics.
    Points,
    /// One row a comparison of a technique with its baseline: its metrics, and what the paper that the study asks for puts beside it.
    Comparisons,
    /// One row a point that was run at one of several supplies, or at the temperature of its own heat.
    Operating,
    /// One row a configuration and technology: the answer. Kernels are counted, as in the other tables of means.
    Answer,
    /// One row a stack whose members are among the points too.
    Stacks,
    /// One row a judged point: whether it is inside the budget, what binds, and each bounded metric with its margin.
    Budget,
    /// One row a point: its values of the metrics, and whether it is on its kernel's front; nothing if it lacks a value.
    Pareto,
    /// One row a configuration, GPU variant and technology whose needed bits were followed: means over kernels.
    Protection,
    /// One row a point of a study that names a graphics board: what the board draws, and what for.
    Board,
    /// One row a figure that is uncertain.
    Uncertainty,
}

impl Table {
    /// Every table in the order in which they are written.
    pub const ALL: [Self; 10] = [
        Self::Points,
        Self::Comparisons,
        Self::Operating,
        Self::Answer,
        Self::Stacks,
        Self::Budget,
        Self::Pareto,
        Self::Protection,
        Self::Board,
        Self::Uncertainty,
    ];

    /// Its name, that of its files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Points => "points",
            Self::Comparisons => "comparisons",
            Self::Operating => "operating",
            Self::Answer => "answer",
            Self::Stacks => "stacks",
            Self::Budget => "budget",
            Self::Pareto => "pareto",
            Self::Protection => "protection",
            Self::Board => "board",
            Self::Uncertainty => "uncertainty",
        }
    }
}

/// The columns that name a point.
const POINT_NAME: [(&str, Kind); 11] = [
    ("kernel", Kind::Text),
    ("case", Kind::Text),
    ("gpu", Kind::Text),
    ("axes", Kind::Text),
    ("library", Kind::Text),
    ("node", Kind::Text),
    ("flavour", Kind::Text),
    ("profile", Kind::Text),
    ("temperature_k", Kind::Real),
    ("vdd_v", Kind::Real),
    ("technique", Kind::Text),
];

type Figure<T> = (&'static str, fn(&T) -> Option<f64>);

/// The figures of a stack beside its members alone: relative changes against the baseline.
const STACKED: [Figure<StackedPoint>; 14] = [
    ("energy_sum", |s| Some(s.energy.sum)),
    ("energy_product", |s| Some(s.energy.product)),
    ("energy_stacked", |s| Some(s.energy.stack)),
    ("energy_excess", |s| Some(s.energy.excess.value)),
    ("energy_excess_halfwidth", |s| {
        Some(s.energy.excess.half_width())
    }),
    ("dynamic_sum", |s| Some(s.dynamic.sum)),
    ("dynamic_stacked", |s| Some(s.dynamic.stack)),
    ("leakage_sum", |s| Some(s.leakage.sum)),
    ("leakage_stacked", |s| Some(s.leakage.stack)),
    ("cycles_sum", |s| Some(s.cycles.sum)),
    ("cycles_product", |s| Some(s.cycles.product)),
    ("cycles_stacked", |s| Some(s.cycles.stack)),
    ("area_sum", |s| Some(s.area.sum)),
    ("area_stacked", |s| Some(s.area.stack)),
];

/// The figures of a protection.
const PROTECTED: [Figure<Protected>; 11] = [
    ("fit_sdc", |p| Some(p.fit_sdc)),
    ("fit_due", |p| Some(p.fit_due)),
    ("coverage", |p| Some(p.coverage)),
    ("sdc_left", |p| Some(p.sdc_left)),
    ("sdc_left_a_run", |p| Some(p.sdc_left_a_run)),
    ("failures_left", |p| Some(p.failures_left)),
    ("energy_change", |p| Some(p.energy)),
    ("power_change", |p| Some(p.power)),
    ("area_change", |p| Some(p.area)),
    ("slowdown", |p| Some(p.slowdown)),
    ("power_over_reduction", |p| p.power_over_reduction),
];

impl Report {
    /// A table; `None` where the report has no such rows to show. Points and comparisons are always there.
    pub fn sheet(&self, table: Table) -> Option<Sheet> {
        match table {
            Table::Points => Some(self.points_sheet()),
            Table::Comparisons => Some(self.comparisons_sheet()),
            Table::Operating => self.operating_sheet(),
            Table::Answer => {
                let answer = || answer_sheet(&self.answer(), &self.parameters);
                (!self.blocks.is_empty()).then(answer)
            }
            Table::Stacks => (!self.stacks.is_empty()).then(|| self.stacks_sheet()),
            Table::Budget => self.budget_sheet(),
            Table::Pareto => self.pareto_sheet(),
            Table::Protection => (!self.protection.is_empty()).then(|| self.protection_sheet()),
            Table::Board => self.board_sheet(),
            Table::Uncertainty => self.uncertainty_sheet(),
        }
    }

    /// A table of points: what names them, then `columns`, then what the study chose.
    fn named<'p>(
        &self,
        columns: Vec<SheetColumn>,
        rows: impl Iterator<Item = (&'p Point, Vec<Cell>)>,
    ) -> Sheet {
        let names = POINT_NAME.map(|(name, kind)| SheetColumn::new(name, kind));
        let parameters = self.parameters.columns().iter().cloned();
        let width = POINT_NAME.len() + columns.len() + self.parameters.columns().len();
        let rows = rows.map(|(point, cells)| {
            let mut row = Vec::with_capacity(width);
            row.extend(name(point));
            row.extend(cells);
            row.extend(self.parameters.of_point(point));
            row
        });
        Sheet {
            columns: names.into_iter().chain(columns).chain(parameters).collect(),
            rows: rows.collect(),
        }
    }

    fn points_sheet(&self) -> Sheet {
        let peaks = self.points.iter().any(|outcome| outcome.peak.is_some());
        let mut columns = of_metrics(POINT);
        columns.extend(peaks.then(|| real("peak_power_w")));
        let row = |outcome: &Outcome| {
            let mut row = cells(POINT, outcome);
            row.extend(peaks.then(|| outcome.peak_power_w().into()));
            row
        };
        let rows = self.points.iter();
        self.named(columns, rows.map(|outcome| (&outcome.point, row(outcome))))
    }

    fn comparisons_sheet(&self) -> Sheet {
        let figures = self.paper.as_ref().map(|paper| paper.figures());
        let mut columns = of_metrics(VERSUS);
        if let Some(figures) = figures {
            columns.push(SheetColumn::new("paper_row", Kind::Text));
            for figure in figures {
                columns.push(real(figure.key));
                columns.extend(figure.half_width_key().map(real));
            }
        }
        let comparisons = self.blocks.iter().flat_map(|block| &block.comparisons);
        let row = |c: &Comparison| {
            let mut row = cells(VERSUS, c);
            let papers = figures.into_iter();
            row.extend(papers.flat_map(|figures| beside(figures, c.beside.as_ref())));
            row
        };
        self.named(columns, comparisons.map(|c| (&c.point, row(c))))
    }

    fn budget_sheet(&self) -> Option<Sheet> {
        let budget = self.budget.as_ref()?;
        let drawn = self.uncertainty.is_some();
        let mut columns = vec![
            SheetColumn::new("inside", Kind::Mark),
            SheetColumn::new("binding", Kind::Text),
        ];
        columns.extend(drawn.then(|| real("inside_chance")));
        for (number, limit) in budget.limits.iter().enumerate() {
            // A metric with two bounds has its value and margin twice.
            let earlier = budget.limits[..number].iter();
            let again = earlier.filter(|other| other.metric == limit.metric).count();
            let suffix = if again > 0 {
                format!("_{}", again + 1)
            } else {
                String::new()
            };
            columns.push(real(format!("{}{suffix}", limit.metric)));
            columns.push(real(format!("{}{suffix}_margin", limit.metric)));
        }
        let judged = self.points.iter().zip(&budget.points);
        let rows = judged.filter_map(|(outcome, verdict)| {
            let verdict = verdict.as_ref()?;
            let binding = budget.limits[verdict.binding].metric.as_str();
            let mut row = vec![verdict.inside.into(), binding.into()];
            row.extend(drawn.then(|| verdict.chance.into()));
            for margin in &verdict.margins {
                row.push(margin.and_then(|margin| margin.value).into());
                row.push(margin.and_then(|margin| margin.margin).into());
            }
            Some((&outcome.point, row))
        });
        Some(self.named(columns, rows))
    }

    fn pareto_sheet(&self) -> Option<Sheet> {
        let fronts = self.pareto.as_ref()?;
        let drawn = !fronts.chances.is_empty();
        let mut columns: Vec<SheetColumn> = fronts
            .metrics
            .iter()
            .map(|metric| real(metric.name()))
            .collect();
        columns.push(SheetColumn::new("front", Kind::Mark));
        columns.extend(drawn.then(|| real("front_chance")));
        let rows = self.points.iter().enumerate().map(|(number, outcome)| {
            let comparison = self.comparison(number);
            let values = fronts.metrics.iter();
            let values = values.map(|metric| metric.value(outcome, comparison).into());
            let mut row: Vec<Cell> = values.collect();
            row.push(fronts.holds(number).into());
            row.extend(drawn.then(|| fronts.chances[number].into()));
            (&outcome.point, row)
        });
        Some(self.named(columns, rows))
    }

    fn stacks_sheet(&self) -> Sheet {
        let points = self.stacks.iter().flat_map(|stacked| &stacked.points);
        let row = |s: &StackedPoint| STACKED.iter().map(|figure| (figure.1)(s).into()).collect();
        let columns = STACKED.iter().map(|figure| real(figure.0)).collect();
        self.named(columns, points.map(|s| (&s.point, row(s))))
    }

    fn protection_sheet(&self) -> Sheet {
        // A point's name but its kernel, which the means are over.
        let names = POINT_NAME[2..].iter();
        let mut columns: Vec<SheetColumn> = names
            .map(|(name, kind)| SheetColumn::new(*name, *kind))
            .collect();
        columns.push(SheetColumn::new("kernels", Kind::Count));
        columns.extend(PROTECTED.iter().map(|figure| real(figure.0)));
        columns.push(SheetColumn::new("pareto_front", Kind::Mark));
        columns.extend(self.parameters.columns().iter().cloned());
        let mut rows = Vec::new();
        for table in &self.protection {
            let gpu = gpu_name(&table.gpu, &table.axes, &table.technology);
            for row in &table.rows {
                let mut cells = gpu.to_vec();
                cells.push(row.technique.as_str().into());
                cells.push(Cell::Count(row.kernels as u64));
                cells.extend(PROTECTED.iter().map(|figure| (figure.1)(row).into()));
                cells.push(row.on_front.into());
                let chosen = &self.parameters;
                cells.extend(chosen.cells(&table.axes, &table.technology, &row.technique));
                rows.push(cells);
            }
        }
        Sheet { columns, rows }
    }

    fn board_sheet(&self) -> Option<Sheet> {
        let drawn: Vec<(&Point, Vec<Cell>)> = self
            .points
            .iter()
            .filter_map(|point| {
                let drawn = board::reported(point)?;
                Some((&point.point, drawn.watts().map(Cell::from).collect()))
            })
            .collect();
        let columns = names().map(|(name, _)| SheetColumn::new(name, Kind::Real));
        (!drawn.is_empty()).then(|| self.named(columns.collect(), drawn.into_iter()))
    }

    fn operating_sheet(&self) -> Option<Sheet> {
        let tables = operating::tables(&self.points);
        if tables.is_empty() {
            return None;
        }
        let mut columns: Vec<SheetColumn> = operating::keys().map(real).collect();
        columns.push(SheetColumn::new("rest", Kind::Text));
        let points = tables.iter().flat_map(|table| &table.points);
        let row = |point: &Outcome| {
            let (values, rest) = operating::values(point);
            let mut row: Vec<Cell> = values.into_iter().map(Cell::from).collect();
            row.push(rest.into());
            row
        };
        Some(self.named(columns, points.map(|point| (&point.point, row(point)))))
    }

    fn uncertainty_sheet(&self) -> Option<Sheet> {
        let all = self.uncertainty.as_ref()?;
        let mut columns = vec![SheetColumn::new("point", Kind::Count)];
        columns
            .extend(["selector", "metric", "unit"].map(|name| SheetColumn::new(name, Kind::Text)));
        columns.extend(["value", "low", "median", "high", "sigma"].map(real));
        columns.push(SheetColumn::new("inside_own_error", Kind::Mark));
        let rows = all.figures.iter().map(|spread| {
            let selector = crate::select::name(&self.points[spread.point - 1].point);
            let mut row = vec![
                Cell::Count(spread.point as u64),
                selector.into(),
                spread.metric.as_str().into(),
                spread.unit.as_str().into(),
            ];
            let values = [
                spread.value,
                spread.low,
                spread.median,
                spread.high,
                spread.sigma,
            ];
            row.extend(values.map(Cell::from));
            row.push(spread.inside_own_error.into());
            row
        });
        Some(Sheet {
            columns,
            rows: rows.collect(),
        })
    }
}

/// The answer. A technique's headline figures are one field.
pub fn answer_sheet(answer: &[Answer], parameters: &Parameters) -> Sheet {
    let columns = COLUMNS
        .iter()
        .map(|column| SheetColumn::new(column.key, column.kind));
    let rows = answer.iter().map(|row| {
        let cells = COLUMNS
            .iter()
            .map(|column| (column.value)(row).map_or(Cell::Nothing, Value::cell));
        let chosen = parameters.columns().iter();
        let chosen = chosen.map(|column| row.parameters[&column.name].clone());
        cells.chain(chosen).collect()
    });
    Sheet {
        rows: rows.collect(),
        columns: columns
            .chain(parameters.columns().iter().cloned())
            .collect(),
    }
}

fn real(name: impl Into<String>) -> SheetColumn {
    SheetColumn::new(name, Kind::Real)
}

/// A paper's row and figures; nothing where there is none.
fn beside(figures: &[PaperFigure], beside: Option<&Beside>) -> Vec<Cell> {
    let row = beside.and_then(|beside| beside.row.clone());
    let mut cells = vec![row.unwrap_or_default().into()];
    for figure in figures {
        let value = beside.and_then(|beside| beside.get(figure.key));
        cells.push(value.map(|value| value.value).into());
        if figure.half_width_key().is_some() {
            cells.push(value.map(|value: Estimate| value.half_width()).into());
        }
    }
    cells
}

fn of_metrics<T>(metrics: &[Def<T>]) -> Vec<SheetColumn> {
    let kind = |def: &Def<T>| {
        if def.is_count() {
            Kind::Count
        } else {
            Kind::Real
        }
    };
    let columns = metrics.iter();
    columns
        .map(|def| SheetColumn::new(def.name, kind(def)))
        .collect()
}

/// The values of metrics; nothing where there is none.
fn cells<T>(metrics: &[Def<T>], subject: &T) -> Vec<Cell> {
    let cell = |def: &Def<T>| {
        let value = (def.value)(subject);
        if def.is_count() {
            Cell::count(value)
        } else {
            value.into()
        }
    };
    metrics.iter().map(cell).collect()
}

fn axes(axes: &BTreeMap<String, String>) -> String {
    let each = axes.iter().map(|(key, value)| format!("{key}={value}"));
    each.collect::<Vec<_>>().join(" ")
}

fn name(point: &Point) -> Vec<Cell> {
    let mut name: Vec<Cell> = vec![
        point.kernel.name.as_str().into(),
        point.kernel.case.as_str().into(),
    ];
    name.extend(gpu_name(&point.gpu, &point.axes, &point.technology));
    name.push((&point.technique).into());
    name
}

/// A GPU with its settings, technology and operating point, as points and their means are named.
fn gpu_name(
    gpu: &str,
    settings: &BTreeMap<String, String>,
    technology: &TechnologyName,
) -> [Cell; 8] {
    [
        gpu.into(),
        axes(settings).into(),
        (*technology.library).into(),
        (*technology.node).into(),
        (*technology.flavour).into(),
        (*technology.profile).into(),
        technology.temperature_k.into(),
        technology.vdd_v.into(),
    ]
}
