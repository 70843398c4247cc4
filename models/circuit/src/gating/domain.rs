//! What one switch cuts off: its leakage, the current it draws in operation, the charge that its nodes hold.

use warpwatt_techlib::quantity::{
    Area, Capacitance, CapacitancePerLength, Current, Energy, Power, Time, Voltage,
};
use warpwatt_techlib::{Technology, rules};

use super::{GatedSide, Gating, Granularity, switch};
use crate::{CircuitError, Cost, OperatingPoint, slices};

/// Parts of an array that stay on when subarrays sleep: they serve all of them.
const SHARED: [&str; 7] = [
    "address tree",
    "output tree",
    "write tree",
    "search tree",
    "bank routing",
    "predecoders",
    slices::ALONG,
];
/// The parts that hold memory cells, of an array, a register file and a content-addressable memory.
const CELLS: [&str; 3] = ["cells and bitlines", "cells", "match lines"];

/// One of equal domains, unless a field says otherwise.
#[derive(Clone, Copy, Debug)]
pub(super) struct Domain {
    pub(super) count: u64,
    pub(super) vdd: Voltage,
    pub(super) vth: Voltage,
    /// Sub-threshold current of one domain at full supply.
    pub(super) leak: Current,
    /// Gate leakage of all domains, and both leakages of what stays on.
    pub(super) gate_leakage: Power,
    pub(super) leakage_on: Power,
    pub(super) gate_leakage_on: Power,
    /// Largest current in operation.
    pub(super) peak: Current,
    /// Rail and nodes that are high.
    pub(super) capacitance: Capacitance,
}

/// What is switched of a cost.
struct Share {
    leakage: Power,
    energy: Energy,
    time: Time,
    area: Area,
    /// Domains, and how many of them work in one access.
    count: u64,
    active: u64,
}

impl Domain {
    pub(super) fn new(
        technology: &Technology,
        at: &OperatingPoint,
        cost: &Cost,
        gating: &Gating,
    ) -> Result<Self, CircuitError> {
        let device = &technology.device;
        let vdd = at.vdd.unwrap_or(device.vdd.value);
        let share = share(cost, gating.granularity)?;
        let count = share.count as f64;
        let leak = share.leakage / vdd / count;
        // Gate leakage goes with the widths, as sub-threshold leakage does.
        let part = share.leakage / cost.leakage;
        let i_off = technology.at(at.vdd, at.temperature)?.i_off;
        let devices = devices(technology) * (leak / i_off * rules::WIDTH_PER_LEAKING_WIDTH);
        // Through a row's header only the nodes of cells that flip are charged; a footer, and any larger domain, carries what an access draws.
        let charge = match (gating.granularity, gating.side) {
            (Granularity::Row, GatedSide::Header) => devices * rules::NODES_HIGH * vdd,
            _ => share.energy / vdd / share.active as f64,
        };
        let average = charge / share.time;
        let wires = wires(technology, cost, share.area) / count;
        Ok(Self {
            count: share.count,
            vdd,
            vth: device.vth.value,
            leak,
            gate_leakage: cost.gate_leakage * part,
            leakage_on: cost.leakage - share.leakage,
            gate_leakage_on: cost.gate_leakage * (1.0 - part),
            peak: average * rules::PEAK_CURRENT,
            capacitance: devices * rules::NODES_HIGH + wires,
        })
    }
}

fn share(cost: &Cost, granularity: Granularity) -> Result<Share, CircuitError> {
    let largest = [cost.read_energy, cost.write_energy]
        .into_iter()
        .chain(cost.search_energy)
        .fold(Energy::ZERO, Energy::max);
    let whole = Share {
        leakage: cost.leakage,
        energy: largest,
        time: cost.access_time,
        area: cost.area,
        count: 1,
        active: 1,
    };
    if granularity == Granularity::Array {
        return Ok(whole);
    }
    let organisation = cost.organisation.ok_or(CircuitError::Granularity {
        model: cost.model.clone(),
    })?;
    let subarrays = organisation.subarrays.max(1);
    // A search looks into every row.
    let is_search = cost.search_energy == Some(largest);
    let active = |all: u64| match is_search {
        true => all,
        false => organisation.active_subarrays.max(1),
    };
    let of = |chosen: &dyn Fn(&str) -> bool| {
        let parts = cost.breakdown.iter().filter(|part| chosen(&part.name));
        parts.fold((Power::ZERO, Energy::ZERO, Area::ZERO), |sum, part| {
            let energy = match is_search {
                true => part.search_energy.unwrap_or(Energy::ZERO),
                false => part.read_energy,
            };
            (sum.0 + part.leakage, sum.1 + energy, sum.2 + part.area)
        })
    };
    Ok(match granularity {
        Granularity::Array => whole,
        Granularity::Subarray => {
            let (leakage, energy, _) = of(&|name| !SHARED.contains(&name));
            let written = match is_search {
                true => Energy::ZERO,
                false => (largest - cost.read_energy).max(Energy::ZERO),
            };
            Share {
                leakage,
                energy: energy + written,
                count: subarrays,
                active: active(subarrays),
                ..whole
            }
        }
        Granularity::Row => {
            let (leakage, energy, area) = of(&|name| CELLS.contains(&name));
            let rows = subarrays * organisation.rows;
            Share {
                leakage,
                energy,
                area,
                count: rows,
                active: active(rows),
                ..whole
            }
        }
    })
}

/// Gate and drain of a transistor.
fn devices(technology: &Technology) -> CapacitancePerLength {
    let device = &technology.device;
    let contact = technology.feature * (rules::CONTACT + 2.0 * rules::GATE_TO_CONTACT);
    switch::c_gate(technology)
        + device.c_fringe.value * 2.0
        + device.c_gate_ideal.value * (rules::OVERLAP * 2.0)
        + device.c_junction_sidewall.value
        + device.c_junction.value * contact
}

/// The rail along every row of cells, and the bitlines of an array or the signal wires of logic.
fn wires(technology: &Technology, cost: &Cost, area: Area) -> Capacitance {
    let local = technology.wires.conservative.local.capacitance.value;
    if cost.organisation.is_some() {
        let cell = &technology.cell;
        let rail = area / cell.height.value;
        let bitlines = area / cell.width.value * 2.0;
        return local * (rail + bitlines);
    }
    let row = technology.feature * rules::CELL_HEIGHT;
    local * (area / row * rules::WIRES_IN_A_ROW)
}
