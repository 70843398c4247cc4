//! Protections beside each other: what they leave of failures, and what they cost.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::compare::Comparison;
use super::format;
use super::model::Block;
use super::pareto::non_dominated;
use super::text::Column;
use crate::outcome::{BASELINE, Metric, Outcome, TechnologyName, gpu_label};
use crate::reliability;

/// All configurations of one GPU variant and technology whose needed bits were followed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Protections {
    /// The GPU preset.
    pub gpu: Arc<str>,
    /// Its swept settings.
    pub axes: Arc<BTreeMap<String, String>>,
    /// Technology and operating point.
    pub technology: TechnologyName,
    /// The plain GPU, and then each technique in the order of the study; means over the kernels.
    pub rows: Vec<Protected>,
}

/// A configuration: means over kernels. Changes are against the plain GPU, negative where there is less.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Protected {
    /// The techniques.
    pub technique: String,
    /// Kernels that the means are over.
    pub kernels: usize,
    /// Failures that nobody notices, in 10⁹ hours.
    pub fit_sdc: f64,
    /// Failures that are detected and not corrected.
    pub fit_due: f64,
    /// Share of the needed bit-cycles, weighed by FIT, of which a flip is detected or corrected.
    pub coverage: f64,
    /// Silent failures over those of the plain GPU.
    pub sdc_left: f64,
    /// The same in a run of the kernel: times time over the plain GPU's.
    pub sdc_left_a_run: f64,
    /// Failures of both kinds over those of the plain GPU.
    pub failures_left: f64,
    /// Change of dynamic and leakage energy.
    pub energy: f64,
    /// Change of average power.
    pub power: f64,
    /// Change of the area of all priced structures.
    pub area: f64,
    /// Rise of the cycles.
    pub slowdown: f64,
    /// Change of power over the share of silent failures that is gone: the efficiency of Tan, Li and Fu (CF 2013, section 5); less is better. Absent where none is.
    pub power_over_reduction: Option<f64>,
    /// Nothing else is at least as good in silent failures, failures, energy, area and time, and better in one.
    pub on_front: bool,
}

/// The tables of a study: one for each GPU variant and technology; none if it followed no bits.
pub(super) fn tables(blocks: &[Block], points: &[Outcome]) -> Vec<Protections> {
    let mut tables: Vec<Protections> = Vec::new();
    for block in blocks {
        let rows: Option<Vec<Figures>> = block
            .comparisons
            .iter()
            .map(|comparison| Figures::of(comparison, points))
            .collect();
        let Some(rows) = rows.filter(|rows| !rows.is_empty()) else {
            continue;
        };
        let own = |table: &&mut Protections| {
            table.gpu == block.gpu
                && table.axes == block.axes
                && table.technology == block.technology
        };
        let row = Protected::mean(&block.technique, &rows);
        match tables.iter_mut().find(own) {
            Some(table) => table.rows.push(row),
            None => tables.push(Protections {
                gpu: block.gpu.clone(),
                axes: block.axes.clone(),
                technology: block.technology.clone(),
                rows: vec![Protected::plain(&rows), row],
            }),
        }
    }
    for table in &mut tables {
        let costs: Vec<Vec<f64>> = table.rows.iter().map(Protected::costs).collect();
        for place in non_dominated(&costs) {
            table.rows[place].on_front = true;
        }
    }
    tables
}

/// A kernel with a technique, beside the plain GPU.
struct Figures {
    sdc: f64,
    due: f64,
    unprotected: f64,
    plain_sdc: f64,
    plain_due: f64,
    energy: f64,
    power: f64,
    area: f64,
    slowdown: f64,
}

/// The value of a metric.
fn value(metrics: &[Metric], name: &str) -> Option<f64> {
    let found = metrics.iter().find(|metric| metric.name == name);
    found.map(|metric| metric.value)
}

impl Figures {
    fn of(comparison: &Comparison, points: &[Outcome]) -> Option<Self> {
        let with = |name| value(&comparison.metrics, name);
        // Most studies follow no bits: that is found before a plain GPU is looked for.
        let sdc = with("fit_sdc")?;
        let plain = points.iter().find(|outcome| {
            let point = &outcome.point;
            point.is_baseline() && point.differs_only_in_technique(&comparison.point)
        })?;
        let energy = comparison.total.relative?.value;
        Some(Self {
            sdc,
            due: with("fit_due")?,
            unprotected: with("fit_unprotected")?,
            plain_sdc: value(&plain.metrics, "fit_sdc")?,
            plain_due: value(&plain.metrics, "fit_due")?,
            energy,
            power: (1.0 + energy) / (1.0 + comparison.slowdown) - 1.0,
            area: comparison.overhead.sm_area?.value,
            slowdown: comparison.slowdown,
        })
    }
}

fn mean(rows: &[Figures], figure: impl Fn(&Figures) -> f64) -> f64 {
    rows.iter().map(figure).sum::<f64>() / rows.len() as f64
}

/// `part / whole`; all of it if there is no whole.
fn over(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 1.0 }
}

