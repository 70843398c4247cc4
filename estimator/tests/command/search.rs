//! `warpwatt optimize` and `warpwatt effects`, on studies that can be walked.

use std::path::Path;

use serde_json::Value;

use crate::common::{Scratch, stderr, stdout, warpwatt};

/// Three nodes, two supplies, four sizes of the filter cache: 24 candidates with a technique, 6 without.
const STUDY: &str = r#"
[study]
title = "To search"
[gpu]
preset = "tesla-16sm"
node = ["32nm", "40nm", "45nm"]
vdd = ["0.9 V", "1.0 V"]
[workloads]
kernels = ["vector_add", "reduction"]
[[technique]]
name = "filter_cache"
entries = [8, 16, 32, 64]
"#;

const BUDGET: &str = "[budget]\nslowdown = \"50%\"\nfilter_cache.hit_rate = \">= 80%\"\n";

fn json(directory: &Path, arguments: &[&str], code: i32) -> Value {
    let output = warpwatt(directory, arguments);
    assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The best mean over kernels that the study's points have, by hand: from `report.json`.
fn by_hand(report: &Value, maximise: bool) -> f64 {
    let points = report["points"].as_array().unwrap();
    let verdicts = report["budget"]["points"].as_array().unwrap();
    let mut candidates: std::collections::BTreeMap<String, Vec<(f64, bool)>> = Default::default();
    for (point, verdict) in points.iter().zip(verdicts) {
        let mut name = point["point"].clone();
        name["kernel"] = Value::Null;
        let energy = ["dynamic_j", "leakage_j"].map(|part| point["totals"][part].as_f64().unwrap());
        let inside = verdict["inside"].as_bool().unwrap_or(true);
        let of_kernels = candidates.entry(name.to_string()).or_default();
        of_kernels.push((energy.iter().sum(), inside));
    }
    let inside = candidates
        .values()
        .filter(|on| on.iter().all(|(_, inside)| *inside));
    let means = inside.map(|on| on.iter().map(|(energy, _)| energy).sum::<f64>() / on.len() as f64);
    let sign = if maximise { -1.0 } else { 1.0 };
    sign * means.map(|mean| sign * mean).fold(f64::INFINITY, f64::min)
}

#[test]
fn the_best_that_is_found_is_the_best_that_there_is() {
    let scratch = Scratch::new();
    scratch.write("study.toml", &format!("{STUDY}{BUDGET}"));
    let directory = scratch.path("");
    let all = warpwatt(&directory, &["run", "study.toml", "--json", "--quiet"]);
    let report: Value = serde_json::from_slice(&all.stdout).unwrap();
    for (way, maximise) in [("--minimise", false), ("--maximise", true)] {
        let best = by_hand(&report, maximise);
        let walk = [
            "optimize",
            "study.toml",
            way,
            "energy_j",
            "--json",
            "--quiet",
        ];
        let walked = json(&directory, &walk, 0);
        assert_eq!(
            (&walked["method"], &walked["candidates"]),
            (&"exhaustive".into(), &30.into())
        );
        let close = |found: &Value| (found["value"].as_f64().unwrap() / best - 1.0).abs() < 1e-12;
        assert!(close(&walked), "{best} {walked}");
        // Half of the space is enough, and several seeds agree.
        for seed in ["1", "2", "3"] {
            let few = [&walk[..], &["--evaluations", "15", "--seed", seed]].concat();
            let found = json(&directory, &few, 0);
            assert_eq!(found["method"], "annealing");
            assert!(found["evaluations"].as_u64().unwrap() <= 15);
            assert!(close(&found), "{best} {found}");
        }
    }
}

#[test]
fn a_search_is_the_same_for_any_number_of_threads_and_keeps_its_points() {
    let scratch = Scratch::new();
    scratch.write("study.toml", STUDY);
    let directory = scratch.path("");
    let search = |jobs: &str, out: &str| {
        let arguments = [
            "optimize",
            "study.toml",
            "--maximise",
            "energy_saving",
            "--evaluations",
            "6",
            "--seed",
            "5",
            "--quiet",
            "--jobs",
            jobs,
            "--out",
            out,
        ];
        let output = warpwatt(&directory, &arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    let one = search("1", "one");
    assert_eq!(one, search("2", "two"));
    assert_eq!(one, search("1", "one"), "from the store");
    assert!(
        one.contains("most energy_saving")
            && one.contains("of 6 evaluations (seed 5) among 24 candidates"),
        "{one}"
    );
    let resumed = warpwatt(&directory, &["run", "study.toml", "--out", "one"]);
    assert!(
        stderr(&resumed).contains("of 60 points are in the result store already"),
        "{}",
        stderr(&resumed)
    );
}

#[test]
fn a_budget_that_nothing_meets_ends_with_one_and_the_nearest() {
    let scratch = Scratch::new();
    scratch.write(
        "study.toml",
        &format!("{STUDY}[budget]\narea_m2 = \"<= 1 um2\"\n"),
    );
    let arguments = [
        "optimize",
        "study.toml",
        "--minimise",
        "energy_j",
        "--evaluations",
        "3",
        "--quiet",
    ];
    let output = warpwatt(&scratch.path(""), &arguments);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stdout(&output).contains("no candidate that was tried is inside the budget"));
}

#[test]
fn what_cannot_be_searched_is_said() {
    let scratch = Scratch::new();
    let plain = STUDY.split("[[technique]]").next().unwrap();
    scratch.write("plain.toml", plain);
    let said = |arguments: &[&str]| {
        let output = warpwatt(&scratch.path(""), arguments);
        assert_eq!(output.status.code(), Some(2));
        stderr(&output)
    };
    insta::assert_snapshot!(said(&["optimize", "plain.toml", "--minimise", "slowdown"]));
    insta::assert_snapshot!(said(&["optimize", "plain.toml", "--minimise", "enrgy_j"]));
    assert!(!scratch.path("results").exists(), "nothing is written");
}

#[test]
fn effects_of_a_grid_are_exact_and_of_a_part_of_it_as_well() {
    let scratch = Scratch::new();
    scratch.write("study.toml", STUDY);
    let directory = scratch.path("");
    warpwatt(&directory, &["run", "study.toml", "--quiet"]);
    let effects = |more: &[&str]| {
        let all = [
            &["effects", "results", "--metric", "energy_saving", "--json"],
            more,
        ]
        .concat();
        json(&directory, &all, 0)["effects"].clone()
    };
    let all = effects(&[]);
    assert_eq!((&all["points"], &all["grid"]), (&48.into(), &true.into()));
    let first = all["effects"].as_array().unwrap().iter();
    let first: f64 = first
        .map(|e| e["first_order"]["value"].as_f64().unwrap())
        .sum();
    assert!(
        (first + all["interactions"].as_f64().unwrap() - 1.0).abs() < 1e-9,
        "{all}"
    );
    let one = effects(&["--where", "kernel=reduction,node=32nm"]);
    assert_eq!(one["points"], 8);
    let names: Vec<&str> = one["effects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["factor"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"filter_cache.entries") && names.contains(&"vdd") && names.len() == 2,
        "{names:?}"
    );
    // With the plain GPU among the points, what is added is one factor.
    let energy = json(
        &directory,
        &["effects", "results", "-m", "energy_j", "--json"],
        0,
    );
    let factors = energy["effects"]["effects"].as_array().unwrap();
    assert!(
        factors
            .iter()
            .any(|e| e["factor"] == "technique" && e["levels"].as_array().unwrap().len() == 5)
    );
    let text = stdout(&warpwatt(
        &directory,
        &["effects", "results", "-m", "energy_j"],
    ));
    assert!(text.contains("shares of the variance are exact"), "{text}");
    let said = |arguments: &[&str]| {
        let output = warpwatt(&directory, &[&["effects", "results"], arguments].concat());
        assert_eq!(output.status.code(), Some(2));
        stderr(&output)
    };
    insta::assert_snapshot!(said(&["-m", "energy_j", "--where", "1"]));
    insta::assert_snapshot!(said(&["-m", "slowdown", "--where", "technique=baseline"]));
}
