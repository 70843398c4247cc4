//! One technology: device, cell and wires of a node and flavour.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::law::{DriveLaw, Leakage};
use crate::quantity::{
    CapacitancePerArea, CapacitancePerLength, CurrentPerLength, Length, Mobility,
    ResistancePerLength, Resistivity, Voltage,
};
use crate::{Flavour, Sourced};

/// Everything the circuit models need to know of a process. A value; nothing reads one from anywhere else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Technology {
    /// The library it is from.
    #[serde(with = "crate::text")]
    pub library: Arc<str>,
    /// Feature size F.
    pub feature: Length,
    /// Transistor flavour, of cells and periphery alike.
    pub flavour: Flavour,
    /// What layouts count in.
    pub layout: Layout,
    /// Transistors.
    pub device: Device,
    /// SRAM cell with one port.
    pub cell: Cell,
    /// Other memory cells; `itrs` has none.
    pub cells: Option<CellFamily>,
    /// Wires of both projections.
    pub wires: Wires,
    /// Set if the node has no table of its own.
    pub interpolation: Option<Interpolation>,
    /// Values that are known to be wrong in the source and stay as they are.
    pub defects: Vec<Defect>,
    /// Set if the node is a sketch, with what is missing.
    #[serde(with = "crate::text::option")]
    pub sketch: Option<Arc<str>>,
}

/// How a node without a table came about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interpolation {
    /// The larger neighbour.
    pub larger: Length,
    /// The smaller neighbour.
    pub smaller: Length,
    /// Weight of the larger one.
    pub share_of_larger: f64,
    /// The rule.
    #[serde(with = "crate::text")]
    pub rule: Arc<str>,
}

/// A known defect of the source's tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
    /// On-current of an NMOS.
    pub i_on_n: Sourced<CurrentPerLength>,
    /// How much wider a PMOS must be to drive as an NMOS.
    pub n_to_p_drive_ratio: Sourced<f64>,
    /// Effective on-resistance times width of an NMOS.
    pub r_n_on: Sourced<Resistivity>,
    /// The same of a PMOS.
    pub r_p_on: Sourced<Resistivity>,
    /// How the on-resistance depends on supply and temperature.
    pub drive: DriveLaw,
    /// Sub-threshold leakage: of an NMOS in `itrs`, where a PMOS leaks the same per width; the mean of both in `silicon`.
    pub i_off_n: Leakage,
    /// Gate leakage of a transistor that is on.
    pub i_gate_n: Leakage,
    /// Sense amplifiers.
    pub sense: Sense,
}

/// How the transconductance of a sense amplifier is had.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Sense {
    /// From mobility and oxide, as CACTI does.
    Square(Box<SquareLaw>),
    /// As the derivative of the alpha-power law.
    AlphaPower,
}

/// What CACTI's transconductance is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SquareLaw {
    /// Gate oxide.
    pub c_ox: Sourced<CapacitancePerArea>,
    /// Electron mobility.
    pub mobility_n: Sourced<Mobility>,
    /// Saturation drain voltage.
    pub vdsat: Sourced<Voltage>,
    /// Transconductance of a PMOS over that of an NMOS of the same width in a latch.
    pub gmp_to_gmn: Sourced<f64>,
}

/// What a layout counts in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// How transistors are built.
    pub kind: Kind,
    /// The length that layout rules in F count: the feature size of planar nodes, a quarter of the gate pitch of FinFETs, whose names measure nothing.
    pub unit: Sourced<Length>,
    /// Contacted gate pitch.
    pub gate_pitch: Sourced<Length>,
    /// Height of a row of standard cells.
    pub row_height: Sourced<Length>,
    /// Fins, where transistors have them.
    pub fin: Option<Fin>,
}

/// How transistors are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Flat on the wafer, of any width.
    Planar,
    /// Whole fins.
    Finfet,
    /// Stacks of sheets.
    Nanosheet,
}

/// A fin. Widths and currents per width of a FinFET node are per width *in the layout*: n fins are n pitches wide.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fin {
    /// From fin to fin.
    pub pitch: Sourced<Length>,
    /// Channel width that one fin gives.
    pub effective_width: Sourced<Length>,
}

