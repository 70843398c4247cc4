//! The structures of a whole chip and of the DRAM beside it, from a GPU's settings: what is counted has a price here.
//!
//! One array stands behind area, leakage and energy of a structure. Energies go by what an access really moves: words of lanes, sectors, flits of wires.

mod clock;
mod memory;
mod sm;
mod stage;
mod uncore;

use warpwatt_circuit::{Ports, RamSpec, Spec, TagSpec};
use warpwatt_gpu::{FlavourChoice, GpuSpec, SECTOR_BYTES};

use crate::{Group, Structure};

/// Bits of a physical address. Assumed: 1 TB, which holds every product's memory.
const ADDRESS_BITS: u32 = 40;
/// Bits of state beside a tag: valid and dirty sectors, replacement. Assumed.
const STATE_BITS: u32 = 8;

/// Everything that is priced of `gpu`.
pub fn structures(gpu: &GpuSpec) -> Vec<Structure> {
    let mut all = sm::front_end(gpu);
    all.extend(sm::storage(gpu));
    all.extend(sm::execution(gpu));
    all.extend(uncore::structures(gpu));
    all.extend(memory::structures(gpu));
    all.extend(clock::structures(gpu));
    if gpu.chip.flavour == FlavourChoice::Auto {
        for structure in &mut all {
            structure.stage = stage::of(gpu, structure.name);
        }
    }
    all
}

/// A structure that a technique adds to the SMs of `gpu`: in a product it has a cycle, as the arrays beside it, unless it says otherwise. What stands in the front end shares its
/// cycle with others, and whoever adds it checks these paths.
pub fn added(gpu: &GpuSpec, structure: Structure) -> Structure {
    let is_chosen = gpu.chip.flavour == FlavourChoice::Auto;
    match (structure.group, structure.stage) {
        (Group::Storage | Group::Execution, None) if is_chosen => Structure {
            stage: Some(stage::a_cycle(gpu)),
            ..structure
        },
        _ => structure,
    }
}

/// An array of so many bytes, a word an access.
fn array(bytes: u64, word_bits: u32, ports: Ports) -> Spec {
    Spec::Ram(RamSpec {
        words: (8 * bytes).div_ceil(u64::from(word_bits)).max(1),
        bits: u64::from(word_bits),
        out_bits: None,
        ports,
        banks: 1,
    })
}

/// An array that moves a sector an access.
fn sectors(bytes: u64) -> Spec {
    array(bytes, 8 * SECTOR_BYTES, Ports::ONE)
}

/// Tags that are compared at once; simulators stand for hashed sets with more ways than anybody builds. Assumed.
const MOST_WAYS: u32 = 16;

/// The tags of a cache, those of a set compared at once.
fn tags(bytes: u64, line_bytes: u32, ways: u32) -> Spec {
    let ways = ways.min(MOST_WAYS);
    let sets = (bytes / u64::from(line_bytes) / u64::from(ways)).max(1);
    let place_bits = line_bytes.ilog2() + sets.ilog2();
    Spec::Tags(TagSpec {
        sets,
        ways,
        tag_bits: ADDRESS_BITS.saturating_sub(place_bits).max(1) + STATE_BITS,
        ports: Ports::ONE,
    })
}

#[cfg(test)]
mod tests;
