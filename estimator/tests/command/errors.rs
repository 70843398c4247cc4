//! Every kind of bad input: the whole message is pinned, the exit code is 2, and nothing is written.
//!
//! A study in `errors/` is a case; its message is the snapshot of its name. `cargo insta review` (or `INSTA_UPDATE=always`) accepts new wordings.

use std::fs;
use std::path::Path;

use crate::common::{ONE_POINT, Scratch, errors, stderr, stdout, warpwatt};

/// Runs a study that must be rejected, and returns what is said about it.
fn rejection(study: &str) -> String {
    let scratch = Scratch::new();
    let out = scratch.path("out");
    let output = warpwatt(
        &errors(),
        &[
            "run",
            study,
            "--quiet",
            "--jobs",
            "1",
            "--out",
            out.to_str().unwrap(),
        ],
    );
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{study}: {text}");
    assert_eq!(stdout(&output), "", "{study}: errors go to standard error");
    assert!(!out.exists(), "{study}: nothing is written");
    text
}

#[test]
fn every_faulty_study_is_rejected_with_its_message() {
    let mut studies: Vec<String> = fs::read_dir(errors())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        // Node files are for `warpwatt tech check` (`tech.rs`).
        .filter(|name| name.ends_with(".toml") && !name.starts_with("node_"))
        .collect();
    studies.sort();
    assert!(
        studies.len() >= 17,
        "the faulty studies are found: {studies:?}"
    );
    for study in studies {
        let name = study.trim_end_matches(".toml").to_owned();
        insta::with_settings!({ snapshot_path => "../errors", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name, rejection(&study));
        });
    }
}

#[test]
fn a_missing_study_is_named() {
    insta::assert_snapshot!(rejection("nowhere.toml"));
}

#[test]
fn with_json_a_rejection_is_one_document_with_places() {
    let scratch = Scratch::new();
    let out = scratch.path("out");
    let output = warpwatt(
        &errors(),
        &[
            "run",
            "unknown_names.toml",
            "--json",
            "--out",
            out.to_str().unwrap(),
        ],
    );
    assert_eq!(output.status.code(), Some(2));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let diagnostics = document["diagnostics"].as_array().unwrap();
    let codes: Vec<&str> = diagnostics
        .iter()
        .filter_map(|diagnostic| diagnostic["code"].as_str())
        .collect();
    for code in [
        "study::unknown_preset",
        "study::unknown_flavour",
        "study::unknown_kernel",
        "study::unknown_technique",
    ] {
        assert!(codes.contains(&code), "{code} in {codes:?}");
    }
    assert_eq!(diagnostics[0]["places"][0]["line"], 5);
    assert!(!out.exists());
}

fn rejected(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = warpwatt(&scratch.path(""), arguments);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    stderr(&output)
}

#[test]
fn an_output_directory_that_cannot_be_written_is_named() {
    let scratch = Scratch::new();
    scratch.write("study.toml", ONE_POINT);
    scratch.write("taken", "a file");
    let text = rejected(
        &scratch,
        &["run", "study.toml", "--quiet", "--out", "taken/results"],
    );
    assert!(
        text.contains("error[store::unwritable]")
            && text.contains("taken/results")
            && text.contains("--out"),
        "{text}"
    );
}

#[test]
fn a_store_of_another_version_is_refused_with_a_remedy() {
    let scratch = Scratch::new();
    scratch.write("study.toml", ONE_POINT);
    fs::create_dir(scratch.path("results")).unwrap();
    let path = scratch.path("results/results.redb");
    store_of_format(&path, "999");
    let before = fs::read(&path).unwrap();
    let text = rejected(&scratch, &["run", "study.toml", "--quiet"]);
    assert!(
        text.contains("format 999") && text.contains("--fresh"),
        "{text}"
    );
    assert!(
        fs::read(&path).unwrap() == before,
        "the store is left as it was"
    );
    assert_eq!(
        fs::read_dir(scratch.path("results")).unwrap().count(),
        1,
        "no report is written"
    );
    assert!(
        warpwatt(
            &scratch.path(""),
            &["run", "study.toml", "--quiet", "--fresh"]
        )
        .status
        .success()
    );
}

fn store_of_format(path: &Path, format: &str) {
    let database = redb::Database::create(path).unwrap();
    let write = database.begin_write().unwrap();
    let meta: redb::TableDefinition<'_, &str, &str> = redb::TableDefinition::new("meta");
    write
        .open_table(meta)
        .unwrap()
        .insert("format", format)
        .unwrap();
    write.commit().unwrap();
}

#[test]
fn a_file_that_is_no_store_is_refused_and_left_alone() {
    let scratch = Scratch::new();
    scratch.write("study.toml", ONE_POINT);
    fs::create_dir(scratch.path("results")).unwrap();
    scratch.write("results/results.redb", "my notes");
    let text = rejected(&scratch, &["run", "study.toml", "--quiet"]);
    assert!(text.contains("error[store::damaged]"), "{text}");
    assert_eq!(
        fs::read_to_string(scratch.path("results/results.redb")).unwrap(),
        "my notes"
    );
}

#[test]
fn a_store_in_use_is_refused() {
    let scratch = Scratch::new();
    scratch.write("study.toml", ONE_POINT);
    let store = warpwatt::store::Store::open(&scratch.path("results")).unwrap();
    let text = rejected(&scratch, &["run", "study.toml", "--quiet"]);
    assert!(text.contains("error[store::locked]"), "{text}");
    store.close();
}

#[test]
fn a_report_needs_a_store() {
    let scratch = Scratch::new();
    let text = rejected(&scratch, &["report", "results"]);
    assert!(text.contains("error[store::missing]"), "{text}");
    assert!(!scratch.path("results").exists());
}
