//! `warpwatt artifact` through the command.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::common::{Scratch, command, stderr, stdout, warpwatt};

const STUDY: &str = "[study]\ntitle = \"to be packed\"\n[gpu]\npreset = \"tesla-16sm\"\nsm.count = 2\nnode = \"32nm\"\n[workloads]\nkernels = [\"scan\", { launch = \"own/launch.toml\" }]\n";

/// A study that names a launch file, which names PTX, and its results.
fn studied(here: &Path) {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads/kernels/vector_add");
    fs::create_dir(here.join("own")).unwrap();
    for name in ["launch.toml", "kernel.ptx"] {
        fs::copy(kernels.join(name), here.join("own").join(name)).unwrap();
    }
    fs::write(here.join("study.toml"), STUDY).unwrap();
    let output = warpwatt(here, &["run", "study.toml", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

#[test]
fn what_is_packed_runs_alone() {
    let scratch = Scratch::new();
    let here = scratch.path("");
    studied(&here);
    let output = warpwatt(&here, &["artifact", "results", "--out", "packed"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let packed = here.join("packed");
    let names: Vec<String> = files(&packed)
        .iter()
        .map(|path| path.strip_prefix(&packed).unwrap().display().to_string())
        .collect();
    for name in [
        "own/kernel.ptx",
        "own/launch.toml",
        "reproduce.sh",
        "results/manifest.json",
        "results/report.html",
        "study.toml",
    ] {
        assert!(names.contains(&name.to_owned()), "{name} of {names:?}");
    }
    assert!(
        !names.iter().any(|name| name.ends_with("redb")),
        "{names:?}"
    );
    let sums = fs::read_to_string(packed.join("SHA256SUMS")).unwrap();
    assert_eq!(sums.lines().count(), names.len() - 1);
    for line in sums.lines() {
        let (sum, name) = line.split_once("  ").unwrap();
        let bytes = fs::read(packed.join(name)).unwrap();
        let now: String = Sha256::digest(&bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(sum, now, "{name}");
    }
    // Elsewhere, with nothing else of the study.
    let away = Scratch::new();
    fs::rename(&packed, away.path("packed")).unwrap();
    let again = warpwatt(
        &away.path("packed"),
        &["reproduce", "results/manifest.json", "--from", "."],
    );
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    assert!(stdout(&again).contains("all 2 points came out the same"));
}

/// Recorded launches are packed with their list. What is only called as a text of the study is, be it a file or a folder, is nobody's input.
#[test]
fn all_that_is_named_is_packed_and_nothing_else() {
    let scratch = Scratch::new();
    let here = scratch.path("");
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads/sass/tests/data");
    let traces = "program/arguments/traces";
    fs::create_dir_all(here.join(traces)).unwrap();
    let launches = ["kernel-1.traceg", "kernel-2.traceg.xz", "kernel-3.tracez"];
    for name in [&launches[..], &["kernelslist.g"]].concat() {
        fs::copy(recorded.join(name), here.join(traces).join(name)).unwrap();
    }
    let study = STUDY
        .replace("to be packed", "diary.txt")
        .replace("own/launch.toml", &format!("{traces}/kernelslist.g"));
    fs::write(here.join("study.toml"), study).unwrap();
    fs::write(here.join("diary.txt"), "private").unwrap();
    for folder in ["scan", "tesla-16sm", "32nm"] {
        fs::create_dir(here.join(folder)).unwrap();
        fs::write(here.join(folder).join("private.txt"), "private").unwrap();
    }
    let output = warpwatt(&here, &["run", "study.toml", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let output = warpwatt(&here, &["artifact", "results"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let packed = here.join("artifact");
    let names = files(&packed).into_iter().map(|path| {
        let name = path.strip_prefix(&packed).unwrap();
        name.display().to_string()
    });
    let names: Vec<String> = names.filter(|name| !name.starts_with("results/")).collect();
    let inputs = [&launches[..], &["kernelslist.g"]].concat();
    let inputs = inputs.iter().map(|name| format!("{traces}/{name}"));
    let others = ["README.md", "SHA256SUMS", "reproduce.sh", "study.toml"];
    let mut all: Vec<String> = inputs.chain(others.map(str::to_owned)).collect();
    all.sort();
    assert_eq!(names, all);
    let again = warpwatt(
        &packed,
        &["reproduce", "results/manifest.json", "--from", "."],
    );
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
}

#[cfg(unix)]
#[test]
fn its_script_does_so() {
    let scratch = Scratch::new();
    let here = scratch.path("");
    studied(&here);
    let output = warpwatt(&here, &["artifact", "results"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let program = command(&here);
    let folder = Path::new(program.get_program()).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let ran = std::process::Command::new("sh")
        .arg(here.join("artifact/reproduce.sh"))
        .args(["--no-cache"])
        .env("PATH", path)
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    assert!(stdout(&ran).contains("bit for bit"));
}

#[test]
fn files_that_are_not_what_they_were_are_not_packed() {
    let scratch = Scratch::new();
    let here = scratch.path("");
    studied(&here);
    let refused = |words: &[&str]| {
        let output = warpwatt(&here, &[&["artifact", "results"], words].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
        stderr(&output)
    };
    let there = refused(&["--out", "own"]);
    let ptx = here.join("own/kernel.ptx");
    let text = fs::read_to_string(&ptx).unwrap();
    fs::write(&ptx, format!("{text}\n// another one\n")).unwrap();
    let changed = refused(&["--out", "packed"]);
    fs::write(&ptx, text).unwrap();
    // The same study, from a folder below: what it names lies outside.
    fs::create_dir(here.join("below")).unwrap();
    let outside = STUDY.replace("own/launch.toml", "../own/launch.toml");
    fs::write(here.join("below/study.toml"), outside).unwrap();
    let output = warpwatt(&here.join("below"), &["run", "study.toml", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let output = warpwatt(&here.join("below"), &["artifact", "results"]);
    let messages = [there, changed, stderr(&output)];
    insta::assert_snapshot!("artifact_messages", messages.join("\n"));
    for name in [
        "packed",
        "below/artifact",
        ".packed.part",
        "below/.artifact.part",
    ] {
        assert!(!here.join(name).exists(), "{name}");
    }
}
