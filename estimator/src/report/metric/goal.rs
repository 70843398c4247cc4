//! What is wanted of metrics: bounds on them, and which way they should go.

use serde::{Deserialize, Serialize};

use super::{Better, Metric, Metrics, quantity};
use crate::diag::Diag;

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
    pub fn read(metric: &Metric, text: &str) -> Result<Limit, String> {
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
    pub fn read(text: &str, metrics: &Metrics) -> Result<Objective, Diag> {
        let text = text.trim();
        let (said, name) = match text.split_once(':') {
            Some(("min", name)) => (Some(false), name),
            Some(("max", name)) => (Some(true), name),
            _ => (None, text),
        };
        let metric = metrics.find(name)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(name: &str, text: &str) -> Result<Limit, String> {
        Limit::read(&Metrics::known().find(name).unwrap(), text)
    }

    #[test]
    fn a_bare_value_bounds_the_bad_side() {
        let slowdown = limit("slowdown", "1%").unwrap();
        assert_eq!((slowdown.bound, slowdown.limit), (Bound::AtMost, 0.01));
        let coverage = limit("sharp.coverage", "90%").unwrap();
        assert_eq!((coverage.bound, coverage.limit), (Bound::AtLeast, 0.9));
        let energy = limit("energy_j", ">= 1 mJ").unwrap();
        assert_eq!((energy.bound, energy.limit), (Bound::AtLeast, 1e-3));
        assert_eq!(limit("fetches", "100"), Err("say <= or >=".to_owned()));
        assert!(limit("energy_j", "< 1 mJ").is_err());
        assert!(limit("energy_j", "<= 1 s").is_err());
    }

    #[test]
    fn margins_are_positive_inside() {
        let slowdown = limit("slowdown", "1%").unwrap();
        assert!(slowdown.margin(0.005) > 0.0 && slowdown.margin(0.02) < 0.0);
        assert!((slowdown.relative_margin(0.02) + 1.0).abs() < 1e-12);
        let none = limit("slowdown", "0%").unwrap();
        assert_eq!(none.relative_margin(0.1), f64::NEG_INFINITY);
        assert_eq!(none.relative_margin(0.0), 0.0);
    }

    #[test]
    fn an_objective_knows_or_is_told_its_way() {
        let metrics = Metrics::known();
        let read = |text: &str| Objective::read(text, &metrics);
        assert!(!read("energy_j").unwrap().maximise);
        assert!(read("max:energy_j").unwrap().maximise);
        assert!(read("filter_cache.hit_rate").unwrap().maximise);
        assert_eq!(read("fetches").unwrap_err().code, "metric::direction");
        assert_eq!(read("enrgy_j").unwrap_err().code, "metric::unknown");
    }
}
