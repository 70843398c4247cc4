//! Points of a study by benchmark.

use std::collections::BTreeMap;

use super::METRIC;
use crate::outcome::Outcome;

/// The points of the benchmarks, by benchmark and technique.
pub(super) struct Rows<'o>(BTreeMap<(&'static str, &'o str), &'o Outcome>);

impl<'o> Rows<'o> {
    /// Those among `outcomes`.
    pub fn of(outcomes: &'o [Outcome]) -> Self {
        let paper = warpwatt_suite::paper("register_virtualization");
        let benchmarks = paper.map_or(&[][..], |paper| paper.benchmarks);
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
        Self(rows)
    }

    /// One point.
    pub fn of_benchmark(&self, technique: &str, benchmark: &str) -> Option<&'o Outcome> {
        let found = self
            .0
            .iter()
            .find(|((name, label), _)| *name == benchmark && *label == technique);
        found.map(|(_, outcome)| *outcome)
    }

    /// A figure of a technique for each benchmark.
    pub fn each(&self, technique: &str, figure: impl Fn(&Outcome) -> f64) -> Vec<f64> {
        let points = self.0.iter().filter(|((_, label), _)| *label == technique);
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
        let points = self.0.iter().filter(|((_, label), _)| *label == with);
        points
            .filter_map(|((benchmark, _), outcome)| {
                Some(figure(self.of_benchmark(without, benchmark)?, outcome))
            })
            .collect()
    }

    /// A metric of register virtualization under some configuration.
    pub fn metric(&self, technique: &str, name: &str) -> Vec<f64> {
        let name = format!("{METRIC}.{name}");
        self.each(technique, |outcome| {
            let metric = outcome.metrics.iter().find(|metric| metric.name == name);
            metric.map_or(f64::NAN, |metric| metric.value)
        })
    }
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
