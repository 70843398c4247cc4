//! Comparisons of priced points, and their renderings.

mod accounting;
mod answer;
mod budget;
mod chart;
mod columns;
mod compare;
mod csv;
pub mod digest;
pub mod effects;
pub mod estimate;
pub mod factors;
mod fit;
pub(crate) mod format;
mod goals;
mod html;
pub mod metric;
mod model;
mod operating;
pub mod pareto;
#[cfg(feature = "parquet")]
pub mod parquet;
mod protection;
mod stacked;
mod structures;
mod table;
mod terms;
mod time;
mod uncertainty;

#[cfg(test)]
mod peak_tests;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;

pub use accounting::Implied;
pub use answer::{Answer, Detail, Details, Scope};
pub use budget::{Judged, Margin, Verdict};
pub use compare::{Change, Comparison, Overhead, PaperValues, Part, Saving};
pub use fit::Line;
pub use model::{Block, Report};
pub use protection::{Protected, Protections};
pub use stacked::{Interplay, Stacked, StackedPoint};
