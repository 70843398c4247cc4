//! Laws of a register file's banks and of what stands beside them, at every node of the default library.

use warpwatt_circuit::{Cost, MuxSpec, OperatingPoint, Ports, Profile, RamSpec, Spec, cost};
use warpwatt_techlib::quantity::Temperature;
use warpwatt_techlib::{Flavour, Library};

const NODES: [&str; 16] = [
    "180nm", "130nm", "90nm", "65nm", "45nm", "32nm", "22nm", "20nm", "16nm", "14nm", "12nm",
    "10nm", "7nm", "5nm", "3nm", "2nm",
];

fn price(node: &str, spec: &Spec) -> Cost {
    let technology = Library::silicon().unwrap().node(node, Flavour::Hp).unwrap();
    let at = OperatingPoint::at(Temperature::from_k(350.0));
    cost(&technology, &at, Profile::Silicon, spec).unwrap()
}

fn bank(words: u64, bits: u64) -> Spec {
    Spec::Ram(RamSpec {
        words,
        bits,
        out_bits: None,
        ports: Ports::ONE,
        banks: 1,
    })
}

#[test]
fn half_the_words_of_a_bank_save_a_quarter_of_it_or_more() {
    for node in NODES {
        let (whole, half) = (price(node, &bank(256, 128)), price(node, &bank(128, 128)));
        let left = half.area / whole.area;
        assert!(left <= 0.75, "{node}: {left:.2} of the area is left");
    }
}

/// Macros as in `estimator/validation/src/macros/truth.csv`: TSMC's N7 (Clinton et al., ISSCC 2018), N5 (Chang et al., JSSC 2020) and N3 (Osada et al., JSSC 2024),
/// in bits and square micrometres.
#[test]
fn banks_and_memories_are_a_third_as_dense_as_foundries_macros_or_denser() {
    for (node, words, bits, area) in [
        ("7nm", 1024, 74, 5100.0),
        ("5nm", 2048, 72, 9010.4),
        ("3nm", 4096, 90, 12_312.0),
    ] {
        let published = (words * bits) as f64 / area;
        for (words, bits) in [(words, bits), (256, 128)] {
            let ours = (words * bits) as f64 / price(node, &bank(words, bits)).area.as_um2();
            let share = ours / published;
            assert!(
                (1.0 / 3.0..2.0).contains(&share),
                "{node}, {words} x {bits}: {ours:.1} bits in a square micrometre, {published:.1} published"
            );
        }
    }
}

/// A multiplexer of a whole warp's operand, whose select line runs along all of it: repeaters keep the line from growing slower without bound.
#[test]
fn a_wide_multiplexer_is_not_twice_as_slow_at_a_newer_node() {
    let mux = Spec::Mux(MuxSpec { bits: 1024 });
    for step in NODES.windows(2) {
        let slower = price(step[1], &mux).access_time / price(step[0], &mux).access_time;
        // Two sources' transistors: docs/technology.md, steps back.
        let most = if step == ["20nm", "16nm"] { 4.0 } else { 1.6 };
        assert!(slower < most, "{} to {}: {slower:.2}", step[0], step[1]);
    }
}
