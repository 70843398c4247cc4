use approx::{assert_abs_diff_eq, assert_relative_eq};

use super::*;
use crate::model::Report;
use crate::papers::FilterCachePaper;
use crate::sample;

fn first() -> Comparison {
    let report = Report::new("sample", &sample::outcomes());
    report.blocks[0].comparisons[0].clone()
}

#[test]
fn structural_counting_by_hand() {
    // 100 000 fetches, 95 % hits, Table 1 prices.
    let comparison = first();
    let change = 1e-9 * (5.0 * 4.43 + 105.0 * 0.14 + 100.0 * 0.81 - 443.0);
    assert_relative_eq!(
        comparison.front_end.with_j - comparison.front_end.without_j,
        change,
        max_relative = 1e-9
    );
    assert_eq!(comparison.beside, None, "no paper is asked for");
    assert_eq!(comparison.fetches, 100_000);
}

#[test]
fn gross_less_overhead_is_net_is_the_change() {
    let comparison = first();
    let saving = comparison.front_end_saving;
    assert_relative_eq!(saving.gross_j, 1e-9 * 95.0 * 4.43, max_relative = 1e-12);
    assert_eq!(saving.net_j, saving.gross_j - saving.overhead_j);
    let change = comparison.front_end.without_j - comparison.front_end.with_j;
    assert_relative_eq!(saving.net_j, change, max_relative = 1e-9);
}

#[test]
fn table_1_gives_the_papers_overheads() {
    let overhead = first().overhead;
    let derived = FilterCachePaper::load().derived;
    // The sentence says 4.7 %; its own table adds up to 2495 / 52127 = 4.79 %.
    assert_abs_diff_eq!(
        overhead.front_end_area.unwrap().value,
        derived.fc32_area_overhead_of_front_end,
        epsilon = 1e-3
    );
    // 0.14 mW / 2.74 mW = 5.1 %, printed as 5.0 %.
    assert_abs_diff_eq!(
        overhead.front_end_leakage.unwrap().value,
        derived.fc32_front_end_static_power_increase,
        epsilon = 2e-3
    );
}

#[test]
fn the_error_of_a_delta_is_smaller_than_that_of_its_sides() {
    let comparison = first();
    let change = comparison.front_end.relative.unwrap();
    let sides = comparison.front_end.without_sigma_j / comparison.front_end.without_j;
    assert!(change.sigma < sides, "{} {}", change.sigma, sides);
    assert!(!change.is_inside_own_error());
}

#[test]
fn a_point_without_baseline_is_named_and_not_compared() {
    let mut points = sample::outcomes();
    points.remove(0);
    let report = Report::new("sample", &points);
    assert_eq!(report.without_baseline.len(), 1);
    assert_eq!(report.blocks[0].comparisons.len(), 2);
}
