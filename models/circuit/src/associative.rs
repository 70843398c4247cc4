//! Costs of content-addressable memories and fully associative caches.

use warpwatt_techlib::quantity::{Area, Energy, Power, Time};

use crate::array::{self, CamArray, CamNeed};
use crate::build::{Sizing, uncertainty};
use crate::error::check;
use crate::{
    CamSpec, CircuitError, Cost, FullyAssociativeSpec, Organisation, Part, Ports, Profile,
};

/// Bits of an address in CACTI, and of the state of a line.
const ADDRESS_BITS: u32 = 42;
const STATE_BITS: u32 = 5;
/// Stored bits for which the tools add a check bit.
const CHECKED_BITS: u64 = 8;

/// A content-addressable memory.
pub(crate) fn cam(at: &Sizing, spec: &CamSpec) -> Result<Cost, CircuitError> {
    check::count("entries", spec.entries)?;
    check::count("bits", spec.bits)?;
    check::banks(spec.banks, spec.entries)?;
    check::search_ports("the memory", spec.ports)?;
    check::capacity(spec.entries, spec.bits)?;
    let need = CamNeed {
        entries: spec.entries.div_ceil(u64::from(spec.banks)),
        tag_bits: checked(at, spec.bits),
        data_bits: 0,
        out_bits: 0,
        ports: spec.ports,
        banks: spec.banks,
    };
    price(at, &need, "content-addressable memory")
}

/// A fully associative cache.
pub(crate) fn cache(at: &Sizing, spec: &FullyAssociativeSpec) -> Result<Cost, CircuitError> {
    check::count("entries", spec.entries)?;
    check::count("line_bits", spec.line_bits)?;
    let tag_bits = spec.tag_bits.unwrap_or_else(|| default_tag_bits(spec));
    check::count("tag_bits", u64::from(tag_bits))?;
    let out_bits = spec.out_bits.unwrap_or(spec.line_bits);
    check::out_bits(out_bits, spec.line_bits)?;
    check::banks(spec.banks, spec.entries)?;
    check::search_ports("the cache", spec.ports)?;
    let line = spec.line_bits.saturating_add(u64::from(tag_bits));
    check::capacity(spec.entries, line)?;
    let need = CamNeed {
        entries: spec.entries.div_ceil(u64::from(spec.banks)),
        tag_bits: checked(at, u64::from(tag_bits)),
        data_bits: checked(at, spec.line_bits),
        out_bits: checked(at, out_bits),
        ports: spec.ports,
        banks: spec.banks,
    };
    price(at, &need, "fully associative cache")
}

/// With a check bit for every eight, rounded up.
fn checked(at: &Sizing, bits: u64) -> u64 {
    if at.settings.ecc {
        bits + bits.div_ceil(CHECKED_BITS)
    } else {
        bits
    }
}

/// What 42 bits of address and 5 of state leave after the offset in the line, rounded up to four bits (CACTI 7, parameter.cc).
fn default_tag_bits(spec: &FullyAssociativeSpec) -> u32 {
    let offset = (spec.line_bits / 8).max(1).ilog2();
    (ADDRESS_BITS + STATE_BITS)
        .saturating_sub(offset)
        .max(1)
        .next_multiple_of(4)
}

fn price(at: &Sizing, need: &CamNeed, what: &str) -> Result<Cost, CircuitError> {
    check::entries(need.entries)?;
    let search = || array::best_cam(at.run, at.settings, need);
    let chosen = at.choices.cam(search)?;
    let array = array::cam_again(at.run, need, &chosen);
    // CACTI 6.5 was not looked at for these arrays.
    let whose = match at.settings.profile {
        Profile::Cacti65 => "cacti65, with the equations of cacti7",
        Profile::Cacti7 => "cacti7",
        Profile::Silicon => "silicon",
    };
    Ok(Cost {
        area: array.area(),
        height: array.height,
        width: array.width,
        access_time: array.access_time,
        cycle_time: array.cycle_time,
        read_energy: array.read,
        write_energy: array.write,
        search_energy: Some(array.search),
        leakage: array.leakage,
        gate_leakage: array.gate_leakage,
        breakdown: breakdown(&array),
        organisation: Some(organisation(need, &array)),
        model: format!("{what} ({whose})"),
        uncertainty: uncertainty(at.technology),
        tag: None,
        data: None,
        alternatives: Vec::new(),
        gated: None,
        limits: limits(need.ports),
    })
}

/// CACTI wants a search port of its own.
fn limits(ports: Ports) -> Option<String> {
    (ports.search == 0).then(|| "CACTI refuses associative arrays without search ports".to_owned())
}

fn organisation(need: &CamNeed, array: &CamArray) -> Organisation {
    let shape = &array.shape;
    Organisation {
        slices: 1,
        ndwl: 1,
        ndbl: shape.ndbl,
        nspd: 1.0,
        ndcm: 1,
        ndsam1: 1,
        ndsam2: 1,
        rows: shape.rows,
        cols: need.cols(),
        subarrays: u64::from(shape.ndbl) * u64::from(need.banks),
        active_subarrays: 1,
        wires: array.wires,
    }
}

fn breakdown(array: &CamArray) -> Vec<Part> {
    let parts = array.parts.iter().map(|part| Part {
        name: part.name.to_owned(),
        read_energy: part.read,
        search_energy: Some(part.search),
        leakage: part.leakage,
        area: match part.name {
            "cells and bitlines" => array.cells_area,
            "output tree" => array.area() - array.mats_area,
            _ => Area::ZERO,
        },
        delay: part.delay,
        between_banks: part.name == array::ROUTE,
    });
    let periphery = Part {
        name: "decoders, amplifiers and drivers".to_owned(),
        read_energy: Energy::ZERO,
        search_energy: None,
        leakage: Power::ZERO,
        area: array.mats_area - array.cells_area,
        delay: Time::ZERO,
        between_banks: false,
    };
    parts.chain([periphery]).collect()
}
