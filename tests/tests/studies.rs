//! The studies that ship: every one is valid, and Figure 2 of the filter-cache paper beside ours.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use warpwatt::diag::{Sink, render};
use warpwatt::label;
use warpwatt::outcome::Outcome;
use warpwatt::report::beside;
use warpwatt::report::{Report, Stacked, StackedPoint, Table};
use warpwatt::run::{Resolved, resolve, resolve_text, run_all};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads/studies")
}

fn resolved(path: &Path, sink: &mut Sink) -> Resolved {
    match resolve(path, sink) {
        Some(resolved) => resolved,
        None => panic!("{}", render(sink, false)),
    }
}

#[test]
fn every_study_that_ships_is_valid() {
    let mut points = BTreeMap::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let resolved = resolved(&path, &mut Sink::default());
        points.insert(name, resolved.plan.points.len());
    }
    let names: Vec<&str> = points.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "aged_sampling_dmr",
            "fetch_redundancy",
            "filter_cache",
            "filter_cache_sensitivity",
            "filter_cache_table_4",
            "finfet_leakage",
            "miaow",
            "operating_range",
            "protection",
            "register_shrink",
            "register_virtualization",
            "soft_error",
            "soft_error_schedulers",
            "soft_error_sensitivity",
            "stacking",
            "thread_block_compaction",
            "timing_speculation",
            "uniform_vectors",
            "uniform_vectors_fast",
            "warped_dmr"
        ]
    );
    assert!(points.values().all(|&points| points > 0), "{points:?}");
}

