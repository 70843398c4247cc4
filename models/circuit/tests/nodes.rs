//! A newer node is not worse in the default library, but for steps that its sources force: each is listed with them here and in `docs/technology.md`.

use std::collections::BTreeMap;

use warpwatt_circuit::{
    Access, CacheSpec, OperatingPoint, Ports, Profile, RamSpec, Spec, cost_with,
};
use warpwatt_techlib::quantity::Temperature;
use warpwatt_techlib::{Flavour, Library};

/// The nodes that have tables.
const NODES: [&str; 16] = [
    "180nm", "130nm", "90nm", "65nm", "45nm", "32nm", "22nm", "20nm", "16nm", "14nm", "12nm",
    "10nm", "7nm", "5nm", "3nm", "2nm",
];

/// What a step may be worse by without being one: another organisation is chosen.
const SAME: f64 = 1.04;

/// A step back, by how much at most, and the sources that force it.
const BACK: [(&str, &str, &str, f64, &str); 9] = [
    (
        "20nm",
        "16nm",
        "time",
        1.95,
        "planar hp of PTM, 100 nA/um, without contacts; FinFET of TCAD and ASAP7, 20 nA/um, with those of ASAP7's liberty",
    ),
    (
        "20nm",
        "16nm",
        "energy",
        1.8,
        "the same: 1.79 times the bare device's capacitance",
    ),
    (
        "20nm",
        "16nm",
        "area",
        1.4,
        "whole fins of 48 nm (TCAD) where the planar node has widths of any size",
    ),
    (
        "14nm",
        "12nm",
        "area",
        1.15,
        "two foundries: cells of 0.064 and 0.07 um2, gate pitches of 78 and 84 nm",
    ),
    ("14nm", "12nm", "energy", 1.35, "the same: longer lines"),
    (
        "10nm",
        "7nm",
        "time",
        1.08,
        "two models: currents of TCAD at 0.75 V, of ASAP7 at 0.7 V",
    ),
    (
        "7nm",
        "5nm",
        "energy",
        1.22,
        "two models at one supply: 70.5 nm of channel a fin in ASAP7, 96 nm in Wu et al. 2020, Table 5",
    ),
    (
        "5nm",
        "3nm",
        "time",
        1.35,
        "wires of 24 nm pitch after 30 nm, surface and grain-boundary scattering (Steinhoegl et al. 2002)",
    ),
    (
        "5nm",
        "3nm",
        "area",
        1.12,
        "cells of 0.0205 after 0.021 um2 (WikiChip, IEDM 2022); more subarrays for these wires",
    ),
];

fn structures() -> Vec<Spec> {
    let ram = |kib: u64, bits| {
        Spec::Ram(RamSpec {
            words: (kib << 13) / bits,
            bits,
            out_bits: None,
            ports: Ports::ONE,
            banks: 1,
        })
    };
    let cache = |kib: u64| {
        Spec::Cache(CacheSpec {
            sets: (kib << 10) / 256,
            ways: 4,
            line_bits: 512,
            tag_bits: None,
            out_bits: None,
            ports: Ports::ONE,
            access: Access::Normal,
            banks: 1,
        })
    };
    let mut all: Vec<Spec> = [2, 8, 32, 256]
        .iter()
        .flat_map(|&kib| [ram(kib, 32), ram(kib, 128)])
        .collect();
    all.extend([cache(16), cache(64)]);
    all
}

#[test]
fn a_newer_node_is_not_worse_unless_its_sources_say_so() {
    let library = Library::silicon().unwrap();
    let at = OperatingPoint::at(Temperature::from_k(350.0));
    let settings = Profile::Silicon.settings();
    let figures = |node: &str| -> Vec<[f64; 3]> {
        let technology = library.node(node, Flavour::Hp).unwrap();
        let price = |spec: &Spec| {
            let cost = cost_with(&technology, &technology, &at, &settings, spec).unwrap();
            [cost.access_time.si(), cost.read_energy.si(), cost.area.si()]
        };
        structures().iter().map(price).collect()
    };
    let all: BTreeMap<&str, Vec<[f64; 3]>> =
        NODES.iter().map(|&node| (node, figures(node))).collect();
    let mut found = Vec::new();
    for step in NODES.windows(2) {
        for (i, figure) in ["time", "energy", "area"].into_iter().enumerate() {
            let pairs = all[step[0]].iter().zip(&all[step[1]]);
            let worst = pairs.map(|(old, new)| new[i] / old[i]).fold(0.0, f64::max);
            if worst > SAME {
                found.push((step[0], step[1], figure, worst));
            }
        }
    }
    let book = include_str!("../../../docs/technology.md");
    for &(from, to, figure, worst) in &found {
        let listed = BACK
            .iter()
            .find(|back| (back.0, back.1, back.2) == (from, to, figure));
        let Some((.., most, _)) = listed else {
            panic!("{figure} from {from} to {to}: {worst:.2} times, and no source says why");
        };
        assert!(worst <= *most, "{figure} from {from} to {to}: {worst:.2}");
    }
    for (from, to, figure, _, why) in BACK {
        let still = found
            .iter()
            .any(|back| (back.0, back.1, back.2) == (from, to, figure));
        assert!(
            still,
            "{figure} from {from} to {to} goes back no longer: take it off the lists"
        );
        assert!(book.contains(why), "docs/technology.md does not say: {why}");
    }
}
