//! The trace cache through the command: results never depend on it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Scratch, command, errors, stderr, warpwatt};

const STUDY: &str = r#"
[study]
title = "kept traces"
[gpu]
preset = "tesla-16sm"
node = "32nm"
[workloads]
kernels = ["vector_add", "reduction"]
[output]
directory = "results"
formats = ["csv", "json", "html"]
"#;

/// Everything that a run of the study leaves, by name; standard output among it.
fn run(scratch: &Scratch, out: &str, more: &[&str]) -> (BTreeMap<String, Vec<u8>>, String) {
    scratch.write("study.toml", STUDY);
    let arguments = [&["run", "study.toml", "--json", "--out", out], more].concat();
    let output = warpwatt(&scratch.path(""), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let entries = fs::read_dir(scratch.path(out)).unwrap();
    let files = entries.map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, fs::read(&path).unwrap())
    });
    let mut left: BTreeMap<_, _> = files.collect();
    left.insert("standard output".to_owned(), output.stdout.clone());
    (left, stderr(&output))
}

fn traces(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn a_study_leaves_the_same_bytes_with_and_without_kept_traces() {
    let scratch = Scratch::new();
    let (without, _) = run(&scratch, "a", &["--no-cache"]);
    assert!(without.len() >= 5, "{:?}", without.keys());
    let (first, said) = run(&scratch, "b", &["--cache", "kept"]);
    assert!(said.contains("executed vector_add"), "{said}");
    let (second, said) = run(&scratch, "c", &["--cache", "kept"]);
    assert!(said.contains("kept traces of vector_add"), "{said}");
    assert!(!said.contains("executed"), "{said}");
    for (name, bytes) in &without {
        assert!(first[name] == *bytes, "{name}, when traces are written");
        assert!(second[name] == *bytes, "{name}, when traces are read");
    }
    assert_eq!(traces(&scratch.path("kept")).len(), 2);
}

#[test]
fn a_kernel_is_shown_the_same_with_and_without_kept_traces() {
    let scratch = Scratch::new();
    let cache = scratch.path("kept");
    let shown = |more: &[&str]| {
        let arguments = [&["kernel", "bfs", "--json"], more].concat();
        let mut command = command(&errors());
        let output = command
            .args(&arguments)
            .env("WARPWATT_CACHE", &cache)
            .output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(stderr(&output), "");
        output.stdout
    };
    let without = shown(&["--no-cache"]);
    assert!(!cache.exists());
    assert_eq!(shown(&[]), without);
    assert_eq!(traces(&cache).len(), 1);
    assert_eq!(shown(&[]), without);
    let other = shown(&["--limit", "1000000"]);
    assert_eq!(other, without, "other limits, same result");
    assert_eq!(traces(&cache).len(), 2, "but another execution");
}

/// Buffers are not kept, so that a dump needs an execution.
#[test]
fn dumps_are_written_whatever_is_kept() {
    let scratch = Scratch::new();
    let dump = |file: &str| {
        let to = format!("c={file}");
        let arguments = ["kernel", "vector_add", "--cache", "kept", "--dump", &to];
        let output = warpwatt(&scratch.path(""), &arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        fs::read(scratch.path(file)).unwrap()
    };
    warpwatt(
        &scratch.path(""),
        &["kernel", "vector_add", "--cache", "kept"],
    );
    assert_eq!(dump("c.bin").len(), 4 * 131_000);
}

/// A wrong result is found again each time.
#[test]
fn an_execution_that_fails_its_check_is_not_kept() {
    let scratch = Scratch::new();
    let launch = fs::read_to_string(errors().join("launches/copy.toml")).unwrap();
    let expect = "init = \"zeros()\"\nfile = \"want.bin\"";
    scratch.write("copy.toml", &launch.replace("init = \"zeros()\"", expect));
    fs::copy(errors().join("launches/copy.ptx"), scratch.path("copy.ptx")).unwrap();
    fs::write(scratch.path("want.bin"), [9; 128]).unwrap();
    for _ in 0..2 {
        let arguments = ["kernel", "copy.toml", "--cache", "kept"];
        let output = warpwatt(&scratch.path(""), &arguments);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(!scratch.path("kept").exists());
    }
    let right: Vec<u8> = (0..32u32).flat_map(u32::to_le_bytes).collect();
    fs::write(scratch.path("want.bin"), right).unwrap();
    let arguments = ["kernel", "copy.toml", "--cache", "kept"];
    let output = warpwatt(&scratch.path(""), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    fs::write(scratch.path("want.bin"), [9; 128]).unwrap();
    let output = warpwatt(&scratch.path(""), &arguments);
    assert_eq!(output.status.code(), Some(1), "expectations decide, too");
}

#[test]
fn a_damaged_trace_is_told_of_and_replaced() {
    let scratch = Scratch::new();
    let (first, _) = run(&scratch, "a", &["--cache", "kept"]);
    let whole = traces(&scratch.path("kept")).map_bytes();
    for (number, path) in traces(&scratch.path("kept")).iter().enumerate() {
        let mut bytes = fs::read(path).unwrap();
        let middle = bytes.len() / 2;
        match number {
            0 => bytes[middle] ^= 0x40,
            _ => bytes.truncate(middle),
        }
        fs::write(path, bytes).unwrap();
    }
    let (second, said) = run(&scratch, "b", &["--cache", "kept"]);
    assert_eq!(said.matches("cache::unusable").count(), 2, "{said}");
    assert!(said.contains("checksum"), "{said}");
    assert_eq!(traces(&scratch.path("kept")).map_bytes(), whole);
    assert!(first == second);
}

trait Bytes {
    fn map_bytes(&self) -> Vec<Vec<u8>>;
}

impl Bytes for Vec<PathBuf> {
    fn map_bytes(&self) -> Vec<Vec<u8>> {
        self.iter().map(|path| fs::read(path).unwrap()).collect()
    }
}

#[test]
fn processes_share_a_cache() {
    let scratch = Scratch::new();
    let start = || {
        let arguments = ["kernel", "reduction", "--json", "--cache", "kept"];
        let mut command = command(&scratch.path(""));
        command.args(arguments).stdout(std::process::Stdio::piped());
        command
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    };
    let all = [(); 4]
        .map(|()| start())
        .map(|child| child.wait_with_output().unwrap());
    for output in &all {
        assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
        assert_eq!(stderr(output), "");
        assert!(output.stdout == all[0].stdout);
    }
    assert_eq!(
        traces(&scratch.path("kept")).len(),
        1,
        "and nothing half-written"
    );
}

#[test]
fn what_is_said_of_the_cache_must_make_sense() {
    for limit in ["lots", "1", "-1GiB", ""] {
        let arguments = ["kernel", "vector_add", "--cache-limit", limit];
        let arguments: Vec<&str> = match limit {
            "-1GiB" => vec!["kernel", "vector_add", "--cache-limit=-1GiB"],
            _ => arguments.to_vec(),
        };
        let output = warpwatt(&errors(), &arguments);
        assert_eq!(output.status.code(), Some(2), "{limit}");
        assert!(
            stderr(&output).contains("cache::limit"),
            "{}",
            stderr(&output)
        );
    }
}
