//! Costs out of evaluated arrays.

use warpwatt_techlib::Technology;
use warpwatt_techlib::quantity::{Area, Energy, Power, Time};

use crate::Profile;
use crate::array::{self, Array, Face, Figures, Limits, Need, ROUTE, Side};
use crate::choices::Choices;
use crate::error::check;
use crate::interface::{self, Pins};
use crate::process::Process;
use crate::small;
use crate::{
    Access, CacheSpec, CircuitError, Circuits, Cost, MacroStyle, Part, RamSpec, Settings, TagSpec,
    Uncertainty,
};

/// Relative error of the circuit equations themselves, beside that of the process data (their agreement with CACTI is far closer than CACTI's with
/// hardware: 10 % to 20 % in the CACTI 5.1 TR, section 6).
const METHOD: f64 = 0.15;

/// A structure is laid out at the nominal supply and runs at the operating point.
pub(crate) struct Sizing<'a> {
    pub(crate) technology: &'a Technology,
    pub(crate) settings: &'a Settings,
    /// Where it runs; where it is laid out, that for which it is designed.
    pub(crate) run: &'a Process,
    /// What is decided where it is laid out.
    pub(crate) choices: &'a Choices<'a>,
}

impl Sizing<'_> {
    /// The organisation that was chosen, where it runs.
    fn again(&self, array: &Array, need: &Need) -> Array {
        array::again(&self.run.with_wires(array.wires), need, array)
    }
}

/// A plain memory.
pub(crate) fn ram(at: &Sizing, spec: &RamSpec) -> Result<Cost, CircuitError> {
    check::count("words", spec.words)?;
    check::count("bits", spec.bits)?;
    check::banks(spec.banks, spec.words)?;
    check::ports("the array", spec.ports)?;
    check::capacity(spec.words, spec.bits)?;
    let out_bits = spec.out_bits.unwrap_or(spec.bits);
    check::out_bits(out_bits, spec.bits)?;
    let need = Need {
        sets: spec.words as f64 / f64::from(spec.banks),
        side: Side::Data {
            ways: 1,
            line_bits: spec.bits,
            out_bits,
            fast: false,
        },
        ports: spec.ports,
        banks: spec.banks,
        ecc: at.settings.ecc,
    };
    let search = || array::best(at.run, at.settings, &need);
    let (array, limits) = at.choices.array(search)?;
    let array = cost(at, &at.again(&array, &need), &need, limits);
    if at.settings.profile != Profile::Silicon {
        return Ok(array);
    }
    let pins = Pins {
        words: need.sets,
        bits: out_bits as f64,
        ports: spec.ports,
        banks: f64::from(spec.banks),
    };
    let mut candidates = vec![interface::around(at.run, at.settings.style, &pins, array)];
    if at.settings.circuits == Circuits::Any {
        // Registers at the edge belong to the comparison; margins for weak cells do not, as nothing is sensed.
        let style = at.settings.style.min(MacroStyle::Synchronous);
        let registered = |other| interface::around(at.run, style, &pins, other);
        candidates.extend(small::instead(at, spec, registered)?);
    }
    small::choose(at, candidates)
}

/// The tag side of a cache.
pub(crate) fn tags(at: &Sizing, spec: &TagSpec) -> Result<Cost, CircuitError> {
    let need = tag_need(at, spec, spec.ways, 1)?;
    let search = || array::best_tags(at.run, at.settings, &need);
    let (array, limits) = at.choices.array(search)?;
    Ok(cost(at, &at.again(&array, &need), &need, limits))
}

/// A cache: tags first, then the data side that suits them.
pub(crate) fn cache(at: &Sizing, spec: &CacheSpec) -> Result<Cost, CircuitError> {
    let [tag, data] = sides(at, spec)?;
    Ok(both(
        tag.cost,
        data.cost,
        &tag.array,
        &data.array,
        spec.access,
    ))
}

/// The data side of a cache, as it is beside its tags.
pub(crate) fn cache_data(at: &Sizing, spec: &CacheSpec) -> Result<Cost, CircuitError> {
    let [_, data] = sides(at, spec)?;
    Ok(data.cost)
}

/// One side of a cache.
struct CacheSide {
    array: Array,
    cost: Cost,
}

