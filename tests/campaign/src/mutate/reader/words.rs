//! What is written in a word or a line: expressions, selectors, goals, quantities.

use warpwatt::array::{parse_bits, parse_capacity, parse_deviations, parse_ports, parse_weights};
use warpwatt::expression::Expression;
use warpwatt::goal::quantity;
use warpwatt::label;
use warpwatt::run::shard::Shard;
use warpwatt::select::matching;
use warpwatt_techlib::quantity::{Length, Temperature, Voltage};

use super::super::seeds;
use super::{Check, of_text};

/// An expression, and its value where every name is one.
pub fn expression() -> (Vec<Vec<u8>>, Check) {
    let texts = [
        "(a + b * 2) / max(c, 1) - -3.5e2",
        "warp_instructions * (1 + 0.5) ^ 2",
        "min(a, b, 3) + sqrt(c)",
    ];
    let check = of_text(|text| {
        if let Ok(expression) = Expression::parse(text) {
            let _ = expression.names();
            let _ = expression.count(&|_| 1.0);
        }
    });
    (seeds::texts(&texts), check)
}

/// A selector of points, and the labels that it holds.
pub fn selector() -> (Vec<Vec<u8>>, Check) {
    let texts = [
        "kernel=hotspot,node=7nm,technique=filter_cache(entries=16)",
        "gpu.sm.threads=512,technique.filter_cache.entries=16",
        "configuration=filter_cache(entries=16)+warped_dmr(mode=inter, rate=0.5)",
        "17",
    ];
    let check = of_text(|text| {
        let _ = matching(text, &[]);
        let _ = label::parameters(text);
        let _ = label::techniques(text).count();
        let _ = label::fits("filter_cache(entries=16)+warped_dmr", text);
        let _ = label::same(text, "filter_cache(entries=16)");
    });
    (seeds::texts(&texts), check)
}

/// A value of a goal in the units of metrics.
pub fn goal() -> (Vec<Vec<u8>>, Check) {
    let texts = ["<= 1 mJ", ">= 90%", "5%", "2.5e-3 mm2", "1 GHz", "-3 dB"];
    let check = of_text(|text| {
        for unit in ["J", "1", "m2", "s", "W", "Hz", "cycles"] {
            if let Ok(value) = quantity::read(text, unit) {
                let _ = quantity::show(value, unit);
                let _ = quantity::readable(value, unit);
                let _ = quantity::tick(value, unit);
            }
        }
    });
    (seeds::texts(&texts), check)
}

/// Quantities of options and files.
pub fn quantity() -> (Vec<Vec<u8>>, Check) {
    let texts = [
        "4KiB",
        "128b",
        "0.9 V",
        "350 K",
        "32nm",
        "1r1w",
        "2rw1s",
        "0:0:0:100:0",
        "20:inf:inf:inf:inf",
        "2/3",
        "1.5e-3 mV",
    ];
    let check = of_text(|text| {
        let _ = parse_capacity(text);
        let _ = parse_bits(text);
        let _ = parse_ports(text);
        let _ = parse_weights(text);
        let _ = parse_deviations(text);
        let _ = text.parse::<Voltage>();
        let _ = text.parse::<Temperature>();
        let _ = text.parse::<Length>();
        let _ = text.parse::<Shard>();
    });
    (seeds::texts(&texts), check)
}
