//! The library `silicon` against figures that it is not made from, and against physics.

use approx::assert_relative_eq;

use super::*;
use crate::quantity::{Temperature, Voltage};
use crate::{Kind, metrics};

const ROOM: Temperature = Temperature::from_k(300.0);

fn node(name: &str, flavour: Flavour) -> Technology {
    Library::silicon().unwrap().node(name, flavour).unwrap()
}

/// Every tabulated technology.
fn all() -> Vec<Technology> {
    let library = Library::silicon().unwrap();
    let each = |node| Flavour::ALL.map(|flavour| library.at(node, flavour));
    library.nodes().flat_map(each).flatten().collect()
}

#[test]
fn every_node_reads_with_its_flavours() {
    let library = Library::silicon().unwrap();
    assert_eq!(library.nodes().count(), 16);
    assert_eq!(
        all().len(),
        16 * 4 - 3,
        "180 nm lacks lstp and lop, 130 nm lop"
    );
    let missing = library
        .node("180nm", Flavour::Lstp)
        .unwrap_err()
        .to_string();
    assert_eq!(
        missing,
        "silicon has no lstp transistors at 180.0 nm; it has hp, sram"
    );
}

/// Fan-out-of-4 delays: Stillmaker and Baas (2017) for planar nodes, the liberty of ASAP7 for its four thresholds.
#[test]
fn inverters_are_as_fast_as_those_of_independent_sources() {
    let anchors = [
        ("90nm", Flavour::Hp, 25.6),
        ("65nm", Flavour::Hp, 19.2),
        ("45nm", Flavour::Hp, 12.5),
        ("32nm", Flavour::Hp, 10.6),
        ("20nm", Flavour::Hp, 9.5),
        ("7nm", Flavour::Hp, 13.42),
        ("7nm", Flavour::Lop, 15.72),
        ("7nm", Flavour::Lstp, 19.55),
        ("7nm", Flavour::Sram, 24.32),
    ];
    for (name, flavour, picoseconds) in anchors {
        let technology = node(name, flavour);
        let at = technology.at(None, ROOM).unwrap();
        let ours = metrics::fo4(&technology, &at).as_ps();
        let sigma = technology
            .device
            .i_on_n
            .uncertainty
            .hypot(technology.device.c_gate_ideal.uncertainty);
        let off = libm::log(ours / picoseconds).abs();
        assert!(
            off < sigma,
            "{name} {flavour}: {ours:.1} ps against {picoseconds} ps"
        );
    }
}

#[test]
fn leakage_rises_and_resistance_falls_with_the_supply_and_leakage_rises_with_temperature() {
    for technology in all() {
        let label = technology.label();
        let drive = &technology.device.drive;
        let (low, high) = (drive.low, drive.high);
        let supply = |step: u32| low + (high - low) * (f64::from(step) / 20.0);
        let points: Vec<_> = (0..=20)
            .map(|step| technology.at(Some(supply(step).min(high)), ROOM).unwrap())
            .collect();
        for pair in points.windows(2) {
            assert!(pair[1].r_n < pair[0].r_n, "{label} at {}", pair[1].vdd);
            assert!(pair[1].i_off > pair[0].i_off, "{label} at {}", pair[1].vdd);
            assert!(
                pair[1].i_gate > pair[0].i_gate,
                "{label} at {}",
                pair[1].vdd
            );
        }
        for kelvin in 300..400 {
            let at = |kelvin: u32| technology.at(None, Temperature::from_k(f64::from(kelvin)));
            assert!(
                at(kelvin + 1).unwrap().i_off > at(kelvin).unwrap().i_off,
                "{label}"
            );
        }
    }
}

#[test]
fn outside_its_ranges_the_law_is_refused_with_the_nearest_point_that_works() {
    let hp = node("7nm", Flavour::Hp);
    let low = hp.at(Some(Voltage::from_v(0.3)), ROOM).unwrap_err();
    assert_eq!(
        low.to_string(),
        "a supply of 300.0 mV is outside 500.0 mV to 950.0 mV, the range of this device; nearest that works: 500.0 mV"
    );
    assert!(hp.at(None, Temperature::from_k(450.0)).is_err());
    assert!(hp.at(None, Temperature::from_k(f64::NAN)).is_err());
    assert!(hp.at(Some(Voltage::from_v(f64::NAN)), ROOM).is_err());
}

#[test]
fn a_node_between_two_tables_is_mixed_in_the_logarithm_and_not_across_kinds() {
    let at_28 = node("28nm", Flavour::Hp);
    let share = libm::log(28.0 / 22.0) / libm::log(32.0 / 22.0);
    let mixed = at_28.interpolation.as_ref().unwrap();
    assert_relative_eq!(mixed.share_of_larger, share, max_relative = 1e-12);
    assert_relative_eq!(
        at_28.device.vdd.value.as_v(),
        0.9 * share + 0.85 * (1.0 - share),
        max_relative = 1e-12
    );
    let library = Library::silicon().unwrap();
    let across = library.node("18nm", Flavour::Hp).unwrap_err().to_string();
    assert!(across.contains("choose one of the two"), "{across}");
    assert!(library.node("1nm", Flavour::Hp).is_err());
}

#[test]
fn finfets_come_in_whole_fins_and_two_nanometres_is_a_sketch() {
    let seven = node("7nm", Flavour::Hp);
    assert_eq!(seven.layout.kind, Kind::Finfet);
    let pitch = seven.layout.fin.as_ref().unwrap().pitch.value;
    assert_eq!(seven.layout.buildable(Length::from_nm(1.0)), pitch);
    assert_eq!(seven.layout.buildable(pitch), pitch);
    assert_eq!(seven.layout.buildable(pitch * 1.01), pitch * 2.0);
    let width = Length::from_nm(61.7);
    assert_eq!(node("45nm", Flavour::Hp).layout.buildable(width), width);
    assert!(seven.sketch.is_none() && node("2nm", Flavour::Hp).sketch.is_some());
}
