//! What makes warpwatt pleasant in editors and shells: schemas, completion scripts, manual pages.

use std::fs;

use serde_json::Value;

use crate::common::{Scratch, stderr, stdout, warpwatt};

#[test]
fn every_schema_is_one_json_document() {
    let scratch = Scratch::new();
    for of in ["study", "launch", "preset", "technology"] {
        let output = warpwatt(&scratch.path(""), &["schema", of]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["type"], "object", "{of}");
    }
}

#[test]
fn completions_name_every_command() {
    let scratch = Scratch::new();
    let help = stdout(&warpwatt(&scratch.path(""), &["--help"]));
    let commands = help
        .split("Commands:")
        .nth(1)
        .unwrap()
        .split("Options:")
        .next()
        .unwrap();
    let commands: Vec<&str> = commands
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.len() > 12, "{commands:?}");
    for shell in ["bash", "zsh", "fish"] {
        let output = warpwatt(&scratch.path(""), &["completions", shell]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let script = stdout(&output);
        for command in &commands {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
}

#[test]
fn manual_pages_are_written_all_or_none() {
    let scratch = Scratch::new();
    let here = scratch.path("");
    let main = warpwatt(&here, &["man"]);
    assert!(
        stdout(&main).contains(".TH warpwatt 1"),
        "{}",
        stdout(&main)
    );
    let written = warpwatt(&here, &["man", "--out=."]);
    assert_eq!(written.status.code(), Some(0), "{}", stderr(&written));
    for page in ["warpwatt.1", "warpwatt-run.1", "warpwatt-tech-show.1"] {
        let text = fs::read_to_string(here.join(page)).unwrap();
        assert!(text.contains(".SH NAME"), "{page}");
    }
    assert_eq!(fs::read(here.join("warpwatt.1")).unwrap(), main.stdout);
    let nowhere = warpwatt(&here, &["man", "--out=not/there"]);
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(
        stderr(&nowhere).contains("output::unwritable"),
        "{}",
        stderr(&nowhere)
    );
}