impl Protected {
    /// Failures are added up over kernels before they are divided: a kernel in which little can fail says little.
    fn mean(technique: &str, rows: &[Figures]) -> Self {
        let (sdc, due) = (mean(rows, |it| it.sdc), mean(rows, |it| it.due));
        let plain = mean(rows, |it| it.plain_sdc);
        let unprotected = mean(rows, |it| it.unprotected);
        let sdc_left = over(sdc, plain);
        let power = mean(rows, |it| it.power);
        Self {
            technique: technique.to_owned(),
            kernels: rows.len(),
            fit_sdc: sdc,
            fit_due: due,
            coverage: 1.0 - over(sdc, unprotected),
            sdc_left,
            sdc_left_a_run: over(mean(rows, |it| it.sdc * (1.0 + it.slowdown)), plain),
            failures_left: over(sdc + due, plain + mean(rows, |it| it.plain_due)),
            energy: mean(rows, |it| it.energy),
            power,
            area: mean(rows, |it| it.area),
            slowdown: mean(rows, |it| it.slowdown),
            power_over_reduction: (sdc_left < 1.0).then(|| power / (1.0 - sdc_left)),
            on_front: false,
        }
    }

    /// The plain GPU, of the same kernels.
    fn plain(rows: &[Figures]) -> Self {
        Self {
            technique: BASELINE.to_owned(),
            kernels: rows.len(),
            fit_sdc: mean(rows, |it| it.plain_sdc),
            fit_due: mean(rows, |it| it.plain_due),
            coverage: 0.0,
            sdc_left: 1.0,
            sdc_left_a_run: 1.0,
            failures_left: 1.0,
            energy: 0.0,
            power: 0.0,
            area: 0.0,
            slowdown: 0.0,
            power_over_reduction: None,
            on_front: false,
        }
    }

    /// What one wants little of.
    fn costs(&self) -> Vec<f64> {
        vec![
            self.sdc_left,
            self.failures_left,
            self.energy,
            self.area,
            self.slowdown,
        ]
    }
}

impl Protections {
    /// GPU, settings and technology in one line.
    pub fn context(&self) -> String {
        let gpu = gpu_label(&self.gpu, &self.axes);
        format!("{gpu} · {}", self.technology.label())
    }

    /// The techniques.
    pub fn names(&self) -> Vec<String> {
        self.rows.iter().map(|row| row.technique.clone()).collect()
    }

    /// The figures.
    pub fn columns(&self) -> Vec<Column> {
        let columns = COLUMNS.iter().map(|(heading, meaning, cell)| Column {
            heading: heading.iter().map(|&line| line.to_owned()).collect(),
            meaning: (*meaning).to_owned(),
            cells: self.rows.iter().map(cell).collect(),
        });
        columns.collect()
    }
}

/// A figure: heading, meaning, text.
type Figure = (
    &'static [&'static str],
    &'static str,
    fn(&Protected) -> String,
);

#[rustfmt::skip]
const COLUMNS: &[Figure] = &[
    (&["SDC", "FIT"], "silent failures in 10^9 hours of the structures followed, mean over kernels", |p| format::number(p.fit_sdc)),
    (&["DUE", "FIT"], "failures that are detected and not corrected", |p| format::number(p.fit_due)),
    (&["coverage"], "share of what can fail that is detected or corrected", |p| format::percent(p.coverage)),
    (&["SDC", "left"], "silent failures over those of the plain GPU", |p| format::percent(p.sdc_left)),
    (&["a run"], "the same in a run of the kernel: longer runs are exposed longer", |p| format::percent(p.sdc_left_a_run)),
    (&["failures", "left"], "silent and detected failures over those of the plain GPU", |p| format::percent(p.failures_left)),
    (&["energy"], "change of dynamic and leakage energy", |p| format::change(p.energy)),
    (&["power"], "change of average power", |p| format::change(p.power)),
    (&["area"], "change of the area of all priced structures", |p| format::change(p.area)),
    (&["slower", "by"], "rise of the cycles", |p| format::change(p.slowdown)),
    (&["power over", "reduction"], "change of power over the share of silent failures that is gone: the efficiency of Tan, Li and Fu (CF 2013); less is better", |p| {
        p.power_over_reduction.map_or_else(|| format::NONE.to_owned(), format::number)
    }),
    (&["Pareto"], "on the front: nothing else has less silent failures, failures, energy, area and time, or as much", |p| {
        if p.on_front { "front".to_owned() } else { format::NONE.to_owned() }
    }),
];

/// Whether a metric is in these tables, so that those of single techniques need not repeat it.
pub(super) fn shows(metric: &str) -> bool {
    reliability::meaning(metric).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(sdc: f64, due: f64, slowdown: f64) -> Figures {
        Figures {
            sdc,
            due,
            unprotected: 100.0,
            plain_sdc: 80.0,
            plain_due: 20.0,
            energy: 0.21,
            power: 0.1,
            area: 0.05,
            slowdown,
        }
    }

    #[test]
    fn failures_are_added_up_and_costs_averaged() {
        let row = Protected::mean("t", &[figures(40.0, 20.0, 0.1), figures(0.0, 60.0, 0.3)]);
        assert_eq!((row.fit_sdc, row.fit_due), (20.0, 40.0));
        assert_eq!(row.sdc_left, 0.25);
        assert!((row.sdc_left_a_run - 0.275).abs() < 1e-12);
        assert_eq!(row.failures_left, 0.6);
        assert_eq!(row.coverage, 0.8);
        assert!((row.slowdown - 0.2).abs() < 1e-12);
        assert!((row.power_over_reduction.unwrap() - 0.1 / 0.75).abs() < 1e-12);
        assert_eq!(Protected::plain(&[figures(1.0, 1.0, 0.0)]).fit_sdc, 80.0);
    }
}
