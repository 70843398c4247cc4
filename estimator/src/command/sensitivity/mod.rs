//! `warpwatt sensitivity`: which uncertain inputs dominate a figure.

mod arguments;

pub use arguments::SensitivityArguments;

use std::fmt::Write;

use super::console::{Exit, out, out_json, reject};
use super::results::Results;
use crate::diag::Diag;
use crate::goal::quantity::readable;
use crate::sensitivity::{Sensitivity, sensitivity};
use crate::uncertainty::Draws;

/// Shows what dominates a figure.
pub fn run(arguments: &SensitivityArguments) -> Exit {
    match found(arguments) {
        Ok(found) if arguments.json => {
            out_json(&serde_json::json!(found));
            Exit::Done
        }
        Ok(found) => {
            out(&text(&found, arguments.top));
            Exit::Done
        }
        Err(diag) => reject(&diag.into(), arguments.json),
    }
}

fn found(arguments: &SensitivityArguments) -> Result<Sensitivity, Diag> {
    let results = Results::open(&arguments.results)?;
    let (metric, number) = results.figure(&arguments.metric, &arguments.point)?;
    let of_study = results.sampling.unwrap_or(Draws::DEFAULT);
    let sampling = Draws {
        samples: arguments.samples.unwrap_or(of_study.samples),
        seed: arguments.seed.unwrap_or(of_study.seed),
        process: of_study.process,
    };
    sensitivity(&results.report, &results.recipes, &metric, number, sampling)
}

fn text(found: &Sensitivity, top: usize) -> String {
    let mut text = String::new();
    let show = |value: f64| readable(value, &found.unit);
    let _ = writeln!(text, "{} = {}", found.metric, show(found.value));
    let _ = writeln!(text, "point {}: {}\n", found.point, found.selector);
    let _ = writeln!(
        text,
        "one at a time, each input by its own standard deviation:"
    );
    for input in found.inputs.iter().take(top) {
        let _ = writeln!(
            text,
            "  {}, ± {:.0} %, moves it by {}  ({})",
            input.input,
            100.0 * input.uncertainty,
            show(input.moves),
            input.source
        );
    }
    let _ = writeln!(
        text,
        "\ncauses that err for themselves, parts of the variance: to first order, and of {} draws (seed {}):",
        found.sampling.samples, found.sampling.seed
    );
    for cause in found.causes.iter().take(top) {
        let _ = writeln!(
            text,
            "  {:5.1} %  {:5.1} %  {}",
            100.0 * cause.first_order,
            100.0 * cause.drawn,
            cause.cause
        );
    }
    let _ = writeln!(
        text,
        "\none sigma: {} to first order, {} of the draws; 95 % of the draws lie between {} and {}",
        show(found.sigma_first_order),
        show(found.sigma_drawn),
        show(found.low),
        show(found.high)
    );
    text
}
