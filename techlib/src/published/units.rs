//! Energies and areas of functional units.

use serde::Deserialize;

use super::{checked, parse, problem};
use crate::TechError;
use crate::quantity::{Area, Energy, Length, Voltage};

const FILE: &str = "operations/units.toml";
const TEXT: &str = include_str!("../../data/operations/units.toml");

/// One published number about a functional unit.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitFact {
    /// `int_add`, `int_mul`, `fp_add`, `fp_mul`, `fp_fma`, `bf_add`, `bf_mul`, `fp_mma` or `int_mma`.
    pub unit: String,
    /// Width of its operands.
    pub bits: u32,
    /// What was published.
    pub value: UnitValue,
    /// At which node.
    pub node: Length,
    /// Document.
    pub source: String,
    /// Relative, one sigma, as a statement about silicon.
    pub uncertainty: f64,
    /// Of what the number is.
    pub scope: UnitScope,
    /// What the number includes, where that is not plain.
    pub note: Option<String>,
}

/// Of what a number about a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnitScope {
    /// Arithmetic alone.
    Datapath,
    /// A unit as products have it: with the registers of its stages, operand latches and control.
    Unit,
}

/// The number itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UnitValue {
    /// Of one operation, at a supply.
    Energy(Energy, Voltage),
    /// Of one unit.
    Area(Area),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    fact: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    unit: String,
    bits: u32,
    energy: Option<Energy>,
    area: Option<Area>,
    node: Length,
    vdd: Option<Voltage>,
    source: String,
    how: Method,
    uncertainty: f64,
    scope: UnitScope,
    note: Option<String>,
}

/// How a fact was obtained.
#[derive(PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Method {
    Published,
    /// Read in somebody else's quotation.
    Quoted,
    /// From memory, without a document.
    Recalled,
}

/// Every fact about functional units.
///
/// # Errors
///
/// If the data file is not as it must be.
pub fn units() -> Result<Vec<UnitFact>, TechError> {
    let document: Document = parse(FILE, TEXT)?;
    document.fact.into_iter().map(fact).collect()
}

fn fact(entry: Entry) -> Result<UnitFact, TechError> {
    checked(FILE, &entry.source, entry.uncertainty)?;
    if entry.how == Method::Published && entry.source.contains("recalled") {
        let message = format!(
            "{}.{}: `published`, but its source is recalled",
            entry.unit, entry.bits
        );
        return Err(problem(FILE, &message));
    }
    let value = match (entry.energy, entry.vdd, entry.area) {
        (Some(energy), Some(vdd), None) => UnitValue::Energy(energy, vdd),
        (None, None, Some(area)) => UnitValue::Area(area),
        _ => {
            return Err(problem(
                FILE,
                &format!(
                    "{}.{}: either an energy with its supply or an area",
                    entry.unit, entry.bits
                ),
            ));
        }
    };
    Ok(UnitFact {
        unit: entry.unit,
        bits: entry.bits,
        value,
        node: entry.node,
        source: entry.source,
        uncertainty: entry.uncertainty,
        scope: entry.scope,
        note: entry.note,
    })
}
