//! The plane of two metrics in which a front lies.

use super::super::scale::Scale;
use super::super::svg::Canvas;
use crate::against::relative_half_width;
use crate::metric::quantity;
use crate::model::Report;
use crate::pareto::{Front, Fronts};

/// A front in the plane of its first metric and another one.
pub struct Plane<'r> {
    pub report: &'r Report,
    pub fronts: &'r Fronts,
    pub front: &'r Front,
    /// The number of the metric that goes up.
    pub second: usize,
    /// The point that is best in the first metric: against it the others are more or less sure.
    first: usize,
}

impl<'r> Plane<'r> {
    /// With the metric of number `second` up.
    pub fn new(report: &'r Report, fronts: &'r Fronts, front: &'r Front, second: usize) -> Self {
        let cost = |number: &usize| {
            let value = fronts.values[*number].as_ref().map_or(0.0, |it| it[0]);
            fronts.objectives[0].cost(value)
        };
        let points = front.points.iter().copied();
        let first = points.min_by(|a, b| cost(a).total_cmp(&cost(b)).then(a.cmp(b)));
        Self {
            report,
            fronts,
            front,
            second,
            first: first.unwrap_or_default(),
        }
    }

    /// A point's value of the metric of number `place`.
    pub fn value(&self, number: usize, place: usize) -> f64 {
        let values = self.fronts.values[number].as_ref();
        values.map_or(0.0, |values| values[place])
    }

    /// From the least to the largest value that is drawn, whiskers included.
    pub fn range(&self, place: usize) -> [f64; 2] {
        let candidates = self.front.candidates.iter();
        let values = candidates.map(|&number| self.value(number, place));
        let ends = self.front.points.iter().flat_map(|&number| {
            let value = self.value(number, place);
            let half = self.half_width(number, place).unwrap_or(0.0);
            [value - half, value + half]
        });
        values.chain(ends).fold(
            [f64::INFINITY, f64::NEG_INFINITY],
            |[least, most], value| [least.min(value), most.max(value)],
        )
    }

    /// What a point is, and its values.
    pub fn tooltip(&self, number: usize) -> String {
        let point = &self.report.points[number].point;
        let figures = [0, self.second].map(|place| {
            let metric = &self.fronts.metrics[place];
            let value = quantity::show(self.value(number, place), metric.unit());
            format!("{} {value}", metric.name())
        });
        let context = format!("{}, {}", point.technique, point.technology.label());
        format!("{context}: {}", figures.join(", "))
    }

    /// How sure a point of the front is.
    pub fn whiskers(&self, canvas: &mut Canvas, number: usize, (x, y): (&Scale, &Scale)) {
        let (across, up) = (self.value(number, 0), self.value(number, self.second));
        if let Some(half) = self.half_width(number, 0) {
            canvas.error_bar(x.at(across - half), x.at(across + half), y.at(up));
        }
        if let Some(half) = self.half_width(number, self.second) {
            canvas.error_bar_up(x.at(across), y.at(up - half), y.at(up + half));
        }
    }

    /// Half the interval of a point's value; nothing of what is sure.
    fn half_width(&self, number: usize, place: usize) -> Option<f64> {
        let points = &self.report.points;
        let metric = self.fronts.metrics[place].name();
        let off = relative_half_width(metric, points.get(number)?, points.get(self.first)?)?;
        (off > 1e-9).then(|| off * self.value(number, place).abs())
    }
}
