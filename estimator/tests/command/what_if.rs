//! `warpwatt what-if` through the command.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::common::{Scratch, stderr, stdout, warpwatt};

const QUESTION: [&str; 7] = [
    "what-if",
    "--kernel=vector_add",
    "--technique=filter_cache",
    "--set=entries=8,16",
    "--set=sm.count=2",
    "--node=32nm",
    "--json",
];

/// The question, and the study that it stands for, have the same answer; the question leaves nothing behind.
#[test]
fn a_question_is_answered_as_its_study_is() {
    let scratch = Scratch::new();
    let here = scratch.path("");
    let asked = warpwatt(&here, &QUESTION);
    assert_eq!(asked.status.code(), Some(0), "{}", stderr(&asked));
    assert_eq!(fs::read_dir(&here).unwrap().count(), 0);
    let answer: Value = serde_json::from_slice(&asked.stdout).unwrap();
    let points = answer["points"].as_array().unwrap();
    let technique = |point: &Value| point["point"]["technique"].as_str().unwrap().to_owned();
    let techniques: Vec<String> = points.iter().map(technique).collect();
    assert_eq!(
        techniques,
        [
            "baseline",
            "filter_cache(entries=8)",
            "filter_cache(entries=16)"
        ]
    );

    let saved = warpwatt(&here, &[&QUESTION[..], &["--save=study.toml"]].concat());
    assert_eq!(saved.stdout, asked.stdout);
    let study = warpwatt(&here, &["run", "study.toml", "--json", "--quiet"]);
    assert_eq!(study.status.code(), Some(0), "{}", stderr(&study));
    let report: Value = serde_json::from_slice(&study.stdout).unwrap();
    assert_eq!(report["points"], answer["points"]);
}

#[test]
fn text_is_the_table_of_a_study() {
    let scratch = Scratch::new();
    let output = warpwatt(&scratch.path(""), &QUESTION[..6]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.starts_with("What if: filter_cache"), "{text}");
    assert!(text.contains("filter_cache(entries=16)"), "{text}");
}

#[test]
fn faults_of_a_question() {
    let scratch = Scratch::new();
    let fault = |arguments: &[&str]| {
        let output = warpwatt(&scratch.path(""), &[&["what-if"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        stderr(&output)
    };
    let misread = fault(&[
        "-k",
        "hotspot",
        "-t",
        "filter_cache(entries",
        "--set",
        "entries",
        "--set",
        "x=1",
    ]);
    assert_snapshot!("misread", misread);
    let unknown = fault(&[
        "-k",
        "hot_spot",
        "-t",
        "filter_cash",
        "--set",
        "entries=0",
        "--node",
        "1nm",
        "--set",
        "sm.cuont=2",
    ]);
    assert_snapshot!("unknown", unknown);
}
