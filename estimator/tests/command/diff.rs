//! `warpwatt diff` through the command.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{Scratch, stderr, stdout, warpwatt};

fn kernel(here: &Path, name: &str, file: &str, more: &[&str]) {
    let words = [
        "kernel", name, "--preset", "v100", "--node", "12nm", "--json",
    ];
    let output = warpwatt(here, &[&words[..], more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    fs::write(here.join(file), &output.stdout).unwrap();
}

fn diff(here: &Path, words: &[&str]) -> (i32, String, String) {
    let output = warpwatt(here, &[&["diff"], words].concat());
    let code = output.status.code().unwrap();
    (code, stdout(&output), stderr(&output))
}

#[test]
fn a_change_of_lowering_is_told_kernel_by_kernel() {
    let scratch = Scratch::new();
    let here = scratch.path("");
    for folder in ["before", "after"] {
        fs::create_dir(here.join(folder)).unwrap();
    }
    for name in ["scan", "vector_add"] {
        kernel(&here, name, &format!("before/{name}.json"), &[]);
        kernel(
            &here,
            name,
            &format!("after/{name}.json"),
            &["--lower", "ptx"],
        );
    }
    let (code, text, _) = diff(&here, &["before", "after", "--json"]);
    assert_eq!(code, 0);
    let document: Value = serde_json::from_str(&text).unwrap();
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for (row, name) in rows.iter().zip(["scan", "vector_add"]) {
        let read = |folder: &str| -> Value {
            let text = fs::read_to_string(here.join(format!("{folder}/{name}.json"))).unwrap();
            serde_json::from_str(&text).unwrap()
        };
        let (before, after) = (read("before"), read("after"));
        assert_eq!(row["energy_j"]["before"], before["energy_j"]);
        assert_eq!(row["energy_j"]["after"], after["energy_j"]);
        let power = |value: &Value| value.as_f64().unwrap();
        let off = power(&row["power_w"]["after"]) / power(&after["power_w"]) - 1.0;
        assert!(off.abs() < 1e-12, "{off}");
        assert!(power(&row["energy_change_halfwidth"]) > 0.0);
        assert_eq!(row["most"].as_array().unwrap().len(), 3);
    }
    // PTX has more instructions, so that something rises.
    let (code, text, _) = diff(
        &here,
        &["before", "after", "--format", "markdown", "--allow", "1%"],
    );
    assert_eq!(code, 1, "{text}");
    assert!(
        text.contains("| scan default") && text.contains("| all"),
        "{text}"
    );
    assert_eq!(diff(&here, &["before", "before", "--allow", "0%"]).0, 0);
    // Two single documents are compared, whatever they are of.
    let (code, text, _) = diff(&here, &["before/scan.json", "before/vector_add.json"]);
    assert_eq!(code, 0);
    assert!(text.contains("scan default → vector_add default"), "{text}");
}

#[test]
fn results_are_compared_as_their_report_is() {
    let scratch = Scratch::new();
    let here = scratch.path("");
    scratch.write("study.toml", crate::common::ONE_POINT);
    let output = warpwatt(&here, &["run", "study.toml", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let (code, text, _) = diff(&here, &["results", "results/report.json", "--json"]);
    assert_eq!(code, 0);
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["rows"][0]["energy_j"]["change"], 0.0);
    assert_eq!(document["only_before"], serde_json::json!([]));
}

#[test]
fn what_cannot_be_compared_is_said() {
    let scratch = Scratch::new();
    let here = scratch.path("");
    kernel(&here, "scan", "a.json", &[]);
    fs::create_dir(here.join("empty")).unwrap();
    scratch.write("b.json", "{}");
    let told = |words: &[&str]| {
        let (code, text, told) = diff(&here, words);
        assert_eq!((code, text.as_str()), (2, ""), "{told}");
        told
    };
    kernel(&here, "scan", "c.json", &[]);
    fs::create_dir(here.join("two")).unwrap();
    for name in ["scan", "vector_add"] {
        kernel(
            &here,
            name,
            &format!("two/{name}.json"),
            &["--lower", "ptx"],
        );
    }
    let other = fs::read_to_string(here.join("a.json")).unwrap();
    scratch.write("a.json", &other.replace("\"v100\"", "\"another\""));
    let messages = [
        told(&["a.json", "nowhere"]),
        told(&["a.json", "b.json"]),
        told(&["empty", "a.json"]),
        told(&["c.json", "c.json", "--allow", "much"]),
        told(&["a.json", "two"]),
    ];
    insta::assert_snapshot!("diff_messages", messages.join("\n"));
}
