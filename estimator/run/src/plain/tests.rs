use std::path::Path;
use std::sync::Arc;

use warpwatt_gpu::Inventory;
use warpwatt_structures::Structure;
use warpwatt_techniques::Circuits;

use super::*;
use crate::diag::Sink;
use crate::pricing::laid_out;
use crate::resolve_text_with;
use crate::study::Catalogue;

/// Products at nodes near theirs.
const PRODUCTS: [(&str, &str); 3] = [("gtx480", "45nm"), ("v100", "12nm"), ("h200", "5nm")];

fn circuits(node: &str, flavour: &str) -> NodeCircuits {
    let study = format!(
        "[study]\ntitle = \"flavours\"\n[gpu]\npreset = \"tesla-16sm\"\nnode = \"{node}\"\nflavour = \"{flavour}\"\n\
         [workloads]\nkernels = [\"vector_add\"]\n"
    );
    let mut sink = Sink::default();
    let names = Catalogue::shipped(Arc::new(()));
    let resolved = resolve_text_with("study.toml", &study, Path::new(""), &names, &mut sink);
    resolved.unwrap().plan.axes.technologies.remove(0)
}

fn product(preset: &str) -> GpuSpec {
    let gpu = GpuSpec::preset(preset).unwrap();
    assert_eq!(gpu.chip.inventory, Inventory::Chip);
    gpu
}

fn built(gpu: &GpuSpec, circuits: &NodeCircuits) -> Vec<Structure> {
    laid_out(&inventory(gpu), gpu.sm.count, circuits).unwrap()
}

/// Leakage of one of a structure, in the flavours that were chosen for it.
fn leakage(structure: &Structure, circuits: &NodeCircuits) -> f64 {
    let other = structure.flavours;
    let other = other.map(|flavours| circuits.of_flavours(flavours).unwrap());
    let cost = other.unwrap_or(circuits).cost(&structure.spec).unwrap();
    cost.leakage.si() + cost.gate_leakage.si()
}

#[test]
fn what_is_chosen_leaks_no_more_than_one_flavour_for_all() {
    for (preset, node) in PRODUCTS {
        let circuits = circuits(node, "hp");
        let gpu = product(preset);
        let all = built(&gpu, &circuits);
        for structure in &all {
            let chosen = leakage(structure, &circuits);
            let fast = leakage(
                &Structure {
                    flavours: None,
                    ..structure.clone()
                },
                &circuits,
            );
            assert!(chosen <= fast, "{preset} {}", structure.name);
        }
        let large = all.iter().find(|it| it.name == "l2.data").unwrap();
        assert!(large.flavours.is_some(), "{preset}");
    }
}

/// What is of other transistors is in time as it was designed; what has no time, or is in time in none of them, is of the fastest.
#[test]
fn every_structure_is_in_time_or_of_the_fastest() {
    for (preset, node) in PRODUCTS {
        let circuits = circuits(node, "hp");
        for structure in built(&product(preset), &circuits) {
            let Some(flavours) = structure.flavours else {
                continue;
            };
            let stage = structure.stage.unwrap();
            let within = f64::from(stage.cycles) / (1e6 * f64::from(stage.clock_mhz));
            if stage.depth == 0 {
                let other = circuits.of_flavours(flavours).unwrap();
                let time = other.cost(&structure.spec).unwrap().access_time.si();
                assert!(time <= within, "{preset} {}: {time} s", structure.name);
            }
        }
    }
}

#[test]
fn a_slower_clock_never_leaks_more() {
    for (preset, node) in PRODUCTS {
        let circuits = circuits(node, "hp");
        let mut before = f64::INFINITY;
        for mhz in [4000, 2000, 1000, 500, 250] {
            let mut gpu = product(preset);
            gpu.chip.clock_mhz = mhz;
            let all = inventory(&gpu);
            let all = all
                .into_iter()
                .filter(|it| it.span.is_none())
                .collect::<Vec<_>>();
            let all = laid_out(&all, gpu.sm.count, &circuits).unwrap();
            let count = |it: &Structure| it.count.of(gpu.sm.count) as f64;
            let leaks: f64 = all
                .iter()
                .map(|it| count(it) * leakage(it, &circuits))
                .sum();
            assert!(
                leaks <= before,
                "{preset} at {mhz} MHz: {leaks} W after {before} W"
            );
            before = leaks;
        }
    }
}

/// The flavour of the technology is the fastest that is used.
#[test]
fn a_calm_technology_is_calm_throughout() {
    let circuits = circuits("5nm", "lstp");
    for structure in built(&product("h200"), &circuits) {
        let made = structure.flavours.map(|flavours| flavours.to_string());
        let allowed = [None, Some("sram cells, lstp")];
        assert!(
            allowed.contains(&made.as_deref()),
            "{}: {made:?}",
            structure.name
        );
    }
}

#[test]
fn with_one_flavour_for_all_nothing_is_chosen() {
    let circuits = circuits("5nm", "hp");
    let mut gpu = product("h200");
    gpu.chip.flavour = warpwatt_gpu::FlavourChoice::Study;
    let all = built(&gpu, &circuits);
    assert!(all.iter().all(|structure| structure.flavours.is_none()));
}