fn outcomes(study: &str) -> Vec<Outcome> {
    let mut sink = Sink::default();
    let resolved = resolved(&folder().join(study), &mut sink);
    run_all(&resolved, &sink.sources, Some(2), |_| ()).expect("it runs")
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A known gap, on five of the 21 benchmarks that `warpwatt validate filter-cache` runs: fetches repeat those of other warps more often than the paper's do on average.
#[test]
fn fetch_redundancy_lies_above_the_paper_s_averages() {
    let study = include_str!("../../workloads/studies/fetch_redundancy.toml");
    let rows =
        ["BFS", "MTM", "SCN", "SR2", "MU"].map(|row| format!("\"paper:filter_cache/{row}\""));
    let text = study.replace("\"paper:filter_cache\"", &format!("[{}]", rows.join(", ")));
    let mut sink = Sink::default();
    let Some(resolved) = resolve_text("study.toml", &text, Path::new(""), &mut sink) else {
        panic!("{}", render(&sink, false));
    };
    let outcomes = run_all(&resolved, &sink.sources, Some(2), |_| ()).expect("it runs");
    let ours = |name: &str| {
        let metrics = outcomes.iter().flat_map(|outcome| outcome.metrics.iter());
        let values = metrics.filter(|metric| metric.name == format!("fetch_redundancy.{name}"));
        mean(&values.map(|metric| metric.value).collect::<Vec<f64>>())
    };
    for (name, published) in [("other_warp.32", 0.59), ("other_warp.64", 0.67)] {
        let ours = ours(name);
        assert!((published + 0.05..1.0).contains(&ours), "{name}: {ours}");
    }
}

/// Figure 5: fewer entries hit less; threads and scheduler matter little.
#[test]
fn sensitivity_goes_the_paper_s_ways() {
    let points = outcomes("filter_cache_sensitivity.toml");
    let paper = beside::load(Some(beside::FILTER_CACHE));
    let report = Report::beside("sensitivity", &points, paper);
    let rows = report.sheet(Table::Comparisons).unwrap().csv();
    let mut reader = csv::Reader::from_reader(rows.as_bytes());
    let mut found: BTreeMap<(String, String), [Vec<f64>; 2]> = BTreeMap::new();
    for row in reader.deserialize::<BTreeMap<String, String>>() {
        let row = row.unwrap();
        let key = (row["axes"].clone(), row["technique"].clone());
        let [hits, savings] = found.entry(key).or_default();
        hits.push(row["filter_cache_hit_rate"].parse().unwrap());
        savings.push(-row["implied_front_end_change"].parse::<f64>().unwrap());
    }
    let page = include_str!("../../docs/validation.md");
    let mut missing = Vec::new();
    for policy in ["round_robin", "two_level"] {
        for threads in [1024, 512] {
            let axes = format!("scheduler.policy={policy} sm.threads={threads}");
            let means = |entries: u32| {
                let key = (axes.clone(), format!("filter_cache(entries={entries})"));
                let [hits, savings] = &found[&key];
                (100.0 * mean(hits), 100.0 * mean(savings))
            };
            let ((hits, saving), (fewer_hits, more_saving)) = (means(32), means(16));
            // The paper: 9 to 10 points.
            assert!(
                (8.0..11.0).contains(&(hits - fewer_hits)),
                "{axes}: {hits} {fewer_hits}"
            );
            let row =
                format!("| {hits:.1} % | {fewer_hits:.1} % | {saving:.1} % | {more_saving:.1} % |");
            if !page.contains(&row) {
                missing.push(format!("{axes} {row}"));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new(), "not on the page");
}

/// Means over kernels of a stack's changes, as the page shows them.
fn stacking_row(stacked: &Stacked) -> String {
    let percent = |figure: &dyn Fn(&StackedPoint) -> f64| {
        let values: Vec<f64> = stacked.points.iter().map(figure).collect();
        match format!("{:+.2} %", 100.0 * mean(&values)).as_str() {
            "-0.00 %" | "+0.00 %" => "0.00 %".to_owned(),
            text => text.to_owned(),
        }
    };
    let names: Vec<String> = stacked
        .members
        .iter()
        .map(|member| match member.split_once('(') {
            Some(("uniform_vector", rest)) if rest.contains("srf") => "scalar registers".to_owned(),
            Some(("uniform_vector", _)) => "tokens".to_owned(),
            Some((name, _)) => name.replace('_', " "),
            None => member.replace('_', " "),
        })
        .collect();
    let cells = [
        percent(&|p| p.energy.sum),
        percent(&|p| p.energy.product),
        percent(&|p| p.energy.stack),
        percent(&|p| p.energy.excess.value),
        percent(&|p| p.dynamic.excess.value),
        percent(&|p| p.leakage.excess.value),
        percent(&|p| p.cycles.sum),
        percent(&|p| p.cycles.stack),
        percent(&|p| p.area.sum),
        percent(&|p| p.area.stack),
    ];
    format!("| {} | {} |", names.join(", "), cells.join(" | "))
}

/// What the page says of stacks, and its figures.
#[test]
fn scalar_registers_help_register_virtualization_and_the_filter_cache_is_on_its_own() {
    let report = Report::new("stacking", &outcomes("stacking.toml"));
    assert_eq!(report.stacks.len(), 7);
    let page = include_str!("../../docs/stacking.md");
    let mut missing = Vec::new();
    for stacked in &report.stacks {
        let of = |figure: &dyn Fn(&StackedPoint) -> f64| {
            let values: Vec<f64> = stacked.points.iter().map(figure).collect();
            mean(&values)
        };
        let has = |part: &str| stacked.members.iter().any(|member| member.contains(part));
        let leakage = of(&|p| p.leakage.excess.value);
        match (has("uniform_vector"), has("register_virtualization")) {
            // The front end and the back end share nothing: every kernel adds up.
            (true, false) | (false, true) => {
                let worst = stacked.points.iter().map(|p| p.energy.excess.value.abs());
                assert!(
                    worst.fold(0.0, f64::max) < 5e-4,
                    "{}",
                    stacked.configuration
                );
            }
            _ if has("srf") => assert!(leakage < -0.003, "{leakage}"),
            _ => assert!(leakage > 0.0, "{leakage}"),
        }
        let row = stacking_row(stacked);
        if !page.contains(&row) {
            missing.push(row);
        }
    }
    assert!(
        missing.is_empty(),
        "docs/stacking.md has not:\n{}",
        missing.join("\n")
    );
}

/// The table of protection: what each technique claims to protect it does, and nothing that it does not.
#[test]
fn protections_stand_beside_each_other() {
    let outcomes = outcomes("protection.toml");
    let report = Report::new("protection", &outcomes);
    let [table] = &report.protection[..] else {
        panic!("{} tables", report.protection.len());
    };
    let row = |technique: &str| {
        let found = table
            .rows
            .iter()
            .find(|row| label::same(&row.technique, technique));
        found.unwrap_or_else(|| panic!("{technique} is not in {:?}", table.names()))
    };
    let plain = &table.rows[0];
    assert_eq!(
        (plain.sdc_left, plain.coverage, plain.fit_due),
        (1.0, 0.0, 0.0)
    );
    assert!(plain.on_front, "nothing costs less");
    let (corrects, detects) = (row("ecc"), row("ecc(code=parity)"));
    assert!((corrects.sdc_left - detects.sdc_left).abs() < 1e-12);
    assert_eq!((corrects.fit_due, corrects.slowdown), (0.0, 0.0));
    assert!((detects.fit_due - (plain.fit_sdc - detects.fit_sdc)).abs() < 1e-9 * plain.fit_sdc);
    assert!(detects.energy < corrects.energy && detects.area < corrects.area);
    // Part of the registers by check bits that lie elsewhere; none of the storage by a second execution of instructions.
    for name in ["sharp", "register_to_register_protection"] {
        let part = row(name);
        assert!(
            part.coverage > 0.0 && part.sdc_left > corrects.sdc_left,
            "{name}"
        );
    }
    let warped = row("warped_dmr");
    assert_eq!((warped.coverage, warped.fit_due), (0.0, 0.0));
    assert!(!warped.on_front, "it costs, and storage gains nothing");
    let twice = row("full_dmr(design=kernel)");
    assert_eq!((twice.sdc_left, twice.coverage), (0.0, 1.0));
    assert!(twice.slowdown > 0.5 && twice.fit_due > 0.0);
    // Structures of their own add up.
    let both = row("ecc + sawp");
    let expected = corrects.sdc_left + row("sawp").sdc_left - 1.0;
    assert!((both.sdc_left - expected).abs() < 1e-9);
    let csv = report.sheet(Table::Protection).unwrap().csv();
    assert_eq!(csv.lines().count(), 1 + table.rows.len());
    let page = include_str!("../../docs/reliability.md");
    let missing: Vec<String> = table
        .rows
        .iter()
        .map(|row| {
            let percent = |share: f64| format!("{:.1} %", 100.0 * share);
            format!(
                "| `{}` | {} | {} | {:+.1} % | {:+.1} % | {:+.1} % | {} |",
                row.technique,
                percent(row.sdc_left),
                percent(row.failures_left),
                100.0 * row.energy,
                100.0 * row.area,
                100.0 * row.slowdown,
                if row.on_front { "front" } else { "" }
            )
        })
        .filter(|line| !page.contains(line))
        .collect();
    assert!(
        missing.is_empty(),
        "not on the page:\n{}",
        missing.join("\n")
    );
}
