//! Which runs are on the picture, and where.

use approx::assert_relative_eq;
use warpwatt_activity::Activity;

use super::*;
use crate::model::Report;
use crate::outcome::{DRAM, Outcome, UNCORE};
use crate::sample;

/// The hand-made kernels with operations, and bytes behind a second-level cache.
fn outcomes() -> Vec<Outcome> {
    let mut outcomes = sample::outcomes();
    for (number, outcome) in (1..).zip(&mut outcomes) {
        let counts = [
            ("fp32_mul.read", 600_000),
            ("int_add.read", 400_000),
            ("l2_reads", 20_000),
            ("l2_read_misses", 1000 * number),
            ("l2_write_backs", 250),
        ];
        outcome.activity = counts.into_iter().collect::<Activity>().into();
    }
    outcomes
}

/// Of the first kernel: 1,000,000 operations on (1000 + 250) sectors of 32 bytes are 25 operations a byte.
#[test]
fn a_mark_stands_at_its_operations_a_byte_and_a_joule() {
    let mut outcomes = outcomes();
    let first = &mut outcomes[0];
    first.totals.dynamic_j = 3e-6;
    first.totals.leakage_j = 2e-6;
    first.structures[0].group = UNCORE.into();
    first.structures[0].dynamic_j = 0.5e-6;
    first.structures[1].group = DRAM.into();
    first.structures[1].dynamic_j = 0.25e-6;
    let curves = Curves::of(&Report::new("by hand", &outcomes));
    let (kernel, run) = &curves.curves[0].runs[0];
    assert_eq!(kernel, "matrix_mul");
    assert_relative_eq!(run.intensity(), 25.0, max_relative = 1e-12);
    // 1,000,000 operations of 5 uJ.
    assert_relative_eq!(run.efficiency(), 2e11, max_relative = 1e-12);
    assert_relative_eq!(run.memory_j, 0.75e-6, max_relative = 1e-12);
    assert_relative_eq!(run.other_j, 2.25e-6, max_relative = 1e-12);
    let picture = roofline(&curves, "roofline").unwrap();
    assert!(
        picture.contains("<title>matrix_mul, plain GPU: 200 G operations a joule, 25.0 a byte;"),
        "{picture}"
    );
}

/// A technique that saves operations has done the same work.
#[test]
fn operations_are_those_of_the_plain_gpu() {
    let mut outcomes = outcomes();
    let saved = [("int_add.read", 1), ("load_bytes", 50_000)];
    outcomes[1].activity = saved.into_iter().collect::<Activity>().into();
    let curves = Curves::of(&Report::new("by hand", &outcomes));
    let (_, run) = &curves.curves[1].runs[0];
    // There is no second-level cache here: what loads ask for comes from DRAM.
    assert_eq!((run.operations, run.bytes), (1e6, 5e4));
}

#[test]
fn kernels_without_bytes_are_left_out_and_named() {
    let mut outcomes = outcomes();
    for outcome in &mut outcomes[..2] {
        outcome.activity = [("int_add.read", 5)]
            .into_iter()
            .collect::<Activity>()
            .into();
    }
    let curves = Curves::of(&Report::new("by hand", &outcomes));
    assert_eq!(curves.left_out, ["matrix_mul"]);
    assert_eq!(curves.curves.len(), 2);
    assert!(roofline(&curves, "roofline").is_some());
    let one = Curves::of(&Report::new("one run", &outcomes[2..3]));
    assert!(roofline(&one, "roofline").is_none());
    let none = Curves::of(&Report::new("no operations", &sample::outcomes()));
    assert!(roofline(&none, "roofline").is_none() && none.left_out.len() == 3);
}

#[test]
fn configurations_are_told_apart_by_what_they_differ_in() {
    let mut outcomes = outcomes();
    let mut at_another_node = outcomes.clone();
    for outcome in &mut at_another_node {
        outcome.point.technology.node = "45nm".into();
    }
    outcomes.extend(at_another_node);
    let curves = Curves::of(&Report::new("two nodes", &outcomes));
    let labels = curves.curves.iter().map(|curve| curve.label.as_str());
    let expected = [
        "plain GPU · 32nm",
        "filter_cache(entries=32) · 32nm",
        "plain GPU · 45nm",
        "filter_cache(entries=32) · 45nm",
    ];
    assert_eq!(labels.collect::<Vec<_>>(), expected);
}

#[test]
fn numbers_have_prefixes() {
    let numbers = [0.05, 1.0, 25.0, 2e3, 1.5e10, 1e12].map(prefixed);
    assert_eq!(numbers, ["0.05", "1", "25", "2 k", "15 G", "1 T"]);
}

#[test]
fn a_roofline_looks_like_this() {
    let curves = Curves::of(&Report::new("by hand", &outcomes()));
    insta::assert_snapshot!(roofline(&curves, "roofline").unwrap());
}
