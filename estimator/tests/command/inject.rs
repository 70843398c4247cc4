//! `warpwatt inject` through the command.

use std::fs;
use std::process::Stdio;

use serde_json::Value;

use crate::common::{Scratch, command, stderr, stdout, warpwatt};

const SCAN: [&str; 6] = [
    "inject",
    "scan",
    "--case",
    "miaow",
    "--quiet",
    "--structure",
];

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let scratch = Scratch::new();
    for structure in ["register_file", "shared_memory", "instruction_buffer"] {
        let run = |jobs: &str| {
            let more = [structure, "--samples", "2000", "--json", "--jobs", jobs];
            let output = warpwatt(&scratch.path(""), &[&SCAN[..], &more].concat());
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            stdout(&output)
        };
        let one = run("1");
        assert_eq!(one, run("3"), "{structure}");
        let value: Value = serde_json::from_str(&one).unwrap();
        let counts = value["counts"].as_object().unwrap();
        let sum: u64 = counts.values().filter_map(Value::as_u64).sum();
        assert_eq!(sum, 2000);
        assert!(value["ace"]["avf"].as_f64().unwrap() > 0.0);
        let interval = &value["avf"]["injected"]["clopper_pearson"];
        let share = value["avf"]["injected"]["share"].as_f64().unwrap();
        assert!(interval[0].as_f64().unwrap() <= share && share <= interval[1].as_f64().unwrap());
    }
}

