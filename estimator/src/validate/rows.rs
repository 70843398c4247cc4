//! Points of a study by benchmark.

use std::collections::BTreeMap;

use crate::outcome::Outcome;

/// The points of a paper's benchmarks.
pub(super) struct Rows<'o> {
    /// The paper, and the technique that it is about.
    paper: &'static str,
    /// By benchmark and technique.
    points: BTreeMap<(&'static str, &'o str), &'o Outcome>,
}

impl<'o> Rows<'o> {
    /// Those among `outcomes`.
    pub fn of(paper: &'static str, outcomes: &'o [Outcome]) -> Self {
        let known = warpwatt_suite::paper(paper);
        let benchmarks = known.map_or(&[][..], |paper| paper.benchmarks);
        let mut rows = BTreeMap::new();
        for outcome in outcomes {
            let kernel = &outcome.point.kernel;
            let names = (kernel.name.as_str(), kernel.case.as_str());
            let standing = benchmarks.iter().filter(|row| row.stands == Some(names));
            for row in standing {
                rows.insert(
                    (row.abbreviation, outcome.point.technique.as_str()),
                    outcome,
                );
            }
        }
        Self {
            paper,
            points: rows,
        }
    }

    /// One point.
    pub fn of_benchmark(&self, technique: &str, benchmark: &str) -> Option<&'o Outcome> {
        let found = self
            .points
            .iter()
            .find(|((name, label), _)| *name == benchmark && *label == technique);
        found.map(|(_, outcome)| *outcome)
    }

    /// A figure of a technique for each benchmark.
    pub fn each(&self, technique: &str, figure: impl Fn(&Outcome) -> f64) -> Vec<f64> {
        let points = self
            .points
            .iter()
            .filter(|((_, label), _)| *label == technique);
        points.map(|(_, outcome)| figure(outcome)).collect()
    }

    /// A figure of two techniques for each benchmark that has both.
    pub fn against(
        &self,
        without: &str,
        with: &str,
        // Of the point without and the point with.
        figure: impl Fn(&Outcome, &Outcome) -> f64,
    ) -> Vec<f64> {
        let points = self.points.iter().filter(|((_, label), _)| *label == with);
        points
            .filter_map(|((benchmark, _), outcome)| {
                Some(figure(self.of_benchmark(without, benchmark)?, outcome))
            })
            .collect()
    }

    /// A metric of the paper's technique under some configuration.
    pub fn metric(&self, technique: &str, name: &str) -> Vec<f64> {
        self.metric_of(technique, &format!("{}.{name}", self.paper))
    }

    /// A metric by its full name.
    pub fn metric_of(&self, technique: &str, name: &str) -> Vec<f64> {
        self.each(technique, |outcome| metric(outcome, name))
    }
}

/// A metric of a point by its full name; not a number if the point has none of that name.
pub(super) fn metric(outcome: &Outcome, name: &str) -> f64 {
    let found = outcome.metrics.iter().find(|metric| metric.name == name);
    found.map_or(f64::NAN, |metric| metric.value)
}

/// Their mean.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The greatest.
pub(super) fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The least.
pub(super) fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}
