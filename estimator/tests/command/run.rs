//! Studies through the command: the same bytes for any number of threads, nothing computed twice, nothing lost in a kill.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use crate::common::{Scratch, command, stderr, stdout, warpwatt};

fn study(kernels: &str) -> String {
    format!(
        r#"
[study]
title = "A small study"
[gpu]
preset = "tesla-16sm"
node = ["32nm", "40nm"]
sm.threads = [1024, 512]
[workloads]
kernels = [{kernels}]
[[technique]]
name = "filter_cache"
entries = [16, 32]
"#
    )
}

/// Every file of a directory, by name.
fn contents(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    files
        .map(|entry| {
            (
                entry.file_name().into_string().unwrap(),
                fs::read(entry.path()).unwrap(),
            )
        })
        .collect()
}

fn run(scratch: &Scratch, study: &str, arguments: &[&str]) -> String {
    let mut all = vec!["run", study];
    all.extend(arguments);
    let output = warpwatt(&scratch.path(""), &all);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    stdout(&output)
}

const THREE: &str = r#""vector_add", "reduction", "matrix_mul""#;

#[test]
fn results_are_the_same_bytes_for_one_thread_and_for_several() {
    let scratch = Scratch::new();
    scratch.write("study.toml", &study(THREE));
    let tables: Vec<String> = [("1", "one"), ("2", "two"), ("5", "five"), ("2", "again")]
        .iter()
        .map(|(jobs, out)| {
            run(
                &scratch,
                "study.toml",
                &["--quiet", "--jobs", jobs, "--out", out],
            )
        })
        .collect();
    assert!(tables.iter().all(|table| *table == tables[0]));
    let one = contents(&scratch.path("one"));
    let names: Vec<&str> = one.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "answer.csv",
            "comparisons.csv",
            "manifest.json",
            "points.csv",
            "report.html",
            "report.json",
            "results.redb"
        ]
    );
    for other in ["two", "five", "again"] {
        for (name, bytes) in contents(&scratch.path(other)) {
            assert!(one[&name] == bytes, "{other}/{name} differs");
        }
    }
}

