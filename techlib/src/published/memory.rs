//! Memory devices outside the GPU.

use serde::Deserialize;

use super::{checked, parse, problem};
use crate::TechError;
use crate::quantity::{Current, Energy, Time, Voltage};

const FILE: &str = "operations/dram.toml";
const TEXT: &str = include_str!("../../data/operations/dram.toml");

/// What is published about one kind of memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// For example `gddr6` or `hbm2`.
    pub name: String,
    /// Energy of a bit that is moved, all in all.
    #[serde(default)]
    pub total: Option<PerBit>,
    /// Currents of a data sheet, or of a simulator's description.
    #[serde(default)]
    pub sheet: Option<DataSheet>,
}

/// Energy of a bit between cell and pin.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerBit {
    /// Device and interface, with the row activations of average locality.
    pub energy_per_bit: Energy,
    /// Shares of activation, data movement inside the device, and interface.
    pub shares: [f64; 3],
    /// Of the total.
    pub source: String,
    /// Of the shares.
    pub split_source: String,
    /// Relative, one sigma.
    pub uncertainty: f64,
}

/// Currents and times of one device (of HBM one channel).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSheet {
    /// Supply.
    pub vdd: Voltage,
    /// Clock period.
    pub clock: Time,
    /// Clock periods of a burst.
    pub burst_cycles: f64,
    /// Bits of a burst.
    pub burst_bits: f64,
    /// Bits of a row.
    pub page_bits: f64,
    /// tRAS in clock periods.
    pub row_active: f64,
    /// tRC in clock periods.
    pub row_cycle: f64,
    /// tRFC in clock periods.
    pub refresh: f64,
    /// tREFI in clock periods.
    pub refresh_interval: f64,
    /// One bank opened and closed without pause.
    pub idd0: Current,
    /// All banks closed.
    pub idd2n: Current,
    /// A bank open.
    pub idd3n: Current,
    /// Writing without pause.
    pub idd4w: Current,
    /// Reading without pause.
    pub idd4r: Current,
    /// Refreshing without pause.
    pub idd5: Current,
    /// Capacity.
    pub gigabits: f64,
    /// Document or file.
    pub source: String,
    /// Relative, one sigma.
    pub uncertainty: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    memory: Vec<Memory>,
}

/// Every kind of memory that is known.
///
/// # Errors
///
/// If the data file is not as it must be.
pub fn memories() -> Result<Vec<Memory>, TechError> {
    let document: Document = parse(FILE, TEXT)?;
    for memory in &document.memory {
        if memory.total.is_none() && memory.sheet.is_none() {
            return Err(problem(
                FILE,
                &format!("nothing is said about `{}`", memory.name),
            ));
        }
        if let Some(total) = &memory.total {
            checked(FILE, &total.source, total.uncertainty)?;
            checked(FILE, &total.split_source, total.uncertainty)?;
        }
        if let Some(sheet) = &memory.sheet {
            checked(FILE, &sheet.source, sheet.uncertainty)?;
        }
    }
    Ok(document.memory)
}
