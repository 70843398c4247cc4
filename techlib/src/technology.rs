//! One technology: device, cell and wires of a node and flavour.

use crate::quantity::{
    CapacitancePerArea, CapacitancePerLength, CurrentPerLength, Length, Mobility,
    ResistancePerLength, Resistivity, Temperature, Voltage,
};
use crate::{Flavour, Sourced, TechError};

/// Everything the circuit models need to know of a process. A value; nothing reads one from anywhere else.
#[derive(Clone, Debug, PartialEq)]
pub struct Technology {
    /// The library it is from.
    pub library: &'static str,
    /// Feature size F.
    pub feature: Length,
    /// Transistor flavour, of cells and periphery alike.
    pub flavour: Flavour,
    /// Transistors.
    pub device: Device,
    /// SRAM cell with one port.
    pub cell: Cell,
    /// Wires of both projections.
    pub wires: Wires,
    /// Set if the node has no table of its own.
    pub interpolation: Option<Interpolation>,
    /// Values that are known to be wrong in the source and stay as they are.
    pub defects: Vec<Defect>,
}

/// How a node without a table came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Interpolation {
    /// The larger neighbour.
    pub larger: Length,
    /// The smaller neighbour.
    pub smaller: Length,
    /// Weight of the larger one.
    pub share_of_larger: f64,
    /// The rule.
    pub rule: &'static str,
}

/// A known defect of the source's tables.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Defect {
    /// Of which value: `lop.i_off_n`.
    pub name: String,
    /// At which temperatures.
    pub at: Vec<String>,
    /// What is wrong.
    pub note: String,
}

/// A transistor, per width.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// Gate to channel.
    pub c_gate_ideal: Sourced<CapacitancePerLength>,
    /// Fringe of one gate edge.
    pub c_fringe: Sourced<CapacitancePerLength>,
    /// Junction area.
    pub c_junction: Sourced<CapacitancePerArea>,
    /// Junction side wall.
    pub c_junction_sidewall: Sourced<CapacitancePerLength>,
    /// Electrical channel length.
    pub l_elec: Sourced<Length>,
    /// Nominal supply.
    pub vdd: Sourced<Voltage>,
    /// Threshold.
    pub vth: Sourced<Voltage>,
    /// Saturation drain voltage.
    pub vdsat: Sourced<Voltage>,
    /// On-current of an NMOS.
    pub i_on_n: Sourced<CurrentPerLength>,
    /// Gate oxide.
    pub c_ox: Sourced<CapacitancePerArea>,
    /// Electron mobility.
    pub mobility_n: Sourced<Mobility>,
    /// Transconductance of a PMOS over that of an NMOS of the same width in a latch.
    pub gmp_to_gmn: Sourced<f64>,
    /// How much wider a PMOS must be to drive as an NMOS.
    pub n_to_p_drive_ratio: Sourced<f64>,
    /// Effective on-resistance times width of an NMOS.
    pub r_n_on: Sourced<Resistivity>,
    /// The same of a PMOS.
    pub r_p_on: Sourced<Resistivity>,
    /// Sub-threshold leakage (NMOS; a PMOS leaks the same per width in these tables).
    pub i_off_n: LeakageTable,
    /// Gate leakage of a transistor that is on.
    pub i_gate_n: LeakageTable,
}

/// A current per width by temperature.
#[derive(Clone, Debug, PartialEq)]
pub struct LeakageTable {
    rows: Vec<(Temperature, Sourced<CurrentPerLength>)>,
}

/// A six-transistor cell with one port.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Along the wordline.
    pub width: Sourced<Length>,
    /// Along the bitline.
    pub height: Sourced<Length>,
    /// Access transistor.
    pub access_width: Sourced<Length>,
    /// Pull-down transistor.
    pub nmos_width: Sourced<Length>,
    /// Pull-up transistor.
    pub pmos_width: Sourced<Length>,
    /// Voltage to which bitlines are precharged: the supply. At a node without a table it is that of the smaller neighbour, as in CACTI.
    pub precharge: Sourced<Voltage>,
}

/// Wires of both ITRS projections.
#[derive(Clone, Debug, PartialEq)]
pub struct Wires {
    /// Low-k dielectrics and thin barriers arrive as hoped.
    pub aggressive: WireStack,
    /// They do not.
    pub conservative: WireStack,
}

/// The layers of one projection.
#[derive(Clone, Debug, PartialEq)]
pub struct WireStack {
    /// Inside cells.
    pub local: WireLayer,
    /// Inside blocks.
    pub semi_global: WireLayer,
    /// Across the chip.
    pub global: WireLayer,
}

