//! What a results directory holds is of one study: files of results that it no longer holds go, those that the user has changed stay.

use std::fs;

use crate::common::{ONE_POINT, Scratch, stderr, warpwatt};

const BUDGET: &str = "[budget]\narea_m2 = \"<= 1 m2\"\n";

fn ok(scratch: &Scratch, arguments: &[&str]) {
    let output = warpwatt(&scratch.path(""), arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// The files in `results`, in order.
fn names(scratch: &Scratch) -> Vec<String> {
    let entries = fs::read_dir(scratch.path("results")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// The files of a study with a budget, one of them changed by the user, one of the user's own.
fn results(scratch: &Scratch) {
    scratch.write("study.toml", &format!("{ONE_POINT}{BUDGET}"));
    ok(scratch, &["run", "study.toml", "--quiet"]);
    scratch.write("results/comparisons.csv", "mine now\n");
    scratch.write("results/notes.txt", "mine\n");
    assert_eq!(
        names(scratch),
        [
            "budget.csv",
            "comparisons.csv",
            "manifest.json",
            "notes.txt",
            "points.csv",
            "report.html",
            "report.json",
            "results.redb"
        ]
    );
}

#[test]
fn a_changed_study_leaves_no_file_of_the_one_before() {
    let scratch = Scratch::new();
    results(&scratch);
    let less = format!("{ONE_POINT}[output]\nformats = [\"json\"]\n");
    scratch.write("study.toml", &less);
    ok(&scratch, &["run", "study.toml", "--quiet"]);
    assert_eq!(
        names(&scratch),
        [
            "comparisons.csv",
            "manifest.json",
            "notes.txt",
            "report.json",
            "results.redb"
        ]
    );
    // Another rendering of the same results takes nothing away.
    for format in ["html", "csv"] {
        ok(&scratch, &["report", "results", "--formats", format]);
    }
    ok(&scratch, &["run", "study.toml", "--quiet"]);
    let kept = [
        "comparisons.csv",
        "manifest.json",
        "notes.txt",
        "points.csv",
        "report.html",
        "report.json",
        "results.redb",
    ];
    assert_eq!(names(&scratch), kept);
}

#[test]
fn another_study_starts_over_in_a_directory_without_files_of_the_first() {
    let scratch = Scratch::new();
    results(&scratch);
    let other = ONE_POINT.replace("small", "other");
    scratch.write("other.toml", &other);
    let part = ["--shard", "1/1", "--fresh"];
    ok(
        &scratch,
        &[&["run", "other.toml", "--quiet"], &part[..]].concat(),
    );
    let left = ["comparisons.csv", "notes.txt", "results.redb"];
    assert_eq!(names(&scratch), left);
}

#[test]
fn a_manifest_cannot_name_files_elsewhere() {
    let scratch = Scratch::new();
    results(&scratch);
    let manifest = fs::read_to_string(scratch.path("results/manifest.json")).unwrap();
    let (before, after) = manifest.split_once("\"files\": {").unwrap();
    let hash = after.split('"').nth(3).unwrap();
    let bytes = fs::read(scratch.path("results/budget.csv")).unwrap();
    fs::write(scratch.path("budget.csv"), bytes).unwrap();
    let changed = format!("{before}\"files\": {{\n    \"../budget.csv\": \"{hash}\",{after}");
    scratch.write("results/manifest.json", &changed);
    ok(&scratch, &["run", "study.toml", "--quiet", "--fresh"]);
    assert!(scratch.path("budget.csv").is_file());
}

/// A search has no report and no manifest; its points are of a study all the same, from the first on.
#[test]
fn points_of_a_search_belong_to_its_study() {
    let scratch = Scratch::new();
    scratch.write("study.toml", ONE_POINT);
    scratch.write("other.toml", &ONE_POINT.replace("small", "other"));
    ok(
        &scratch,
        &[
            "optimize",
            "study.toml",
            "--minimise",
            "energy_j",
            "--quiet",
        ],
    );
    let before = fs::read(scratch.path("results/results.redb")).unwrap();
    let output = warpwatt(&scratch.path(""), &["run", "other.toml", "--quiet"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(
        said.contains("belongs to the study `small`, not to `other`"),
        "{said}"
    );
    assert!(before == fs::read(scratch.path("results/results.redb")).unwrap());
    ok(&scratch, &["run", "study.toml", "--quiet"]);
}
