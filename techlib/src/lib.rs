//! Quantities, technology nodes and wires, each number with its source.
//!
//! A [`Library`] is a value: it is made once and asked for a [`Technology`] by node and flavour. Nodes between two of its tables are interpolated by a
//! rule that the result names; nodes outside are refused.

mod error;
mod flavour;
pub mod quantity;
mod sourced;

pub use error::TechError;
pub use flavour::Flavour;
pub use sourced::{How, Sourced};
