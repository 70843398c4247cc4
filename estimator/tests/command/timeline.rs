//! `--timeline` through the command.

use std::fs;

use crate::common::{Scratch, errors, stderr, stdout, warpwatt};
use serde_json::Value;

fn document(scratch: &Scratch, name: &str) -> Value {
    serde_json::from_slice(&fs::read(scratch.path(name)).unwrap()).unwrap()
}

#[test]
fn a_timeline_is_written_and_named_in_the_report() {
    let scratch = Scratch::new();
    let run = |more: &[&str]| {
        let arguments = [&["kernel", "vector_add", "--timeline", "t.json"], more].concat();
        warpwatt(&scratch.path(""), &arguments)
    };
    let output = run(&["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let trace = document(&scratch, "t.json");
    let events = trace["traceEvents"].as_array().unwrap();
    assert_eq!(report["timeline"]["file"], "t.json");
    assert_eq!(report["timeline"]["events"], events.len());
    assert_eq!(report["timeline"]["cut_at_cycle"], Value::Null);
    let processes = events
        .iter()
        .filter(|event| event["name"] == "process_name");
    let names: Vec<&str> = processes
        .map(|event| event["args"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["GPU", "SM 0", "SM 1", "SM 2", "SM 3"]);
    let first = fs::read(scratch.path("t.json")).unwrap();
    run(&[]);
    assert_eq!(first, fs::read(scratch.path("t.json")).unwrap());
    let text = stdout(&run(&[
        "--timeline-events",
        "1000",
        "--timeline-sms",
        "all",
    ]));
    assert!(text.contains("cut at cycle"), "{text}");
    assert!(document(&scratch, "t.json")["otherData"]["cut_at_cycle"].is_u64());
    let without = warpwatt(&errors(), &["kernel", "vector_add", "--json"]);
    let without: Value = serde_json::from_slice(&without.stdout).unwrap();
    assert_eq!(without["counters"], report["counters"]);
    assert_eq!(without["timeline"], Value::Null);
}

/// Whatever is wrong, exit code 2, nothing new in the folder, and what was there is as it was.
#[test]
fn what_cannot_be_written_is_refused_and_leaves_nothing() {
    let scratch = Scratch::new();
    scratch.write("kept.json", "mine");
    fs::create_dir(scratch.path("folder")).unwrap();
    for (arguments, words) in [
        (vec!["--timeline", "missing/t.json"], "cannot write"),
        (vec!["--timeline", "folder"], "cannot write"),
        (
            vec!["--timeline", "kept.json", "--timeline-sms", "16-20"],
            "its SMs are 0 to 15",
        ),
        (
            vec!["--timeline", "kept.json", "--timeline-sms", "x"],
            "0-3,7",
        ),
        (
            vec!["--timeline", "kept.json", "--timeline-cycles", "9..1"],
            "1000..5000",
        ),
        (
            vec!["--timeline", "kept.json", "--cycle-limit", "100"],
            "by cycle 100",
        ),
        (
            vec!["--timeline", "kept.json", "--set", "sm.threads=32"],
            "does not fit",
        ),
        (
            vec!["--timeline", "kept.json", "--no-timing"],
            "cannot be used with",
        ),
        (vec!["--timeline-sms", "all"], "--timeline"),
    ] {
        let arguments = [vec!["kernel", "vector_add"], arguments].concat();
        let output = warpwatt(&scratch.path(""), &arguments);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(words), "{arguments:?}: {text}");
        assert_eq!(
            fs::read_to_string(scratch.path("kept.json")).unwrap(),
            "mine"
        );
        let entries = fs::read_dir(scratch.path("")).unwrap();
        let names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "{arguments:?}: {names:?}");
    }
}

/// Two kernels, with and without a technique that needs another pipeline at the larger node: three runs a kernel, each with the processes of its own.
#[test]
fn a_study_has_all_its_runs_in_one_timeline() {
    let scratch = Scratch::new();
    let study = r#"
[study]
title = "Over time"
[gpu]
preset = "tesla-16sm"
node = ["32nm", "45nm"]
library = "itrs"
profile = "cacti65"
[workloads]
kernels = ["vector_add", "reduction"]
[[technique]]
name = "filter_cache"
"#;
    scratch.write("study.toml", study);
    let run = |more: &[&str]| {
        let arguments = [&["run", "study.toml", "--timeline", "t.json"], more].concat();
        let output = warpwatt(&scratch.path(""), &arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        std::fs::read(scratch.path("t.json")).unwrap()
    };
    let bytes = run(&["--jobs", "2"]);
    assert!(bytes == run(&["--jobs", "1", "--fresh"]));
    assert!(bytes == run(&[]), "points from the store are shown too");
    let file: Value = serde_json::from_slice(&bytes).unwrap();
    let runs = file["otherData"]["runs"].as_array().unwrap();
    let names: Vec<&str> = runs
        .iter()
        .map(|run| run["name"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), 6, "{names:?}");
    for (number, name) in names.iter().enumerate() {
        assert!(!names[..number].contains(name), "{names:?}");
    }
    let events = file["traceEvents"].as_array().unwrap();
    let processes = events
        .iter()
        .filter(|event| event["name"] == "process_name");
    let mut seen = std::collections::BTreeMap::new();
    for process in processes {
        let name = process["args"]["name"].as_str().unwrap().to_owned();
        assert!(names.iter().any(|run| name.starts_with(run)), "{name}");
        let other = seen.insert(process["pid"].as_u64().unwrap(), name);
        assert_eq!(other, None);
    }
    assert!(seen.len() > 2 * names.len(), "SMs and the GPU of each run");
}
