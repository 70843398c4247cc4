use super::{Studies, Suite, shipped, study};
use crate::{Check, Kind, Status};
use warpwatt_input::diag::{Sink, render};
use warpwatt_report::sample;

fn read(text: &str) -> Result<Suite, String> {
    let mut sink = Sink::default();
    let source = sink.sources.add("suite.toml", text);
    Suite::read(&mut sink, source).ok_or_else(|| render(&sink, false))
}

const HEAD: &str =
    "citation = \"by hand\"\npaper = \"filter_cache\"\nstudies = [\"filter_cache.toml\"]\n";

/// The checks of rows over three kernels with and without a filter cache, of which the paper has two.
fn checks(rest: &str) -> Result<Vec<Check>, String> {
    let suite = read(&format!("{HEAD}{rest}"))?;
    let studies = Studies::from([("filter_cache.toml".to_owned(), sample::outcomes())]);
    suite.checks(&studies)
}

#[test]
fn rows_reduce_metrics_of_points_and_are_made_of_each_other() {
    let checks = checks(
        r#"
[circuits]
node = "32nm"
gpu = "tesla-16sm"

[techniques]
filter = "filter_cache(entries=32)"

[measures]
slower = "cycles / without:cycles - 1"
supply_j = { structures = ["icache.*"], sum = "dynamic_j" }

[compared]
values = [{ id = "mean", metric = "slower", technique = "filter" }]
rows = [
    { figure = "T", what = "most", metric = "slower", technique = "filter", reduce = "max", published = "3 / 900", tolerance = { relative = 0.1 }, id = "most" },
    { figure = "T", what = "one", metric = "slower", technique = "filter", kernels = "BFS", published = 0.003, tolerance = { absolute = 1e-9 } },
    { figure = "T", what = "spread", ours = "most - mean", published = 0, tolerance = "at most", kind = "context" },
    { figure = "T", what = "supply", metric = "supply_j / without:supply_j", technique = "filter", kernels = "MTM", published = 0.05, tolerance = { relative = 1e-9 } },
    { figure = "T", what = "paper", metric = "implied_icache_with_j / implied_icache_without_j", technique = "filter", kernels = "MTM", published = "(105 * 0.14 + 190 * 0.81 + 5 * (0.13 + 4.3)) / (100 * (0.13 + 4.3))", tolerance = { relative = 1e-9 } },
    { figure = "T", what = "nothing", metric = "slower", technique = "filter", kernels = "NQU", published = 1, tolerance = "at most" },
    { figure = "T", what = "lanes", ours = "gpu.sm.warp_width / 4", published = 8, tolerance = { absolute = 0 } },
]
"#,
    )
    .unwrap();
    let shown: Vec<_> = checks
        .iter()
        .map(|it| (it.what.as_str(), it.status))
        .collect();
    assert_eq!(
        shown,
        [
            ("most", Status::Holds),
            ("one", Status::Holds),
            ("spread", Status::Gap),
            ("supply", Status::Holds),
            ("paper", Status::Holds),
            ("lanes", Status::Holds),
        ],
        "{checks:?}"
    );
    assert_eq!(checks[2].kind, Kind::Context);
    assert!((checks[0].ours - 0.95 / 300.0).abs() < 1e-12);
    assert!((checks[2].ours - (0.95 / 300.0 - 0.003) / 2.0).abs() < 1e-12);
}

/// The point with other parameters comes last, and is not the one that the row is about.
#[test]
fn a_row_is_about_one_configuration() {
    let mut points = sample::outcomes();
    let others = points
        .clone()
        .into_iter()
        .filter(|it| !it.point.is_baseline());
    points.extend(others.map(|mut it| {
        it.point.technique = "filter_cache(entries=16)".into();
        it.cycles *= 2;
        it
    }));
    let row = r#"{ figure = "T", what = "x", metric = "cycles", technique = "filter_cache", kernels = "BFS", published = 1, tolerance = "at most" }"#;
    let suite = read(&format!("{HEAD}[compared]\nrows = [{row}]\n")).unwrap();
    let studies = Studies::from([("filter_cache.toml".to_owned(), points)]);
    assert_eq!(suite.checks(&studies).unwrap()[0].ours, 120_360.0);
}

#[test]
fn a_technique_that_no_point_has_is_no_silent_hole() {
    let row = r#"{ figure = "T", what = "x", metric = "cycles", technique = "filter_cache(entries=7)", published = 1, tolerance = "at most" }"#;
    let problem = checks(&format!("[compared]\nrows = [{row}]\n")).unwrap_err();
    assert!(
        problem.contains("no point of `filter_cache.toml`"),
        "{problem}"
    );
}

#[test]
fn faults_are_told_together_and_with_remedies() {
    insta::assert_snapshot!(
        checks(
            r#"
[tolerances]
near = { relativ = 0.1 }

[measures]
slower = "cycles / without:cyclse - 1"

[compared]
rows = [
    { figure = "T", what = "x", metric = "slowdown", technique = "baseline", published = 1, tolerance = "close" },
    { figure = "T", what = "x", metric = "cycles", reduce = "median", published = 1, tolerance = "at most" },
    { figure = "T", what = "x", metric = "cycles", ours = "1", published = 1, tolerance = "at most", colour = "red" },
    { figure = "T", what = "x", ours = "mean + 1", published = 1, tolerance = "at most", kind = "guess" },
    { figure = "T", what = "x", metric = "cycles", kernels = "BFG", tolerance = "at most" },
]
"#
        )
        .unwrap_err()
    );
}

#[test]
fn every_suite_that_ships_can_be_read() {
    for name in [
        "filter_cache",
        "register_virtualization",
        "soft_error",
        "uniform_vectors",
        "warped_dmr",
    ] {
        match shipped(name) {
            Ok(suite) => assert!(suite.studies.iter().all(|file| study(file).is_some())),
            Err(faults) => panic!("{}", render(&faults.0, false)),
        }
    }
}
