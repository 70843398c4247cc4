//! What a structure costs.

use crate::{Gated, Signalling};
use serde::{Deserialize, Serialize};
use warpwatt_techlib::quantity::{Area, Energy, Length, Power, Time};

/// Area, delay, energy and leakage of one structure at one operating point, with where they come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Area; of a cache the box around both sides, so at least their sum.
    pub area: Area,
    /// Height.
    pub height: Length,
    /// Width.
    pub width: Length,
    /// From the address (or inputs) to the output.
    pub access_time: Time,
    /// Shortest time between two accesses through one port.
    pub cycle_time: Time,
    /// One read; of logic, one evaluation.
    pub read_energy: Energy,
    /// One write; zero for logic.
    pub write_energy: Energy,
    /// One associative search, where the structure has one.
    pub search_energy: Option<Energy>,
    /// Sub-threshold leakage of the whole structure.
    pub leakage: Power,
    /// Gate leakage of the whole structure; zero where the profile leaves it out.
    pub gate_leakage: Power,
    /// The contributions: read energies add up to `read_energy`, search energies to `search_energy`, leakages to `leakage`, areas to `area`.
    pub breakdown: Vec<Part>,
    /// How the array is split, where it is an array.
    pub organisation: Option<Organisation>,
    /// Which model gave these figures, for example `sram array (cacti65)`.
    pub model: String,
    /// How far the figures may be off, relative to the hardware of that technology library.
    pub uncertainty: Uncertainty,
    /// Tag side of a cache on its own.
    pub tag: Option<Box<Cost>>,
    /// Data side of a cache on its own.
    pub data: Option<Box<Cost>>,
    /// Other circuits for the same memory that the objective likes less, where there are any.
    #[serde(default)]
    pub alternatives: Vec<Alternative>,
    /// What power gating gives and takes, where it was asked for.
    #[serde(default)]
    pub gated: Option<Gated>,
    /// Which limits of the old tools the structure does not meet, if it does not.
    #[serde(default)]
    pub limits: Option<String>,
}

/// The figures of another circuit for the same structure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alternative {
    /// Which circuit.
    pub model: String,
    /// Area.
    pub area: Area,
    /// Access time.
    pub access_time: Time,
    /// Cycle time.
    pub cycle_time: Time,
    /// One read.
    pub read_energy: Energy,
    /// One write.
    pub write_energy: Energy,
    /// Sub-threshold leakage.
    pub leakage: Power,
}

impl Cost {
    /// The figures of the whole alone, which take a tenth of the memory.
    #[must_use]
    pub fn without_parts(self) -> Self {
        Self {
            breakdown: Vec::new(),
            tag: None,
            data: None,
            alternatives: Vec::new(),
            ..self
        }
    }

    /// Leaks more or less by these factors, of sub-threshold and of gate leakage, in all its parts: what another temperature does to it.
    pub fn leak(&mut self, sub_threshold: f64, gate: f64) {
        self.leakage = self.leakage * sub_threshold;
        self.gate_leakage = self.gate_leakage * gate;
        for part in &mut self.breakdown {
            part.leakage = part.leakage * sub_threshold;
        }
        for alternative in &mut self.alternatives {
            alternative.leakage = alternative.leakage * sub_threshold;
        }
        for side in [&mut self.tag, &mut self.data].into_iter().flatten() {
            side.leak(sub_threshold, gate);
        }
    }
}

impl Alternative {
    pub(crate) fn of(cost: &Cost) -> Self {
        Self {
            model: cost.model.clone(),
            area: cost.area,
            access_time: cost.access_time,
            cycle_time: cost.cycle_time,
            read_energy: cost.read_energy,
            write_energy: cost.write_energy,
            leakage: cost.leakage,
        }
    }
}

/// One contribution to a cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// For example `bitlines`.
    pub name: String,
    /// Its share of the read energy.
    pub read_energy: Energy,
    /// Its share of the energy of a search, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_energy: Option<Energy>,
    /// Its share of the leakage.
    pub leakage: Power,
    /// Its share of the area.
    pub area: Area,
    /// Its share of the access time if it is on the critical path.
    pub delay: Time,
    /// Whether it is the routing between banks, which is there once however many there are.
    #[serde(default)]
    pub between_banks: bool,
}

/// How CACTI's method splits an array (CACTI 5.1 TR, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Organisation {
    /// Arrays side by side, each with its share of the word's bits; what follows is of one of them, but for the numbers of subarrays.
    pub slices: u32,
    /// Divisions of the wordline direction.
    pub ndwl: u32,
    /// Divisions of the bitline direction.
    pub ndbl: u32,
    /// Sets mapped to one wordline.
    pub nspd: f64,
    /// Bitlines that share a sense amplifier.
    pub ndcm: u32,
    /// First level of multiplexing behind the sense amplifiers.
    pub ndsam1: u32,
    /// Second level.
    pub ndsam2: u32,
    /// Rows of a subarray.
    pub rows: u64,
    /// Columns of a subarray.
    pub cols: u64,
    /// Subarrays of all banks.
    pub subarrays: u64,
    /// Those that work in one access.
    pub active_subarrays: u64,
    /// Wires between its mats; never [`Signalling::Any`].
    pub wires: Signalling,
}

/// Relative uncertainty (one sigma) of each figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Uncertainty {
    /// Of areas.
    pub area: f64,
    /// Of times.
    pub delay: f64,
    /// Of energies.
    pub energy: f64,
    /// Of leakages.
    pub leakage: f64,
    /// What of it is the equations' own error, in each figure and in quadrature: independent from structure to structure. The rest is the error of the
    /// process data, which all structures of a technology share.
    pub method: f64,
}
