//! Associative arrays against runs of CACTI 7 (`tests/data/README.md`).

use std::collections::BTreeMap;

use warpwatt_circuit::{
    CamSpec, CircuitError, Cost, FullyAssociativeSpec, Layer, OperatingPoint, Ports, Profile,
    Projection, Settings, Signalling, Spec, cost_with,
};
use warpwatt_techlib::quantity::Temperature;
use warpwatt_techlib::{Flavour, Library, Technology};

type Row = BTreeMap<String, String>;

fn rows() -> Vec<Row> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/associative.csv");
    let mut reader = csv::Reader::from_path(path).unwrap();
    reader.deserialize().map(|row| row.unwrap()).collect()
}

fn number(row: &Row, key: &str) -> f64 {
    row[key].parse().unwrap()
}

fn technology(row: &Row) -> Technology {
    let flavour = match row["cell_type"].as_str() {
        "itrs-hp" => Flavour::Hp,
        "itrs-lop" => Flavour::Lop,
        _ => Flavour::Lstp,
    };
    let node = format!("{:.0}nm", number(row, "node_um") * 1000.0);
    Library::itrs().unwrap().node(&node, flavour).unwrap()
}

fn settings(row: &Row) -> Settings {
    let layer = |key: &str| match row[key].as_str() {
        "global" => Layer::Global,
        _ => Layer::SemiGlobal,
    };
    let mut settings = Profile::Cacti7.settings();
    settings.ecc = row["ecc"] == "1";
    settings.wires.inside = layer("wire_inside");
    settings.wires.outside = layer("wire_outside");
    if row["ic_proj"] == "aggressive" {
        settings.wires.projection = Projection::Aggressive;
    }
    settings.wires.signalling = match row["wire_signaling"].as_str() {
        "Global" => Signalling::Global,
        "Global_5" => Signalling::Global5,
        "Global_10" => Signalling::Global10,
        "Global_20" => Signalling::Global20,
        "Global_30" => Signalling::Global30,
        "fullswing" => Signalling::FullSwing,
        "lowswing" => Signalling::LowSwing,
        _ => Signalling::Any,
    };
    settings
}

fn spec(row: &Row) -> Spec {
    let count = |key: &str| row[key].parse::<u32>().unwrap();
    let ports = Ports {
        read_write: count("rw_ports"),
        read: count("r_ports"),
        write: count("w_ports"),
        search: count("search_ports"),
        ..Ports::NONE
    };
    let bits = number(row, "size_bytes") * 8.0;
    if row["mem_type"] == "cam" {
        let tag = number(row, "tag_bits");
        return Spec::Cam(CamSpec {
            entries: (bits / tag) as u64,
            bits: tag as u64,
            ports,
            banks: count("banks"),
        });
    }
    let line_bits = number(row, "block_bytes") * 8.0;
    Spec::FullyAssociative(FullyAssociativeSpec {
        entries: (bits / line_bits) as u64,
        line_bits: line_bits as u64,
        tag_bits: None,
        out_bits: None,
        ports,
        banks: count("banks"),
    })
}

/// Absent for wires that are not modelled.
fn price(row: &Row) -> Option<Cost> {
    let technology = technology(row);
    let at = OperatingPoint::at(Temperature::from_k(number(row, "temp_k")));
    match cost_with(&technology, &technology, &at, &settings(row), &spec(row)) {
        Err(CircuitError::NotModelled { .. }) => None,
        cost => Some(cost.unwrap()),
    }
}

const FIGURES: [&str; 8] = [
    "access_ns",
    "cycle_ns",
    "read_nj",
    "write_nj",
    "search_nj",
    "leak_total_mw",
    "gate_leak_total_mw",
    "area_mm2",
];

fn figures(cost: &Cost) -> [f64; 8] {
    [
        cost.access_time.si() * 1e9,
        cost.cycle_time.si() * 1e9,
        cost.read_energy.si() * 1e9,
        cost.write_energy.si() * 1e9,
        cost.search_energy.unwrap().si() * 1e9,
        cost.leakage.si() * 1e3,
        cost.gate_leakage.si() * 1e3,
        cost.area.si() * 1e6,
    ]
}

/// Median and 95th percentile of each figure's absolute relative error, and how many organisations differ.
fn compare(rows: &[&Row]) -> ([(f64, f64); 8], usize) {
    let mut errors: [Vec<f64>; 8] = Default::default();
    let mut differ = 0;
    let mut skipped = 0;
    for row in rows {
        let Some(cost) = price(row) else {
            skipped += 1;
            continue;
        };
        let same = f64::from(cost.organisation.unwrap().ndbl) == number(row, "data_ndbl");
        differ += usize::from(!same);
        for (i, value) in figures(&cost).into_iter().enumerate() {
            let error = (value / number(row, FIGURES[i]) - 1.0).abs();
            if error > 0.03 {
                println!(
                    "{} {} {value} {} {error:.3}",
                    row["id"], FIGURES[i], row[FIGURES[i]]
                );
            }
            errors[i].push(error);
        }
    }
    let quantiles = errors.map(|mut errors| {
        errors.sort_by(f64::total_cmp);
        let at = |share: f64| errors[((errors.len() - 1) as f64 * share).round() as usize];
        (at(0.5), at(0.95))
    });
    assert_eq!(skipped, 0);
    (quantiles, differ)
}

fn check(kind: &str) {
    let all = rows();
    let rows: Vec<&Row> = all.iter().filter(|row| row["mem_type"] == kind).collect();
    assert!(rows.len() > 80);
    let (errors, differ) = compare(&rows);
    for (figure, (median, most)) in FIGURES.iter().zip(errors) {
        println!("{kind} {figure}: median {median:.1e}, 95 % within {most:.1e}");
        // The cycle time of caches lacks how the tool restores its lines, which is nowhere printed.
        let limits = if *figure == "cycle_ns" {
            (0.01, 0.06)
        } else {
            (0.002, 0.01)
        };
        assert!(
            median <= limits.0 && most <= limits.1,
            "{kind} {figure}: {median} {most}"
        );
    }
    assert_eq!(differ, 0, "{kind}: other organisations");
}

#[test]
fn content_addressable_memories_agree_with_cacti_7() {
    check("cam");
}

#[test]
fn fully_associative_caches_agree_with_cacti_7() {
    check("fa");
}
