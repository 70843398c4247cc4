//! The answer: what each configuration wins and what it costs, a row a configuration, GPU variant and technology, as means over kernels.
//!
//! Every figure is a relative change against the plain GPU, minus is less. A mean is the arithmetic one of the kernels' own relative changes, so that each
//! kernel counts once whatever its length. Errors that kernels share, those of a structure's price, do not average out.

mod board;
mod columns;
mod growing;
mod row;
mod scope;
mod show;

pub(super) use columns::{COLUMNS, Value};
pub(super) use growing::Growing;
pub use row::Answer;
pub(super) use row::saved_and_added;
pub use scope::{Scope, Scopes};
pub use show::{Detail, Details};
pub(super) use show::{
    answer_columns, best_and_worst, context, label, left_out, shown, verdict, whole,
};

use super::model::Report;

impl Report {
    /// The headline, in the order of the blocks.
    pub fn answer(&self) -> Vec<Answer> {
        let mut growing = Growing::default();
        growing.add(self);
        growing.finish()
    }
}

/// The row that wins: of those within the budget, if there is one, the one that changes energy the most for the better; `None` if none is eligible.
pub fn winner(rows: &[Answer]) -> Option<&Answer> {
    let eligible = rows.iter().filter(|row| row.within_budget != Some(false));
    eligible
        .filter(|row| row.energy_change.is_some())
        .min_by(|a, b| a.energy().total_cmp(&b.energy()))
}

#[cfg(test)]
mod tests;