#[test]
fn points_that_are_there_are_not_computed_again() {
    let scratch = Scratch::new();
    scratch.write("first.toml", &study(r#""vector_add""#));
    scratch.write("second.toml", &study(r#""vector_add", "reduction""#));
    run(&scratch, "first.toml", &[]);
    let output = warpwatt(&scratch.path(""), &["run", "second.toml"]);
    let text = stderr(&output);
    assert!(
        text.contains("12 of 24 points are in the result store already"),
        "{text}"
    );
    assert!(
        text.contains("executed reduction") && !text.contains("executed vector_add"),
        "{text}"
    );
    let output = warpwatt(&scratch.path(""), &["run", "second.toml", "--fresh"]);
    assert!(stderr(&output).contains("executed vector_add"));
}

#[test]
fn a_killed_run_goes_on_where_it_stopped_and_reports_the_same() {
    let scratch = Scratch::new();
    scratch.write(
        "study.toml",
        &study(r#""vector_add", "reduction", "matrix_mul", "black_scholes""#),
    );
    let mut child = command(&scratch.path(""))
        .args(["run", "study.toml", "--jobs", "1", "--out", "killed"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    // When the third kernel is executed, the points of the first are written.
    for line in lines {
        if line.unwrap().contains("kernel 3 of 4") {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let output = warpwatt(&scratch.path(""), &["run", "study.toml", "--out", "killed"]);
    let text = stderr(&output);
    assert!(
        text.contains("points are in the result store already"),
        "{text}"
    );
    assert!(!text.contains("executed vector_add"), "{text}");
    run(&scratch, "study.toml", &["--quiet", "--out", "whole"]);
    let (killed, whole) = (
        contents(&scratch.path("killed")),
        contents(&scratch.path("whole")),
    );
    for name in [
        "comparisons.csv",
        "points.csv",
        "report.html",
        "report.json",
    ] {
        assert!(killed[name] == whole[name], "{name} differs");
    }
}

#[test]
fn a_finished_study_stays_as_it_is_when_it_is_run_again() {
    let scratch = Scratch::new();
    scratch.write("study.toml", &study(r#""vector_add""#));
    let first = run(&scratch, "study.toml", &["--quiet"]);
    let files = contents(&scratch.path("results"));
    assert_eq!(run(&scratch, "study.toml", &["--quiet"]), first);
    assert!(contents(&scratch.path("results")) == files);
}

#[test]
fn json_is_one_document_and_equals_the_file() {
    let scratch = Scratch::new();
    scratch.write("study.toml", &study(r#""vector_add""#));
    let text = run(&scratch, "study.toml", &["--json"]);
    let printed: serde_json::Value = serde_json::from_str(&text).unwrap();
    let file = fs::read_to_string(scratch.path("results/report.json")).unwrap();
    let file: serde_json::Value = serde_json::from_str(&file).unwrap();
    assert_eq!(printed["points"], file["points"]);
    assert_eq!(printed["points"].as_array().map(Vec::len), Some(12));
    assert_eq!(printed["manifest"]["title"], "A small study");
}

#[test]
fn a_report_can_be_rendered_again() {
    let scratch = Scratch::new();
    scratch.write("study.toml", &study(r#""vector_add""#));
    let first = run(&scratch, "study.toml", &["--quiet"]);
    let files = contents(&scratch.path("results"));
    fs::remove_file(scratch.path("results/report.html")).unwrap();
    let output = warpwatt(&scratch.path(""), &["report", "results"]);
    assert_eq!(stdout(&output), first);
    assert!(contents(&scratch.path("results")) == files);
}

#[test]
fn a_budget_that_no_point_meets_ends_with_one() {
    let scratch = Scratch::new();
    let tight = study(r#""vector_add""#) + "[budget]\narea_overhead = \"0%\"\n";
    let wide = study(r#""vector_add""#) + "[budget]\narea_overhead = \"50%\"\nslowdown = \"50%\"\n";
    scratch.write("tight.toml", &tight);
    scratch.write("wide.toml", &wide);
    let output = warpwatt(&scratch.path(""), &["run", "tight.toml", "--quiet"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let text = stdout(&output);
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(
        words
            .join(" ")
            .contains("budget: 0 of 8 points with a technique are inside"),
        "{text}"
    );
    run(&scratch, "wide.toml", &["--quiet"]);
}

/// A stack is one point whatever the order of its members, and `report` shows of the store what `run` did.
#[test]
fn a_stack_is_stored_and_reported_under_one_name() {
    let study = |members: [&str; 2]| {
        format!(
            r#"
[study]
title = "Stacked"
[gpu]
preset = "tesla-16sm"
node = "40nm"
[workloads]
kernels = ["vector_add", "reduction"]
[[technique]]
name = "filter_cache"
[[technique]]
name = "uniform_vector"
[[technique]]
stack = [{}, {}]
"#,
            members[0], members[1]
        )
    };
    let members = [
        "{ name = \"uniform_vector\" }",
        "{ name = \"filter_cache\" }",
    ];
    let scratch = Scratch::new();
    scratch.write("one.toml", &study(members));
    scratch.write("other.toml", &study([members[1], members[0]]));
    let first = run(
        &scratch,
        "one.toml",
        &[
            "--quiet", "--jobs", "1", "--out", "out", "--show", "kernels",
        ],
    );
    let files = contents(&scratch.path("out"));
    assert!(files.contains_key("stacks.csv"));
    let label = "filter_cache(entries=32) + uniform_vector(design=token, mode=combined)";
    assert!(
        first.contains(&format!("Stacked and alone: {label}")),
        "{first}"
    );
    let rows = String::from_utf8(files["stacks.csv"].clone()).unwrap();
    assert_eq!(rows.matches(label).count(), 2, "{rows}");
    // The other order has the same points: all of them are there already.
    let second = warpwatt(
        &scratch.path(""),
        &[
            "run",
            "other.toml",
            "--jobs",
            "2",
            "--out",
            "out",
            "--show",
            "kernels",
        ],
    );
    assert_eq!(stdout(&second), first);
    assert!(
        stderr(&second).contains("all 8 points"),
        "{}",
        stderr(&second)
    );
    let report = warpwatt(&scratch.path(""), &["report", "out", "--show", "kernels"]);
    assert_eq!(stdout(&report), first);
}
