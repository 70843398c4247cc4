//! `warpwatt array`: tables, JSON, tables of arrays, files of CACTI, and what is wrong with them.

use std::fs;

use crate::common::{Scratch, stderr, stdout, warpwatt};

const SMALL: [&str; 12] = [
    "array",
    "--capacity",
    "4KiB",
    "--word",
    "128b",
    "--ports",
    "1r1w",
    "--node",
    "32nm",
    "--library",
    "itrs",
    "--profile",
];

fn small<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    SMALL.iter().chain(rest).copied().collect()
}

#[test]
fn one_array_is_shown_with_its_parts() {
    let scratch = Scratch::new();
    let output = warpwatt(
        &scratch.path(""),
        &small(&["cacti65", "--temperature", "350K", "--gating", "none"]),
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    insta::assert_snapshot!(stdout(&output));
}

#[test]
fn json_holds_si_figures_that_add_up() {
    let scratch = Scratch::new();
    let output = warpwatt(&scratch.path(""), &small(&["cacti7", "--json"]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for key in [
        "area_m2",
        "width_m",
        "height_m",
        "access_time_s",
        "cycle_time_s",
        "read_energy_j",
        "write_energy_j",
        "leakage_w",
        "gate_leakage_w",
        "gated_leakage_w",
        "wake_time_s",
        "wake_energy_j",
    ] {
        let value = document[key].as_f64().unwrap_or_else(|| panic!("{key}"));
        let interval = &document["intervals"][key];
        assert!(
            interval["low"].as_f64() < Some(value) && interval["high"].as_f64() > Some(value),
            "{key}"
        );
    }
    let parts = document["breakdown"].as_array().unwrap();
    let sum: f64 = parts
        .iter()
        .filter_map(|part| part["read_energy_j"].as_f64())
        .sum();
    approx::assert_relative_eq!(
        sum,
        document["read_energy_j"].as_f64().unwrap(),
        max_relative = 1e-9
    );
    assert_eq!(document["profile"], "cacti7");
    assert_eq!(
        document["organisation"]["ndwl"]
            .as_u64()
            .map(u64::is_power_of_two),
        Some(true)
    );
    assert!(!document["sources"].as_array().unwrap().is_empty());
}

#[test]
fn faults_of_all_options_come_together() {
    let scratch = Scratch::new();
    let output = warpwatt(
        &scratch.path(""),
        &[
            "array",
            "--capacity",
            "4000",
            "--word",
            "9q",
            "--ports",
            "1x",
            "--node",
            "32",
            "--flavour",
            "fast",
        ],
    );
    assert_eq!(
        (output.status.code(), stdout(&output).as_str()),
        (Some(2), "")
    );
    insta::assert_snapshot!(stderr(&output));
}

#[test]
fn what_cannot_be_is_explained() {
    let scratch = Scratch::new();
    for (arguments, says) in [
        (
            &[
                "array",
                "--words",
                "8",
                "--bits",
                "8",
                "--node",
                "7nm",
                "--library",
                "itrs",
            ][..],
            "--library silicon",
        ),
        (
            &[
                "array", "--words", "8", "--bits", "8", "--banks", "3", "--node", "32nm",
            ],
            "power of two",
        ),
        (
            &[
                "array",
                "--words",
                "99999999999",
                "--bits",
                "64",
                "--node",
                "32nm",
            ],
            "64 MiB",
        ),
        (
            &[
                "array", "--words", "8", "--bits", "8", "--ports", "1r", "--node", "32nm",
            ],
            "no port that can write",
        ),
        (
            &["array", "--batch", "nowhere.csv"],
            "cannot read the table `nowhere.csv`",
        ),
        (
            &["array", "--cacti", "nowhere.cfg"],
            "cannot read the configuration `nowhere.cfg`",
        ),
        (
            &[
                "array",
                "--words",
                "8",
                "--bits",
                "8",
                "--node",
                "nowhere.toml",
            ],
            "nowhere.toml",
        ),
        (
            &["array", "--batch", "x.csv", "--node", "32nm"],
            "--node cannot be given with --batch",
        ),
        (
            &[
                "array", "--words", "8", "--bits", "8", "--node", "32nm", "--out", "x",
            ],
            "--out is about tables",
        ),
        (&["array", "--library", "irts"], "did you mean `itrs`"),
        (&["array"], "no technology node is given"),
    ] {
        let output = warpwatt(&scratch.path(""), arguments);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(says), "{arguments:?}: {text}");
        assert_eq!(stdout(&output), "");
    }
}

const SPECS: &str = "id,size_bytes,block_bytes,node_um\na,512,4,0.045\nb,512,4,0.016\n";

#[test]
fn a_table_is_written_whole_with_its_refusals() {
    let scratch = Scratch::new();
    scratch.write("specs.csv", SPECS);
    let arguments = [
        "array",
        "--batch",
        "specs.csv",
        "--out",
        "results.csv",
        "--library",
        "itrs",
        "--profile",
        "cacti7",
    ];
    let output = warpwatt(&scratch.path(""), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
    assert!(
        stderr(&output).contains("2 arrays, 1 refused"),
        "{}",
        stderr(&output)
    );
    let first = fs::read_to_string(scratch.path("results.csv")).unwrap();
    assert!(
        first.starts_with("id,size_bytes,block_bytes,node_um,access_ns,cycle_ns,read_nj,"),
        "{first}"
    );
    assert_eq!(first.lines().count(), 3);
    for jobs in ["1", "3"] {
        let output = warpwatt(
            &scratch.path(""),
            &[
                "array",
                "--batch",
                "specs.csv",
                "--library",
                "itrs",
                "--jobs",
                jobs,
            ],
        );
        assert_eq!(
            stdout(&output),
            first,
            "standard output gets the same bytes"
        );
    }
    let nowhere = warpwatt(
        &scratch.path(""),
        &[
            "array",
            "--batch",
            "specs.csv",
            "--out",
            "missing/results.csv",
        ],
    );
    assert_eq!(nowhere.status.code(), Some(2));
}

#[test]
fn a_table_that_is_none_writes_nothing() {
    let scratch = Scratch::new();
    scratch.write("specs.csv", "size_bytes,block_bytes,node_um\n1,2\n");
    let arguments = [
        "array",
        "--batch",
        "specs.csv",
        "--out",
        "results.csv",
        "--json",
    ];
    let output = warpwatt(&scratch.path(""), &arguments);
    assert_eq!(output.status.code(), Some(2));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["diagnostics"][0]["code"], "batch::malformed");
    assert!(!scratch.path("results.csv").exists());
}

#[test]
fn a_file_of_cacti_is_answered_as_cacti_7_would() {
    let scratch = Scratch::new();
    scratch.write(
        "cache.cfg",
        "# a memory\n-size (bytes) 512\n-block size (bytes) 4\n-technology (u) 0.045\n-cache type \"ram\"\n-operating temperature (K) 360\n",
    );
    let output = warpwatt(
        &scratch.path(""),
        &["array", "--cacti", "cache.cfg", "--json"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["profile"], "cacti7");
    // CACTI 7 for this array (tests/data/oracle).
    approx::assert_relative_eq!(
        document["read_energy_j"].as_f64().unwrap(),
        0.000747500215e-9,
        max_relative = 1e-3
    );
}

#[test]
fn silicon_is_the_default() {
    let scratch = Scratch::new();
    let output = warpwatt(
        &scratch.path(""),
        &[
            "array", "--words", "64", "--bits", "32", "--node", "16nm", "--vdd", "0.7V", "--json",
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (document["library"].as_str(), document["profile"].as_str()),
        (Some("silicon"), Some("silicon"))
    );
    assert_eq!(document["vdd_v"], 0.7);
}
