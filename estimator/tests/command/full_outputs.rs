//! Standard output that takes nothing, or not all: every command says so and fails; only a reader that has gone away is no fault.

#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Output};

use crate::common::{Scratch, command, errors, same_reports, stderr, stdout, warpwatt};

/// Two points that differ.
const STUDY: &str = r#"
[study]
title = "small"
[gpu]
preset = "tesla-16sm"
node = ["32nm", "45nm"]
[workloads]
kernels = ["vector_add"]
"#;

/// Every way to print, with the exit code that it has where it can.
const PRINTING: &str = "\
0 --help
0 --version
0 help run
0 run --help
0 run study.toml --quiet
0 run study.toml --quiet --json
0 run study.toml --dry-run
2 run none.toml --json
0 what-if -k vector_add -t filter_cache --node 45nm
0 kernel vector_add
0 kernel vector_add --json
0 calibrate kernels.csv --board qv100 --out board.toml
0 calibrate kernels.csv --board qv100 --out board.toml --json
0 predict kernels.csv --board qv100
0 predict kernels.csv --board qv100 --json
0 avf vector_add --preset tesla-16sm
0 ptx copy.ptx
0 ptx copy.ptx --json
1 ptx unsupported.ptx
0 new copy.ptx --entry copy --out begun.toml
0 trace vector_add --json
0 inject vector_add --structure register_file --samples 3 --quiet
0 inject vector_add --structure lanes --samples 3 --quiet
0 logic
0 logic secded --width 32 --json
0 array --capacity 4KiB --word 128b --node 45nm
0 array --batch arrays.csv
0 list kernels
0 list presets --json
0 tech show 7nm
0 tech compare 45nm 7nm --json
0 tech check node.toml
0 report results
0 report results --json
0 reproduce results
0 optimize study.toml --minimise edp_js --quiet
0 effects results --metric energy_j
0 plan study.toml
0 plan study.toml --json --out queue
0 work queue --quiet
0 work queue --quiet --json
0 status queue
0 status queue --json
0 merge queue --quiet
0 slurm study.toml --nodes 2 --time 01:00:00 --out queue
0 merge merged results --quiet
0 diff results results
0 artifact results --out packed
0 explain results --metric energy_j --point 1 --json
0 sensitivity results --metric energy_j --point 1
0 validate refused --quiet
0 schema study
0 completions zsh
0 man
";

/// A directory in which all of these can run.
fn prepared() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("study.toml", STUDY);
    for file in ["copy.ptx", "unsupported.ptx"] {
        fs::copy(errors().join("launches").join(file), scratch.path(file)).unwrap();
    }
    let arrays = "size_bytes,block_bytes,node_um\n65536,64,0.032\n";
    scratch.write("arrays.csv", arrays);
    let kernels = include_str!("../../board/measured/qv100_kernels.csv");
    scratch.write("kernels.csv", kernels);
    scratch.write("node.toml", "extends = \"silicon:7nm\"\n");
    for words in [
        &["run", "study.toml", "--quiet"][..],
        &["plan", "study.toml", "--out", "queue"],
        &["work", "queue", "--quiet"],
    ] {
        let ran = warpwatt(&scratch.path(""), words);
        assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    }
    scratch
}

fn printing() -> impl Iterator<Item = (i32, &'static str)> {
    PRINTING.lines().map(|line| {
        let (code, words) = line.split_once(' ').unwrap();
        (code.parse().unwrap(), words)
    })
}

/// The command in a shell, which sets up its standard output.
fn shell(scratch: &Scratch, words: &str, setup: &str) -> Output {
    // `new` and `artifact` overwrite nothing, not even what they wrote themselves.
    let _ = fs::remove_file(scratch.path("begun.toml"));
    let _ = fs::remove_dir_all(scratch.path("packed"));
    let line = format!(
        "trap '' XFSZ; exec '{}' {words} {setup}",
        env!("CARGO_BIN_EXE_warpwatt")
    );
    let mut shell = Command::new("bash");
    let shell = shell
        .current_dir(scratch.path(""))
        .env_remove("COLUMNS")
        .env("WARPWATT_CACHE", "")
        .env("NO_COLOR", "1");
    shell.args(["-c", &line]).output().unwrap()
}

#[test]
fn every_command_is_among_those_that_print() {
    let scratch = Scratch::new();
    let help = stdout(&warpwatt(&scratch.path(""), &["--help"]));
    let commands = help.split("Commands:").nth(1).unwrap();
    let commands = commands.split("Options:").next().unwrap();
    let commands: BTreeSet<&str> = commands
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|word| !word.is_empty())
        .collect();
    assert!(commands.len() > 15, "{commands:?}");
    let printing: BTreeSet<&str> = printing()
        .filter_map(|(_, words)| words.split(' ').next())
        .collect();
    // Standard output of `exec` is that of the program that it runs; `serve` ends when it is stopped, and has a test of its own.
    let others = commands.difference(&printing);
    let missing: Vec<_> = others
        .filter(|command| !["exec", "serve"].contains(command))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn what_cannot_be_written_fails_and_is_told() {
    let scratch = prepared();
    for (_, words) in printing() {
        // A full disk, and a descriptor that is open for reading only, which the system takes for a fault of the caller.
        for (setup, reason) in [
            (">/dev/full", "No space left on device"),
            ("1</dev/null", "Bad file descriptor"),
        ] {
            let output = shell(&scratch, words, setup);
            let text = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{words} {setup}: {text}");
            let told = format!("error[output::stdout]: cannot write to standard output: {reason}");
            assert!(text.contains(&told), "{words} {setup}: {text}");
            assert!(text.contains("= help: "), "{words} {setup}: {text}");
        }
    }
}

