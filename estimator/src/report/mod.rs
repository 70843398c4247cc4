//! Comparisons of priced points, and their renderings.

mod accounting;
mod chart;
mod columns;
mod compare;
mod csv;
pub mod estimate;
mod fit;
pub(crate) mod format;
mod html;
pub mod metric;
mod model;
mod stacked;
mod table;
mod terms;
mod time;

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;

pub use accounting::Implied;
pub use compare::{Change, Comparison, Overhead, PaperValues, Part, Saving};
pub use fit::Line;
pub use model::{Block, Report};
pub use stacked::{Interplay, Stacked, StackedPoint};
