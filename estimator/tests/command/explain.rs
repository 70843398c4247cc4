//! `warpwatt explain` through the command, and what docs/explain.md shows of it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{Scratch, stderr, stdout, warpwatt};

/// The page whose examples are run here.
fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/explain.md");
    fs::read_to_string(path).unwrap()
}

/// The contents of the page's blocks of a kind.
fn blocks(page: &str, kind: &str) -> Vec<String> {
    let open = format!("```{kind}\n");
    let parts = page.split(&open).skip(1);
    parts
        .map(|part| part.split("```").next().unwrap().to_owned())
        .collect()
}

/// The page's study, run.
fn results() -> (Scratch, PathBuf) {
    let scratch = Scratch::new();
    scratch.write("study.toml", &blocks(&page(), "toml")[0]);
    let here = scratch.path("");
    let ran = warpwatt(&here, &["run", "study.toml", "--quiet"]);
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    (scratch, here)
}

#[test]
fn the_page_shows_what_the_command_prints() {
    let (_scratch, here) = results();
    let examples = blocks(&page(), "console");
    assert!(examples.len() >= 2);
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

#[test]
fn the_tree_says_what_the_report_says_and_its_leaves_share_the_variance() {
    let (_scratch, here) = results();
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
    let (_scratch, here) = results();
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
