//! Points of a kernel in the plane of two metrics, with the line of the best compromises.

mod plane;

use plane::Plane;

use super::WIDTH;
use super::legend::{self, Mark};
use super::scale::Scale;
use super::svg::{Anchor, Canvas};
use crate::metric::quantity;
use crate::model::Report;
use crate::pareto::{Front, Fronts};

/// Height of the area with the points.
const HEIGHT: f64 = 300.0;

/// Points off the front that are drawn; of more, evenly many.
const MOST_OTHERS: usize = 1500;

/// The points of `front` and those that it dominates: the first metric across, that of number `second` up.
pub fn front(report: &Report, fronts: &Fronts, front: &Front, second: usize, id: &str) -> String {
    let plane = Plane::new(report, fronts, front, second);
    let mut canvas = Canvas::default();
    let budget = [
        (Mark::Circle, "s0", "inside the budget, or not bounded"),
        (Mark::Circle, "s7", "outside the budget"),
    ];
    let plain = [(Mark::Circle, "s0", "other points")];
    let others: &[_] = if report.budget.is_some() {
        &budget
    } else {
        &plain
    };
    let keys = [&[(Mark::Diamond, "paper", "on the front")], others].concat();
    let top = legend::draw(&mut canvas, &keys);
    let x = Scale::over(plane.range(0), 84.0, WIDTH - 40.0);
    let y = Scale::over(plane.range(second), top + HEIGHT, top + 24.0);
    axes(&mut canvas, fronts, (&x, &y), second, top);
    let place = |number: usize| {
        (
            x.at(plane.value(number, 0)),
            y.at(plane.value(number, second)),
        )
    };
    // Of more than two metrics a front is a surface, and no line leads along it.
    if fronts.metrics.len() == 2 {
        line(&mut canvas, front, place);
    }
    dominated(&mut canvas, &plane, place);
    for &number in &front.points {
        plane.whiskers(&mut canvas, number, (&x, &y));
        let (x, y) = place(number);
        canvas.diamond("paper", x, y, &plane.tooltip(number));
    }
    let [first, other] = [0, second].map(|place| fronts.metrics[place].name());
    let title = format!("{other} against {first}, {}", front.kernel.name);
    let on = front.points.len();
    let description = format!(
        "Each point of the kernel {} by {first} and {other}; {on} of {} are on the Pareto front. The table below lists the front.",
        front.kernel.name,
        front.candidates.len()
    );
    canvas.finish(id, &title, &description, [WIDTH, top + HEIGHT + 46.0])
}

/// The points off the front.
fn dominated(canvas: &mut Canvas, plane: &Plane<'_>, place: impl Fn(usize) -> (f64, f64)) {
    let Plane { report, front, .. } = plane;
    let candidates = front.candidates.iter().copied();
    let others = candidates.filter(|n| front.points.binary_search(n).is_err());
    let others: Vec<usize> = others.collect();
    let stride = others.len().div_ceil(MOST_OTHERS).max(1);
    for number in others.into_iter().step_by(stride) {
        let budget = report.budget.as_ref();
        let verdict = budget.and_then(|budget| budget.of_point(number));
        let outside = verdict.is_some_and(|verdict| !verdict.inside);
        let (x, y) = place(number);
        canvas.circle(
            if outside { "s7" } else { "s0" },
            x,
            y,
            &plane.tooltip(number),
        );
    }
}

fn axes(canvas: &mut Canvas, fronts: &Fronts, (x, y): (&Scale, &Scale), second: usize, top: f64) {
    let show = |place: usize, value: f64| quantity::tick(value, fronts.metrics[place].unit());
    let ends = |scale: &Scale| {
        let ticks: Vec<f64> = scale.ticks().collect();
        (scale.at(ticks[0]), scale.at(ticks[ticks.len() - 1]), ticks)
    };
    let ((left, right, across), (bottom, high, up)) = (ends(x), ends(y));
    for tick in up {
        canvas.line("grid", [left, y.at(tick), right, y.at(tick)]);
        canvas.text(Anchor::End, left - 8.0, y.at(tick), &show(second, tick));
    }
    // Labels of an axis are alike in length, but may be too long to stand beside each other.
    let longest = across.iter().map(|&tick| super::text_width(&show(0, tick)));
    let longest = longest.fold(0.0, f64::max);
    let distance = (right - left) / (across.len() as f64 - 1.0).max(1.0);
    let every = (longest / distance).ceil().max(1.0) as usize;
    for (number, tick) in across.into_iter().enumerate() {
        canvas.line("grid", [x.at(tick), high, x.at(tick), bottom]);
        if number.is_multiple_of(every) {
            let label = show(0, tick);
            canvas.text(Anchor::Middle, x.at(tick), bottom + 14.0, &label);
        }
    }
    let middle = f64::midpoint(left, right);
    canvas.text(
        Anchor::Middle,
        middle,
        bottom + 34.0,
        fronts.metrics[0].name(),
    );
    canvas.text(Anchor::Start, 4.0, top + 6.0, fronts.metrics[second].name());
}

/// The front as a line from one of its points to the next.
fn line(canvas: &mut Canvas, front: &Front, place: impl Fn(usize) -> (f64, f64)) {
    let mut places: Vec<(f64, f64)> = front.points.iter().map(|&n| place(n)).collect();
    places.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    for pair in places.windows(2) {
        canvas.line("line-paper", [pair[0].0, pair[0].1, pair[1].0, pair[1].1]);
    }
}
