//! A paper's figures beside ours, where a study asks for them and nowhere else.

use std::fs;

use crate::common::{Scratch, stderr, stdout, warpwatt};

const STUDY: &str = r#"
[study]
title = "Beside"
PAPER
[gpu]
preset = "tesla-16sm"
node = "32nm"
library = "itrs"
profile = "cacti65"
[workloads]
kernels = [{ name = "matrix_mul", case = "paper" }]
[[technique]]
name = "filter_cache"
"#;

/// The terminal, `comparisons.csv`, `report.json` and the page of the study.
fn run(paper: &str) -> [String; 4] {
    let scratch = Scratch::new();
    scratch.write("study.toml", &STUDY.replace("PAPER", paper));
    let output = warpwatt(
        &scratch.path(""),
        &["run", "study.toml", "--show", "kernels"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let read = |name: &str| fs::read_to_string(scratch.path("results").join(name)).unwrap();
    [
        stdout(&output),
        read("comparisons.csv"),
        read("report.json"),
        read("report.html"),
    ]
}

#[test]
fn a_paper_that_is_asked_for_stands_beside_ours() {
    let [text, csv, json, page] = run("paper = \"filter_cache\"");
    assert!(
        text.contains("FC hits") && text.contains("The paper: Lashgar"),
        "{text}"
    );
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    let row = reader.records().next().unwrap().unwrap();
    let cell = |name: &str| &row[header.iter().position(|it| it == name).expect(name)];
    assert_eq!(cell("paper_row"), "MTM");
    assert_eq!(cell("technique.filter_cache.entries"), "32");
    let change: f64 = cell("icache_change").parse().unwrap();
    let saving: f64 = cell("icache_saving").parse().unwrap();
    assert!(change < 0.0 && saving == -change);
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    let beside = &document["blocks"][0]["comparisons"][0]["beside"];
    assert_eq!(beside["row"], "MTM");
    assert_eq!(beside["icache_change"]["value"], change);
    assert!(page.contains("Energy ratio against miss rate"));
}

#[test]
fn a_report_that_is_not_asked_knows_no_paper() {
    let [text, csv, json, page] = run("");
    for (place, text) in [
        ("terminal", text),
        ("table", csv),
        ("document", json),
        ("page", page),
    ] {
        for word in [
            "FC hits",
            "Lashgar",
            "paper_row",
            "icache_change",
            "Table 4",
            "beside",
        ] {
            assert!(!text.contains(word), "{place}: {word}");
        }
    }
}
