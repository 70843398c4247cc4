//! How sure the figures of a report are, where the uncertain values of its technology were drawn.

use serde::Serialize;
use statrs::statistics::{Data, Distribution, OrderStatistics};
use warpwatt_pricing::uncertainty::Draws;

use crate::metric::Metric;

/// What lies outside of an interval, on each side.
const TAIL: f64 = 0.025;

/// A relative spread below which a figure does not vary: rounding.
const ROUNDING: f64 = 1e-9;

/// How sure the figures of a study are, by Monte Carlo.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MonteCarlo {
    /// How was drawn.
    #[serde(flatten)]
    pub sampling: Draws,
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
    /// The three causes that dominate it, of the figures that the report shows first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dominated_by: Vec<Share>,
}

/// A cause of error with its part of the variance of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The cause.
    pub cause: String,
    /// The squared correlation of the figure with the cause's draws: the first-order index of Sobol where the figure is about linear in the draw.
    pub variance_share: f64,
    /// Whether the figure rises with the cause.
    pub rises: bool,
}

impl MonteCarlo {
    /// The spread of a metric of the point `number`, from 0 on.
    pub fn spread(&self, number: usize, metric: &str) -> Option<&Spread> {
        let from = self
            .figures
            .partition_point(|spread| spread.point <= number);
        let own = self.figures[from..].iter();
        let mut own = own.take_while(|spread| spread.point == number + 1);
        own.find(|spread| spread.metric == metric)
    }
}

impl Spread {
    /// Of a figure under each draw; nothing if it does not vary, or has no value under some.
    pub fn of(metric: &Metric, (number, value): (usize, f64), values: Vec<f64>) -> Option<Self> {
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
            dominated_by: Vec::new(),
        })
    }
}
