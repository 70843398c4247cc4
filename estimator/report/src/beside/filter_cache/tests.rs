use std::sync::Arc;

use approx::{assert_abs_diff_eq, assert_relative_eq};

use super::*;
use crate::{Report, beside, sample};

fn report(points: &[Outcome]) -> Report {
    Report::beside("sample", points, beside::load(Some(NAME)))
}

fn first() -> Comparison {
    report(&sample::outcomes()).blocks[0].comparisons[0].clone()
}

fn figure(comparison: &Comparison, key: &str) -> f64 {
    let beside = comparison.beside.as_ref().expect("the paper is asked for");
    beside.get(key).expect(key).value
}

fn rows(report: &Report) -> Vec<Option<&str>> {
    let comparisons = report.blocks[0].comparisons.iter();
    comparisons
        .map(|c| c.beside.as_ref()?.row.as_deref())
        .collect()
}

#[test]
fn structural_counting_by_hand() {
    // 100 000 fetches, 95 % hits, Table 1 prices.
    let comparison = first();
    let same =
        |key, value| assert_relative_eq!(figure(&comparison, key), value, max_relative = 1e-12);
    same("icache_without_j", 443e-9);
    same(
        "icache_with_j",
        1e-9 * (5.0 * 4.43 + 105.0 * 0.14 + 100.0 * 0.81),
    );
    same("filter_cache_hit_rate", 0.95);
    same("icache_saving", -figure(&comparison, "icache_change"));
}

#[test]
fn the_papers_sum_lands_on_the_papers_line() {
    let comparison = first();
    let paper = FilterCachePaper::load();
    assert_abs_diff_eq!(
        1.0 + figure(&comparison, "implied_icache_change"),
        paper.implied_by_table_4.at(0.95),
        epsilon = paper.implied_by_table_4.largest_residual
    );
    assert!(figure(&comparison, "implied_icache_with_j") > figure(&comparison, "icache_with_j"));
    let structural = comparison.front_end.relative.unwrap().value;
    assert!(figure(&comparison, "implied_front_end_change") > structural);
}

#[test]
fn only_kernels_of_the_paper_have_its_values() {
    let report = report(&sample::outcomes());
    assert_eq!(rows(&report), [Some("MTM"), Some("BFS"), None]);
    let beside = report.blocks[0].comparisons[2].beside.as_ref().unwrap();
    assert_eq!(beside.get("paper_hit_rate"), None);
}

#[test]
fn both_lines_are_fitted_and_differ() {
    let block = &report(&sample::outcomes()).blocks[0];
    let [structural, implied] = ["icache_change", "implied_icache_change"]
        .map(|key| line(&block.comparisons, key).unwrap());
    // Hit: 0.14 + 0.81 of 4.43; miss: 4.43 + 2 * 0.14 + 0.81 of 4.43.
    assert_abs_diff_eq!(structural.intercept, 0.95 / 4.43, epsilon = 1e-9);
    assert_abs_diff_eq!(structural.at(1.0), 5.52 / 4.43, epsilon = 1e-9);
    assert_abs_diff_eq!(implied.intercept, 1.76 / 4.43, epsilon = 1e-9);
    assert_abs_diff_eq!(implied.at(1.0), 4.71 / 4.43, epsilon = 1e-9);
    assert_eq!(
        block.lines.len(),
        4,
        "a heading, two lines of ours, the paper's"
    );
    assert!(
        Report::new("sample", &sample::outcomes()).blocks[0]
            .lines
            .is_empty()
    );
}

#[test]
fn only_the_papers_gpu_has_its_values() {
    let papers = |path: &str, value: &str| {
        let mut points = sample::outcomes();
        for outcome in &mut points {
            Arc::make_mut(&mut outcome.point.axes).insert(path.to_owned(), value.to_owned());
        }
        rows(&report(&points)).into_iter().flatten().count()
    };
    assert_eq!(papers("sm.threads", "1024"), 2);
    assert_eq!(papers("sm.threads", "512"), 0);
    assert_eq!(papers("sm.no_such_setting", "1"), 0);
}

#[test]
fn the_papers_table_4_gives_the_papers_line() {
    let paper = FilterCachePaper::load();
    let rows = paper.benchmarks.iter();
    let points: Vec<(f64, f64)> = rows
        .map(|row| (1.0 - row.fc_hit, row.energy_ratio()))
        .collect();
    let line = Line::through(&points).unwrap();
    // Printed with four digits.
    let published = paper.implied_by_table_4;
    assert_abs_diff_eq!(line.intercept, published.ratio_at_full_hit, epsilon = 5e-5);
    assert_abs_diff_eq!(line.slope, published.ratio_slope_per_miss, epsilon = 5e-5);
}
