//! Metrics that papers add to comparisons.

use super::{Figure, Metric};
use crate::beside;
use crate::estimate::Estimate;
use crate::paper::PaperFigure;

/// What of a figure a metric is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// Its value.
    Value,
    /// Half its 95 % interval.
    HalfWidth,
}

impl Part {
    /// The number.
    pub(super) fn of(self, estimate: Estimate) -> f64 {
        match self {
            Self::Value => estimate.value,
            Self::HalfWidth => estimate.half_width(),
        }
    }
}

/// The metrics of every paper.
pub(super) fn all() -> impl Iterator<Item = Metric> {
    beside::figures().flat_map(|(paper, figure)| metrics(paper, figure))
}

/// A figure, and half its interval if it has one.
fn metrics(paper: &'static str, figure: &'static PaperFigure) -> impl Iterator<Item = Metric> {
    let metric = move |name: String, meaning: &str, part: Part| Metric {
        name,
        unit: figure.unit.to_owned(),
        better: figure.better,
        meaning: format!("{meaning} (`paper = \"{paper}\"`)"),
        interval: matches!(part, Part::HalfWidth),
        figure: Figure::Paper {
            paper,
            figure,
            part,
        },
    };
    let value = metric(figure.key.to_owned(), figure.meaning, Part::Value);
    let half = figure.half_width_key();
    let half = half.map(|key| metric(key, "half its 95 % interval", Part::HalfWidth));
    std::iter::once(value).chain(half)
}
