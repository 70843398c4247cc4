//! Figures under every draw, and the intervals that hold them.

use std::sync::Arc;

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::Draws;
use super::input::factor;
use super::prices::{MethodDraws, Prices};
use super::shares::shares;
use super::upsets;
use crate::diag::Diag;
use crate::recipe::{Recipe, Recipes};
use crate::report::drawn::{MonteCarlo, Share, Spread};
use crate::report::metric::{Metric, Metrics};
use crate::report::{Comparison, Report};

/// What becomes of goals under the draws, point by point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Goals {
    /// The share of the draws in which a point is inside every bound of the budget that applies to it; `None` where none does.
    pub inside: Vec<Option<f64>>,
    /// The share in which it is on its Pareto front; empty where none is asked for.
    pub front: Vec<Option<f64>>,
}

/// The figures of which a report says what dominates them.
pub const MAIN: [&str; 6] = [
    "front_end_saving",
    "energy_saving",
    "area_overhead",
    "energy_j",
    "power_w",
    "area_m2",
];
const TOP: usize = 3;

/// `report` with an interval for every figure, by `sampling`, and with how sure the marks of budget and fronts are.
///
/// # Errors
/// A drawn technology is outside what the models cover.
pub fn with_uncertainty(
    mut report: Report,
    recipes: &Recipes,
    sampling: Draws,
) -> Result<Report, Diag> {
    let (drawn, goals) = monte_carlo(&report, recipes, sampling)?;
    report.uncertainty = Some(drawn);
    if let Some(budget) = &mut report.budget {
        for (verdict, chance) in budget.points.iter_mut().zip(goals.inside) {
            verdict
                .iter_mut()
                .for_each(|verdict| verdict.chance = chance);
        }
    }
    if let Some(fronts) = &mut report.pareto {
        fronts.chances = goals.front;
    }
    Ok(report)
}

/// The spread of every metric of every point of `report`, in its order, and what becomes of its budget and fronts under the draws.
///
/// # Errors
/// A drawn technology is outside what the models cover.
pub fn monte_carlo(
    report: &Report,
    recipes: &Recipes,
    sampling: Draws,
) -> Result<(MonteCarlo, Goals), Diag> {
    let known = Metrics::known().with_points(&report.points);
    let metrics = known.iter().filter(|metric| !metric.is_interval());
    let metrics: Vec<Metric> = metrics.cloned().collect();
    let study = Study {
        report,
        recipes,
        baselines: report.baselines(),
        methods: MethodDraws::new(recipes, sampling),
    };
    let mut points: Vec<Option<Point>> = Vec::new();
    points.resize_with(report.points.len(), || None);
    for numbers in by_processes(&recipes.points[..report.points.len()]) {
        let both = numbers.iter().flat_map(|&number| study.both(number));
        let prices = prices(recipes, &both.collect::<Vec<_>>(), sampling)?;
        let drawn = numbers.into_par_iter();
        let drawn = drawn.map(|number| (number, study.point(&prices, &metrics, number)));
        for (number, point) in drawn.collect::<Vec<_>>() {
            points[number] = Some(point);
        }
    }
    let (mut figures, mut goals, mut drawn) = (Vec::new(), Goals::default(), Vec::new());
    for point in points.into_iter().flatten() {
        figures.extend(point.spreads);
        goals.inside.push(point.inside);
        drawn.push(point.objectives);
    }
    if let Some(fronts) = &report.pareto {
        goals.front = fronts.chances(&drawn, sampling.samples);
    }
    Ok((MonteCarlo { sampling, figures }, goals))
}

/// Processes whose draws are in memory together: each structure in each has some kilobytes of figures, and hundreds of its design.
const TOGETHER: usize = 32;

/// The numbers of all points in stretches of a few processes, each with all of its points: what is made in a process is drawn once.
fn by_processes(points: &[Recipe]) -> Vec<Vec<usize>> {
    let mut of_process: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, point) in points.iter().enumerate() {
        of_process.entry(point.process).or_default().push(number);
    }
    let of_process: Vec<Vec<usize>> = of_process.into_values().collect();
    of_process.chunks(TOGETHER).map(<[_]>::concat).collect()
}

/// What is the same for all points of a report.
struct Study<'r> {
    report: &'r Report,
    recipes: &'r Recipes,
    /// What each point is compared with.
    baselines: Vec<Option<usize>>,
    methods: MethodDraws,
}

/// What the draws make of a point.
struct Point {
    spreads: Vec<Spread>,
    /// The share of the draws in which it is inside the budget.
    inside: Option<f64>,
    /// The metrics of the fronts under each draw.
    objectives: Vec<Vec<f64>>,
}

