//! What the tests of the command share.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory of this test alone, removed at the end.
pub struct Scratch(PathBuf);

impl Scratch {
    /// A new directory.
    pub fn new() -> Scratch {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "command-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file into it.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The command in `directory`, its arguments yet to come.
pub fn command(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpwatt"));
    command
        .current_dir(directory)
        .env_remove("COLUMNS")
        .env("WARPWATT_CACHE", "")
        .env("NO_COLOR", "1");
    command
}

/// Runs the command in `directory`.
pub fn warpwatt(directory: &Path, arguments: &[&str]) -> Output {
    command(directory).args(arguments).output().unwrap()
}

/// Standard output as text.
pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Standard error as text.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Words of a command line; quotes keep spaces.
pub fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A study of one point.
pub const ONE_POINT: &str = r#"
[study]
title = "small"
[gpu]
preset = "tesla-16sm"
node = "32nm"
[workloads]
kernels = ["vector_add"]
"#;

/// Two directories of results hold the same tables and pages, byte for byte.
pub fn same_reports(one: &Path, other: &Path) {
    for name in [
        "points.csv",
        "comparisons.csv",
        "report.json",
        "report.html",
    ] {
        let read = |results: &Path| fs::read(results.join(name)).unwrap();
        assert!(read(one) == read(other), "{name} of {}", other.display());
    }
}

/// Where the faulty studies are.
pub fn errors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors")
}
