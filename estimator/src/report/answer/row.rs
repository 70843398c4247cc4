//! A row of the answer.

use std::collections::BTreeMap;

use warpwatt_techniques::headline;

use crate::outcome::{Outcome, PricedStructure, TechnologyName, gpu_label};
use crate::report::estimate::{self, Estimate, Term};
use crate::report::model::{Block, Report};
use crate::report::terms;

/// What a configuration wins and costs at one technology, as means over its kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Technique, GPU with its swept settings, technology and operating point: the label of the block.
    pub configuration: String,
    /// The technique's label.
    pub technique: String,
    /// The GPU with its swept settings.
    pub gpu: String,
    /// Technology and operating point.
    pub technology: TechnologyName,
    /// The kernels that the means are over.
    pub kernels: Vec<String>,
    /// Relative change of dynamic and leakage energy, with the error of the prices; `None` where there was no energy.
    pub energy_change: Option<Estimate>,
    /// What the structures that spend less save, over the energy without.
    pub energy_gross_saving: Option<f64>,
    /// What the structures that spend more cost, over the energy without.
    pub energy_overhead: Option<f64>,
    /// Relative change of average power.
    pub power_change: Option<f64>,
    /// Relative change of the area of all priced structures.
    pub area_change: Option<f64>,
    /// Area of all priced structures with the technique, in square metres.
    pub area_m2: Option<f64>,
    /// Cycles added, over those without.
    pub slowdown: Option<f64>,
    /// Relative change of energy times time.
    pub edp_change: Option<f64>,
    /// The figures that the techniques declare as their headline, by metric name.
    pub headline: BTreeMap<String, f64>,
    /// Whether every kernel is inside the budget; `None` without a budget.
    pub within_budget: Option<bool>,
}

/// A kernel without and with the technique.
type Pair<'a> = (&'a Outcome, &'a Outcome);

impl Answer {
    /// The row of the block of this number.
    pub(super) fn of(report: &Report, number: usize) -> Self {
        let block = &report.blocks[number];
        let pairs: Vec<Pair> = report.pairs(number).collect();
        let (savings, overheads) = pairs.iter().map(|pair| by_sign(*pair)).unzip();
        Self {
            configuration: block.label(),
            technique: block.technique.clone(),
            gpu: gpu_label(&block.gpu, &block.axes),
            technology: block.technology.clone(),
            kernels: block.names(),
            energy_change: energy_change(&pairs),
            energy_gross_saving: mean(savings),
            energy_overhead: mean(overheads),
            power_change: change(&pairs, |o| o.energy_j() / o.time_s),
            area_change: change(&pairs, |o| o.totals.area_m2),
            area_m2: mean(
                pairs
                    .iter()
                    .map(|(_, with)| Some(with.totals.area_m2))
                    .collect(),
            ),
            slowdown: change(&pairs, |o| o.cycles as f64),
            edp_change: change(&pairs, |o| o.energy_j() * o.time_s),
            headline: headline_figures(block),
            within_budget: report.is_within_budget(number),
        }
    }

    /// The change of energy as a number to order by; what has none comes last.
    pub(super) fn energy(&self) -> f64 {
        self.energy_change
            .map_or(f64::INFINITY, |change| change.value)
    }
}

fn energy_change(pairs: &[Pair]) -> Option<Estimate> {
    let terms: Vec<(Vec<Term>, Vec<Term>)> = pairs
        .iter()
        .map(|(without, with)| (terms::all_energy(with), terms::all_energy(without)))
        .collect();
    estimate::mean_ratio(&terms).map(Estimate::minus_one)
}

/// The mean of a figure's relative changes; `None` if a kernel has none.
fn change(pairs: &[Pair], figure: fn(&Outcome) -> f64) -> Option<f64> {
    let changes = pairs.iter().map(|(without, with)| {
        let ratio = figure(with) / figure(without);
        ratio.is_finite().then_some(ratio - 1.0)
    });
    mean(changes.collect())
}

fn mean(values: Vec<Option<f64>>) -> Option<f64> {
    let count = values.len();
    let all: Option<Vec<f64>> = values.into_iter().collect();
    let all = all.filter(|_| count > 0)?;
    Some(all.iter().sum::<f64>() / count as f64)
}

/// What structures save and what they cost more, over the energy without.
fn by_sign((without, with): Pair) -> (Option<f64>, Option<f64>) {
    let energy = |structure: &PricedStructure| structure.dynamic_j + structure.leakage_j;
    let mut rises: BTreeMap<&str, f64> = BTreeMap::new();
    for structure in &with.structures {
        *rises.entry(&structure.name).or_default() += energy(structure);
    }
    for structure in &without.structures {
        *rises.entry(&structure.name).or_default() -= energy(structure);
    }
    let whole = without.energy_j();
    let share = |sum: f64| (whole > 0.0).then_some(sum / whole);
    let saved = rises.values().map(|rise| (-rise).max(0.0)).sum();
    let added = rises.values().map(|rise| rise.max(0.0)).sum();
    (share(saved), share(added))
}

/// Means of what the block's techniques declare as their headline.
fn headline_figures(block: &Block) -> BTreeMap<String, f64> {
    let metrics = block.comparisons.iter().flat_map(|c| &c.metrics);
    let mut values: BTreeMap<String, Vec<Option<f64>>> = BTreeMap::new();
    for metric in metrics.filter(|metric| headline(&metric.name)) {
        let of_metric = values.entry(metric.name.clone()).or_default();
        of_metric.push(Some(metric.value).filter(|value| value.is_finite()));
    }
    let means = values.into_iter();
    means
        .filter_map(|(name, values)| Some((name, mean(values)?)))
        .collect()
}
