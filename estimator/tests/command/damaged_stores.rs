//! Stores whose bytes have changed: no command takes a figure from them, none writes anything, and a repair comes to the same files.

use std::fs;

use warpwatt::outcome::Form;
use warpwatt::store::Store;

use crate::common::{Scratch, same_reports, stderr, warpwatt};

const STUDY: &str = include_str!("../../../tests/data/studies/attacked.toml");

fn exits(scratch: &Scratch, code: i32, arguments: &[&str]) -> String {
    let output = warpwatt(&scratch.path(""), arguments);
    assert_eq!(
        output.status.code(),
        Some(code),
        "{arguments:?}: {}",
        stderr(&output)
    );
    stderr(&output)
}

/// Every file of a directory with its bytes.
fn contents(scratch: &Scratch, out: &str) -> Vec<(String, Vec<u8>)> {
    let files = fs::read_dir(scratch.path(out)).unwrap();
    let mut files: Vec<(String, Vec<u8>)> = files
        .map(|file| {
            let file = file.unwrap();
            let name = file.file_name().to_string_lossy().into_owned();
            (name, fs::read(file.path()).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// Changes a byte in what structures cost in the study's first point.
fn spoil(scratch: &Scratch, out: &str) {
    let store = Store::open_existing(&scratch.path(out)).unwrap();
    let key = store.manifest().unwrap().unwrap().points[0];
    let outcome = store.get(&key).unwrap().unwrap();
    drop(store);
    let costs = Form::of(outcome).costs;
    let costs: Vec<u8> = costs.iter().flat_map(|it| it.to_le_bytes()).collect();
    let path = scratch.path(out).join("results.redb");
    let mut bytes = fs::read(&path).unwrap();
    let windows = bytes.windows(costs.len()).enumerate();
    let places = windows.filter(|(_, found)| *found == costs);
    let places: Vec<usize> = places.map(|(place, _)| place).collect();
    assert!(!places.is_empty());
    for place in places {
        bytes[place + costs.len() / 2] ^= 1;
    }
    fs::write(&path, bytes).unwrap();
}

#[test]
fn a_changed_byte_is_refused_by_every_command_and_repaired() {
    let scratch = Scratch::new();
    scratch.write("study.toml", STUDY);
    exits(
        &scratch,
        0,
        &["run", "study.toml", "--quiet", "--out", "whole"],
    );
    exits(
        &scratch,
        0,
        &["run", "study.toml", "--quiet", "--out", "results"],
    );
    spoil(&scratch, "results");
    let before = contents(&scratch, "results");
    for arguments in [
        &["report", "results"][..],
        &["run", "study.toml", "--out", "results"],
        &["run", "study.toml", "--out", "results", "--dry-run"],
        &[
            "optimize",
            "study.toml",
            "--out",
            "results",
            "--minimise",
            "energy_j",
        ],
        &["explain", "results", "--metric", "energy_j", "--point", "1"],
        &["merge", "merged", "results"],
    ] {
        let said = exits(&scratch, 2, arguments);
        assert!(
            said.contains("error[store::damaged]"),
            "{arguments:?}: {said}"
        );
        assert!(said.contains("--repair"), "{arguments:?}: {said}");
        assert!(!said.contains("defect"), "{arguments:?}: {said}");
        assert!(contents(&scratch, "results") == before, "{arguments:?}");
    }
    assert!(!scratch.path("merged").exists());
    let said = exits(&scratch, 2, &["run", "study.toml", "--out", "results"]);
    assert!(said.contains(" of 12 ("), "{said}");
    let said = exits(
        &scratch,
        0,
        &["run", "study.toml", "--out", "results", "--repair"],
    );
    assert!(
        said.contains(" of 12 points of the damaged result store are whole"),
        "{said}"
    );
    same_reports(&scratch.path("whole"), &scratch.path("results"));
}

/// A database that panics on what it reads says nothing of that, and it is no defect of ours.
#[test]
fn pages_of_nothing_are_no_defect() {
    let scratch = Scratch::new();
    scratch.write("study.toml", STUDY);
    exits(&scratch, 0, &["run", "study.toml", "--quiet"]);
    let path = scratch.path("results/results.redb");
    let whole = fs::read(&path).unwrap();
    for page in 0..whole.len() / 4096 {
        let mut bytes = whole.clone();
        bytes[page * 4096] ^= 0xFF;
        fs::write(&path, &bytes).unwrap();
        let output = warpwatt(&scratch.path(""), &["report", "results"]);
        let said = stderr(&output);
        let told = output.status.code() == Some(2) && said.contains("error[store::damaged]");
        assert!(told || output.status.success(), "page {page}: {said}");
        assert!(
            !said.contains("internal fault") && !said.contains("panicked"),
            "{said}"
        );
    }
}

#[test]
fn a_merge_begun_again_goes_on_and_a_fresh_one_starts_over() {
    let scratch = Scratch::new();
    scratch.write("study.toml", STUDY);
    scratch.write("other.toml", &STUDY.replace("40nm", "45nm"));
    exits(
        &scratch,
        0,
        &["run", "study.toml", "--quiet", "--out", "whole"],
    );
    for part in ["1/2", "2/2"] {
        let out = format!("part{}", &part[..1]);
        exits(
            &scratch,
            0,
            &[
                "run",
                "study.toml",
                "--quiet",
                "--shard",
                part,
                "--out",
                &out,
            ],
        );
    }
    // What a kill right after the store was made leaves.
    drop(Store::open_for(&scratch.path("merged"), "Attacked").unwrap());
    exits(
        &scratch,
        0,
        &["merge", "merged", "part1", "part2", "--quiet"],
    );
    same_reports(&scratch.path("whole"), &scratch.path("merged"));
    exits(
        &scratch,
        0,
        &["run", "other.toml", "--quiet", "--out", "another"],
    );
    let said = exits(&scratch, 2, &["merge", "another", "part1", "part2"]);
    assert!(said.contains("error[store::other_study]"), "{said}");
    exits(
        &scratch,
        0,
        &["merge", "another", "part1", "part2", "--fresh", "--quiet"],
    );
    same_reports(&scratch.path("whole"), &scratch.path("another"));
}
