//! `warpwatt explain`: where a figure comes from.

mod arguments;

pub use arguments::ExplainArguments;

use super::console::{Exit, out, out_json, reject};
use super::results::Results;
use crate::diag::Diag;
use crate::explain::{Explanation, explain, text};

/// Explains a figure of a point.
pub fn run(arguments: &ExplainArguments) -> Exit {
    match explained(arguments) {
        Ok(explanation) if arguments.json => {
            out_json(&serde_json::json!(explanation));
            Exit::Done
        }
        Ok(explanation) => {
            out(&text(&explanation, arguments.depth));
            Exit::Done
        }
        Err(diag) => reject(&diag.into(), arguments.json),
    }
}

fn explained(arguments: &ExplainArguments) -> Result<Explanation, Diag> {
    let results = Results::open(&arguments.results)?;
    let (metric, number) = results.figure(&arguments.metric, &arguments.point)?;
    let variation = results.sampling.and_then(|sampling| sampling.process);
    explain(
        &results.report,
        &results.recipes,
        variation,
        &metric,
        number,
    )
}
