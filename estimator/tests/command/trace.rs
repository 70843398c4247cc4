//! `warpwatt trace` through the command.

use std::fs;

use serde_json::Value;

use crate::common::{Scratch, command, errors, stderr, stdout, warpwatt};

fn json(scratch: &Scratch, arguments: &[&str]) -> Value {
    let output = warpwatt(
        &scratch.path(""),
        &[&["trace", "--json"], arguments].concat(),
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn statistics_of_a_kernel_add_up() {
    let scratch = Scratch::new();
    let value = json(&scratch, &["bfs"]);
    let count = |path: &str| value.pointer(path).and_then(Value::as_u64).unwrap();
    let sum = |path: &str| -> u64 {
        let items = value.pointer(path).unwrap();
        let numbers = items.as_array().into_iter().flatten();
        let numbers = numbers.chain(items.as_object().into_iter().flat_map(|map| map.values()));
        numbers.map(|number| number.as_u64().unwrap()).sum()
    };
    let all = count("/warp_instructions");
    assert_eq!(count("/launches"), 14);
    for parts in ["/mix", "/active_lanes", "/executing_lanes"] {
        assert_eq!(sum(parts), all, "{parts}");
    }
    assert_eq!(
        count("/addresses/all"),
        count("/memory/0/loads") + count("/memory/0/stores") + count("/memory/1/loads")
    );
    assert_eq!(value["memory"][0]["space"], "global");
    assert!(count("/branches/divergent") > 0);
    assert!(
        value["size"]["memory_bytes_per_warp_instruction"]
            .as_f64()
            .unwrap()
            < 12.0
    );
    let text = stdout(&warpwatt(&scratch.path(""), &["trace", "bfs"]));
    for word in [
        "bfs_visit",
        "integer",
        "never read",
        "sectors",
        "diverge",
        "uniform",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn a_stored_trace_shows_what_the_kernel_shows() {
    let scratch = Scratch::new();
    let shown = json(
        &scratch,
        &["reduction", "--out", "reduction.trace", "--cache", "kept"],
    );
    assert_eq!(json(&scratch, &["reduction.trace"]), shown);
    assert_eq!(json(&scratch, &["reduction", "--cache", "kept"]), shown);
    let kept = fs::read_dir(scratch.path("kept"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    assert_eq!(
        fs::read(kept.path()).unwrap(),
        fs::read(scratch.path("reduction.trace")).unwrap()
    );
    let wide = json(&scratch, &["reduction", "--warp-width", "64"]);
    assert_eq!(wide["active_lanes"].as_array().unwrap().len(), 65);
}

#[test]
fn a_trace_that_cannot_be_used_is_refused() {
    let scratch = Scratch::new();
    json(&scratch, &["reduction", "--out", "whole.trace"]);
    let whole = fs::read(scratch.path("whole.trace")).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    let mut newer = whole.clone();
    newer[8] += 1;
    for (bytes, word) in [
        (flipped, "checksum"),
        (whole[..whole.len() - 9].to_vec(), "checksum"),
        (newer, "format"),
    ] {
        fs::write(scratch.path("bad.trace"), bytes).unwrap();
        let output = warpwatt(&scratch.path(""), &["trace", "bad.trace", "--json"]);
        assert_eq!(output.status.code(), Some(2));
        let said = stderr(&output);
        assert!(
            said.contains("trace::unusable") && said.contains(word),
            "{said}"
        );
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(value["diagnostics"][0]["code"], "trace::unusable");
    }
}

/// What chooses an execution has nothing to choose in one that is over.
#[test]
fn a_stored_trace_refuses_options_of_an_execution() {
    let scratch = Scratch::new();
    json(&scratch, &["reduction", "--out", "kept.trace"]);
    let asked = ["--case=a", "--ptx=missing.ptx", "--warp-width=32"];
    let output = warpwatt(
        &scratch.path(""),
        &[&["trace", "kept.trace"], &asked[..]].concat(),
    );
    assert_eq!(output.status.code(), Some(2));
    for option in ["--case", "--ptx", "--warp-width"] {
        let message = format!(
            "error[kernel::recorded]: `kept.trace` was recorded as a trace: it has nothing that {option} could choose"
        );
        assert!(stderr(&output).contains(&message), "{}", stderr(&output));
    }
}

#[test]
fn what_cannot_be_traced_is_explained() {
    let scratch = Scratch::new();
    for (arguments, word) in [
        (["vector_ad", "--json"], "vector_add"),
        (["missing.toml", "--json"], "cannot read"),
        (
            ["reduction", "--out=missing/reduction.trace"],
            "output::unwritable",
        ),
        (["reduction", "--limit=100"], "kernel::fault"),
    ] {
        let output = warpwatt(&scratch.path(""), &[&["trace"], &arguments[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(word), "{}", stderr(&output));
    }
    let output = warpwatt(
        &errors(),
        &[
            "trace",
            "launches/copy.toml",
            "--ptx",
            "launches/misaligned.ptx",
        ],
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("misaligned"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn memory_of_traces_changes_nothing_but_memory() {
    let scratch = Scratch::new();
    let of = |megabytes: &str| {
        let arguments = [
            "kernel",
            "hotspot",
            "--case=paper",
            "--preset=gtx480",
            "--json",
            "--no-cache",
            "--trace-memory",
        ];
        let output = warpwatt(&scratch.path(""), &[&arguments[..], &[megabytes]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    assert_eq!(of("1"), of("2048"));
}

#[test]
#[cfg(target_os = "linux")]
fn no_room_for_traces_says_where_and_what_to_do() {
    let scratch = Scratch::new();
    let arguments = [
        "trace",
        "hotspot",
        "--case=paper",
        "--no-cache",
        "--trace-memory=1",
    ];
    let mut command = command(&scratch.path(""));
    let output = command.args(arguments).env("TMPDIR", "/nonexistent");
    let output = output.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    insta::assert_snapshot!(stderr(&output));
}
