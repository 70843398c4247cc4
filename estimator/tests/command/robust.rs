//! What goes wrong with disks, clocks and other processes: a clear error, and nothing lost.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use warpwatt::store::Store;

use crate::common::{Scratch, command, same_reports, stderr, stdout, warpwatt};

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

/// A study that is stopped again and again, by Ctrl-C and by kill -9, loses nothing that it had written, and comes to the bytes of one that was not.
#[test]
#[cfg(unix)]
fn a_study_that_is_stopped_again_and_again_goes_on_to_the_same_bytes() {
    let scratch = Scratch::new();
    scratch.write("study.toml", STUDY);
    let whole = warpwatt(
        &scratch.path(""),
        &["run", "study.toml", "--quiet", "--out", "whole"],
    );
    assert_eq!(whole.status.code(), Some(0), "{}", stderr(&whole));
    let mut held = 0;
    for (kernel, signal) in [(2, interrupt()), (2, "KILL"), (2, interrupt()), (1, "KILL")] {
        stopped_at(&scratch, kernel, signal);
        let store = Store::open_existing(&scratch.path("results")).unwrap();
        let now = store.len().unwrap();
        assert!(
            now >= held,
            "{now} of {held} points are left after {signal}"
        );
        held = now;
        drop(store);
        let report = scratch.path("results/report.json");
        assert!(!report.exists(), "no report is written of a part");
    }
    assert!(held > 0, "the kernels before the last were kept");
    let output = warpwatt(&scratch.path(""), &["run", "study.toml", "--jobs", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let known = format!("{held} of 48 points are in the result store already");
    assert!(stderr(&output).contains(&known), "{}", stderr(&output));
    assert_eq!(stdout(&output), stdout(&whole));
    same_reports(&scratch.path("whole"), &scratch.path("results"));
}

/// What Ctrl-C sends. Where jobs in the background are told to ignore it, as shells without job control do, what ends a program as it does.
#[cfg(unix)]
fn interrupt() -> &'static str {
    const INT: u64 = 1 << 1;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    if mask.unwrap_or(0) & INT == 0 {
        "INT"
    } else {
        "TERM"
    }
}

/// Runs the study until it has executed so many of the kernels that are left, and sends it a signal.
#[cfg(unix)]
fn stopped_at(scratch: &Scratch, kernel: u32, signal: &str) {
    let mut run = command(&scratch.path(""))
        .args(["run", "study.toml", "--jobs", "1"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(run.stderr.take().unwrap()).lines();
    let there = format!("kernel {kernel} of ");
    assert!(lines.any(|line| line.unwrap().contains(&there)));
    let sent = Command::new("kill")
        .args([format!("-{signal}"), run.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    drop(lines);
    let status = run.wait().unwrap();
    assert!(!status.success(), "{signal} came too late");
}

/// A table that is stopped in the middle leaves no half of its results.
#[test]
#[cfg(unix)]
fn a_table_that_is_killed_leaves_nothing_half() {
    let scratch = Scratch::new();
    let row = |size: u32| format!("{},64,0.032\n", 1024 * (size + 1));
    let rows: String = (0..2_000).map(row).collect();
    scratch.write(
        "arrays.csv",
        &format!("size_bytes,block_bytes,node_um\n{rows}"),
    );
    let arguments = [
        "array",
        "--batch",
        "arrays.csv",
        "--out",
        "out.csv",
        "--jobs",
        "1",
    ];
    for signal in [interrupt(), "KILL"] {
        let mut run = command(&scratch.path("")).args(arguments).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(100));
        let sent = Command::new("kill")
            .args([format!("-{signal}"), run.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
        let ended = run.wait().unwrap().success();
        assert_eq!(scratch.path("out.csv").exists(), ended, "{signal}");
        if ended {
            fs::remove_file(scratch.path("out.csv")).unwrap();
        }
    }
}
