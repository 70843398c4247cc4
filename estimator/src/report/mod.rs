//! Comparisons of priced points, and their renderings.

mod accounting;
mod compare;
pub mod estimate;
mod fit;
mod model;
mod terms;

#[cfg(test)]
mod sample;

pub use accounting::Implied;
pub use compare::{Change, Comparison, Overhead, PaperValues, Saving};
pub use fit::Line;
pub use model::{Block, Report};