/// The library of the language opens /dev/null before we begin where standard output is closed, so that no file of ours takes its place.
#[test]
fn a_closed_output_is_none_and_a_reader_that_goes_away_no_fault() {
    let scratch = prepared();
    let before = fs::read(scratch.path("results/report.json")).unwrap();
    for (code, words) in printing() {
        for setup in [">&-", "> >(exec 0<&-; sleep 0.2)"] {
            let output = shell(&scratch, words, setup);
            let text = stderr(&output);
            assert_eq!(output.status.code(), Some(code), "{words} {setup}: {text}");
            assert!(!text.contains("output::"), "{words} {setup}: {text}");
            assert_eq!(stdout(&output), "", "{words}");
        }
    }
    assert!(before == fs::read(scratch.path("results/report.json")).unwrap());
}

/// Half a document on a disk that fills up is an error as well.
#[test]
fn a_document_that_is_cut_is_told() {
    let scratch = prepared();
    for words in ["list presets --json", "schema study", "completions bash"] {
        let whole = command(&scratch.path(""))
            .args(words.split(' '))
            .output()
            .unwrap();
        assert!(whole.stdout.len() > 2048, "{words}");
        let line = format!(
            "bash -c \"ulimit -f 1; exec '{}' {words}\" > cut",
            env!("CARGO_BIN_EXE_warpwatt")
        );
        let mut shell = Command::new("bash");
        let shell = shell.current_dir(scratch.path("")).env("NO_COLOR", "1");
        let output = shell
            .args(["-c", &format!("trap '' XFSZ; {line}")])
            .output()
            .unwrap();
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words}: {text}");
        assert!(text.contains("error[output::stdout]"), "{words}: {text}");
        let cut = fs::read(scratch.path("cut")).unwrap();
        assert!(whole.stdout.starts_with(&cut) && cut.len() < whole.stdout.len());
    }
}

/// Files that are written whole stay as they were if there is no room for the new ones.
#[test]
fn files_stay_as_they_were_on_a_full_disk() {
    let scratch = prepared();
    let here = scratch.path("");
    fs::create_dir(scratch.path("before")).unwrap();
    for entry in fs::read_dir(scratch.path("results")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_owned();
        fs::copy(&path, scratch.path("before").join(name)).unwrap();
    }
    for (file, words) in [
        ("table.csv", "array --batch arrays.csv --out table.csv"),
        ("counts.csv", "kernel vector_add --activity counts.csv"),
        ("c.bin", "kernel vector_add --dump c=c.bin"),
        ("live.csv", "kernel vector_add --live live.csv"),
        (
            "flips.json",
            "inject vector_add --structure register_file --samples 3 --out flips.json",
        ),
        ("lines.json", "kernel vector_add --timeline lines.json"),
        ("v.trace", "trace vector_add --out v.trace"),
        ("warpwatt.1", "man --out ."),
        ("results/report.json", "report results --show all"),
    ] {
        if !file.starts_with("results") {
            scratch.write(file, "as it was");
        }
        let before = fs::read(scratch.path(file)).unwrap();
        let line = format!(
            "trap '' XFSZ; ulimit -f 0; exec '{}' {words} | cat",
            env!("CARGO_BIN_EXE_warpwatt")
        );
        let mut shell = Command::new("bash");
        let shell = shell
            .current_dir(&here)
            .env("WARPWATT_CACHE", "")
            .env("NO_COLOR", "1");
        let output = shell
            .args(["-o", "pipefail", "-c", &line])
            .output()
            .unwrap();
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words}: {text}");
        assert!(text.contains("::unwritable]"), "{words}: {text}");
        assert!(before == fs::read(scratch.path(file)).unwrap(), "{words}");
        let left: Vec<_> = fs::read_dir(&here)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".part"))
            .collect();
        assert!(left.is_empty(), "{words}: {left:?}");
    }
    same_reports(&scratch.path("before"), &scratch.path("results"));
}

/// A kill in the middle of a report leaves files under the names that they have until they are whole; the next report need not write those.
#[test]
fn what_a_kill_left_of_a_report_goes_with_the_next_one() {
    let scratch = Scratch::new();
    let here = scratch.path("");
    let line = |words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        let output = warpwatt(&here, &words);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    };
    scratch.write(
        "study.toml",
        "[study]\ntitle = \"Left\"\n[gpu]\npreset = \"tesla-16sm\"\nnode = \"32nm\"\n[workloads]\nkernels = [\"vector_add\"]\n",
    );
    line("run study.toml --quiet");
    for name in [
        ".points.parquet.part",
        ".digest.json.part",
        ".report.html.part",
        ".mine.part",
    ] {
        scratch.write(&format!("results/{name}"), "half of it");
    }
    line("report results");
    let left: Vec<_> = fs::read_dir(scratch.path("results"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".part"))
        .collect();
    assert_eq!(left, [".mine.part"]);
}
