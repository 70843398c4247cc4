//! Metrics by name: what a figure of a point, or of a comparison with its baseline, is called, what it is measured in and which way is good.
//!
//! A name is a column of `points.csv` or `comparisons.csv`, a sum or quotient of such columns, what a technique reports (`filter_cache.hit_rate`), or a
//! part of a point in `report.json` (`activity.fetches`, `structures.icache.data.dynamic_j`). Whatever takes a metric takes it from here.

mod catalogue;
mod paper;
mod point;
mod technique;
mod versus;

#[cfg(test)]
mod goal_tests;
#[cfg(test)]
mod tests;

pub use crate::goal::{Better, Bound, Limit, Objective, quantity};
pub use catalogue::{FIGURES, Metrics};
pub use point::POINT;
pub use versus::VERSUS;

use self::paper::Part;
use super::compare::Comparison;
use super::paper::PaperFigure;
use crate::goal::Measured;
use crate::outcome::{Outcome, PricedStructure};

/// A figure of a point or of its comparison, by name.
#[derive(Clone, Debug)]
pub struct Metric {
    name: String,
    unit: String,
    better: Better,
    meaning: String,
    /// Whether it is half the interval of another.
    interval: bool,
    figure: Figure,
}

/// Where the value of a metric comes from.
#[derive(Clone, Debug)]
enum Figure {
    Point(fn(&Outcome) -> Option<f64>),
    Versus(fn(&Comparison) -> Option<f64>),
    /// What a paper puts beside a comparison, or half its interval.
    Paper {
        paper: &'static str,
        figure: &'static PaperFigure,
        part: Part,
    },
    /// Among what techniques report.
    Technique,
    /// A counter.
    Activity(String),
    /// A figure of a structure.
    Structure(String, fn(&PricedStructure) -> f64),
}

/// A metric that every study has, of a point or of a comparison.
pub struct Def<T> {
    /// Its name.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Which way is good.
    pub better: Better,
    /// What it is, in a few words.
    pub meaning: &'static str,
    /// Whether it is half the interval of another.
    pub interval: bool,
    /// Its value.
    pub value: fn(&T) -> Option<f64>,
}

/// A [`Def`], in one line.
const fn def<T>(
    name: &'static str,
    unit: &'static str,
    better: Better,
    meaning: &'static str,
    value: fn(&T) -> Option<f64>,
) -> Def<T> {
    Def {
        name,
        unit,
        better,
        meaning,
        interval: false,
        value,
    }
}

impl<T> Def<T> {
    /// Half the interval of another metric.
    const fn interval(mut self) -> Self {
        self.interval = true;
        self
    }

    /// Whether its values are whole numbers.
    pub fn is_count(&self) -> bool {
        matches!(self.unit, "cycles" | "instructions")
    }
}

impl Metric {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its unit: SI, `1` for a ratio, or what is counted.
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// Which way is good.
    pub fn better(&self) -> Better {
        self.better
    }

    /// What it is, in a few words.
    pub fn meaning(&self) -> &str {
        &self.meaning
    }

    /// Whether it is a figure of a comparison: points without a technique, or without a baseline, have no value of it.
    pub fn needs_baseline(&self) -> bool {
        matches!(self.figure, Figure::Versus(_) | Figure::Paper { .. })
    }

    /// Whether it is half the interval of another: it says how sure that one is, and has no spread of its own.
    pub fn is_interval(&self) -> bool {
        self.interval
    }

    /// The paper that adds it, which a study has to ask for.
    pub fn paper(&self) -> Option<&'static str> {
        match self.figure {
            Figure::Paper { paper, .. } => Some(paper),
            _ => None,
        }
    }

    /// Its value: of `outcome`, or of the comparison of `outcome` with its baseline. `None` where there is none, and where it is no number.
    pub fn value(&self, outcome: &Outcome, comparison: Option<&Comparison>) -> Option<f64> {
        let value = match &self.figure {
            Figure::Point(value) => value(outcome),
            Figure::Versus(value) => comparison.and_then(value),
            Figure::Paper { figure, part, .. } => {
                let beside = comparison.and_then(|c| c.beside.as_ref()?.get(figure.key));
                beside.map(|estimate| part.of(estimate))
            }
            Figure::Technique => {
                let mut metrics = outcome.metrics.iter();
                let found = metrics.find(|metric| metric.name == self.name);
                found.map(|metric| metric.value)
            }
            Figure::Activity(counter) => {
                let mut counters = outcome.activity.iter();
                let found = counters.find(|(name, _)| name == counter);
                found.map(|(_, count)| count as f64)
            }
            Figure::Structure(name, value) => outcome.structure(name).map(value),
        };
        value.filter(|value| value.is_finite())
    }
}

impl Measured for Metric {
    fn name(&self) -> &str {
        self.name()
    }

    fn unit(&self) -> &str {
        self.unit()
    }

    fn better(&self) -> Better {
        self.better()
    }

    fn paper(&self) -> Option<&'static str> {
        self.paper()
    }
}
