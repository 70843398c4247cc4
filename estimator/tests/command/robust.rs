//! What goes wrong with disks, clocks and other processes: a clear error, and nothing lost.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use crate::common::{Scratch, command, stderr, stdout, warpwatt};

const STUDY: &str = r#"
[study]
title = "Robust"
[gpu]
preset = "tesla-16sm"
node = ["32nm", "40nm", "45nm", "28nm"]
[workloads]
kernels = ["vector_add", "reduction", "matrix_mul", "black_scholes"]
[[technique]]
name = "filter_cache"
entries = [16, 32]
"#;

/// A disk that is full, by a limit on the size of files: what was finished before stays, and the next run goes on.
#[test]
fn a_full_disk_is_a_clear_error_and_what_was_written_stays() {
    let scratch = Scratch::new();
    scratch.write("study.toml", STUDY);
    let limited = |kilobytes: u32| {
        let run = format!(
            "trap '' XFSZ; ulimit -f {kilobytes}; exec '{}' run study.toml --quiet --jobs 1",
            env!("CARGO_BIN_EXE_warpwatt")
        );
        let mut shell = Command::new("bash");
        shell
            .current_dir(scratch.path(""))
            .env("WARPWATT_CACHE", "")
            .env("NO_COLOR", "1");
        shell.args(["-c", &run]).output().unwrap()
    };
    let mut written = false;
    for kilobytes in [1, 400, 800, 1000, 1100, 1200, 1300] {
        let output = limited(kilobytes);
        let text = stderr(&output);
        if output.status.success() {
            break;
        }
        assert_eq!(output.status.code(), Some(2), "{kilobytes} KiB: {text}");
        assert!(text.contains("::unwritable]"), "{kilobytes} KiB: {text}");
        assert!(
            !text.contains("panicked") && !text.contains("defect"),
            "{text}"
        );
        written |= scratch.path("results/results.redb").exists();
    }
    assert!(written, "one of the limits leaves room for some points");
    let output = warpwatt(&scratch.path(""), &["run", "study.toml", "--jobs", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("points are in the result store already"),
        "{}",
        stderr(&output)
    );
    let whole = warpwatt(
        &scratch.path(""),
        &["run", "study.toml", "--quiet", "--out", "whole"],
    );
    assert_eq!(stdout(&output), stdout(&whole));
    for name in ["points.csv", "comparisons.csv", "report.json"] {
        let read = |out: &str| fs::read(scratch.path(out).join(name)).unwrap();
        assert!(read("results") == read("whole"), "{name}");
    }
}

/// The second run in a directory is refused while the first works, and does not disturb it.
#[test]
fn a_second_run_in_one_directory_is_refused_and_the_first_ends_well() {
    let scratch = Scratch::new();
    scratch.write("study.toml", STUDY);
    let mut first = command(&scratch.path(""))
        .args(["run", "study.toml", "--jobs", "1"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(first.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("kernel 1 of 4")));
    let second = warpwatt(&scratch.path(""), &["run", "study.toml", "--quiet"]);
    let text = stderr(&second);
    assert_eq!(second.status.code(), Some(2), "{text}");
    assert!(text.contains("error[store::locked]"), "{text}");
    for line in lines {
        line.unwrap();
    }
    assert!(first.wait().unwrap().success());
    let again = warpwatt(&scratch.path(""), &["run", "study.toml"]);
    assert!(
        stderr(&again).contains("all 48 points"),
        "{}",
        stderr(&again)
    );
}

/// Neither results nor traces care for what the clock says.
#[test]
fn a_clock_that_goes_back_changes_nothing() {
    let scratch = Scratch::new();
    scratch.write(
        "study.toml",
        &STUDY.replace(r#", "matrix_mul", "black_scholes""#, ""),
    );
    let run = |arguments: &[&str]| {
        let mut run = command(&scratch.path(""));
        run.env("WARPWATT_CACHE", scratch.path("cache"))
            .args(arguments);
        let output = run.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        output
    };
    let first = run(&["run", "study.toml"]);
    let later = SystemTime::now() + Duration::from_secs(400 * 86_400);
    for directory in ["results", "cache"] {
        for entry in fs::read_dir(scratch.path(directory)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                File::options()
                    .write(true)
                    .open(path)
                    .unwrap()
                    .set_modified(later)
                    .unwrap();
            }
        }
    }
    let again = run(&["run", "study.toml"]);
    assert!(
        stderr(&again).contains("all 24 points"),
        "{}",
        stderr(&again)
    );
    let fresh = run(&["run", "study.toml", "--fresh"]);
    assert!(
        stderr(&fresh).contains("kept traces of vector_add"),
        "{}",
        stderr(&fresh)
    );
    assert!(stdout(&first) == stdout(&again) && stdout(&first) == stdout(&fresh));
}