/// Tag side and data side; the search for the data side's organisation looks at the whole cache.
fn sides(at: &Sizing, spec: &CacheSpec) -> Result<[CacheSide; 2], CircuitError> {
    check::count("sets", spec.sets)?;
    check::count("line_bits", spec.line_bits)?;
    let out_bits = spec.out_bits.unwrap_or(spec.line_bits);
    check::out_bits(out_bits, spec.line_bits)?;
    let tag_spec = TagSpec {
        sets: spec.sets,
        ways: spec.ways,
        tag_bits: spec
            .tag_bits
            .unwrap_or_else(|| default_tag_bits(at.settings.profile, spec)),
        ports: spec.ports,
    };
    check::banks(spec.banks, spec.sets)?;
    // With the way known beforehand nothing is left to select.
    let selected = match spec.access {
        Access::Sequential => 1,
        Access::Normal | Access::Fast => spec.ways,
    };
    let tag_need = tag_need(at, &tag_spec, selected, spec.banks)?;
    check::capacity(
        spec.sets,
        spec.line_bits.saturating_mul(u64::from(spec.ways)),
    )?;
    let search = || array::best_tags(at.run, at.settings, &tag_need);
    let (tag, tag_limits) = at.choices.array(search)?;
    // With the way known beforehand, the data side is a memory of all lines.
    let (sets, ways) = match spec.access {
        Access::Sequential => (spec.sets.saturating_mul(u64::from(spec.ways)), 1),
        Access::Normal | Access::Fast => (spec.sets, spec.ways),
    };
    let need = Need {
        sets: sets as f64 / f64::from(spec.banks),
        side: Side::Data {
            ways,
            line_bits: spec.line_bits,
            out_bits,
            fast: spec.access == Access::Fast,
        },
        ports: spec.ports,
        banks: spec.banks,
        ecc: at.settings.ecc,
    };
    let beside = tag.face();
    let whole = |data: &Face| Figures {
        delay: together(&beside, data, spec.access),
        energy: beside.read + data.read,
        leakage: beside.leakage + data.leakage,
        area: around(&beside, data).2,
        cycle: beside.cycle_time.max(data.cycle_time),
    };
    let search = || array::best_data(at.run, at.settings, &need, whole);
    let (data, limits) = at.choices.array(search)?;
    let (tag, data) = (at.again(&tag, &tag_need), at.again(&data, &need));
    let tag = CacheSide {
        cost: cost(at, &tag, &tag_need, tag_limits),
        array: tag,
    };
    let data = CacheSide {
        cost: cost(at, &data, &need, limits),
        array: data,
    };
    Ok([tag, data])
}

/// CACTI's default: 42 address bits and 5 of state, less those of index and offset, each logarithm rounded down (CACTI 7, parameter.cc:1923).
fn default_tag_bits(profile: Profile, spec: &CacheSpec) -> u32 {
    const ADDRESS: u32 = 42;
    const STATE: u32 = 5;
    let ways = u64::from(spec.ways.max(1));
    let bytes = (spec.sets.saturating_mul(ways)).saturating_mul(spec.line_bits) / 8;
    // CACTI 6.5 takes off the bits of the bank, although the capacity is that of all banks.
    let bank = match profile {
        Profile::Cacti65 => spec.banks.max(1).ilog2(),
        Profile::Cacti7 | Profile::Silicon => 0,
    };
    let least = ADDRESS + STATE + (2 * ways - 1).ilog2();
    least.saturating_sub(bytes.max(1).ilog2() + bank).max(1)
}

fn tag_need(at: &Sizing, spec: &TagSpec, selected: u32, banks: u32) -> Result<Need, CircuitError> {
    check::count("sets", spec.sets)?;
    check::count("ways", u64::from(spec.ways))?;
    check::count("tag_bits", u64::from(spec.tag_bits))?;
    check::ways(spec.ways)?;
    check::ports("the cache", spec.ports)?;
    check::capacity(spec.sets, u64::from(spec.ways) * u64::from(spec.tag_bits))?;
    // CACTI 6.5 rounds tags up to whole quarters of a comparator.
    let tag_bits = match at.settings.profile {
        Profile::Cacti65 => spec.tag_bits.div_ceil(4) * 4,
        Profile::Cacti7 | Profile::Silicon => spec.tag_bits,
    };
    Ok(Need {
        sets: spec.sets as f64 / f64::from(banks),
        side: Side::Tags {
            ways: spec.ways,
            tag_bits,
            selected,
        },
        ports: spec.ports,
        banks,
        ecc: at.settings.ecc,
    })
}

/// Access time of both sides together (CACTI 7, cacti_interface.cc:69).
fn together(tag: &Face, data: &Face, access: Access) -> Time {
    match access {
        Access::Fast => tag.access_time.max(data.access_time),
        Access::Sequential => tag.access_time + data.access_time,
        Access::Normal => {
            (tag.access_time + data.select).max(data.before_output) + data.after_output
        }
    }
}

/// The box around both sides, one beside the other: width, height and area.
fn around(
    tag: &Face,
    data: &Face,
) -> (
    warpwatt_techlib::quantity::Length,
    warpwatt_techlib::quantity::Length,
    Area,
) {
    let (width, height) = (tag.width + data.width, tag.height.max(data.height));
    (width, height, width * height)
}

