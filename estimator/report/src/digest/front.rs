//! The best compromises among points that come one after the other.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::metric::{Metric, Metrics, Objective};
use crate::model::Report;
use crate::outcome::{KernelName, Point};

/// The best compromises on one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelFront {
    /// The kernel.
    pub kernel: Arc<KernelName>,
    /// Points of the front: in the order of the study, the best by the first metric first.
    pub points: Vec<OnFront>,
}

/// A point that no other is better than in every metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnFront {
    /// Its values of the metrics.
    pub values: Vec<f64>,
    /// Points that have just these values.
    pub alike: usize,
    /// The first of them.
    pub point: Point,
}

/// Fronts that grow.
#[derive(Clone, Debug, Default)]
pub(super) struct Growing {
    pub(super) objectives: Vec<Objective>,
    /// Their metrics, if these are not the points' own.
    metrics: Option<Vec<Metric>>,
    /// Their units, once a point with values has come.
    pub(super) units: Vec<String>,
    fronts: Vec<KernelFront>,
}

/// The metrics that objectives are about; nothing if one is not known.
fn metrics(known: &Metrics, objectives: &[Objective]) -> Option<Vec<Metric>> {
    let found = objectives.iter().map(|one| known.find(&one.metric).ok());
    found.collect()
}

impl Growing {
    pub(super) fn between(objectives: &[Objective]) -> Self {
        Self {
            objectives: objectives.to_vec(),
            metrics: metrics(&Metrics::known(), objectives),
            units: Vec::new(),
            fronts: Vec::new(),
        }
    }

    /// Points of a stretch of the study. Metrics of techniques that none of them has are no metrics there, so that none of them competes.
    pub(super) fn add(&mut self, report: &Report) {
        let own = || {
            let known = Metrics::known().with_points(&report.points);
            metrics(&known, &self.objectives)
        };
        let Some(metrics) = self.metrics.clone().or_else(own) else {
            return;
        };
        self.units = metrics.iter().map(|one| one.unit().to_owned()).collect();
        for (number, outcome) in report.points.iter().enumerate() {
            let comparison = report.comparison(number);
            let values = metrics.iter().map(|one| one.value(outcome, comparison));
            if let Some(values) = values.collect() {
                self.offer(&outcome.point, values, 1);
            }
        }
    }

    /// None yet, between the same.
    pub(super) fn empty(&self) -> Self {
        Self {
            units: Vec::new(),
            fronts: Vec::new(),
            ..self.clone()
        }
    }

    /// Adds the fronts of points that follow: what another of them beats is on no front.
    pub(super) fn merge(&mut self, next: Self) {
        if !next.units.is_empty() {
            self.units = next.units;
        }
        for front in next.fronts {
            for held in front.points {
                self.offer(&held.point, held.values, held.alike);
            }
        }
    }

    /// So many points of the same values.
    fn offer(&mut self, point: &Point, values: Vec<f64>, alike: usize) {
        let place = self.fronts.iter().position(|f| f.kernel == point.kernel);
        let place = place.unwrap_or_else(|| {
            self.fronts.push(KernelFront {
                kernel: point.kernel.clone(),
                points: Vec::new(),
            });
            self.fronts.len() - 1
        });
        let front = &mut self.fronts[place].points;
        if let Some(same) = front.iter_mut().find(|held| held.values == values) {
            same.alike += alike;
            return;
        }
        let objectives = &self.objectives;
        // Of unequal values: nowhere worse is somewhere better.
        let beats = |a: &[f64], b: &[f64]| {
            let mut pairs = a.iter().zip(b).zip(objectives);
            pairs.all(|((a, b), objective)| objective.cost(*a) <= objective.cost(*b))
        };
        if front.iter().any(|held| beats(&held.values, &values)) {
            return;
        }
        front.retain(|held| !beats(&values, &held.values));
        front.push(OnFront {
            values,
            alike,
            point: point.clone(),
        });
    }

    pub(super) fn finish(mut self) -> Vec<KernelFront> {
        let first = self.objectives.first();
        for front in &mut self.fronts {
            let cost = |held: &OnFront| {
                let best = first.zip(held.values.first());
                best.map_or(0.0, |(objective, value)| objective.cost(*value))
            };
            front.points.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        }
        self.fronts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pareto::non_dominated;
    use crate::sample;
    use proptest::prelude::*;

    proptest! {
        /// Point by point the same front as all at once, equal points included.
        #[test]
        fn a_front_that_grows_is_the_front(costs in prop::collection::vec(prop::collection::vec(0..6_u8, 2), 1..40)) {
            let objective = |metric: &str| Objective { metric: metric.to_owned(), maximise: false };
            let mut growing = Growing::between(&[objective("energy_j"), objective("time_s")]);
            let point = sample::outcomes().remove(0).point;
            let costs: Vec<Vec<f64>> = costs.iter().map(|c| c.iter().map(|v| f64::from(*v)).collect()).collect();
            for values in &costs {
                growing.offer(&point, values.clone(), 1);
            }
            let held = growing.finish().remove(0).points.into_iter();
            let mut grown: Vec<Vec<f64>> = held.flat_map(|held| vec![held.values; held.alike]).collect();
            let mut whole: Vec<Vec<f64>> = non_dominated(&costs).into_iter().map(|place| costs[place].clone()).collect();
            grown.sort_by(|a, b| a.partial_cmp(b).unwrap());
            whole.sort_by(|a, b| a.partial_cmp(b).unwrap());
            prop_assert_eq!(grown, whole);
        }
    }
}
