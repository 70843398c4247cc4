//! Comparisons of priced points, and their renderings.

mod aligned;
mod answer;
pub mod beside;
mod board;
mod budget;
pub(crate) mod chart;
mod columns;
mod compare;
pub mod digest;
pub mod drawn;
pub mod effects;
pub mod estimate;
pub mod factors;
mod fit;
pub mod format;
mod goals;
mod html;
pub mod json;
pub mod metric;
mod model;
mod operating;
pub mod paper;
pub mod parameters;
pub mod pareto;
#[cfg(feature = "parquet")]
pub mod parquet;
mod protection;
pub mod sheet;
mod stacked;
mod structures;
mod table;
mod tables;
pub(crate) mod terms;
mod time;
mod uncertainty;

#[cfg(test)]
mod peak_tests;
#[cfg(any(test, feature = "sample"))]
pub mod sample;
#[cfg(test)]
mod tests;

pub use answer::{Answer, Detail, Details, Scope};
pub use budget::{Judged, Margin, Verdict};
pub use chart::{Ratio, ratios};
pub use compare::{Change, Comparison, Overhead, Part, Saving};
pub use fit::Line;
pub use model::{Block, Report};
pub use protection::{Protected, Protections};
pub use stacked::{Interplay, Stacked, StackedPoint};
pub use tables::{Table, answer_sheet};
