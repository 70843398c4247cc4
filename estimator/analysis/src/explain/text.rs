//! A derivation for the terminal.

use std::fmt::Write;

use super::tree::{Formula, Node};
use super::{CauseOfError, Explanation};
use crate::goal::quantity::readable;

/// How many causes of error are named.
const CAUSES: usize = 5;

/// The explanation, its tree down to `depth` levels below the figure.
pub fn text(explanation: &Explanation, depth: usize) -> String {
    let mut out = String::new();
    let value = readable(explanation.value, &explanation.unit);
    let _ = writeln!(out, "{}: {}", explanation.metric, explanation.meaning);
    let _ = writeln!(
        out,
        "point {}: {}\n",
        explanation.point, explanation.selector
    );
    let error = if explanation.sigma > 0.0 {
        format!(
            " (one sigma {})",
            readable(explanation.sigma, &explanation.unit)
        )
    } else {
        String::new()
    };
    let _ = writeln!(out, "{} = {value}{error}", explanation.metric);
    children(&mut out, &explanation.derivation, "", depth);
    causes(&mut out, &explanation.causes, &explanation.unit);
    out
}

fn children(out: &mut String, node: &Node, indent: &str, depth: usize) {
    let _ = writeln!(out, "{indent}   {}", how(node));
    if depth == 0 {
        return;
    }
    let mut order: Vec<&Node> = node.inputs.iter().collect();
    // Summands from the largest; factors and sides stay where the formula has them.
    if matches!(node.formula, Formula::Sum | Formula::Greatest) {
        order.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()));
    }
    if matches!(node.formula, Formula::Model { .. }) {
        let share = |node: &Node| node.variance_share.unwrap_or(0.0).abs();
        order.sort_by(|a, b| share(b).total_cmp(&share(a)));
    }
    let last = order.len().saturating_sub(1);
    for (place, input) in order.into_iter().enumerate() {
        let (branch, below) = if place == last {
            ("└─", "  ")
        } else {
            ("├─", "│ ")
        };
        // Beyond the whole are parts that cancel against those of the other side of a comparison.
        let share = input
            .variance_share
            .filter(|share| (0.0005..=1.0005).contains(&share.abs()));
        let share = share.map_or_else(String::new, |share| {
            format!("  [{:.1} % of the variance]", 100.0 * share)
        });
        let _ = writeln!(
            out,
            "{indent}{branch} {} = {}{share}",
            input.name,
            readable(input.value, &input.unit)
        );
        children(out, input, &format!("{indent}{below}"), depth - 1);
    }
}

/// Formula and source in a line.
fn how(node: &Node) -> String {
    let formula = match &node.formula {
        Formula::Given => String::new(),
        Formula::Technology {
            uncertainty,
            cause,
            how,
            effect,
        } => {
            let all = format!("± {:.0} %, {how}, errs with `{cause}`", 100.0 * uncertainty);
            format!(
                "{all}; one sigma moves the figure above by {:+.1} %",
                100.0 * effect
            )
        }
        Formula::Method { uncertainty, .. } => format!("± {:.0} %", 100.0 * uncertainty),
        Formula::Sum => "the sum of".to_owned(),
        Formula::Product => "the product of".to_owned(),
        Formula::Quotient => "the first over the second".to_owned(),
        Formula::Difference => "the first less the others".to_owned(),
        Formula::Change => "the first over the second, less one".to_owned(),
        Formula::Saving => "one less the first over the second".to_owned(),
        Formula::Greatest => "the greatest of".to_owned(),
        Formula::Quadrature => "the root of the sum of squares of".to_owned(),
        Formula::Model { equation } => equation.clone(),
        Formula::Reported => "made by the technique of".to_owned(),
    };
    match (&node.source, formula.is_empty()) {
        (Some(source), true) => format!("({source})"),
        (Some(source), false) => format!("{formula}  ({source})"),
        (None, _) => formula,
    }
}

fn causes(out: &mut String, causes: &[CauseOfError], unit: &str) {
    if causes.is_empty() {
        return;
    }
    let _ = writeln!(out, "\nwhat moves it most:");
    for cause in causes.iter().take(CAUSES) {
        let _ = writeln!(
            out,
            "  {:5.1} %  {}: one sigma moves the figure by {}",
            100.0 * cause.variance_share,
            cause.cause,
            readable(cause.moves, unit)
        );
    }
}
