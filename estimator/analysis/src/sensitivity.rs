//! Which uncertain inputs dominate a figure: moved one at a time, and drawn all together.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::diag::Diag;
use crate::explain::{Explanation, Formula, Node, explain};
use crate::recipe::Recipes;
use crate::report::Report;
use crate::report::metric::Metric;
use crate::uncertainty::{Draws, Spread, drawn};

/// What a figure depends on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sensitivity {
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// The number of the point, from 1 on.
    pub point: usize,
    /// What the point is.
    pub selector: String,
    /// The value.
    pub value: f64,
    /// How was drawn.
    pub sampling: Draws,
    /// One sigma, to first order.
    pub sigma_first_order: f64,
    /// One sigma of the draws.
    pub sigma_drawn: f64,
    /// Below it lie 2.5 % of the draws.
    pub low: f64,
    /// Above it lie 2.5 %.
    pub high: f64,
    /// Every input that moves the figure, the one that moves it most first.
    pub inputs: Vec<InputEffect>,
    /// Every cause of error, the largest part of the variance of the draws first.
    pub causes: Vec<CauseEffect>,
}

/// An input, moved alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InputEffect {
    /// The value of the technology, or whose model errs.
    pub input: String,
    /// Relative, one sigma.
    pub uncertainty: f64,
    /// What one sigma of it moves the figure by.
    pub moves: f64,
    /// Where the value is from.
    pub source: String,
}

/// Inputs that err together, and independently of all others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CauseEffect {
    /// The cause.
    pub cause: String,
    /// Part of the variance, to first order.
    pub first_order: f64,
    /// Squared correlation with the draws: the first-order index of Sobol as far as the figure is linear in the draws.
    pub drawn: f64,
}

/// What `metric` of the point `number`, from 0 on, depends on.
///
/// # Errors
/// The point has no such metric, the metric does not depend on anything uncertain, or the points were priced by another version.
pub fn sensitivity(
    report: &Report,
    recipes: &Recipes,
    metric: &Metric,
    number: usize,
    sampling: Draws,
) -> Result<Sensitivity, Diag> {
    let explanation = explain(report, recipes, sampling.process, metric, number)?;
    let (spread, shares) =
        drawn(report, recipes, metric, number, sampling)?.ok_or_else(|| exact(metric))?;
    Ok(Sensitivity::of(
        &explanation,
        (sampling, &spread),
        &shares
            .into_iter()
            .map(|share| (share.cause, share.variance_share))
            .collect(),
    ))
}

fn exact(metric: &Metric) -> Diag {
    Diag::error(
        "sensitivity::exact",
        format!("`{}` depends on no uncertain input", metric.name()),
    )
    .help("counts and cycles are exact for the trace that was run; energies, powers, areas and leakages are not")
}

impl Sensitivity {
    fn of(
        explanation: &Explanation,
        (sampling, spread): (Draws, &Spread),
        drawn: &BTreeMap<String, f64>,
    ) -> Self {
        let mut causes: Vec<CauseEffect> = explanation
            .causes
            .iter()
            .map(|cause| CauseEffect {
                cause: cause.cause.clone(),
                first_order: cause.variance_share,
                drawn: drawn.get(&cause.cause).copied().unwrap_or(0.0),
            })
            .collect();
        causes.sort_by(|a, b| b.drawn.total_cmp(&a.drawn));
        Self {
            metric: explanation.metric.clone(),
            unit: explanation.unit.clone(),
            point: explanation.point,
            selector: explanation.selector.clone(),
            value: explanation.value,
            sampling,
            sigma_first_order: explanation.sigma,
            sigma_drawn: spread.sigma,
            low: spread.low,
            high: spread.high,
            inputs: inputs(&explanation.derivation),
            causes,
        }
    }
}

/// The leaves of a derivation by input, each with what it moves the root by in all places together.
fn inputs(derivation: &Node) -> Vec<InputEffect> {
    let mut all: BTreeMap<String, InputEffect> = BTreeMap::new();
    for (leaf, moves) in derivation.leaf_moves() {
        let (name, uncertainty) = match &leaf.formula {
            Formula::Technology { uncertainty, .. } => (&leaf.name, *uncertainty),
            Formula::Method { uncertainty, cause } => (cause, *uncertainty),
            _ => continue,
        };
        let effect = all.entry(name.clone()).or_insert_with(|| InputEffect {
            input: name.clone(),
            uncertainty,
            moves: 0.0,
            source: leaf.source.clone().unwrap_or_default(),
        });
        effect.moves += moves;
    }
    let mut all: Vec<InputEffect> = all
        .into_values()
        .filter(|input| input.moves != 0.0)
        .collect();
    all.sort_by(|a, b| b.moves.abs().total_cmp(&a.moves.abs()));
    all
}
