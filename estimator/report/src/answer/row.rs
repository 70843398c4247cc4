//! A row of the answer.

use std::collections::BTreeMap;

use crate::compare::joined;
use crate::estimate::Estimate;
use crate::model::Block;
use crate::outcome::{Outcome, PricedStructure, TechnologyName, gpu_label};
use crate::parameters::Parameters;
use crate::sheet::Cell;

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
    /// What the study chose for this row, by name.
    pub parameters: BTreeMap<String, Cell>,
    /// Whether every kernel is inside the budget; `None` without a budget.
    pub within_budget: Option<bool>,
}

/// A kernel without and with the technique.
pub type Pair<'a> = (&'a Outcome, &'a Outcome);

impl Answer {
    /// The row of a block without any figure.
    pub(super) fn named(block: &Block, parameters: BTreeMap<String, Cell>) -> Self {
        Self {
            configuration: block.label(),
            technique: block.technique.to_string(),
            gpu: gpu_label(&block.gpu, &block.axes),
            technology: block.technology.clone(),
            kernels: Vec::new(),
            energy_change: None,
            energy_gross_saving: None,
            energy_overhead: None,
            power_change: None,
            area_change: None,
            area_m2: None,
            slowdown: None,
            edp_change: None,
            headline: BTreeMap::new(),
            within_budget: None,
            parameters,
        }
    }

    /// The change of energy as a number to order by; what has none comes last.
    pub fn energy(&self) -> f64 {
        self.energy_change
            .map_or(f64::INFINITY, |change| change.value)
    }
}

/// What structures save and what they cost more, in joules.
pub fn saved_and_added((without, with): Pair) -> [f64; 2] {
    let energy = |it: Option<&PricedStructure>| it.map_or(0.0, PricedStructure::energy_j);
    let pairs = joined(&without.structures, &with.structures, |it| &it.name);
    let rises = pairs.iter().map(|pair| energy(pair.1) - energy(pair.0));
    let saved = rises.clone().map(|rise| (-rise).max(0.0)).sum();
    let added = rises.map(|rise| rise.max(0.0)).sum();
    [saved, added]
}

/// What the study chose for a block, by name; nothing of what it does not have.
pub(super) fn parameters(chosen: &Parameters, block: &Block) -> BTreeMap<String, Cell> {
    let names = chosen.columns().iter();
    let names = names.map(|column| column.name.clone());
    names
        .zip(chosen.cells(&block.axes, &block.technology, &block.technique))
        .collect()
}
