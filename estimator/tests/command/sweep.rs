//! Sweeps through the command: axes that walk together, ranges, samples.

use std::collections::BTreeSet;

use crate::common::{Scratch, stderr, stdout, warpwatt};

/// Runs a study and returns the rows of `points.csv`, by column.
fn points(scratch: &Scratch, study: &str, out: &str) -> Vec<Vec<(String, String)>> {
    scratch.write("study.toml", study);
    let output = warpwatt(
        &scratch.path(""),
        &["run", "study.toml", "--quiet", "--out", out],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!stdout(&output).is_empty());
    let mut reader = csv::Reader::from_path(scratch.path(out).join("points.csv")).unwrap();
    let headings = reader.headers().unwrap().clone();
    let rows = reader.records().map(|record| {
        let record = record.unwrap();
        let cells = headings.iter().zip(record.iter());
        cells
            .map(|(name, cell)| (name.to_owned(), cell.to_owned()))
            .collect()
    });
    rows.collect()
}

fn cell<'r>(row: &'r [(String, String)], name: &str) -> &'r str {
    let found = row.iter().find(|(heading, _)| heading == name);
    &found.unwrap_or_else(|| panic!("no column {name}")).1
}

const HEAD: &str = r#"
[study]
title = "Swept"
[workloads]
kernels = ["vector_add"]
[[technique]]
name = "filter_cache"
entries = [16, 32]
"#;

/// Axes of the GPU, of the technology and of a technique walk together; the plain GPU is everywhere.
#[test]
fn zipped_axes_walk_together_across_gpu_technology_and_technique() {
    let study = format!(
        "{HEAD}
[gpu]
preset = \"tesla-16sm\"
node = [\"32nm\", \"40nm\"]
vdd = {{ from = \"0.85 V\", to = \"0.9 V\", count = 2 }}
sm.threads = [1024, 512]
[sweep]
zip = [[\"gpu.node\", \"gpu.vdd\", \"technique.filter_cache.entries\"]]
"
    );
    let rows = points(&Scratch::new(), &study, "out");
    let found: Vec<[&str; 4]> = rows
        .iter()
        .map(|row| ["axes", "node", "vdd_v", "technique"].map(|name| cell(row, name)))
        .collect();
    let mut expected = Vec::new();
    for threads in ["sm.threads=1024", "sm.threads=512"] {
        for (node, vdd, entries) in [("32nm", "0.85", "16"), ("40nm", "0.9", "32")] {
            expected.push([threads, node, vdd, "baseline"].map(str::to_owned));
            let technique = format!("filter_cache(entries={entries})");
            expected.push([
                threads.to_owned(),
                node.to_owned(),
                vdd.to_owned(),
                technique,
            ]);
        }
    }
    assert_eq!(found, expected);
}

/// Every sample has its baseline; equal seeds make equal files, another seed others.
#[test]
fn samples_come_with_their_baselines_and_repeat_with_the_seed() {
    let scratch = Scratch::new();
    let study = |seed: u32, threads: u16| {
        format!(
            "{HEAD}
[gpu]
preset = \"tesla-16sm\"
node = [\"7nm\", \"16nm\"]
vdd = {{ from = \"0.65 V\", to = \"0.8 V\" }}
temperature = {{ from = \"300 K\", to = \"380 K\" }}
sm.threads = {threads}
[sweep]
sample = \"latin_hypercube\"
count = 12
seed = {seed}
"
        )
    };
    let rows = points(&scratch, &study(1, 1024), "one");
    assert_eq!(
        rows.len(),
        24,
        "12 samples, plain and with the technique drawn for each"
    );
    let place = |row: &[(String, String)]| {
        ["node", "vdd_v", "temperature_k"].map(|name| cell(row, name).to_owned())
    };
    let (plain, with): (Vec<_>, Vec<_>) = rows
        .iter()
        .partition(|row| cell(row, "technique") == "baseline");
    let places = |rows: &[&Vec<(String, String)>]| {
        rows.iter().map(|row| place(row)).collect::<BTreeSet<_>>()
    };
    assert_eq!(places(&plain).len(), 12);
    assert_eq!(places(&plain), places(&with));
    for entries in ["16", "32"] {
        let label = format!("filter_cache(entries={entries})");
        assert_eq!(
            with.iter()
                .filter(|row| cell(row, "technique") == label)
                .count(),
            6,
            "a hypercube halves a list of two"
        );
    }
    points(&scratch, &study(1, 1024), "again");
    points(&scratch, &study(2, 1024), "other");
    let read = |out: &str| std::fs::read(scratch.path(out).join("report.json")).unwrap();
    assert!(read("one") == read("again"));
    assert!(read("one") != read("other"));
}