/// A wire layer at minimum pitch.
#[derive(Clone, Debug, PartialEq)]
pub struct WireLayer {
    /// Width plus spacing.
    pub pitch: Sourced<Length>,
    /// Resistance.
    pub resistance: Sourced<ResistancePerLength>,
    /// Capacitance, neighbours switching.
    pub capacitance: Sourced<CapacitancePerLength>,
    /// Thickness over width.
    pub aspect_ratio: Sourced<f64>,
    /// Miller factor of the neighbours.
    pub miller: Sourced<f64>,
    /// Dielectric constant between wires of a layer.
    pub k_horizontal: Sourced<f64>,
    /// Dielectric constant between layers.
    pub k_vertical: Sourced<f64>,
    /// Thickness of the dielectric between layers.
    pub ild: Sourced<Length>,
    /// Thickness of the liner that keeps copper from diffusing.
    pub barrier: Sourced<Length>,
    /// Fringe.
    pub fringe: Sourced<CapacitancePerLength>,
}

impl LeakageTable {
    /// From rows that rise in temperature; at least one.
    pub(crate) fn new(rows: Vec<(Temperature, Sourced<CurrentPerLength>)>) -> Self {
        Self { rows }
    }

    /// The tabulated points.
    pub fn rows(&self) -> &[(Temperature, Sourced<CurrentPerLength>)] {
        &self.rows
    }

    /// The current at a temperature; between two rows geometric in temperature, as an exponential current is. Outside the table it is refused.
    pub fn at(
        &self,
        temperature: Temperature,
        library: &'static str,
    ) -> Result<CurrentPerLength, TechError> {
        for pair in self.rows.windows(2) {
            let ((low, from), (high, to)) = (&pair[0], &pair[1]);
            if temperature == *low {
                return Ok(from.value);
            }
            if temperature > *low && temperature < *high {
                let share = (temperature - *low) / (*high - *low);
                return Ok(from.value * libm::pow(to.value / from.value, share));
            }
        }
        let (first, last) = (&self.rows[0], &self.rows[self.rows.len() - 1]);
        if temperature == last.0 {
            return Ok(last.1.value);
        }
        let nearest = if temperature < first.0 {
            first.0
        } else {
            last.0
        };
        Err(TechError::Temperature {
            library,
            temperature,
            low: first.0,
            high: last.0,
            nearest,
        })
    }

    fn mixed(&self, other: &Self, share: f64, rule: &str) -> Self {
        let pairs = self.rows.iter().zip(&other.rows);
        Self {
            rows: pairs
                .map(|((at, a), (_, b))| (*at, a.mixed(b, share, rule)))
                .collect(),
        }
    }
}

impl Technology {
    /// Node and flavour for people: `32 nm hp`.
    pub fn label(&self) -> String {
        format!("{:.0} nm {}", self.feature.as_nm(), self.flavour)
    }

    /// What lies between this and a smaller node. Both must have been read for the same feature size.
    pub(crate) fn between(&self, smaller: &Self, interpolation: Interpolation) -> Self {
        let (share, rule) = (interpolation.share_of_larger, interpolation.rule);
        let defects = self
            .defects
            .iter()
            .chain(&smaller.defects)
            .cloned()
            .collect();
        Self {
            library: self.library,
            feature: self.feature,
            flavour: self.flavour,
            device: self.device.mixed(&smaller.device, share, rule),
            cell: self.cell.mixed(&smaller.cell, share, rule),
            wires: Wires {
                aggressive: self
                    .wires
                    .aggressive
                    .mixed(&smaller.wires.aggressive, share, rule),
                conservative: self.wires.conservative.mixed(
                    &smaller.wires.conservative,
                    share,
                    rule,
                ),
            },
            interpolation: Some(interpolation),
            defects,
        }
    }
}

/// Every listed field mixed; the others as given.
macro_rules! mix {
    ($a:expr, $b:expr, $share:expr, $rule:expr, { $($field:ident),+ $(,)? } $(, $other:ident: $value:expr)*) => {
        Self { $($field: $a.$field.mixed(&$b.$field, $share, $rule),)+ $($other: $value,)* }
    };
}

impl Device {
    fn mixed(&self, smaller: &Self, share: f64, rule: &str) -> Self {
        mix!(self, smaller, share, rule, {
            c_gate_ideal, c_fringe, c_junction, l_elec, vdd, vth, vdsat, i_on_n, c_ox, mobility_n, gmp_to_gmn, n_to_p_drive_ratio,
            r_n_on, r_p_on, i_off_n, i_gate_n,
        }, c_junction_sidewall: self.c_junction_sidewall.clone())
    }
}

impl Cell {
    fn mixed(&self, smaller: &Self, share: f64, rule: &str) -> Self {
        mix!(self, smaller, share, rule, { width, height, access_width, nmos_width, pmos_width }, precharge: smaller.precharge.clone())
    }
}

impl WireStack {
    fn mixed(&self, smaller: &Self, share: f64, rule: &str) -> Self {
        mix!(self, smaller, share, rule, { local, semi_global, global })
    }
}

impl WireLayer {
    fn mixed(&self, smaller: &Self, share: f64, rule: &str) -> Self {
        mix!(self, smaller, share, rule, {
            pitch, resistance, capacitance, aspect_ratio, miller, k_horizontal, k_vertical, ild, barrier,
        }, fringe: smaller.fringe.clone())
    }
}
