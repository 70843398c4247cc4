//! Every name has the value that the files show under it.

use super::{Better, Metrics, POINT, VERSUS};
use crate::{Report, Table, beside, sample};

#[test]
fn names_are_the_columns_of_the_files_and_mean_the_same() {
    let paper = beside::load(Some(beside::FILTER_CACHE));
    let report = Report::beside("by hand", &sample::outcomes(), paper);
    let metrics = Metrics::known().with_points(&report.points);
    let comparison = report.blocks[0].comparisons.first();
    let point = &report.points[1];
    let columns = |text: String, row: usize| -> Vec<(String, String)> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().unwrap().clone();
        let row = reader.records().nth(row).unwrap().unwrap();
        let pairs = header.iter().zip(row.iter());
        pairs
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    };
    let mut checked = 0;
    for (column, text) in columns(report.sheet(Table::Points).unwrap().csv(), 1)
        .into_iter()
        .chain(columns(report.sheet(Table::Comparisons).unwrap().csv(), 0))
    {
        // The baseline's fetches stand under `fetches` in comparisons.csv.
        let Ok(metric) = metrics.find(&column) else {
            continue;
        };
        let value = metric.value(point, comparison);
        assert_eq!(value, text.parse().ok(), "{column}");
        checked += 1;
    }
    assert_eq!(
        checked,
        POINT.len() + VERSUS.len() + 15 + 4,
        "names of both and of the paper, vdd and temperature twice"
    );
}

#[test]
fn a_name_stands_for_one_metric() {
    let metrics = Metrics::known();
    let mut names: Vec<&str> = metrics.iter().map(super::Metric::name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn what_is_made_of_columns() {
    let report = Report::new("by hand", &sample::outcomes());
    let metrics = Metrics::known();
    let point = &report.points[1];
    let value = |name: &str| {
        let metric = metrics.find(name).unwrap();
        metric.value(point, report.comparison(1)).unwrap()
    };
    let energy = value("dynamic_energy_j") + value("leakage_energy_j");
    assert_eq!(value("energy_j"), energy);
    assert_eq!(value("power_w"), energy / value("time_s"));
    assert_eq!(value("edp_js"), energy * value("time_s"));
    assert_eq!(value("area_overhead"), value("sm_area_overhead"));
    assert_eq!(value("energy_saving"), -value("total_change"));
    assert_eq!(value("filter_cache.hit_rate"), 0.95);
    assert_eq!(value("activity.fetches"), 100_000.0);
    let icache = point.structure("icache.data").unwrap();
    assert_eq!(value("structures.icache.data.dynamic_j"), icache.dynamic_j);
}

#[test]
fn a_baseline_has_nothing_to_be_compared_with() {
    let report = Report::new("by hand", &sample::outcomes());
    let slowdown = Metrics::known().find("slowdown").unwrap();
    assert!(slowdown.needs_baseline());
    assert!(report.points[0].point.is_baseline());
    assert_eq!(
        slowdown.value(&report.points[0], report.comparison(0)),
        None
    );
    assert_eq!(slowdown.better(), Better::Lower);
}

#[test]
fn what_is_no_number_is_no_value() {
    let mut point = sample::outcomes().remove(0);
    point.time_s = 0.0;
    let power = Metrics::known().find("power_w").unwrap();
    assert_eq!(power.value(&point, None), None);
}

#[test]
fn an_unknown_name_comes_with_the_nearest() {
    let points = sample::outcomes();
    let metrics = Metrics::known().with_points(&points);
    let help = |name: &str| metrics.find(name).unwrap_err().help.unwrap();
    assert!(help("energyj").starts_with("did you mean `energy_j`?"));
    assert!(help("activity.fetchs").starts_with("did you mean `activity.fetches`?"));
    assert!(help("structures.icache.data.dynamic").contains("structures.icache.data.dynamic_j"));
    assert_eq!(
        help("tomato salad"),
        "`warpwatt list metrics` has all of them"
    );
}

#[test]
fn techniques_name_what_they_report_before_anything_ran() {
    let metrics = Metrics::known();
    for name in [
        "filter_cache.hit_rate",
        "sharp.coverage",
        "warped_dmr.coverage.instructions",
    ] {
        assert_eq!(
            metrics.find(name).unwrap().better(),
            Better::Higher,
            "{name}"
        );
    }
    let reporting = warpwatt_techniques::ALL.iter().filter(|technique| {
        let prefix = format!("{}.", technique.name);
        metrics
            .iter()
            .any(|metric| metric.name().starts_with(&prefix))
    });
    assert!(reporting.count() >= 12);
}