impl Study<'_> {
    /// What a point and its baseline are priced from, the point first.
    fn both(&self, number: usize) -> Vec<Recipe> {
        let numbers = [number].into_iter().chain(self.baselines[number]);
        numbers.map(|number| self.recipes.points[number]).collect()
    }

    fn point(&self, prices: &Prices<'_>, metrics: &[Metric], number: usize) -> Point {
        let values = self.values(prices, metrics, number);
        let fronts = self.report.pareto.as_ref();
        let wanted = fronts.map_or(&[][..], |fronts| &fronts.metrics[..]);
        let objectives = wanted.iter().map(|metric| {
            let place = metrics
                .iter()
                .position(|known| known.name() == metric.name());
            place.map_or_else(
                || vec![f64::NAN; prices.sampling.samples],
                |place| values[place].clone(),
            )
        });
        Point {
            objectives: objectives.collect(),
            inside: inside(self.report, number, metrics, &values),
            spreads: self.spreads(prices, metrics, number, values),
        }
    }

    /// The values of `metrics` of the point `number` under each draw, metric by metric. A metric that a draw has no value of is not a number there.
    fn values(&self, prices: &Prices<'_>, metrics: &[Metric], number: usize) -> Vec<Vec<f64>> {
        let (report, recipes, methods) = (self.report, self.recipes, &self.methods);
        let mut with = report.points[number].clone();
        let mut without = self.baselines[number]
            .map(|number| (report.points[number].clone(), recipes.points[number]));
        let mut values = vec![Vec::with_capacity(prices.sampling.samples); metrics.len()];
        let nominal = &report.points[number].metrics;
        let technology = &recipes.processes[recipes.points[number].process].technology;
        let rate = upsets::uncertainty(nominal).map(|u| (u, prices.sampling.of_upsets(technology)));
        for sample in 0..prices.sampling.samples {
            prices.outcome(&mut with, recipes.points[number], sample, methods);
            if let Some((u, draws)) = &rate {
                upsets::scale(
                    Arc::make_mut(&mut with.metrics).as_mut_slice(),
                    nominal,
                    factor(*u, draws[sample], false),
                );
            }
            let comparison = without.as_mut().map(|(without, recipe)| {
                prices.outcome(without, *recipe, sample, methods);
                Comparison::of(without, &with, report.paper.as_deref())
            });
            for (metric, values) in metrics.iter().zip(&mut values) {
                values.push(metric.value(&with, comparison.as_ref()).unwrap_or(f64::NAN));
            }
        }
        values
    }

    /// The causes of error of the point `number`, each with its draws.
    fn causes(&self, prices: &Prices<'_>, number: usize) -> Vec<(String, Vec<f64>)> {
        let mut causes = prices.causes(&self.both(number));
        if upsets::uncertainty(&self.report.points[number].metrics).is_some() {
            let process = self.recipes.points[number].process;
            let technology = &self.recipes.processes[process].technology;
            let draws = prices.sampling.of_upsets(technology);
            causes.push((upsets::UPSETS.to_owned(), draws));
        }
        causes
    }

    fn spreads(
        &self,
        prices: &Prices<'_>,
        metrics: &[Metric],
        number: usize,
        values: Vec<Vec<f64>>,
    ) -> Vec<Spread> {
        let report = self.report;
        let causes = self.causes(prices, number);
        let all = metrics.iter().zip(values).filter_map(|(metric, values)| {
            let value = metric.value(&report.points[number], report.comparison(number))?;
            let dominated_by = if MAIN.contains(&metric.name()) {
                let mut shares = shares(&causes, &values);
                shares.truncate(TOP);
                shares
            } else {
                Vec::new()
            };
            Some(Spread {
                dominated_by,
                ..Spread::of(metric, (number, value), values)?
            })
        });
        all.collect()
    }
}

/// In which share of the draws the point `number` is inside the report's budget, of the values of `metrics` under each.
fn inside(report: &Report, number: usize, metrics: &[Metric], values: &[Vec<f64>]) -> Option<f64> {
    let budget = report.budget.as_ref()?;
    let verdict = budget.points[number].as_ref()?;
    let bounds = budget.limits.iter().zip(&verdict.margins);
    let bounds = bounds.filter(|(_, margin)| margin.is_some());
    let bounds = bounds.map(|(limit, _)| {
        let place = metrics
            .iter()
            .position(|metric| metric.name() == limit.metric);
        (limit, place.map(|place| &values[place]))
    });
    let bounds: Vec<_> = bounds.collect();
    let samples = values.first()?.len();
    let within = |sample: &usize| {
        bounds.iter().all(|(limit, values)| {
            values.is_some_and(|values| limit.margin(values[*sample]) >= 0.0)
        })
    };
    Some((0..samples).filter(within).count() as f64 / samples as f64)
}

/// The costs of a study's structures under each draw.
///
/// # Errors
/// A drawn technology is outside what the models cover.
fn prices<'r>(
    recipes: &'r Recipes,
    points: &[Recipe],
    sampling: Draws,
) -> Result<Prices<'r>, Diag> {
    Prices::new(recipes, points, sampling).map_err(|error| {
        Diag::error(
            "uncertainty::draw",
            format!("a draw cannot be evaluated: {error}"),
        )
        .help("choose a supply or temperature further inside of what the technology covers")
    })
}

/// The spread of one metric of the point `number`, from 0 on, and every cause's part in it; nothing if it does not vary.
///
/// # Errors
/// A drawn technology is outside what the models cover.
pub fn drawn(
    report: &Report,
    recipes: &Recipes,
    metric: &Metric,
    number: usize,
    sampling: Draws,
) -> Result<Option<(Spread, Vec<Share>)>, Diag> {
    let study = Study {
        report,
        recipes,
        baselines: report.baselines(),
        methods: MethodDraws::new(recipes, sampling),
    };
    let prices = prices(recipes, &study.both(number), sampling)?;
    let all = study.values(&prices, std::slice::from_ref(metric), number);
    let values = all.into_iter().next().unwrap_or_default();
    let Some(value) = metric.value(&report.points[number], report.comparison(number)) else {
        return Ok(None);
    };
    let spread = Spread::of(metric, (number, value), values.clone());
    Ok(spread.map(|spread| (spread, shares(&study.causes(&prices, number), &values))))
}
