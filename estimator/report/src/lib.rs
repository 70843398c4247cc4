//! What is made of priced points: metrics by name, comparisons with a plain GPU, and one model of tables that terminal, page, CSV, Parquet and JSON render.
//!
//! Nothing here opens a file or starts a thread, so that a browser or another language can hold it.

mod against;
mod aligned;
mod answer;
pub mod beside;
mod board;
mod budget;
mod chart;
mod columns;
mod compare;
pub mod difference;
pub mod digest;
pub mod drawn;
pub mod effects;
pub mod estimate;
pub mod factors;
mod fit;
pub mod format;
mod goals;
pub mod grids;
mod html;
pub mod json;
pub mod kernel_page;
mod latex;
pub mod metric;
mod model;
mod operating;
pub mod paper;
pub mod papers;
pub mod parameters;
pub mod pareto;
#[cfg(feature = "parquet")]
pub mod parquet;
mod plain;
mod protection;
pub mod select;
pub mod sheet;
mod stacked;
mod structures;
mod table;
mod tables;
pub mod terms;
mod text;
mod time;
mod uncertainty;

#[cfg(any(test, feature = "sample"))]
pub mod sample;
#[cfg(test)]
mod tests;

pub use answer::{Answer, Detail, Details, Scope};
pub use budget::{Judged, Margin, Verdict};
pub use chart::{Class, InUse, Layer, OfSm, Ratio, Strip, ratios, strips};
pub use compare::{Change, Comparison, Overhead, Part, Saving};
pub use fit::Line;
pub use html::{EXPORTS, Picture, registers_over_time};
pub use model::{Block, Report};
pub use protection::{Protected, Protections};
pub use stacked::{Interplay, Stacked, StackedPoint};
pub use tables::{Table, answer_sheet};

use warpwatt_input::{diag, goal};
use warpwatt_pricing::{label, outcome, peak, performance, reliability};
