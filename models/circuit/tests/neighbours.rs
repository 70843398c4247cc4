//! Laws of the silicon profile over sizes: neighbours are alike, and wide words cost what the narrow arrays cost of which a designer would build them.

use proptest::prelude::*;
use warpwatt_circuit::{
    Access, CacheSpec, Cost, Objective, OperatingPoint, Ports, Profile, RamSpec, Settings, Spec,
    Weights, cost_with,
};
use warpwatt_techlib::quantity::Temperature;
use warpwatt_techlib::{Flavour, Library};

const NODES: [&str; 12] = [
    "180nm", "130nm", "90nm", "65nm", "45nm", "32nm", "22nm", "16nm", "7nm", "5nm", "3nm", "2nm",
];

/// The goals of `warpwatt array`.
const GOALS: [&str; 7] = ["ed", "ed2", "delay", "energy", "area", "leakage", "cycle"];

fn settings(goal: &str) -> Settings {
    let mut settings = Profile::Silicon.settings();
    let mut weights = Weights::all(0.0);
    match goal {
        "ed" => settings.objective = Objective::EnergyDelay,
        "ed2" => settings.objective = Objective::EnergyDelaySquared,
        "delay" => weights.delay = 100.0,
        "energy" => weights.dynamic = 100.0,
        "area" => weights.area = 100.0,
        "leakage" => weights.leakage = 100.0,
        _ => weights.cycle = 100.0,
    }
    if !goal.starts_with("ed") {
        settings.objective = Objective::Weighted;
        settings.weights = weights;
        settings.deviations = Weights {
            dynamic: settings.deviations.dynamic,
            area: settings.deviations.area,
            ..Weights::all(1e6)
        };
    }
    settings
}

fn price(node: &str, goal: &str, spec: Spec) -> Cost {
    let technology = Library::silicon().unwrap().node(node, Flavour::Hp).unwrap();
    let at = OperatingPoint::at(Temperature::from_k(350.0));
    cost_with(&technology, &technology, &at, &settings(goal), &spec).unwrap()
}

fn ram(bytes: u64, bits: u64) -> Spec {
    Spec::Ram(RamSpec {
        words: bytes * 8 / bits,
        bits,
        out_bits: None,
        ports: Ports::ONE,
        banks: 1,
    })
}

fn cache(bytes: u64, ways: u32, line: u64, access: Access) -> Spec {
    Spec::Cache(CacheSpec {
        sets: bytes / line / u64::from(ways),
        ways,
        line_bits: line * 8,
        tag_bits: None,
        out_bits: None,
        ports: Ports::ONE,
        access,
        banks: 1,
    })
}

/// Area and energy of twice the capacity over those of the half. An organisation may have 1.6 times the least area and twice the least energy, and the least
/// ones of twice the capacity are some two times as large at most.
const AREA: std::ops::RangeInclusive<f64> = 0.625..=3.5;
const ENERGY: std::ops::RangeInclusive<f64> = 0.5..=3.6;

fn alike(what: &str, half: &Cost, whole: &Cost) -> Result<(), TestCaseError> {
    let area = whole.area / half.area;
    let energy = whole.read_energy / half.read_energy;
    prop_assert!(AREA.contains(&area), "{what}: area {area}");
    prop_assert!(ENERGY.contains(&energy), "{what}: energy {energy}");
    Ok(())
}

#[test]
fn sixteen_ways_of_short_lines_grow_steadily() {
    // Of 64 KiB the area was once a quarter of that of 16 KiB.
    for (node, goal) in ["2nm", "7nm"]
        .into_iter()
        .flat_map(|node| ["ed", "ed2", "delay"].map(|goal| (node, goal)))
    {
        let of = |kib: u64| price(node, goal, cache(kib << 10, 16, 32, Access::Normal));
        let sizes = [4, 8, 16, 32, 64].map(|kib| (kib, of(kib)));
        for pair in sizes.windows(2) {
            let (half, whole) = (&pair[0].1, &pair[1].1);
            let what = format!("{node} {goal} {} KiB", pair[1].0);
            assert!(whole.area > half.area * 0.95, "{what}");
            assert!(whole.area < half.area * 2.2, "{what}");
            assert!(whole.read_energy < half.read_energy * 2.0, "{what}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn twice_the_words_are_neighbours(node in 0..NODES.len(), goal in 0..GOALS.len(), log in 10..20_u32, width in 3..11_u32) {
        prop_assume!(log + 3 >= width + 4);
        let (node, goal) = (NODES[node], GOALS[goal]);
        let of = |log: u32| price(node, goal, ram(1 << log, 1 << width));
        alike(&format!("{node} {goal} {} bytes of {} bits", 2 << log, 1 << width), &of(log), &of(log + 1))?;
    }

    #[test]
    fn twice_the_sets_are_neighbours(
        node in 0..NODES.len(), goal in 0..GOALS.len(), sets in 2..10_u32, ways in 0..5_u32, line in 4..8_u32, access in 0..3_usize,
    ) {
        let (node, goal) = (NODES[node], GOALS[goal]);
        let access = [Access::Normal, Access::Sequential, Access::Fast][access];
        let of = |sets: u32| price(node, goal, cache(1 << (sets + ways + line), 1 << ways, 1 << line, access));
        let what = format!("{node} {goal} {} sets of {} ways of {} bytes, {access:?}", 2 << sets, 1 << ways, 1 << line);
        alike(&what, &of(sets), &of(sets + 1))?;
    }
}

#[test]
fn a_wide_word_costs_what_narrow_arrays_side_by_side_cost() {
    for node in NODES {
        for (bytes, bits, slices) in [(16 << 10, 1024, 8), (32 << 10, 512, 4), (8 << 10, 256, 2)] {
            let whole = price(node, "ed2", ram(bytes, bits));
            let slice = price(node, "ed2", ram(bytes / slices, bits / slices));
            let count = slices as f64;
            let wire = whole
                .breakdown
                .iter()
                .filter(|part| part.name == "address along slices")
                .map(|part| part.read_energy)
                .sum();
            let what = format!("{node}, {bytes} bytes of {bits} bits");
            assert!(whole.area <= slice.area * (1.3 * count), "{what}: area");
            assert!(
                whole.read_energy - wire <= slice.read_energy * (1.3 * count),
                "{what}: energy"
            );
        }
    }
}
