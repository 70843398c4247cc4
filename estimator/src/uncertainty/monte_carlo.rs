//! Figures under every draw, and the intervals that hold them.

use rayon::prelude::*;
use serde::Serialize;
use statrs::statistics::{Data, Distribution, OrderStatistics};

use super::draws::Sampling;
use super::prices::{MethodDraws, Prices};
use crate::diag::Diag;
use crate::papers::FilterCachePaper;
use crate::recipe::Recipes;
use crate::report::metric::{Metric, Metrics};
use crate::report::{Comparison, Report};

/// How sure the figures of a study are, by Monte Carlo.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MonteCarlo {
    /// How was drawn.
    #[serde(flatten)]
    pub sampling: Sampling,
    /// Every figure that varies, point by point.
    pub figures: Vec<Spread>,
}

/// A figure of a point with its interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The number of the point, from 1 on.
    pub point: usize,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Its value at the nominal technology: that of the report.
    pub value: f64,
    /// Below it lie 2.5 % of the draws.
    pub low: f64,
    /// Below it lies half of them.
    pub median: f64,
    /// Above it lie 2.5 %.
    pub high: f64,
    /// Their standard deviation.
    pub sigma: f64,
    /// Of a figure that compares two points: whether it is inside its own error, so that its sign is not known.
    pub inside_own_error: Option<bool>,
}

/// What lies outside of an interval, on each side.
const TAIL: f64 = 0.025;

/// A relative spread below which a figure does not vary: rounding.
const ROUNDING: f64 = 1e-9;

impl MonteCarlo {
    /// The spread of every metric of every point of `report`, in its order.
    ///
    /// # Errors
    /// A drawn technology is outside what the models cover.
    pub fn of(report: &Report, recipes: &Recipes, sampling: Sampling) -> Result<Self, Diag> {
        let prices = prices(recipes, sampling)?;
        let methods = prices.methods();
        let known = Metrics::known().with_points(&report.points);
        let metrics: Vec<Metric> = known
            .iter()
            .filter(|metric| !metric.name().ends_with("_halfwidth"))
            .cloned()
            .collect();
        let numbers = (0..report.points.len()).into_par_iter();
        let spreads: Vec<Vec<Spread>> = numbers
            .map(|number| spreads(report, recipes, (&prices, &methods), (&metrics, number)))
            .collect();
        Ok(Self {
            sampling,
            figures: spreads.into_iter().flatten().collect(),
        })
    }

    /// The spread of a metric of the point `number`, from 0 on.
    pub fn spread(&self, number: usize, metric: &str) -> Option<&Spread> {
        self.figures
            .iter()
            .find(|spread| spread.point == number + 1 && spread.metric == metric)
    }
}

/// The costs of a study's structures under each draw.
///
/// # Errors
/// A drawn technology is outside what the models cover.
pub fn prices(recipes: &Recipes, sampling: Sampling) -> Result<Prices<'_>, Diag> {
    Prices::new(recipes, sampling).map_err(|error| {
        Diag::error(
            "uncertainty::draw",
            format!("a draw cannot be evaluated: {error}"),
        )
        .help("choose a supply or temperature further inside of what the technology covers")
    })
}

/// The values of `metrics` of the point `number` under each draw, metric by metric. A metric that a draw has no value of is not a number there.
pub fn values(
    report: &Report,
    recipes: &Recipes,
    (prices, methods): (&Prices<'_>, &MethodDraws),
    (metrics, number): (&[Metric], usize),
) -> Vec<Vec<f64>> {
    let paper = FilterCachePaper::load();
    let mut with = report.points[number].clone();
    let baseline = report.points.iter().position(|other| {
        other.point.is_baseline() && other.point.differs_only_in_technique(&with.point)
    });
    let mut without = baseline
        .filter(|_| !with.point.is_baseline())
        .map(|number| (report.points[number].clone(), recipes.points[number]));
    let mut values = vec![Vec::with_capacity(prices.sampling.samples); metrics.len()];
    for sample in 0..prices.sampling.samples {
        prices.outcome(&mut with, recipes.points[number], (sample, methods));
        let comparison = without.as_mut().map(|(without, recipe)| {
            prices.outcome(without, *recipe, (sample, methods));
            Comparison::of(without, &with, &paper)
        });
        for (metric, values) in metrics.iter().zip(&mut values) {
            values.push(metric.value(&with, comparison.as_ref()).unwrap_or(f64::NAN));
        }
    }
    values
}

fn spreads(
    report: &Report,
    recipes: &Recipes,
    drawn: (&Prices<'_>, &MethodDraws),
    (metrics, number): (&[Metric], usize),
) -> Vec<Spread> {
    let values = values(report, recipes, drawn, (metrics, number));
    let all = metrics.iter().zip(values).filter_map(|(metric, values)| {
        let value = metric.value(&report.points[number], report.comparison(number))?;
        Spread::of(metric, (number, value), values)
    });
    all.collect()
}

impl Spread {
    /// Of a figure under each draw; nothing if it does not vary, or has no value under some.
    fn of(metric: &Metric, (number, value): (usize, f64), values: Vec<f64>) -> Option<Self> {
        if values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mut data = Data::new(values);
        let sigma = data.std_dev()?;
        let size = data.mean()?.abs().max(value.abs());
        let compares = metric.needs_baseline() && metric.unit() == "1";
        // Differences of equal figures are rounding themselves.
        let least = if compares { ROUNDING } else { ROUNDING * size };
        if sigma <= least {
            return None;
        }
        let (low, median, high) = (
            data.quantile(TAIL),
            data.median(),
            data.quantile(1.0 - TAIL),
        );
        Some(Self {
            point: number + 1,
            metric: metric.name().to_owned(),
            unit: metric.unit().to_owned(),
            value,
            low,
            median,
            high,
            sigma,
            inside_own_error: compares.then_some(low <= 0.0 && high >= 0.0),
        })
    }
}
