//! Laws of blocks of logic, units, interconnect and memory; and synthesis figures beside ours.

use proptest::prelude::*;
use warpwatt_circuit::registry::{self, Allowed, Block};
use warpwatt_circuit::{Cost, OperatingPoint, Ports, Profile, RamSpec, Spec, cost};
use warpwatt_techlib::quantity::{Power, Temperature, Voltage};
use warpwatt_techlib::{Flavour, Library, Technology};

fn technology(library: &str, node: &str) -> Technology {
    let library = if library == "itrs" {
        Library::itrs()
    } else {
        Library::silicon()
    };
    library.unwrap().node(node, Flavour::Hp).unwrap()
}

fn spec(block: &str, settings: &[(&str, &str)]) -> Spec {
    let settings: Vec<(String, String)> = settings
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect();
    registry::find(block).unwrap().spec(&settings).unwrap()
}

fn at(technology: &Technology, spec: &Spec, vdd: Option<f64>, kelvin: f64) -> Cost {
    let point = OperatingPoint {
        vdd: vdd.map(Voltage::from_v),
        ..OperatingPoint::at(Temperature::from_k(kelvin))
    };
    let profile = if technology.library.as_ref() == "itrs" {
        Profile::Cacti7
    } else {
        Profile::Silicon
    };
    cost(technology, &point, profile, spec).unwrap()
}

fn price(library: &str, node: &str, block: &str, settings: &[(&str, &str)]) -> Cost {
    at(
        &technology(library, node),
        &spec(block, settings),
        None,
        350.0,
    )
}

/// Area of the cells, as synthesis prints it.
fn cells(cost: &Cost) -> f64 {
    let space = cost
        .breakdown
        .iter()
        .filter(|part| part.name == "space for wires");
    cost.area.as_um2() - space.map(|part| part.area.as_um2()).sum::<f64>()
}

