//! What was found, for people and for programs.

use comfy_table::Table;
use serde_json::{Value, json};

use crate::command::list::table;
use crate::optimise::{Effort, Found, Score, Space};
use crate::optimise::{Goal, Tried};
use crate::outcome::{Point, gpu_label};
use crate::report::Verdict;
use crate::report::metric::{Bound, quantity};
use crate::run::Resolved;

/// A candidate that was tried, in one line.
pub fn line(
    resolved: &Resolved,
    space: &Space,
    candidate: usize,
    goal: &Goal,
    score: &Score,
) -> String {
    let point = space.candidate(candidate).points[0].point;
    let label = label(&resolved.plan.point(point));
    let mark = if score.violation > 0.0 {
        ", outside the budget"
    } else {
        ""
    };
    format!(
        "{} {}{mark}, {label}",
        goal.metric.name(),
        value_text(goal, score)
    )
}

fn value_text(goal: &Goal, score: &Score) -> String {
    // A cost is the value or its negative.
    let value = score.cost.map(|cost| goal.objective.cost(cost));
    value.map_or("without a value".to_owned(), |value| {
        quantity::show(value, goal.metric.unit())
    })
}

/// What a candidate is.
fn label(point: &Point) -> String {
    format!(
        "{} · {} · {}",
        point.technique,
        gpu_label(&point.gpu, &point.axes),
        point.technology.label()
    )
}

/// The best, how it was found, and the best candidate on each kernel.
pub fn text(space: &Space, goal: &Goal, found: &Found, effort: Effort, best: &[Tried]) -> String {
    let way = if goal.objective.maximise {
        "most"
    } else {
        "least"
    };
    let mut text = format!(
        "{way} {}: {}{}\n{}\n{}\n",
        goal.metric.name(),
        value_text(goal, &found.score),
        if best.len() > 1 {
            ", mean over kernels"
        } else {
            ""
        },
        best.first()
            .map(|on| label(&on.outcome.point))
            .unwrap_or_default(),
        how(space, found, effort),
    );
    if !found.score.is_inside() {
        text += "no candidate that was tried is inside the budget; this one is the nearest to it\n";
    }
    let mut rows = Table::new();
    for on in best {
        let value = on
            .value
            .map(|value| quantity::show(value, goal.metric.unit()));
        rows.add_row([
            on.outcome.point.kernel.name.clone(),
            value.unwrap_or_default(),
            on.verdict.as_ref().map_or(String::new(), |verdict| {
                let mark = if verdict.inside { "inside" } else { "outside" };
                format!("{mark}: {}", binding(goal, verdict))
            }),
        ]);
    }
    text + "\n" + &table(rows, ["kernel", goal.metric.name(), "budget"])
}

/// What binds.
fn binding(goal: &Goal, verdict: &Verdict) -> String {
    let (limit, metric) = (
        &goal.limits[verdict.binding],
        &goal.metrics[verdict.binding],
    );
    let value = verdict.margins[verdict.binding].and_then(|margin| margin.value);
    let show = |value: f64| quantity::show(value, metric.unit());
    let side = match limit.bound {
        Bound::AtMost => "at most",
        Bound::AtLeast => "at least",
    };
    let value = value.map_or("without a value".to_owned(), show);
    format!("{} {value}, {side} {}", limit.metric, show(limit.limit))
}

fn how(space: &Space, found: &Found, effort: Effort) -> String {
    if found.whole {
        return format!("all {} candidates were evaluated", space.len());
    }
    let at = found.history.last().map_or(0, |(at, _)| *at);
    format!(
        "found by annealing and descent after {at} of {} evaluations (seed {}) among {} candidates; it may not be the very best",
        found.evaluations,
        effort.seed,
        space.len()
    )
}

/// The same as JSON.
pub fn value(space: &Space, goal: &Goal, found: &Found, effort: Effort, best: &[Tried]) -> Value {
    let kernels = best.iter().map(|on| {
        json!({
            "point": on.outcome.point, "value": on.value,
            "inside": on.verdict.as_ref().map(|verdict| verdict.inside),
            "binding": on.verdict.as_ref().map(|verdict| &goal.limits[verdict.binding].metric),
        })
    });
    json!({
        "objective": goal.objective,
        "unit": goal.metric.unit(),
        "value": found.score.cost.map(|cost| goal.objective.cost(cost)),
        "inside": found.score.is_inside(),
        "limits": goal.limits,
        "best": kernels.collect::<Vec<_>>(),
        "method": if found.whole { "exhaustive" } else { "annealing" },
        "evaluations": found.evaluations,
        "found_after": found.history.last().map(|(at, _)| at),
        "candidates": space.len(),
        "seed": effort.seed,
    })
}