fn both(tag_cost: Cost, data_cost: Cost, tag: &Array, data: &Array, access: Access) -> Cost {
    let (tag, data) = (&tag.face(), &data.face());
    let (width, height, area) = around(tag, data);
    let named = |side: &str, cost: &Cost| -> Vec<Part> {
        let part = |part: &Part| Part {
            name: format!("{side} {}", part.name),
            ..part.clone()
        };
        cost.breakdown.iter().map(part).collect()
    };
    let mut breakdown = named("tag", &tag_cost);
    breakdown.extend(named("data", &data_cost));
    breakdown.push(Part {
        name: "gap between the sides".to_owned(),
        read_energy: Energy::ZERO,
        search_energy: None,
        leakage: Power::ZERO,
        area: area - tag_cost.area - data_cost.area,
        delay: Time::ZERO,
        between_banks: false,
    });
    Cost {
        area,
        height,
        width,
        access_time: together(tag, data, access),
        cycle_time: tag.cycle_time.max(data.cycle_time),
        read_energy: tag_cost.read_energy + data_cost.read_energy,
        write_energy: tag_cost.write_energy + data_cost.write_energy,
        search_energy: None,
        leakage: tag_cost.leakage + data_cost.leakage,
        gate_leakage: tag_cost.gate_leakage + data_cost.gate_leakage,
        breakdown,
        organisation: data_cost.organisation,
        model: format!("cache of {} and {}", tag_cost.model, data_cost.model),
        uncertainty: data_cost.uncertainty,
        tag: Some(Box::new(tag_cost)),
        data: Some(Box::new(data_cost)),
        alternatives: Vec::new(),
        gated: None,
        limits: None,
    }
}

fn cost(at: &Sizing, array: &Array, need: &Need, limits: Limits) -> Cost {
    let side = match need.side {
        Side::Data { .. } => "sram array",
        Side::Tags { .. } => "sram tag array",
    };
    let beyond = match limits {
        Limits::Strict => "",
        Limits::Relaxed => ", smaller than CACTI accepts",
    };
    array.bus.cost(Cost {
        area: array.area(),
        height: array.height,
        width: array.width,
        access_time: array.access_time,
        cycle_time: array.cycle_time,
        read_energy: array.read,
        write_energy: array.write,
        search_energy: None,
        leakage: array.leakage,
        gate_leakage: array.gate_leakage,
        breakdown: breakdown(array, need.banks),
        organisation: Some(array.shape.organisation(need.banks, array.wires)),
        model: format!("{side} ({}{beyond})", at.run.profile),
        uncertainty: uncertainty(at.technology),
        tag: None,
        data: None,
        alternatives: Vec::new(),
        gated: None,
        limits: None,
    })
}

fn breakdown(array: &Array, banks: u32) -> Vec<Part> {
    let parts = &array.parts;
    let stages = parts.stages().map(|(name, stage)| {
        let copies = if name == ROUTE { 1.0 } else { f64::from(banks) };
        Part {
            name: name.to_owned(),
            read_energy: stage.energy,
            search_energy: None,
            leakage: stage.leakage * copies,
            area: match name {
                "cells and bitlines" => parts.cells_area,
                "output tree" => parts.tree_area,
                _ => Area::ZERO,
            },
            delay: stage.delay,
            between_banks: name == ROUTE,
        }
    });
    let periphery = Part {
        name: "decoders, amplifiers and drivers".to_owned(),
        read_energy: Energy::ZERO,
        search_energy: None,
        leakage: Power::ZERO,
        area: parts.periphery_area,
        delay: Time::ZERO,
        between_banks: false,
    };
    stages.chain([periphery]).collect()
}

/// How much of a delay goes with the resistance and the capacitance of wires, and with the capacitance of transistors; likewise of an energy.
const DELAY_WIRE_R: f64 = 0.25;
const DELAY_WIRE_C: f64 = 0.35;
const DELAY_DEVICE_C: f64 = 0.65;
const ENERGY_WIRE_C: f64 = 0.4;
const ENERGY_DEVICE_C: f64 = 0.6;

/// Process data, cause by cause with its share of the figure, and method in quadrature. On-currents act on the whole of a delay, the supply twice on an energy.
pub(crate) fn uncertainty(technology: &Technology) -> Uncertainty {
    let device = &technology.device;
    let layer = &technology.wires.conservative.semi_global;
    let capacitance = device.c_gate_ideal.uncertainty;
    let (wire_r, wire_c) = (layer.resistance.uncertainty, layer.capacitance.uncertainty);
    let with = |causes: &[f64]| causes.iter().fold(METHOD, |sum, cause| sum.hypot(*cause));
    if technology.cells.is_none() {
        // The tools' tables carry the disagreement between sources in their on-currents.
        return Uncertainty {
            area: with(&[technology.cell.width.uncertainty]),
            delay: with(&[device.i_on_n.uncertainty]),
            energy: with(&[capacitance, 2.0 * device.vdd.uncertainty]),
            leakage: with(&[device.i_off_n.uncertainty()]),
            method: METHOD,
        };
    }
    Uncertainty {
        area: with(&[technology.cell.width.uncertainty]),
        delay: with(&[
            device.i_on_n.uncertainty,
            DELAY_DEVICE_C * capacitance,
            DELAY_WIRE_R * wire_r,
            DELAY_WIRE_C * wire_c,
        ]),
        energy: with(&[
            ENERGY_DEVICE_C * capacitance,
            ENERGY_WIRE_C * wire_c,
            2.0 * device.vdd.uncertainty,
        ]),
        leakage: with(&[device.i_off_n.uncertainty()]),
        method: METHOD,
    }
}
