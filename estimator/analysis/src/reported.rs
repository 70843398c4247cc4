//! A study's report from its priced points.

use crate::diag::Diag;
use crate::goal::Objective;
use crate::outcome::Outcome;
use crate::recipe::Recipes;
use crate::report::{Report, beside};
use crate::store::Manifest;
use crate::uncertainty::with_uncertainty;

/// The report of a finished study, with compromises between `objectives`; `recipes` are asked for where draws need what points were priced from.
///
/// # Errors
/// An objective is no metric, or a drawn technology is outside what the models cover.
pub fn reported(
    manifest: &Manifest,
    outcomes: &[Outcome],
    objectives: &[Objective],
    recipes: impl FnOnce() -> Result<Recipes, Diag>,
) -> Result<Report, Diag> {
    let paper = beside::load(manifest.paper.as_deref());
    let report = Report::beside(&manifest.title, outcomes, paper);
    let report = report.with_goals(manifest.budget.as_ref(), objectives)?;
    match manifest.uncertainty {
        Some(draws) => with_uncertainty(report, &recipes()?.at_rest(outcomes), draws),
        None => Ok(report),
    }
}
