//! Facts that belong to no single library: standard-cell rows, energies and areas of functional units, scaling laws, memory devices, rates of upsets, variation of
//! transistors, the way of heat out of a package.
//!
//! Each file in `data/operations` is a list of facts with source and uncertainty; most are written by `generate.py` beside them. They are values: a caller reads
//! what it needs and passes it on.

mod ageing;
mod memory;
mod package;
mod rows;
pub mod rules;
mod scaling;
mod units;
mod upsets;
mod variation;

pub use ageing::{Ageing, ageing};
pub use memory::{DataSheet, Memory, PerBit, memories};
pub use package::{Convection, Fact, Package, Plate, Slab, package};
pub use rows::{Row, row};
pub use scaling::{Scaling, Step};
pub use units::{UnitFact, UnitScope, UnitValue, units};
pub use upsets::{UpsetRate, upset_rate};
pub use variation::{Variation, narrowest_width, variation};

use serde::de::DeserializeOwned;

use crate::TechError;

/// A file of facts, or why it cannot be read.
fn parse<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, TechError> {
    toml::from_str(text).map_err(|error| problem(file, &error.to_string()))
}

fn problem(file: &str, message: &str) -> TechError {
    TechError::Data {
        file: file.to_owned(),
        message: message.to_owned(),
    }
}

/// No number without a source and an uncertainty.
fn checked(file: &str, source: &str, uncertainty: f64) -> Result<(), TechError> {
    if source.trim().is_empty() {
        return Err(problem(file, "a fact has no source"));
    }
    if uncertainty > 0.0 && uncertainty.is_finite() {
        return Ok(());
    }
    Err(problem(file, &format!("no uncertainty beside `{source}`")))
}

#[cfg(test)]
mod tests;
