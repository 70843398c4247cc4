use super::*;
use crate::quantity::{Length, Voltage};

fn nm(node: f64) -> Length {
    Length::from_nm(node)
}

#[test]
fn every_file_of_facts_can_be_read() {
    assert!(units().unwrap().len() > 30);
    assert!(memories().unwrap().len() > 8);
    Scaling::read().unwrap();
    row(nm(45.0)).unwrap();
}

#[test]
fn the_scaling_law_gives_the_factors_that_its_paper_tabulates() {
    // Energy of a node at its nominal supply over that at 45 nm and 1 V: Stillmaker and Baas (2017), table of general scaling factors.
    let scaling = Scaling::read().unwrap();
    for (node, vdd, factor) in [
        (90.0, 1.1, 3.01314),
        (65.0, 1.1, 1.95164),
        (32.0, 0.97, 0.622706),
        (16.0, 0.86, 0.16522),
        (7.0, 0.8, 0.0758918),
    ] {
        let got = scaling.energy(nm(node), Voltage::from_v(vdd));
        assert!(
            (got / factor - 1.0).abs() < 2e-3,
            "{node} nm: {got} for {factor}"
        );
    }
    approx::assert_relative_eq!(
        scaling.energy(nm(45.0), Voltage::from_v(1.0)),
        1.0,
        max_relative = 1e-12
    );
    approx::assert_relative_eq!(
        scaling.delay(nm(45.0), Voltage::from_v(1.0)),
        1.0,
        max_relative = 1e-12
    );
}

#[test]
fn scaled_energies_and_areas_fall_from_node_to_node() {
    let scaling = Scaling::read().unwrap();
    let mut last = (f64::INFINITY, f64::INFINITY);
    for node in [
        180.0, 130.0, 90.0, 65.0, 45.0, 40.0, 32.0, 28.0, 22.0, 20.0, 16.0, 14.0, 10.0, 7.0, 5.0,
        3.0, 2.0,
    ] {
        let vdd = scaling.nominal(nm(node));
        let now = (scaling.energy(nm(node), vdd), scaling.area(nm(node)));
        assert!(
            now.0 < last.0 && now.1 < last.1,
            "{node} nm: {now:?} after {last:?}"
        );
        last = now;
    }
}

#[test]
fn rows_shrink_with_the_node_and_stop_at_the_ends_of_the_table() {
    let mut last = f64::INFINITY;
    for node in [180.0, 90.0, 45.0, 40.0, 28.0, 16.0, 12.0, 7.0, 4.0, 2.0] {
        let row = row(nm(node)).unwrap();
        let area = (row.gate_pitch * row.height).as_um2();
        assert!(area < last, "{node} nm");
        last = area;
    }
    assert!(row(nm(250.0)).is_err());
    assert!(row(nm(1.0)).is_err());
}
