//! Where a figure comes from: its derivation as a tree, down to counts of the GPU model and values of the technology.
//!
//! Everything is computed again from what the result store holds. What the tree says is held to what the report says: if they differ, the store was written by
//! another version, and that is what the user is told.

mod circuit;
mod filter_cache;
mod heat;
mod point;
mod reliability;
mod side;
mod text;
mod tree;
mod versus;

pub use text::text;
pub use tree::{Formula, Node};

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use warpwatt_circuit::{CircuitError, Flavours};
use warpwatt_techlib::TechError;

use crate::diag::Diag;
use crate::recipe::{Built, Recipe, Recipes};
use crate::report::Report;
use crate::report::metric::Metric;
use crate::uncertainty::ProcessVariation;
use circuit::Uncertain;
use side::Side;
use versus::Versus;

/// How a figure of a point comes about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The metric.
    pub metric: String,
    /// What it means.
    pub meaning: String,
    /// The number of the point, from 1 on.
    pub point: usize,
    /// What the point is.
    pub selector: String,
    /// The value.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// Its standard deviation, to first order in the uncertain inputs.
    pub sigma: f64,
    /// What moves it: causes of error, the largest first.
    pub causes: Vec<CauseOfError>,
    /// The derivation.
    pub derivation: Node,
}

/// Something that is uncertain, and what it does to a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CauseOfError {
    /// Its name.
    pub cause: String,
    /// What one standard deviation of it moves the figure by.
    pub moves: f64,
    /// Its part of the variance.
    pub variance_share: f64,
}

/// A difference between tree and report beyond which they do not mean the same.
const ROUNDING: f64 = 1e-9;

/// Explains `metric` of the point `number`, from 0 on, with the `variation` of its transistors if the study draws it.
///
/// # Errors
/// The point has no such metric, or was priced by another version of the models.
pub fn explain(
    report: &Report,
    recipes: &Recipes,
    variation: Option<ProcessVariation>,
    metric: &Metric,
    number: usize,
) -> Result<Explanation, Diag> {
    let outcome = &report.points[number];
    let metrics = std::slice::from_ref(metric);
    let explained = explain_all(report, recipes, variation, metrics, number)?;
    explained.into_iter().next().flatten().ok_or_else(|| {
        let selector = crate::report::select::name(&outcome.point);
        let compares = metric.needs_baseline() && outcome.point.is_baseline();
        let help = "it compares a technique with the baseline: choose a point with a technique";
        Diag::error(
            "explain::no_value",
            format!("the point has no `{}`: {selector}", metric.name()),
        )
        .maybe_help(compares.then(|| help.to_owned()))
    })
}

/// The same of several metrics of one point; nothing where it has no value.
///
/// # Errors
/// The point was priced by another version of the models.
pub fn explain_all(
    report: &Report,
    recipes: &Recipes,
    variation: Option<ProcessVariation>,
    metrics: &[Metric],
    number: usize,
) -> Result<Vec<Option<Explanation>>, Diag> {
    let outcome = &report.points[number];
    let comparison = report.comparison(number);
    let selector = crate::report::select::name(&outcome.point);
    let compares = metrics.iter().any(Metric::needs_baseline);
    let baseline = report
        .points
        .iter()
        .position(|p| p.point.is_baseline() && p.point.differs_only_in_technique(&outcome.point));
    let both = (number, baseline.filter(|_| compares));
    let sides = Sides::new(report, recipes, variation, both)?;
    let one = |metric: &Metric, with: &Side<'_>, without: Option<&Side<'_>>| {
        let Some(value) = metric.value(outcome, comparison) else {
            return Ok(None);
        };
        let derivation = match (metric.needs_baseline(), without, comparison) {
            (true, Some(without), Some(comparison)) => Versus {
                without,
                with,
                comparison,
            }
            .metric(metric.name()),
            _ => with.metric(metric.name(), metric.unit()),
        };
        let derivation = derivation.ok_or_else(|| {
            Diag::error(
                "explain::no_derivation",
                format!("`{}` has no derivation", metric.name()),
            )
        })?;
        check(metric, &derivation, value)?;
        Ok(Some(Explanation::new(
            metric,
            (number, selector.clone()),
            derivation,
        )))
    };
    sides.derive(|with, without| {
        let all = metrics.iter().map(|metric| one(metric, with, without));
        all.collect()
    })?
}