/// Any block with any of its settings, kept small enough to be quick.
fn any_settings() -> impl Strategy<Value = (&'static Block, Vec<(String, String)>)> {
    let blocks: Vec<&'static Block> = registry::blocks().collect();
    (0..blocks.len(), proptest::collection::vec(0.0..1.0_f64, 6)).prop_map(
        move |(index, shares)| {
            let block = blocks[index];
            let values = block
                .parameters
                .iter()
                .zip(shares)
                .map(|(parameter, share)| {
                    let text = match parameter.allowed {
                        Allowed::Count { least, most } => {
                            let most = most.min(96);
                            let value =
                                least + (share * (most.saturating_sub(least) + 1) as f64) as u64;
                            // Lanes of a forwarding unit come in powers of two.
                            if parameter.name == "lanes" {
                                value.next_power_of_two().min(32).to_string()
                            } else {
                                value.to_string()
                            }
                        }
                        Allowed::Word(words) => {
                            words[(share * words.len() as f64) as usize].to_owned()
                        }
                    };
                    (parameter.name.to_owned(), text)
                });
            (block, values.collect())
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_figure_is_finite_and_the_parts_are_the_whole((block, settings) in any_settings(), seven in any::<bool>()) {
        let technology = technology("silicon", if seven { "7nm" } else { "40nm" });
        let Ok(spec) = block.spec(&settings) else { return Ok(()) };
        let point = OperatingPoint::at(Temperature::from_k(350.0));
        // Settings that do not go together are refused with a reason, never with a panic.
        let Ok(cost) = cost(&technology, &point, Profile::Silicon, &spec) else { return Ok(()) };
        for value in [cost.area.si(), cost.read_energy.si(), cost.leakage.si(), cost.gate_leakage.si(), cost.access_time.si(), cost.write_energy.si()] {
            prop_assert!(value.is_finite() && value >= 0.0, "{} {settings:?}", block.name);
        }
        let sum = |of: fn(&warpwatt_circuit::Part) -> f64| cost.breakdown.iter().map(of).sum::<f64>();
        prop_assert!((sum(|part| part.area.si()) - cost.area.si()).abs() <= 1e-9 * cost.area.si());
        prop_assert!((sum(|part| part.read_energy.si()) - cost.read_energy.si()).abs() <= 1e-9 * cost.read_energy.si());
        prop_assert!((sum(|part| part.leakage.si()) - cost.leakage.si()).abs() <= 1e-9 * cost.leakage.si());
        prop_assert!(cost.uncertainty.energy > 0.0 && cost.uncertainty.energy.is_finite());
    }

    #[test]
    fn wider_blocks_are_larger_and_take_more_energy(width in 3_u64..200, more in 1_u64..60, which in 0..6_usize) {
        let (block, key) = [("parity", "width"), ("equality", "width"), ("magnitude", "width"), ("adder", "width"), ("priority_encoder", "inputs"), ("secded", "width")][which];
        let (narrow, wide) = (width.to_string(), (width + more).to_string());
        let narrow = price("silicon", "16nm", block, &[(key, &narrow)]);
        let wide = price("silicon", "16nm", block, &[(key, &wide)]);
        prop_assert!(wide.area > narrow.area, "{block}");
        prop_assert!(wide.read_energy > narrow.read_energy, "{block}");
        prop_assert!(wide.leakage > narrow.leakage, "{block}");
    }

    #[test]
    fn a_code_costs_more_than_a_parity_and_a_checker_more_than_its_generator(width in 8_u64..256) {
        let width = width.to_string();
        let parity = price("silicon", "28nm", "parity", &[("width", &width)]);
        for code in ["hsiao", "hamming"] {
            let generator = price("silicon", "28nm", "secded", &[("width", &width), ("code", code), ("side", "generator")]);
            let checker = price("silicon", "28nm", "secded", &[("width", &width), ("code", code), ("side", "checker")]);
            prop_assert!(generator.area > parity.area && generator.read_energy > parity.read_energy);
            prop_assert!(checker.area > generator.area && checker.read_energy > generator.read_energy && checker.access_time > generator.access_time);
        }
    }

    #[test]
    fn lower_supplies_take_less_energy_and_more_time_and_leave_areas(which in 0..5_usize, drop in 0.02..0.15_f64) {
        let block = ["adder", "secded", "scheduler", "crossbar", "fma"][which];
        let technology = technology("silicon", "16nm");
        let nominal = technology.device.vdd.value.as_v();
        let spec = spec(block, &[]);
        let full = at(&technology, &spec, None, 350.0);
        let low = at(&technology, &spec, Some(nominal * (1.0 - drop)), 350.0);
        prop_assert!(low.read_energy < full.read_energy, "{block}");
        prop_assert!(low.access_time >= full.access_time, "{block}");
        prop_assert_eq!(low.area, full.area);
        prop_assert!(at(&technology, &spec, None, 380.0).leakage > full.leakage, "{block}");
    }

    #[test]
    fn quieter_inputs_take_less_energy(activity in 0_u64..99) {
        let (less, more) = (activity.to_string(), (activity + 1).to_string());
        for block in ["parity", "secded", "link", "crossbar", "renaming_table", "replay_queue"] {
            let quiet = price("silicon", "7nm", block, &[("activity", &less)]);
            let busy = price("silicon", "7nm", block, &[("activity", &more)]);
            prop_assert!(quiet.read_energy < busy.read_energy, "{block}");
            prop_assert_eq!(quiet.area, busy.area);
        }
    }
}

/// What flows while both transistors of a repeater conduct falls with the supply, though each edge takes longer.
#[test]
fn repeated_wires_take_less_energy_at_lower_supplies() {
    let library = Library::silicon().unwrap();
    for node in ["90nm", "65nm", "45nm", "16nm", "7nm"] {
        for flavour in [Flavour::Hp, Flavour::Lstp] {
            let technology = library.node(node, flavour).unwrap();
            let nominal = technology.device.vdd.value.as_v();
            let spec = spec("link", &[]);
            let energies = [1.0, 0.9, 0.8, 0.75].map(|share| {
                let priced = at(&technology, &spec, Some(nominal * share), 350.0);
                priced.read_energy.si() / (share * share)
            });
            // As the square of the supply or a little less, as wires of a lower one are less in a hurry.
            for energy in energies {
                let square = energy / energies[0];
                assert!(
                    (0.9..1.001).contains(&square),
                    "{node} {flavour:?}: {square}"
                );
            }
        }
    }
}

#[test]
fn areas_fall_from_node_to_node_and_energies_of_units_do() {
    let nodes = [
        "90nm", "65nm", "45nm", "32nm", "28nm", "16nm", "10nm", "7nm", "5nm", "3nm", "2nm",
    ];
    for block in ["adder", "secded", "fma", "mul"] {
        let costs: Vec<Cost> = nodes
            .iter()
            .map(|node| price("silicon", node, block, &[]))
            .collect();
        for (pair, node) in costs.windows(2).zip(&nodes[1..]) {
            assert!(pair[1].area < pair[0].area, "{block} {node}");
        }
    }
    // Energies of units are joined from facts of several nodes; the whole way they fall, and so do gates' where the library's transistors are of one family.
    let energy = |node: &str, block: &str| price("silicon", node, block, &[]).read_energy;
    for block in ["fma", "mul"] {
        assert!(
            energy("45nm", block) > energy("28nm", block)
                && energy("28nm", block) > energy("7nm", block),
            "{block}"
        );
    }
    for family in [
        ["90nm", "65nm", "45nm", "32nm", "28nm"],
        ["16nm", "10nm", "7nm", "5nm", "2nm"],
    ] {
        for pair in family.windows(2) {
            assert!(
                energy(pair[1], "adder") < energy(pair[0], "adder"),
                "{pair:?}"
            );
        }
    }
}

/// Known gap. Warped-DMR's blocks, synthesised at 40 nm: 390 um2 and 0.08 ns; 622 um2 and 0.068 ns (its chapter 4.4). Ours with the itrs devices of 40 nm:
/// the forwarding unit a quarter larger and slower; the comparator a third of the area, which is what 128 exclusive-nors and an AND tree take in any library
/// (2.1 um2 a bit); what the published 4.9 um2 a bit contain is not known.
#[test]
fn warped_dmrs_synthesised_blocks() {
    let unit = price(
        "itrs",
        "40nm",
        "forwarding_unit",
        &[("lanes", "4"), ("width", "32")],
    );
    let comparator = price("itrs", "40nm", "equality", &[("width", "128")]);
    println!(
        "forwarding unit: {:.0} um2 beside 390, {:.3} ns beside 0.08",
        cells(&unit),
        unit.access_time.as_ns()
    );
    println!(
        "comparator: {:.0} um2 beside 622, {:.3} ns beside 0.068",
        cells(&comparator),
        comparator.access_time.as_ns()
    );
    assert!((1.1..1.5).contains(&(cells(&unit) / 390.0)));
    assert!((1.0..1.5).contains(&(unit.access_time.as_ns() / 0.08)));
    assert!((0.25..0.45).contains(&(cells(&comparator) / 622.0)));
    assert!((1.2..1.8).contains(&(comparator.access_time.as_ns() / 0.068)));
}

/// Known gap. A ripple adder of 32 bits at 45 nm: 137 um2 (32 full-adder cells of an open library) and 0.1 pJ in Horowitz's table. Ours has no full-adder cell
/// but has wires and loads: half larger, and four to five times the energy. Why the table's figure is so small is not known here.
#[test]
fn an_adder_beside_its_published_figures() {
    let adder = price(
        "itrs",
        "45nm",
        "adder",
        &[("width", "32"), ("carry", "ripple")],
    );
    println!(
        "adder: {:.0} um2 beside 137, {:.2} pJ beside 0.1",
        cells(&adder),
        adder.read_energy.as_pj()
    );
    assert!((1.2..1.7).contains(&(cells(&adder) / 137.0)));
    assert!((3.0..6.0).contains(&(adder.read_energy.as_pj() / 0.1)));
}

/// MIAOW's issue stage of 40 wavefronts at 32 nm is 0.43 mm2 (TACO 12(2), 2015): fetch, wavepool and scoreboards of 1,024 vector and 512 scalar registers
/// with it. Of what we model, one scheduler and 40 scoreboards of six entries are a tenth of that: the rest is state that MIAOW keeps in flip-flops.
#[test]
fn miaows_issue_stage_is_mostly_state() {
    let scheduler = price("itrs", "32nm", "scheduler", &[("warps", "40")]);
    let scoreboard = price("itrs", "32nm", "scoreboard", &[("register_bits", "10")]);
    let ours = (scheduler.area.as_mm2() + 40.0 * scoreboard.area.as_mm2()) / 0.43;
    println!(
        "scheduler and scoreboards: {:.1} % of MIAOW's issue stage",
        100.0 * ours
    );
    assert!((0.02..0.3).contains(&ours));
}

/// Each figure of the sources, at its own node and supply, lies within two sigma of the estimate.
#[test]
fn estimates_of_units_agree_with_their_sources_within_their_ranges() {
    let horowitz = [
        ("add", "int32", 0.1),
        ("mul", "int32", 3.1),
        ("mul", "int8", 0.2),
        ("add", "fp32", 0.9),
        ("mul", "fp32", 3.7),
        ("mul", "fp16", 1.1),
    ];
    let technology = technology("silicon", "45nm");
    for (block, precision, published) in horowitz {
        let ours = at(
            &technology,
            &spec(block, &[("precision", precision)]),
            Some(0.9),
            350.0,
        );
        let ratio = (ours.read_energy.as_pj() / published).ln().abs();
        println!(
            "{block} {precision}: {:.3} pJ +- {:.0} % beside {published}",
            ours.read_energy.as_pj(),
            100.0 * ours.uncertainty.energy
        );
        assert!(
            ratio < 2.0 * ours.uncertainty.energy.max(0.15),
            "{block} {precision}: {} pJ",
            ours.read_energy.as_pj()
        );
    }
}

/// The 6.5 profile has no gate leakage, in arrays or beside them; the others have it in both: a ratio of the two compares like with like.
#[test]
fn arrays_and_what_stands_beside_them_have_gate_leakage_or_none_has() {
    let array = Spec::Ram(RamSpec {
        words: 1024,
        bits: 32,
        out_bits: None,
        ports: Ports::ONE,
        banks: 1,
    });
    let beside = [
        "secded",
        "adder",
        "comparator",
        "crossbar",
        "fma",
        "scheduler",
    ];
    let technology = technology("itrs", "45nm");
    let point = OperatingPoint::at(Temperature::from_k(350.0));
    for profile in [Profile::Cacti65, Profile::Cacti7] {
        let leaks = |spec: &Spec| {
            let cost = cost(&technology, &point, profile, spec).unwrap();
            cost.gate_leakage > Power::ZERO
        };
        for block in beside {
            assert_eq!(
                leaks(&array),
                leaks(&spec(block, &[])),
                "{profile}: {block}"
            );
        }
        assert_eq!(leaks(&array), profile == Profile::Cacti7);
    }
}

/// Horowitz's multiplication and addition are arithmetic alone: what they take together lies within one sigma of a fused multiply-add's.
#[test]
fn a_multiply_add_is_horowitzs_multiplication_and_addition() {
    let technology = technology("silicon", "45nm");
    for (precision, published) in [("fp32", 4.6), ("fp16", 1.5)] {
        let block = spec("fma", &[("precision", precision)]);
        let ours = at(&technology, &block, Some(0.9), 350.0);
        let off = (ours.read_energy.as_pj() / published).ln().abs();
        assert!(
            off < ours.uncertainty.energy.min(0.35),
            "{precision}: {} pJ",
            ours.read_energy.as_pj()
        );
    }
}

/// Units of products, each at its own node and supply, within two sigma; they cost more than their arithmetic, and no more than six times as much.
#[test]
fn units_as_products_have_them_are_another_figure_than_their_arithmetic() {
    let published = [
        ("fma", "fp64", "28nm", 0.9, 20.0),
        ("fma", "fp16", "16nm", 0.8, 1.5),
        ("mma", "fp16", "16nm", 0.8, 0.86),
        ("mma", "int8", "16nm", 0.8, 0.31),
    ];
    for (block, precision, node, supply, published) in published {
        let technology = technology("silicon", node);
        let price = |scope: &str| {
            let mut settings = vec![("precision", precision), ("scope", scope)];
            if block == "mma" {
                settings.push(("macs", "1"));
            }
            at(&technology, &spec(block, &settings), Some(supply), 350.0)
        };
        let (built, alone) = (price("unit"), price("datapath"));
        let off = (built.read_energy.as_pj() / published).ln().abs();
        let ours = format!("{block} {precision}: {:.2} pJ", built.read_energy.as_pj());
        assert!(off < 2.0 * built.uncertainty.energy, "{ours}");
        let more = built.read_energy / alone.read_energy;
        assert!((1.0..6.0).contains(&more), "{ours}, {more:.2} times");
        assert!(built.area >= alone.area, "{ours}");
    }
}

#[test]
fn memories_cost_what_their_sources_say_at_average_locality() {
    let per_bit = |kind: &str| {
        price("silicon", "7nm", "dram", &[("type", kind)])
            .read_energy
            .as_pj()
            / 256.0
    };
    for (kind, published) in [
        ("hbm2", 3.92),
        ("gddr5", 14.0),
        ("gddr6", 7.5),
        ("hbm2e", 4.3),
    ] {
        assert!(
            (per_bit(kind) / published - 1.0).abs() < 0.01,
            "{kind}: {}",
            per_bit(kind)
        );
    }
    let hits =
        |percent: &str| price("silicon", "7nm", "dram", &[("row_hits", percent)]).read_energy;
    assert!(hits("0") > hits("50") && hits("50") > hits("100"));
}

/// The list of docs/logic-reference.md is that of the registry.
#[test]
fn the_documentation_lists_every_block_as_it_is() {
    let page = include_str!("../../../docs/logic-reference.md");
    for block in registry::blocks() {
        let mut text = format!(
            "### {}\n\n{}. Energy of {}.\n\n| parameter | default | allowed | meaning |\n| --- | --- | --- | --- |\n",
            block.name, block.summary, block.operation
        );
        for parameter in block.parameters {
            let allowed = parameter.allowed.text();
            text += &format!(
                "| `{}` | {} | {allowed} | {} |\n",
                parameter.name, parameter.default, parameter.meaning
            );
        }
        assert!(
            page.contains(&text),
            "docs/logic-reference.md lacks:\n{text}"
        );
    }
}
