//! Points against a budget: which are inside, and which bound is the nearest or the most broken.

use serde::Serialize;

use super::compare::Comparison;
use super::metric::{Bound, Limit, Metric, Metrics, quantity};
use super::model::Report;
use crate::goal::Budget;
use crate::outcome::Outcome;

/// What lies outside of a 95 % interval, on each side.
const TAIL: f64 = 0.025;

/// A study's points against its budget.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// The bounds, in the order of the study.
    pub limits: Vec<Limit>,
    /// Their metrics.
    #[serde(skip)]
    pub metrics: Vec<Metric>,
    /// One a point in the order of the points; `None` where no bound applies: bounds on a comparison do not apply to a plain GPU.
    pub points: Vec<Option<Verdict>>,
}

/// A point against the budget.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Whether it is inside every bound that applies.
    pub inside: bool,
    /// The bound that binds: the one with the least margin, relative to its limit; one of a metric without a value comes first.
    pub binding: usize,
    /// One a bound; `None` where it does not apply.
    pub margins: Vec<Option<Margin>>,
    /// The share of the draws of its uncertainty in which it is inside every bound, if they are drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
}

/// A value against a bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Margin {
    /// The value; a point without one is outside.
    pub value: Option<f64>,
    /// How far it is inside, in the metric's unit; negative outside.
    pub margin: Option<f64>,
}

impl Judged {
    /// What is said of the point `number`, from 0 on; nothing where no bound applies.
    pub fn of_point(&self, number: usize) -> Option<&Verdict> {
        self.points.get(number).and_then(Option::as_ref)
    }

    /// The points of `report` against `budget`. Bounds whose metric does not exist are met by no point.
    pub fn of(report: &Report, budget: &Budget) -> Self {
        let known = Metrics::known();
        let (limits, metrics): (Vec<Limit>, Vec<Metric>) = budget
            .all()
            .into_iter()
            .filter_map(|limit| Some((limit.clone(), known.find(&limit.metric).ok()?)))
            .unzip();
        let points = report.points.iter().enumerate();
        let points = points.map(|(number, point)| {
            Verdict::of(point, report.comparison(number), &limits, &metrics)
        });
        Self {
            points: points.collect(),
            limits,
            metrics,
        }
    }

    /// Points that count for how a command ends, those with a technique if there are any, and how many of them are inside.
    pub fn count(&self, report: &Report) -> Count {
        let with_technique = report.points.iter().any(|p| !p.point.is_baseline());
        let judged = report.points.iter().zip(&self.points);
        let counted = judged.filter(|(point, _)| !with_technique || is_compared(point));
        let verdicts: Vec<&Verdict> = counted.filter_map(|(_, v)| v.as_ref()).collect();
        Count {
            with_technique,
            judged: verdicts.len(),
            inside: verdicts.iter().filter(|verdict| verdict.inside).count(),
            within_error: verdicts
                .iter()
                .filter(|verdict| verdict.within_error())
                .count(),
        }
    }

    /// What binds in words: `slowdown is 3.10%, 2.10% above 1.00%`.
    pub fn words(&self, verdict: &Verdict) -> String {
        let (limit, metric) = (
            &self.limits[verdict.binding],
            &self.metrics[verdict.binding],
        );
        let show = |value: f64| quantity::show(value, metric.unit());
        let Some(Margin {
            value: Some(value),
            margin: Some(margin),
        }) = verdict.margins[verdict.binding]
        else {
            return format!("no value of {}", limit.metric);
        };
        let side = match (limit.bound, margin < 0.0) {
            (Bound::AtMost, true) | (Bound::AtLeast, false) => "above",
            (Bound::AtMost, false) | (Bound::AtLeast, true) => "below",
        };
        let (value, off, bound) = (show(value), show(margin.abs()), show(limit.limit));
        format!("{} is {value}, {off} {side} {bound}", limit.metric)
    }

    /// The bounds in words: `area_overhead at most 5.00%`.
    pub fn bounds(&self) -> Vec<String> {
        let limits = self.limits.iter().zip(&self.metrics);
        let words = limits.map(|(limit, metric)| {
            let side = match limit.bound {
                Bound::AtMost => "at most",
                Bound::AtLeast => "at least",
            };
            let value = quantity::show(limit.limit, metric.unit());
            format!("{} {side} {value}", limit.metric)
        });
        words.collect()
    }
}