fn check(metric: &Metric, derivation: &Node, value: f64) -> Result<(), Diag> {
    if (derivation.value - value).abs() <= ROUNDING * value.abs() {
        return Ok(());
    }
    let message = format!(
        "the result store says {value:e} of `{}`, but this version of warpwatt comes to {:e}",
        metric.name(),
        derivation.value
    );
    Err(Diag::error("explain::other_version", message)
        .help("another version priced these points; `warpwatt run --fresh` prices them again"))
}

impl Explanation {
    fn new(metric: &Metric, (number, selector): (usize, String), mut derivation: Node) -> Self {
        let moved = derivation.attribute();
        let variance: f64 = moved.values().map(|by| by * by).sum();
        let mut causes: Vec<CauseOfError> = moved
            .into_iter()
            .map(|(cause, moves)| CauseOfError {
                cause,
                moves,
                variance_share: if variance > 0.0 {
                    moves * moves / variance
                } else {
                    0.0
                },
            })
            .collect();
        causes.sort_by(|a, b| b.variance_share.total_cmp(&a.variance_share));
        Self {
            metric: metric.name().to_owned(),
            meaning: metric.meaning().to_owned(),
            point: number + 1,
            selector,
            value: derivation.value,
            unit: metric.unit().to_owned(),
            sigma: variance.sqrt(),
            causes,
            derivation,
        }
    }
}

/// The point, and its baseline if the metric needs it.
struct Sides<'r> {
    report: &'r Report,
    recipes: &'r Recipes,
    variation: Option<ProcessVariation>,
    with: usize,
    without: Option<usize>,
}

impl<'r> Sides<'r> {
    fn new(
        report: &'r Report,
        recipes: &'r Recipes,
        variation: Option<ProcessVariation>,
        (with, without): (usize, Option<usize>),
    ) -> Result<Self, Diag> {
        if recipes.points.len() != report.points.len() {
            return Err(Diag::error(
                "explain::unfinished",
                "the result store does not hold every point of its study".to_owned(),
            )
            .help("run the study again: it goes on where it stopped"));
        }
        Ok(Self {
            report,
            recipes,
            variation,
            with,
            without,
        })
    }

    fn derive<T>(&self, of: impl FnOnce(&Side<'_>, Option<&Side<'_>>) -> T) -> Result<T, Diag> {
        let derived = || -> Result<T, CircuitError> {
            let recipe = self.recipes.points[self.with];
            let baseline = self.without.map(|number| self.recipes.points[number]);
            let uncertain = self.uncertain(recipe, baseline)?;
            let with = self.built(recipe)?;
            let with = self.side(self.with, &with, &uncertain)?;
            let Some(number) = self.without else {
                return Ok(of(&with, None));
            };
            let without = self.built(self.recipes.points[number])?;
            let without = self.side(number, &without, &uncertain)?;
            Ok(of(&with, Some(&without)))
        };
        derived().map_err(|error| {
            let message = format!("what the point was priced from cannot be priced again: {error}");
            Diag::error("explain::circuit", message)
                .help("another version wrote it; `warpwatt run --fresh` prices the points again")
        })
    }

    fn side<'b>(
        &'b self,
        number: usize,
        built: &'b Built<'b>,
        uncertain: &'b BTreeMap<Option<Flavours>, Uncertain>,
    ) -> Result<Side<'b>, CircuitError> {
        let recipe = self.recipes.points[number];
        let gpu = &self.recipes.gpus[recipe.gpu];
        let process = &self.recipes.processes[recipe.process];
        Side::new(
            &self.report.points[number],
            gpu,
            (process, built),
            uncertain,
        )
    }

    /// What is uncertain of the process of a point, by the flavours that its parts and those of its baseline are of.
    fn uncertain(
        &self,
        recipe: Recipe,
        baseline: Option<Recipe>,
    ) -> Result<BTreeMap<Option<Flavours>, Uncertain>, TechError> {
        let process = &self.recipes.processes[recipe.process];
        let both = [Some(recipe), baseline].into_iter().flatten();
        let parts = both.flat_map(|recipe| &self.recipes.gpus[recipe.gpu].parts);
        let flavours: BTreeSet<Option<Flavours>> = parts.map(|part| part.flavours).collect();
        let each = flavours.into_iter().map(|flavours| {
            let process = process.of_flavours(flavours);
            Ok((flavours, Uncertain::of(&process, self.variation)?))
        });
        each.collect()
    }

    fn built(&self, recipe: Recipe) -> Result<Built<'r>, CircuitError> {
        Built::new(
            &self.recipes.gpus[recipe.gpu],
            &self.recipes.processes[recipe.process],
        )
    }
}

#[cfg(test)]
mod tests;