/// The document says what its text says: every technique of every kind of fault, counts that add up, and the same bytes for any number of threads.
#[test]
fn faults_of_lanes_are_found_or_not() {
    let scratch = Scratch::new();
    let run = |more: &[&str]| {
        let asked = [
            "lanes",
            "--set",
            "sm.count=1",
            "--samples",
            "60",
            "-t",
            "warped_dmr",
            "-t",
            "warped_dmr(shuffle=false)",
        ];
        let output = warpwatt(&scratch.path(""), &[&SCAN[..], &asked, more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    let one = run(&["--json", "--jobs", "1"]);
    assert_eq!(one, run(&["--json", "--jobs", "3"]));
    let value: Value = serde_json::from_str(&one).unwrap();
    let faults = value["faults"].as_array().unwrap();
    let kinds: Vec<&str> = faults
        .iter()
        .filter_map(|it| it["fault"].as_str())
        .collect();
    assert_eq!(kinds, ["transient", "stuck_at_0", "stuck_at_1"]);
    for fault in faults {
        let counts = fault["counts"].as_object().unwrap();
        assert_eq!(counts.values().filter_map(Value::as_u64).sum::<u64>(), 60);
        let found = |technique: usize| fault["techniques"][technique]["found"].as_u64().unwrap();
        let permanent = fault["fault"] != "transient";
        assert_eq!(found(0) == found(1), !permanent, "{fault}");
        assert!(found(0) >= found(1));
    }
    let text = run(&["--fault", "stuck_at_1"]);
    assert!(
        text.contains("stuck_at_1: 60 of") && !text.contains("transient"),
        "{text}"
    );
    assert!(text.contains("warped_dmr(shuffle=false)"), "{text}");
}

/// Under a technique every flip is put down to something, and a correction has cycles, and joules at a node; for any number of threads.
#[test]
fn techniques_correct_what_they_protect() {
    let scratch = Scratch::new();
    let document = |jobs: &str| {
        let arguments = [
            "inject",
            "walsh",
            "--structure",
            "instruction_buffer",
            "--preset",
            "softerror-28sm",
            "--samples",
            "600",
            "-t",
            "sawp",
            "-t",
            "ecc(structure=instruction_buffer, code=sec)",
            "--node",
            "40nm",
            "--json",
            "--jobs",
            jobs,
        ];
        let output = warpwatt(&scratch.path(""), &arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    let text = document("1");
    assert_eq!(text, document("3"));
    let value: Value = serde_json::from_str(&text).unwrap();
    let techniques = value["techniques"].as_array().unwrap();
    assert_eq!(techniques.len(), 2);
    for of in techniques {
        let count = |at: &Value| at.as_u64().unwrap();
        let left: u64 = of["counts"].as_object().unwrap().values().map(count).sum();
        assert_eq!(left + count(&of["detected"]) + count(&of["corrected"]), 600);
        assert_eq!(of["right"], of["corrected"]);
        assert!(count(&of["corrected"]) > 0);
        let recovery = &of["recovery"];
        assert_eq!(
            (&recovery["found"], &recovery["issues_again"]),
            (&"issue".into(), &true.into())
        );
        assert!(recovery["dynamic_mean_j"].as_f64().unwrap() > 0.0);
        assert!(recovery["cycles_mean"].is_number());
    }
}

#[test]
fn a_run_that_was_killed_goes_on() {
    let scratch = Scratch::new();
    let run = |out: &'static str| {
        let more = [
            "register_file",
            "--samples",
            "20000",
            "--jobs",
            "1",
            "--out",
            out,
        ];
        [&SCAN[..], &more].concat()
    };
    let whole = warpwatt(&scratch.path(""), &run("whole.json"));
    assert_eq!(whole.status.code(), Some(0), "{}", stderr(&whole));
    let journal = scratch.path(".killed.json.journal");
    let mut killed = command(&scratch.path(""))
        .args(run("killed.json"))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while fs::read_to_string(&journal).map_or(0, |text| text.lines().count()) < 20 {
        if killed.try_wait().unwrap().is_some() {
            break;
        }
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let again = warpwatt(&scratch.path(""), &run("killed.json"));
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    let read = |name: &str| fs::read_to_string(scratch.path(name)).unwrap();
    assert_eq!(read("killed.json"), read("whole.json"));
    assert_eq!(stdout(&again), stdout(&whole));
    assert!(!journal.exists());
}

#[test]
fn what_is_asked_for_must_make_sense() {
    let scratch = Scratch::new();
    for (arguments, words) in [
        (&["--structure", "l3"][..], "there is no structure `l3`"),
        (&[][..], "--structure"),
        (
            &["--structure", "register_file", "--margin", "2"][..],
            "a share from 0.0001 to 0.5",
        ),
        (
            &[
                "--structure",
                "register_file",
                "--samples",
                "9",
                "--exhaustive",
            ][..],
            "cannot be used with",
        ),
        (
            &["--structure", "register_file", "--exhaustive"][..],
            "draw a sample instead",
        ),
        (
            &["--structure", "register_file", "--limit", "10"][..],
            "raise the limit",
        ),
        (
            &[
                "--structure",
                "register_file",
                "--samples",
                "9",
                "--out",
                "no/where.json",
            ][..],
            "choose a place that exists",
        ),
    ] {
        let all = [&["inject", "scan"], arguments].concat();
        let output = warpwatt(&scratch.path(""), &all);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    let unknown = ["inject", "scann", "--structure", "register_file", "--json"];
    let output = warpwatt(&scratch.path(""), &unknown);
    assert_eq!(output.status.code(), Some(2));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["diagnostics"][0]["code"], "kernel::unknown");
}

const CODE: [&str; 9] = [
    "inject",
    "scan",
    "--case",
    "miaow",
    "--build",
    "gfx600",
    "--quiet",
    "--structure",
    "flip_flops",
];

/// Every flip has one class, in all and by block, and the same bytes come out again; blocks that are left out have none.
#[test]
fn flip_flops_are_classed_block_by_block() {
    let scratch = Scratch::new();
    let run = |more: &[&str]| {
        let asked = ["--preset", "miaow", "--samples", "500"];
        let output = warpwatt(&scratch.path(""), &[&CODE[..], &asked, more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    let all = run(&["--json"]);
    assert_eq!(all, run(&["--json"]));
    let sum = |counts: &Value| -> u64 {
        let counts = counts.as_object().unwrap();
        counts.values().filter_map(Value::as_u64).sum()
    };
    let value: Value = serde_json::from_str(&all).unwrap();
    assert_eq!(sum(&value["counts"]), 500);
    let blocks = value["blocks"].as_array().unwrap();
    assert_eq!(blocks.iter().map(|it| sum(&it["counts"])).sum::<u64>(), 500);
    let bits = blocks.iter().filter_map(|it| it["bits"].as_u64());
    assert_eq!(Some(bits.sum()), value["population"]["bits"].as_u64());
    let rest = run(&["--without", "register_file"]);
    assert!(
        !rest.contains("register_file") && rest.contains("terminated"),
        "{rest}"
    );
}

#[test]
fn flip_flops_need_machine_code_and_a_gpu_that_is_known_by_them() {
    let scratch = Scratch::new();
    for (more, says) in [
        (&["--preset", "tahiti"][..], "not known by its flip-flops"),
        (
            &["--preset", "miaow", "--without", "isue"],
            "did you mean `issue`?",
        ),
        (
            &["--preset", "miaow", "--exhaustive"],
            "flips in flip-flops are drawn",
        ),
    ] {
        let output = warpwatt(&scratch.path(""), &[&CODE[..], more].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    }
    let ptx = [&SCAN[..], &["flip_flops", "--preset", "miaow"]].concat();
    let output = warpwatt(&scratch.path(""), &ptx);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("--build gfx600"),
        "{}",
        stderr(&output)
    );
    let lanes = [&CODE[..8], &["lanes", "--preset", "miaow"]].concat();
    let output = warpwatt(&scratch.path(""), &lanes);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("machine code"),
        "{}",
        stderr(&output)
    );
}
