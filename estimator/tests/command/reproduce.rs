//! `warpwatt reproduce` through the command.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{Scratch, stderr, stdout, warpwatt};

const STUDY: &str = "[study]\ntitle = \"again\"\n[gpu]\npreset = \"tesla-16sm\"\nsm.count = 2\nnode = \"32nm\"\n[workloads]\nkernels = [\"vector_add\"]\n[[technique]]\nname = \"filter_cache\"\nentries = [8, 16]\n";

fn run(here: &Path) {
    fs::write(here.join("study.toml"), STUDY).unwrap();
    let output = warpwatt(here, &["run", "study.toml", "--quiet", "--no-cache"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn a_study_comes_out_the_same_again_without_its_file() {
    let scratch = Scratch::new();
    let here = scratch.path("");
    run(&here);
    fs::remove_file(here.join("study.toml")).unwrap();
    for manifest in ["results", "results/manifest.json"] {
        let again = warpwatt(&here, &["reproduce", manifest, "--jobs", "1", "--no-cache"]);
        assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
        assert_eq!(
            stdout(&again),
            "all 3 points came out the same, bit for bit\n"
        );
    }
}

#[test]
fn what_came_out_otherwise_is_named_with_its_figures() {
    let scratch = Scratch::new();
    let here = scratch.path("");
    run(&here);
    let path = here.join("results/manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    let record: Value = serde_json::from_str(&text).unwrap();
    // The second point's digest, and with it that of all, is not what it was.
    let second = record["outcomes"][1].as_str().unwrap();
    let all = record["results"].as_str().unwrap();
    fs::write(&path, text.replace(second, "00").replace(all, "00")).unwrap();
    let again = warpwatt(&here, &["reproduce", "results", "--json", "--no-cache"]);
    assert_eq!(again.status.code(), Some(1), "{}", stderr(&again));
    let verdict: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(verdict["same"], false);
    assert_eq!(verdict["different"].as_array().unwrap().len(), 1);
    assert_eq!(verdict["different"][0]["point"], 2);
    // An older program that counted cycles otherwise.
    fs::write(&path, text.replace("sm.count = 2", "sm.count = 4")).unwrap();
    let other = warpwatt(&here, &["reproduce", "results/manifest.json", "--no-cache"]);
    assert_eq!(other.status.code(), Some(1), "{}", stderr(&other));
    assert!(
        stdout(&other).starts_with("3 of 3 points came out otherwise\n  1: vector_add"),
        "{}",
        stdout(&other)
    );
}

#[test]
fn manifests_that_are_none() {
    let scratch = Scratch::new();
    let here = scratch.path("");
    let fault = |path: &str| {
        let output = warpwatt(&here, &["reproduce", path]);
        assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
        stderr(&output)
    };
    assert!(fault("nowhere").contains("input::unreadable"));
    fs::write(here.join("a.json"), "{\"format\": 1}").unwrap();
    let earlier = fault("a.json");
    assert!(
        earlier.contains("manifest::format") && earlier.contains("run its study again"),
        "{earlier}"
    );
    fs::write(here.join("a.json"), "{\"format\": 4}").unwrap();
    let damaged = fault("a.json");
    assert!(
        damaged.contains("manifest::damaged") && damaged.contains("`a.json` is no manifest"),
        "{damaged}"
    );
    fs::create_dir(here.join("empty")).unwrap();
    assert!(fault("empty").contains("manifest.json beside the results"));
}
