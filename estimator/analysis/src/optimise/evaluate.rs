//! Candidates run, priced and judged.

use std::sync::Arc;

use super::{Candidate, OnKernel, Score};
use crate::diag::{Diag, Sources};
use crate::outcome::Outcome;
use crate::report::beside;
use crate::report::metric::{Limit, Metric, Metrics, Objective};
use crate::report::paper::Paper;
use crate::report::{Comparison, Verdict};
use crate::run::{Means, Resolved, run_points};
use crate::store::{Budget, PointKey, Store};

/// What is wanted of a candidate.
pub struct Goal {
    /// Which way the metric should go.
    pub objective: Objective,
    /// The metric.
    pub metric: Metric,
    /// Bounds.
    pub limits: Vec<Limit>,
    /// Their metrics.
    pub metrics: Vec<Metric>,
}

impl Goal {
    /// The goal of a study with this budget.
    ///
    /// # Errors
    /// A metric does not exist.
    pub fn new(budget: Option<&Budget>, objective: &Objective) -> Result<Self, Diag> {
        let known = Metrics::known();
        let limits = budget.map(Budget::all).unwrap_or_default();
        let metrics = limits.iter().map(|limit| known.find(&limit.metric));
        Ok(Self {
            metric: known.find(&objective.metric)?,
            objective: objective.clone(),
            metrics: metrics.collect::<Result<_, _>>()?,
            limits,
        })
    }

    /// Whether its metric is one of comparisons, which plain GPUs have not.
    pub fn needs_baseline(&self) -> bool {
        self.metric.needs_baseline()
    }
}

/// A candidate on one kernel.
pub struct Tried {
    /// The point.
    pub outcome: Outcome,
    /// Its value of the metric.
    pub value: Option<f64>,
    /// It against the budget; nothing if no bound applies.
    pub verdict: Option<Verdict>,
}

/// Runs points that the store does not hold.
pub struct Evaluator<'r> {
    resolved: &'r Resolved,
    sources: &'r Sources,
    store: &'r Store,
    means: Means<'r>,
    goal: &'r Goal,
    paper: Option<Arc<dyn Paper>>,
}

impl<'r> Evaluator<'r> {
    /// Of a study.
    pub fn new(
        resolved: &'r Resolved,
        sources: &'r Sources,
        store: &'r Store,
        means: Means<'r>,
        goal: &'r Goal,
    ) -> Self {
        Self {
            resolved,
            sources,
            store,
            means,
            goal,
            paper: beside::load(resolved.study.paper.as_deref()),
        }
    }

    /// What a candidate comes out as.
    ///
    /// # Errors
    /// A point cannot be run or kept.
    pub fn score(&mut self, candidate: &Candidate) -> Result<Score, Diag> {
        let kernels = self.best(candidate)?;
        let values = kernels.iter().map(|kernel| kernel.value);
        let sum: Option<f64> = values.sum();
        let mean = sum.map(|sum| sum / kernels.len() as f64);
        let violation = kernels.iter().filter_map(|kernel| kernel.verdict.as_ref());
        let violation = violation.map(|verdict| self.violation(verdict));
        Ok(Score {
            cost: mean.map(|mean| self.goal.objective.cost(mean)),
            violation: violation.fold(0.0, f64::max),
        })
    }

    /// A candidate on every kernel.
    ///
    /// # Errors
    /// A point cannot be run or kept.
    pub fn best(&mut self, candidate: &Candidate) -> Result<Vec<Tried>, Diag> {
        let compared =
            self.goal.needs_baseline() || self.goal.metrics.iter().any(Metric::needs_baseline);
        let baseline = |on: &OnKernel| on.baseline.filter(|_| compared);
        let points = candidate.points.iter();
        let points: Vec<usize> = points
            .flat_map(|on| [Some(on.point), baseline(on)])
            .flatten()
            .collect();
        self.run(&points)?;
        let mut found = Vec::new();
        for on in &candidate.points {
            let outcome = self.stored(on.point)?;
            let baseline = baseline(on).map(|number| self.stored(number)).transpose()?;
            let comparison =
                baseline.map(|plain| Comparison::of(&plain, &outcome, self.paper.as_deref()));
            let comparison = comparison.as_ref();
            let (limits, metrics) = (&self.goal.limits, &self.goal.metrics);
            found.push(Tried {
                value: self.goal.metric.value(&outcome, comparison),
                verdict: Verdict::of(&outcome, comparison, limits, metrics),
                outcome,
            });
        }
        Ok(found)
    }

    /// How far the most broken bound is broken, relative to its limit.
    fn violation(&self, verdict: &Verdict) -> f64 {
        let margins = verdict.margins.iter().zip(&self.goal.limits);
        let broken = margins.filter_map(|(margin, limit)| {
            let margin = margin.as_ref()?;
            let value = margin.value;
            Some(value.map_or(f64::INFINITY, |value| -limit.relative_margin(value)))
        });
        broken.fold(0.0, f64::max)
    }

    /// Runs those of the points that the store does not hold.
    fn run(&mut self, points: &[usize]) -> Result<(), Diag> {
        let planned = &self.resolved.plan.points;
        let mut finished = vec![true; planned.len()];
        let keys: Vec<PointKey> = points.iter().map(|point| planned[*point].key).collect();
        let held = self.store.held(&keys).map_err(|error| error.diag())?;
        for (&point, held) in points.iter().zip(held) {
            finished[point] = held;
        }
        if finished.iter().all(|finished| *finished) {
            return Ok(());
        }
        run_points(
            (self.resolved, self.sources),
            &finished,
            self.means,
            |_| (),
            |batch| {
                let batch = batch.into_iter();
                let keyed = batch.map(|(point, outcome)| (planned[point].key, outcome));
                self.store
                    .prepare(keyed.collect())
                    .map_err(|error| error.diag())
            },
            |batch| {
                let put = self.store.put_prepared(&batch);
                put.map_err(|error| error.diag())
            },
        )
    }

    fn stored(&self, point: usize) -> Result<Outcome, Diag> {
        let key = &self.resolved.plan.points[point].key;
        let outcome = self.store.get(key).map_err(|error| error.diag())?;
        outcome.ok_or_else(|| Diag::error("store::defect", "a point that was kept is not there"))
    }
}
