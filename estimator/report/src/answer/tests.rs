//! The answer on three hand-made kernels.

use std::sync::Arc;

use approx::assert_relative_eq;

use super::columns::COLUMNS;
use super::{Detail, Details, Scope};
use crate::goal::Budget;
use crate::{Report, sample};

fn report() -> Report {
    Report::new("Filter cache, by hand", &sample::outcomes())
}

#[test]
fn a_row_is_the_mean_of_its_kernels() {
    let report = report();
    let rows = report.answer();
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    let mean = |figure: &dyn Fn(&crate::outcome::Outcome) -> f64| {
        let pairs = report.points.chunks(2);
        pairs
            .map(|pair| figure(&pair[1]) / figure(&pair[0]) - 1.0)
            .sum::<f64>()
            / 3.0
    };
    let energy = row.energy_change.unwrap();
    assert_relative_eq!(energy.value, mean(&|o| o.energy_j()), max_relative = 1e-12);
    assert_relative_eq!(
        row.slowdown.unwrap(),
        mean(&|o| o.cycles as f64),
        max_relative = 1e-12
    );
    assert_relative_eq!(
        row.edp_change.unwrap(),
        mean(&|o| o.energy_j() * o.time_s),
        max_relative = 1e-12
    );
    assert_relative_eq!(
        row.power_change.unwrap(),
        mean(&|o| o.energy_j() / o.time_s),
        max_relative = 1e-12
    );
    assert_eq!(row.area_m2, Some(report.points[1].totals.area_m2));
    // Net is overhead less gross saving.
    let (gross, overhead) = (
        row.energy_gross_saving.unwrap(),
        row.energy_overhead.unwrap(),
    );
    assert_relative_eq!(energy.value, overhead - gross, max_relative = 1e-9);
    assert!(gross > 0.0 && overhead > 0.0);
    assert_relative_eq!(
        row.headline["filter_cache.hit_rate"],
        (0.95 + 0.9 + 0.55) / 3.0,
        max_relative = 1e-9
    );
    assert_eq!(row.within_budget, None);
}

#[test]
fn json_has_a_key_a_column() {
    let report = report();
    let document: serde_json::Value = serde_json::from_str(&report.json().unwrap()).unwrap();
    let row = document["answer"][0].as_object().unwrap();
    let chosen = report.parameters.columns();
    assert_eq!(row.len(), COLUMNS.len() + chosen.len());
    assert_eq!(row["technique.filter_cache.entries"], 32);
    assert_eq!(row["gpu.node"], "32nm");
    let (low, value, high) = (
        &row["energy_change_low"],
        &row["energy_change"],
        &row["energy_change_high"],
    );
    assert!(low.as_f64() < value.as_f64() && value.as_f64() < high.as_f64());
    assert_eq!(row["kernels"].as_array().unwrap().len(), 3);
    assert!(
        document["scope"]["priced"]
            .as_array()
            .unwrap()
            .contains(&"icache.data".into())
    );
}

#[test]
fn events_without_a_price_are_named_with_their_counts() {
    let mut points = sample::outcomes();
    for point in &mut points {
        Arc::make_mut(&mut point.activity).add("dram_reads", 7);
        Arc::make_mut(&mut point.activity).add("l2.tag.read", 2);
        Arc::make_mut(&mut point.activity).add("l2_read_hits", 5);
    }
    let scope = Scope::of(&points);
    assert_eq!(scope.unpriced_events["dram_reads"], 42);
    assert_eq!(scope.unpriced_events["l2.tag.read"], 12);
    // A statistic is no event.
    assert!(!scope.unpriced_events.contains_key("l2_read_hits"));
    assert!(scope.unpriced_structures.contains("dram"));
    assert!(scope.words().unwrap().contains("dram_reads 42"));
}

#[test]
fn the_budget_decides_who_wins() {
    let with = |slowdown: f64| {
        let budget = Budget {
            slowdown: Some(slowdown),
            ..Budget::default()
        };
        report().with_goals(Some(&budget), &[]).unwrap()
    };
    let (wide, narrow) = (with(0.5), with(1e-9));
    let rows = wide.answer();
    assert_eq!(rows[0].within_budget, Some(true));
    let verdict = wide.verdict(&rows);
    assert!(
        verdict.contains("within the budget")
            && verdict.contains("filter_cache(entries=32): energy"),
        "{verdict}"
    );
    let rows = narrow.answer();
    assert_eq!(rows[0].within_budget, Some(false));
    assert!(
        narrow
            .verdict(&rows)
            .starts_with("No configuration is inside the budget")
    );
}

#[test]
fn the_first_screen_fits_and_details_come_when_asked() {
    let report = report();
    let text = report.terminal(100, &Details::default());
    assert!(text.lines().count() <= 40, "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    let all = report.terminal(100, &Details::of(Detail::ALL));
    assert!(all.len() > text.len());
    insta::assert_snapshot!(text);
}