/// Other memory cells, against the high-density one with six transistors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellFamily {
    /// Area of the high-current cell over that of the high-density one; it grows along the wordline.
    pub high_current_area: Sourced<f64>,
    /// Its access and pull-down transistors, likewise.
    pub high_current_drive: Sourced<f64>,
    /// Area of a cell with eight transistors.
    pub eight_t_area: Sourced<f64>,
    /// Area of a content-addressable cell.
    pub cam_area: Sourced<f64>,
}

/// A six-transistor cell with one port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wires {
    /// Low-k dielectrics and thin barriers arrive as hoped.
    pub aggressive: WireStack,
    /// They do not.
    pub conservative: WireStack,
}

/// The layers of one projection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WireStack {
    /// Inside cells.
    pub local: WireLayer,
    /// Inside blocks.
    pub semi_global: WireLayer,
    /// Across the chip.
    pub global: WireLayer,
}

/// A wire layer at minimum pitch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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

impl Technology {
    /// Node and flavour for people: `32 nm hp`.
    pub fn label(&self) -> String {
        format!("{:.0} nm {}", self.feature.as_nm(), self.flavour)
    }

    /// What lies between this and a smaller node. Both must have been read for the same feature size.
    pub(crate) fn between(&self, smaller: &Self, interpolation: Interpolation) -> Self {
        let (share, rule) = (
            interpolation.share_of_larger,
            Arc::clone(&interpolation.rule),
        );
        let rule = &*rule;
        let defects = self
            .defects
            .iter()
            .chain(&smaller.defects)
            .cloned()
            .collect();
        Self {
            library: Arc::clone(&self.library),
            feature: self.feature,
            flavour: self.flavour,
            layout: self.layout.mixed(&smaller.layout, share, rule),
            cells: self
                .cells
                .as_ref()
                .zip(smaller.cells.as_ref())
                .map(|(a, b)| a.mixed(b, share, rule)),
            sketch: self.sketch.clone().or_else(|| smaller.sketch.clone()),
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
            c_gate_ideal, c_fringe, c_junction, l_elec, vdd, vth, i_on_n, n_to_p_drive_ratio,
            r_n_on, r_p_on, drive, i_off_n, i_gate_n, sense,
        }, c_junction_sidewall: self.c_junction_sidewall.clone())
    }
}

impl Cell {
    fn mixed(&self, smaller: &Self, share: f64, rule: &str) -> Self {
        mix!(self, smaller, share, rule, { width, height, access_width, nmos_width, pmos_width }, precharge: smaller.precharge.clone())
    }
}

impl Sense {
    fn mixed(&self, smaller: &Self, share: f64, rule: &str) -> Self {
        match (self, smaller) {
            (Self::Square(a), Self::Square(b)) => Self::Square(Box::new(a.mixed(b, share, rule))),
            // One library has one form.
            _ => self.clone(),
        }
    }
}

impl SquareLaw {
    fn mixed(&self, smaller: &Self, share: f64, rule: &str) -> Self {
        mix!(self, smaller, share, rule, { c_ox, mobility_n, vdsat, gmp_to_gmn })
    }
}

impl Layout {
    fn mixed(&self, smaller: &Self, share: f64, rule: &str) -> Self {
        let fins = self.fin.as_ref().zip(smaller.fin.as_ref());
        mix!(self, smaller, share, rule, { unit, gate_pitch, row_height }, kind: self.kind,
            fin: fins.map(|(a, b)| a.mixed(b, share, rule)))
    }

    /// The nearest width that can be built and is not narrower: whole fins, at least one; any width in planar nodes.
    pub fn buildable(&self, width: Length) -> Length {
        match &self.fin {
            Some(fin) => fin.pitch.value * (width / fin.pitch.value - 1e-9).ceil().max(1.0),
            None => width,
        }
    }
}

impl Fin {
    fn mixed(&self, smaller: &Self, share: f64, rule: &str) -> Self {
        mix!(self, smaller, share, rule, { pitch, effective_width })
    }
}

impl CellFamily {
    fn mixed(&self, smaller: &Self, share: f64, rule: &str) -> Self {
        mix!(self, smaller, share, rule, { high_current_area, high_current_drive, eight_t_area, cam_area })
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
