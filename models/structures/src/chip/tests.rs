use std::collections::BTreeSet;

use warpwatt_circuit::Spec;
use warpwatt_gpu::{COUNTERS, GpuSpec, HARDWARE_EVENTS, Inventory, presets};

use super::*;
use crate::{Count, Group};

/// Every preset of a product.
fn products() -> Vec<GpuSpec> {
    let all = presets().iter().map(|preset| preset.spec().unwrap());
    all.filter(|gpu| gpu.chip.inventory == Inventory::Chip)
        .collect()
}

fn find(structures: &[Structure], name: &str) -> Structure {
    let found = structures.iter().find(|it| it.name == name);
    found.unwrap_or_else(|| panic!("no {name}")).clone()
}

/// Bits of a structure's arrays in a whole GPU.
fn bits(structure: &Structure, sms: u32) -> u64 {
    match &structure.spec {
        Spec::Ram(ram) => ram.words * ram.bits * structure.count.of(sms),
        other => panic!("{other:?}"),
    }
}

#[test]
fn there_are_products() {
    assert!(products().len() >= 3);
}

#[test]
fn names_are_unique_and_charges_are_counters() {
    for gpu in products() {
        let structures = structures(&gpu);
        let names: BTreeSet<&str> = structures.iter().map(|it| it.name).collect();
        assert_eq!(names.len(), structures.len());
        for structure in &structures {
            for charge in structure.charges.iter() {
                for (counter, each) in &charge.events {
                    let known = COUNTERS.iter().any(|info| info.name == *counter);
                    assert!(known && *each > 0, "{}: {counter}", structure.name);
                }
            }
        }
    }
}

/// What is counted and can be priced is priced: a counter called after a structure, and each event of hardware.
#[test]
fn every_event_has_a_structure_that_spends() {
    for gpu in products() {
        let structures = structures(&gpu);
        let spends = |name: &str| {
            let part = |it: &Structure| {
                let rest = it.name.strip_prefix(name);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            structures.iter().any(|it| part(it) && !it.leakage_only)
        };
        for event in HARDWARE_EVENTS {
            let own_texture = gpu.texture.path == warpwatt_gpu::TexturePath::Own;
            let is_there = event.structure != "texture_cache" || own_texture;
            assert!(spends(event.structure) || !is_there, "{}", event.structure);
        }
        for info in COUNTERS {
            let charged = structures.iter().any(|it| it.counts(info.name));
            let Some((structure, _)) = info.name.rsplit_once('.') else {
                continue;
            };
            let is_there = !structure.starts_with("l15") || gpu.l15.bytes > 0;
            assert!(charged || spends(structure) || !is_there, "{}", info.name);
        }
    }
}

/// The arrays hold what the settings say, once.
#[test]
fn memories_are_as_large_as_the_gpu_s() {
    for gpu in products() {
        let (structures, sms) = (structures(&gpu), gpu.sm.count);
        let held = |name: &str| bits(&find(&structures, name), sms) / 8;
        let all = u64::from(sms);
        let registers = u64::from(gpu.sm.registers_bytes) * all;
        assert_eq!(held("register_file"), registers);
        let (shared, l1) = (u64::from(gpu.sm.shared_bytes), 1024 * u64::from(gpu.l1.kb));
        let near = held("shared_memory") + held("l1.data");
        match gpu.l1.carveout {
            warpwatt_gpu::Carveout::None => assert_eq!(near, (shared + l1) * all),
            _ => assert_eq!(near, l1 * all),
        }
        let l2 = 1024 * u64::from(gpu.l2.kb);
        let slices = u64::from(gpu.slices());
        assert!(held("l2.data") <= l2 && l2 - held("l2.data") < 1024 * slices);
    }
}

/// The banks of an access of the unified memory move a sector together.
#[test]
fn a_sector_is_a_sector_whatever_it_is_read_from() {
    for gpu in products() {
        let structures = structures(&gpu);
        let data = find(&structures, "l1.data");
        let Spec::Ram(ram) = &data.spec else {
            panic!("{data:?}")
        };
        for charge in data.charges.iter() {
            for (_, each) in &charge.events {
                assert_eq!(ram.bits * u64::from(*each), 8 * u64::from(SECTOR_BYTES));
            }
        }
    }
}

/// Nothing of the chip is where only SMs are, and the other way round.
#[test]
fn groups_are_counted_where_they_are() {
    for gpu in products() {
        for structure in structures(&gpu) {
            let per_gpu = matches!(structure.count, Count::PerGpu(_));
            match structure.group {
                Group::Uncore | Group::Dram => assert!(per_gpu, "{}", structure.name),
                Group::FrontEnd | Group::Storage | Group::Execution => {
                    assert!(!per_gpu, "{}", structure.name);
                }
                Group::Clock => {}
            }
        }
    }
}

#[test]
fn fewer_words_a_bank_are_a_smaller_file() {
    for gpu in products() {
        let mut small = gpu.clone();
        small.operands.bank_words /= 2;
        small.sm.registers_bytes /= 2;
        let (whole, half) = (structures(&gpu), structures(&small));
        let bits = |all: &[Structure]| bits(&find(all, "register_file"), gpu.sm.count);
        assert_eq!(bits(&whole), 2 * bits(&half));
    }
}

/// Whatever is not named here has a time, and is made of transistors that suit it; with one flavour for all nothing has.
#[test]
fn everything_but_clock_trees_and_dram_has_its_time() {
    for mut gpu in products() {
        for structure in structures(&gpu) {
            let without = structure.group == Group::Clock || structure.name.starts_with("dram");
            assert_eq!(structure.stage.is_none(), without, "{}", structure.name);
        }
        gpu.chip.flavour = FlavourChoice::Study;
        assert!(structures(&gpu).iter().all(|it| it.stage.is_none()));
    }
}

/// A fetch of two stages reads the instruction cache in one of them, so that a technique which needs the other leaves it as it is.
#[test]
fn a_second_fetch_stage_leaves_the_instruction_cache_a_cycle() {
    for mut gpu in products() {
        let before = find(&structures(&gpu), "icache.data").stage;
        gpu.fetch.stages = 2;
        assert_eq!(find(&structures(&gpu), "icache.data").stage, before);
    }
}
