//! `warpwatt explain` through the command, and what docs/explain.md shows of it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{Scratch, stderr, stdout, warpwatt};

/// A page whose examples are run here.
fn page_of(name: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    fs::read_to_string(docs.join(name)).unwrap()
}

fn page() -> String {
    page_of("explain.md")
}

/// The contents of the page's blocks of a kind.
fn blocks(page: &str, kind: &str) -> Vec<String> {
    let open = format!("```{kind}\n");
    let parts = page.split(&open).skip(1);
    parts
        .map(|part| part.split("```").next().unwrap().to_owned())
        .collect()
}

/// A page's study, run.
fn results(page: &str) -> (Scratch, PathBuf) {
    let scratch = Scratch::new();
    scratch.write("study.toml", &blocks(page, "toml")[0]);
    let here = scratch.path("");
    let ran = warpwatt(&here, &["run", "study.toml", "--quiet"]);
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    (scratch, here)
}

#[test]
fn the_pages_show_what_the_command_prints() {
    for (name, least) in [("explain.md", 2), ("uncertainty.md", 1)] {
        let page = page_of(name);
        let (_scratch, here) = results(&page);
        let examples = blocks(&page, "console");
        assert!(examples.len() >= least);
        for example in examples {
            let (line, expected) = example.split_once('\n').unwrap();
            let words: Vec<&str> = line
                .strip_prefix("$ warpwatt ")
                .unwrap()
                .split(' ')
                .collect();
            let output = warpwatt(&here, &words);
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            assert_eq!(stdout(&output), expected, "{line}");
        }
    }
}

#[test]
fn intervals_are_in_the_files_and_do_not_depend_on_threads() {
    let scratch = Scratch::new();
    let study = blocks(&page_of("uncertainty.md"), "toml").remove(0);
    scratch.write("study.toml", &study);
    let here = scratch.path("");
    let files = ["1", "3"].map(|jobs| {
        let out = format!("out{jobs}");
        let ran = warpwatt(
            &here,
            &[
                "run",
                "study.toml",
                "--quiet",
                "--jobs",
                jobs,
                "--out",
                &out,
                "--show",
                "kernels",
            ],
        );
        assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
        let file = |name: &str| fs::read_to_string(here.join(&out).join(name)).unwrap();
        assert!(stdout(&ran).contains("95 % intervals of 200 draws"));
        assert!(file("report.html").contains("How sure"));
        (file("uncertainty.csv"), file("report.json"))
    });
    assert_eq!(files[0], files[1]);
    let report: Value = serde_json::from_str(&files[0].1).unwrap();
    let figures = report["uncertainty"]["figures"].as_array().unwrap();
    assert_eq!(figures.len() + 1, files[0].0.lines().count());
    // Rendered again from the store, the report is the same.
    let again = warpwatt(&here, &["report", "out1"]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    assert_eq!(
        fs::read_to_string(here.join("out1/report.json")).unwrap(),
        files[0].1
    );
}

#[test]
fn a_metric_that_is_exact_has_no_sensitivity() {
    let (_scratch, here) = results(&page_of("explain.md"));
    let output = warpwatt(
        &here,
        &[
            "sensitivity",
            "results",
            "--metric",
            "cycles",
            "--point",
            "1",
        ],
    );
    assert_eq!(output.status.code(), Some(2));
    insta::assert_snapshot!(stderr(&output));
}

#[test]
fn the_tree_says_what_the_report_says_and_its_leaves_share_the_variance() {
    let (_scratch, here) = results(&page());
    let output = warpwatt(
        &here,
        &[
            "explain", "results", "--metric", "energy_j", "--point", "1", "--json",
        ],
    );
    let explained: Value = serde_json::from_slice(&output.stdout).unwrap();
    let report: Value =
        serde_json::from_slice(&fs::read(here.join("results/report.json")).unwrap()).unwrap();
    let totals = &report["points"][0]["totals"];
    let energy = totals["dynamic_j"].as_f64().unwrap() + totals["leakage_j"].as_f64().unwrap();
    let value = explained["value"].as_f64().unwrap();
    assert!((value - energy).abs() < 1e-9 * energy);
    fn shares(node: &Value) -> f64 {
        match node["inputs"].as_array() {
            Some(inputs) => inputs.iter().map(shares).sum(),
            None => node["variance_share"].as_f64().unwrap_or(0.0),
        }
    }
    assert!((shares(&explained["derivation"]) - 1.0).abs() < 1e-9);
}

#[test]
fn what_cannot_be_explained_is_said() {
    let (_scratch, here) = results(&page());
    let cases = [
        ("energyj", "1"),
        ("energy_j", "9"),
        ("energy_j", "kernel=vector_add"),
        ("slowdown", "1"),
    ];
    let said = cases.map(|(metric, point)| {
        let output = warpwatt(
            &here,
            &["explain", "results", "--metric", metric, "--point", point],
        );
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(stdout(&output), "");
        stderr(&output)
    });
    insta::assert_snapshot!(said.join("\n"));
    let nowhere = warpwatt(
        &here,
        &["explain", "nowhere", "--metric", "energy_j", "--point", "1"],
    );
    assert_eq!(nowhere.status.code(), Some(2));
}
