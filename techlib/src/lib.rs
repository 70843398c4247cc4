//! Quantities, technology nodes and wires, each number with its source.
//!
//! A [`Library`] is a value: it is made once and asked for a [`Technology`] by node and flavour. Nodes between two of its tables are interpolated by a
//! rule that the result names; nodes outside are refused.

mod error;
mod flavour;
mod law;
mod library;
pub mod metrics;
mod operating;
mod provenance;
pub mod published;
pub mod quantity;
pub mod rules;
mod scale;
mod size_effect;
mod sourced;
mod technology;
mod text;
mod varied;

pub use error::TechError;
pub use flavour::{Flavour, UnknownFlavour};
pub use law::{ActivatedLaw, DriveLaw, Leakage, LeakageTable, TunnelLaw};
pub use library::{Fault, Library, Load, Override, OwnNode};
pub use operating::Operating;
pub use provenance::{Cause, Entry, Pedigree};
pub use sourced::{How, Sourced};
pub use technology::{
    Cell, CellFamily, Defect, Device, Fin, Interpolation, Kind, Layout, Sense, SquareLaw,
    Technology, WireLayer, WireStack, Wires,
};
pub use varied::{Sigma, VthShift};