/// How many points are inside a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Whether only points with a technique are counted.
    pub with_technique: bool,
    /// How many were judged.
    pub judged: usize,
    /// How many of them are inside.
    pub inside: usize,
    /// How many of the judged are inside or outside within their error only.
    pub within_error: usize,
}

fn is_compared(point: &Outcome) -> bool {
    !point.point.is_baseline()
}

impl Verdict {
    /// A point against `limits` on `metrics`; `None` if none of them applies.
    pub fn of(
        point: &Outcome,
        comparison: Option<&Comparison>,
        limits: &[Limit],
        metrics: &[Metric],
    ) -> Option<Self> {
        let mut binding: Option<(f64, usize)> = None;
        let mut margins = Vec::with_capacity(limits.len());
        for (number, (limit, metric)) in limits.iter().zip(metrics).enumerate() {
            if metric.needs_baseline() && point.point.is_baseline() {
                margins.push(None);
                continue;
            }
            let value = metric.value(point, comparison);
            let relative = value.map_or(f64::NEG_INFINITY, |value| limit.relative_margin(value));
            if binding.is_none_or(|(least, _)| relative < least) {
                binding = Some((relative, number));
            }
            margins.push(Some(Margin {
                value,
                margin: value.map(|value| limit.margin(value)),
            }));
        }
        let (_, binding) = binding?;
        let inside = margins.iter().flatten();
        Some(Self {
            inside: inside.into_iter().all(Margin::is_inside),
            binding,
            margins,
            chance: None,
        })
    }
}

impl Verdict {
    /// Whether it is inside or outside within its error only: with one bound, whether the 95 % interval of the value holds the limit.
    pub fn within_error(&self) -> bool {
        self.chance
            .is_some_and(|chance| chance > TAIL && chance < 1.0 - TAIL)
    }

    /// `inside` or `outside`, and whether that is within its error.
    pub fn mark(&self) -> &'static str {
        match (self.inside, self.within_error()) {
            (true, false) => "inside",
            (true, true) => "inside, within its error",
            (false, false) => "outside",
            (false, true) => "outside, within its error",
        }
    }
}

impl Margin {
    /// Whether the value is within its bound.
    pub fn is_inside(&self) -> bool {
        self.margin.is_some_and(|margin| margin >= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn limit(metric: &str, bound: Bound, limit: f64) -> Limit {
        Limit {
            metric: metric.to_owned(),
            bound,
            limit,
        }
    }

    fn judged(budget: &Budget) -> (Report, Judged) {
        let report = Report::new("by hand", &sample::outcomes());
        let judged = Judged::of(&report, budget);
        (report, judged)
    }

    #[test]
    fn the_bound_with_the_least_relative_margin_binds() {
        let (report, judged) = judged(&Budget {
            slowdown: Some(0.01),
            limits: vec![limit("filter_cache.hit_rate", Bound::AtLeast, 0.9)],
            ..Budget::default()
        });
        // The kernels hit in 95, 90 and 55 % of the fetches, and slow down by about 0.3 % or less.
        let inside: Vec<Option<bool>> = judged
            .points
            .iter()
            .map(|verdict| verdict.as_ref().map(|v| v.inside))
            .collect();
        assert_eq!(
            inside,
            [
                Some(false),
                Some(true),
                Some(false),
                Some(true),
                Some(false),
                Some(false)
            ],
            "a plain GPU has no hit rate"
        );
        let last = judged.points[5].as_ref().unwrap();
        assert_eq!(last.binding, 1);
        assert_eq!(
            judged.words(last),
            "filter_cache.hit_rate is 55.00%, 35.00% below 90.00%"
        );
        let count = judged.count(&report);
        assert_eq!((count.judged, count.inside), (3, 2));
    }

    #[test]
    fn bounds_on_comparisons_do_not_apply_to_a_plain_gpu() {
        let (_, judged) = judged(&Budget {
            area_overhead: Some(0.05),
            ..Budget::default()
        });
        assert_eq!(judged.points[0], None);
        assert!(judged.points[1].is_some());
    }

    #[test]
    fn a_study_of_plain_gpus_is_judged_whole() {
        let mut outcomes = sample::outcomes();
        outcomes.retain(|outcome| outcome.point.is_baseline());
        let report = Report::new("plain", &outcomes);
        let area = outcomes[0].totals.area_m2;
        let budget = Budget {
            limits: vec![limit("area_m2", Bound::AtMost, area)],
            ..Budget::default()
        };
        let count = Judged::of(&report, &budget).count(&report);
        assert_eq!((count.judged, count.inside), (3, 3), "a bound is inside");
    }
}
