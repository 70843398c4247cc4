//! `--live`: registers over time of a kernel and of a study's runs.

use std::fs;

use crate::common::{Scratch, stderr, stdout, warpwatt};

const STUDY: &str = r#"
[study]
title = "Registers"
[gpu]
preset = "fermi-16sm"
node = "40nm"
[workloads]
kernels = ["vector_add", "reduction"]
[[technique]]
name = "filter_cache"
"#;

const MANAGED: &str = r#"
[[technique]]
name = "register_shrink"
[[technique]]
name = "power_gating"
"#;

fn run(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = warpwatt(&scratch.path(""), arguments);
    let code = output.status.code();
    assert_eq!(code, Some(0), "{arguments:?}: {}", stderr(&output));
    stderr(&output)
}

/// A study's table has, run by run, what each kernel says by itself; the picture has a panel for each.
#[test]
fn a_study_tells_of_its_runs_what_their_kernels_tell() {
    let scratch = Scratch::new();
    scratch.write("study.toml", &format!("{STUDY}{MANAGED}"));
    let study = ["run", "study.toml", "--live"];
    let told = run(
        &scratch,
        &[&study[..], &["all.csv", "--jobs", "2"]].concat(),
    );
    assert!(
        told.contains("registers over time of 4 runs: all.csv"),
        "{told}"
    );
    let all = fs::read_to_string(scratch.path("all.csv")).unwrap();
    run(
        &scratch,
        &[&study[..], &["again.csv", "--jobs", "1", "--quiet"]].concat(),
    );
    assert!(
        all == fs::read_to_string(scratch.path("again.csv")).unwrap(),
        "points from the store are shown too, on one thread as on two"
    );
    let (heading, rows) = all.split_once('\n').unwrap();
    let mut counted = 0;
    for kernel in ["vector_add", "reduction"] {
        for technique in ["register_shrink", "power_gating"] {
            let own = ["kernel", kernel, "--preset", "fermi-16sm"];
            let live = ["--live", "own.csv", "--live-with", technique];
            run(&scratch, &[&own[..], &live].concat());
            let own = fs::read_to_string(scratch.path("own.csv")).unwrap();
            let (columns, own) = own.split_once('\n').unwrap();
            assert_eq!(heading, format!("kernel,gpu,technique,{columns}"));
            let key = format!("{kernel} default,fermi-16sm,{technique},");
            let of_study = rows.lines().filter_map(|row| row.strip_prefix(&key));
            assert_eq!(
                of_study.collect::<Vec<_>>(),
                own.lines().collect::<Vec<_>>()
            );
            counted += own.lines().count();
        }
    }
    assert_eq!(counted, rows.lines().count(), "no run beside these");
    run(
        &scratch,
        &[&study[..], &["all.svg", "--live-window", "1000"]].concat(),
    );
    let picture = fs::read_to_string(scratch.path("all.svg")).unwrap();
    assert_eq!(picture.matches(" cycles</text>").count(), 4, "{picture}");
}

/// Where no technique of the study manages registers, one can be named; it takes the place of the others.
#[test]
fn what_manages_registers_can_be_named() {
    let scratch = Scratch::new();
    scratch.write("study.toml", STUDY);
    let none = warpwatt(
        &scratch.path(""),
        &["run", "study.toml", "--live", "none.csv"],
    );
    let text = stderr(&none);
    assert_eq!(none.status.code(), Some(2), "{text}");
    assert!(
        text.contains("error[run::live]") && text.contains("--live-with"),
        "{text}"
    );
    assert_eq!(stdout(&none), "");
    assert!(!scratch.path("none.csv").exists() && !scratch.path("results").exists());
    let with = ["--live-with", "register_virtualization"];
    let study = ["run", "study.toml", "--live", "with.csv"];
    let told = run(&scratch, &[&study[..], &with].concat());
    assert!(
        told.contains("of 2 runs") && told.contains("register_virtualization"),
        "{told}"
    );
    let other = ["run", "study.toml", "--live", "with.txt"];
    let refused = warpwatt(&scratch.path(""), &other);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("ends with .csv or .svg"));
}
