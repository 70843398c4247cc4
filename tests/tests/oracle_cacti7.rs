//! The array models beside CACTI 7 with its energy-delay-squared objective.

use crate::oracle_support::{Errors, MILLI, NANO, Row, SQUARE_MILLI, runs};
use warpwatt_circuit::{Cost, Profile};

fn errors<'a>(runs: impl Iterator<Item = &'a (Row, Cost)>) -> Errors {
    let mut errors = Errors::default();
    for (row, cost) in runs {
        errors.add(
            "access",
            cost.access_time.si() * NANO,
            row.number("access_ns"),
        );
        errors.add("cycle", cost.cycle_time.si() * NANO, row.number("cycle_ns"));
        errors.add("read", cost.read_energy.si() * NANO, row.number("read_nj"));
        errors.add(
            "write",
            cost.write_energy.si() * NANO,
            row.number("write_nj"),
        );
        errors.add(
            "leakage",
            cost.leakage.si() * MILLI,
            row.number("leak_total_mw"),
        );
        errors.add(
            "gate leakage",
            cost.gate_leakage.si() * MILLI,
            row.number("gate_leak_total_mw"),
        );
        errors.add(
            "area",
            cost.area.si() * SQUARE_MILLI,
            row.number("area_mm2"),
        );
    }
    errors
}

#[test]
fn figures_of_plain_memories_are_those_of_the_tool() {
    let runs = runs("cacti7_ed2.csv", Profile::Cacti7);
    // The structure was found on complete lists of organisations of a dozen other arrays. Two corrections came from runs like these, so they are no strict hold-out.
    errors(runs.iter().filter(|(row, _)| !row.is_cache())).check(
        "plain memories",
        &[
            ("access", 0.0001, 0.005),
            ("cycle", 0.0001, 0.005),
            ("read", 0.0001, 0.005),
            ("write", 0.0001, 0.005),
            ("leakage", 0.0001, 0.005),
            ("gate leakage", 0.0001, 0.4),
            ("area", 0.0001, 0.005),
        ],
    );
}

#[test]
fn figures_of_caches_are_near_those_of_the_tool() {
    let runs = runs("cacti7_ed2.csv", Profile::Cacti7);
    errors(runs.iter().filter(|(row, _)| row.is_cache())).check(
        "caches",
        &[
            ("access", 0.001, 0.09),
            ("read", 0.001, 0.03),
            ("leakage", 0.001, 0.03),
            ("area", 0.001, 0.09),
        ],
    );
}

#[test]
fn the_search_mostly_ends_at_the_organisation_of_the_tool() {
    let runs = runs("cacti7_ed2.csv", Profile::Cacti7);
    let same = runs
        .iter()
        .filter(|(row, cost)| row.same_organisation(cost))
        .count();
    println!("same organisation: {same} of {}", runs.len());
    assert!(same * 100 >= runs.len() * 97, "{same} of {}", runs.len());
}

#[test]
fn every_setting_gives_the_figures_and_the_organisation_of_the_tool() {
    let runs = runs("cacti7_settings.csv", Profile::Cacti7);
    for (kind, caches) in [("plain memories", false), ("caches", true)] {
        let of_kind = || runs.iter().filter(|(row, _)| row.is_cache() == caches);
        errors(of_kind()).check(
            kind,
            &[
                ("access", 0.0002, 0.001),
                ("cycle", 0.0002, 0.001),
                ("read", 0.0002, 0.001),
                ("write", 0.0002, 0.001),
                ("leakage", 0.0002, 0.001),
                ("gate leakage", 0.0002, 0.001),
                ("area", 0.0002, 0.001),
            ],
        );
        for (row, cost) in of_kind() {
            let (id, family) = (row.text("id"), row.text("family"));
            assert!(row.same_organisation(cost), "run {id} of {family}");
        }
    }
}
