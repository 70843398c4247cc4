//! Area, delay, energy and leakage of arrays, caches, buffers and logic.
//!
//! One pure function, [`cost`], from a technology, an operating point, a profile and a specification to a [`Cost`] with its breakdown.

mod cost;
mod error;
mod spec;

pub use cost::{Cost, Organisation, Part, Uncertainty};
pub use error::CircuitError;
pub use spec::{
    Access, BufferSpec, CacheSpec, ComparatorSpec, MuxSpec, OperatingPoint, Ports, Profile,
    RamSpec, SelectSpec, Spec, TagSpec,
};
