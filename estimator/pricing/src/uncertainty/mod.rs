//! What of a price is uncertain: the values of a technology, the models' own errors, the variation of transistors, and how each is drawn (JCGM 101:2008).

mod draws;
pub mod input;
mod method;
pub mod process;
pub mod upsets;

pub use draws::Draws;
pub use method::{Figure, method_cause, own_error};
pub use process::ProcessVariation;
pub use upsets::UPSETS;

/// The coverage of every interval that a report gives.
pub const CONFIDENCE: f64 = 0.95;
