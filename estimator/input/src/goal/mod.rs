//! What is wanted of metrics: bounds on them, and which way they should go.

mod budget;
pub mod quantity;

pub use budget::Budget;

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

use crate::diag::Diag;

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The less the better: energy, area, time.
    Lower,
    /// The more the better: a hit rate, a coverage, a saving.
    Higher,
    /// Neither is better for itself: a count of instructions.
    Neither,
}

/// What a goal must know of a metric.
pub trait Measured {
    /// Its name.
    fn name(&self) -> &str;
    /// Its unit: SI, `1` for a ratio, or what is counted.
    fn unit(&self) -> &str;
    /// Which way is good.
    fn better(&self) -> Better;
    /// The paper that adds it, which a study has to ask for.
    fn paper(&self) -> Option<&'static str>;
}

/// The metrics that goals may name; those who make them know them, those who read studies only their names.
pub trait MetricNames: Debug + Send + Sync {
    /// The metric called `name`.
    ///
    /// # Errors
    /// There is none: the nearest name is suggested.
    fn measured(&self, name: &str) -> Result<Box<dyn Measured>, Diag>;
}

/// None at all.
impl MetricNames for () {
    fn measured(&self, name: &str) -> Result<Box<dyn Measured>, Diag> {
        let message = format!("no metric is called `{name}`");
        Err(Diag::error("metric::unknown", message))
    }
}

/// A side on which values are inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// `<=`
    AtMost,
    /// `>=`
    AtLeast,
}

/// A bound on a metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// The metric's name.
    pub metric: String,
    /// On which side of `limit` values are inside.
    pub bound: Bound,
    /// In the metric's unit.
    pub limit: f64,
}

/// A metric and the way it should go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Objective {
    /// The metric's name.
    pub metric: String,
    /// Whether more of it is wanted.
    pub maximise: bool,
}

impl Limit {
    /// Reads `<= 1 mJ`, `>= 90%` or a bare `5%`, which is a bound on the bad side of the metric.
    ///
    /// # Errors
    /// What is wrong, in a few words.
    pub fn read(metric: &dyn Measured, text: &str) -> Result<Limit, String> {
        let text = text.trim();
        let (bound, rest) = match (text.strip_prefix("<="), text.strip_prefix(">=")) {
            (Some(rest), _) => (Bound::AtMost, rest),
            (_, Some(rest)) => (Bound::AtLeast, rest),
            _ if text.starts_with(['<', '>', '=']) => {
                return Err("a bound begins with <= or >=".to_owned());
            }
            _ => match metric.better() {
                Better::Lower => (Bound::AtMost, text),
                Better::Higher => (Bound::AtLeast, text),
                Better::Neither => return Err("say <= or >=".to_owned()),
            },
        };
        Ok(Limit {
            metric: metric.name().to_owned(),
            bound,
            limit: quantity::read(rest, metric.unit())?,
        })
    }

    /// How far `value` is inside: negative if it is outside. In the metric's unit.
    pub fn margin(&self, value: f64) -> f64 {
        match self.bound {
            Bound::AtMost => self.limit - value,
            Bound::AtLeast => value - self.limit,
        }
    }

    /// The margin over the limit, by which bounds on different metrics are compared. Where the limit is zero, anything outside is infinitely far.
    pub fn relative_margin(&self, value: f64) -> f64 {
        let margin = self.margin(value);
        if self.limit != 0.0 {
            margin / self.limit.abs()
        } else if margin < 0.0 {
            f64::NEG_INFINITY
        } else {
            margin
        }
    }
}

impl Objective {
    /// Reads a metric's name, or `min:NAME` or `max:NAME`.
    ///
    /// # Errors
    /// There is no such metric, or it is not known which way is good.
    pub fn read(text: &str, metrics: &dyn MetricNames) -> Result<Objective, Diag> {
        let text = text.trim();
        let (said, name) = match text.split_once(':') {
            Some(("min", name)) => (Some(false), name),
            Some(("max", name)) => (Some(true), name),
            _ => (None, text),
        };
        let metric = metrics.measured(name)?;
        let maximise = match (said, metric.better()) {
            (Some(maximise), _) => maximise,
            (None, Better::Lower) => false,
            (None, Better::Higher) => true,
            (None, Better::Neither) => {
                let message = format!("neither more nor less of `{name}` is better for itself");
                return Err(Diag::error("metric::direction", message)
                    .help(format!("write `min:{name}` or `max:{name}`")));
            }
        };
        Ok(Objective {
            metric: metric.name().to_owned(),
            maximise,
        })
    }

    /// A figure of which less is better.
    pub fn cost(&self, value: f64) -> f64 {
        if self.maximise { -value } else { value }
    }
}
