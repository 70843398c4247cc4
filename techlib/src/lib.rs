//! Quantities, technology nodes and wires, each number with its source.
//!
//! A [`Library`] is a value: it is made once and asked for a [`Technology`] by node and flavour. Nodes between two of its tables are interpolated by a
//! rule that the result names; nodes outside are refused.

mod error;
mod flavour;
mod library;
mod provenance;
pub mod published;
pub mod quantity;
pub mod rules;
mod sourced;
mod technology;

pub use error::TechError;
pub use flavour::{Flavour, UnknownFlavour};
pub use library::Library;
pub use provenance::Pedigree;
pub use sourced::{How, Sourced};
pub use technology::{
    Cell, Defect, Device, Interpolation, LeakageTable, Technology, WireLayer, WireStack, Wires,
};
