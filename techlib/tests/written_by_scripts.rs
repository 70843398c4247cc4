//! The data files that scripts write are what the scripts write from the facts of this project.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

type Outcome = Result<(), Box<dyn Error>>;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data")
}

/// The names of the files of `folder` that end in one of `ends`.
fn names(folder: &Path, ends: &[&str]) -> Result<BTreeSet<String>, Box<dyn Error>> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if ends.iter().any(|end| name.ends_with(end)) {
            found.insert(name);
        }
    }
    Ok(found)
}

/// Whether there is a Python that starts; a build needs none.
fn python() -> bool {
    let version = Command::new("python3").arg("--version").output();
    version.is_ok_and(|output| output.status.success())
}

/// Runs the script of `library` and compares what it writes with what is checked in, but for the files `by_hand`.
fn compare(library: &str, by_hand: &[&str]) -> Outcome {
    if !python() {
        eprintln!("skipped: without python3 the data of `{library}` are not written again");
        return Ok(());
    }
    let kept = data().join(library);
    let fresh = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("written-{library}"));
    if fresh.exists() {
        fs::remove_dir_all(&fresh)?;
    }
    fs::create_dir_all(&fresh)?;
    let script = kept.join("generate.py");
    let output = Command::new("python3")
        .arg("-B")
        .args([&script, &fresh])
        .output()?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {complaint}", script.display());
    let mut expected = names(&kept, &[".toml", ".csv"])?;
    expected.retain(|name| !by_hand.contains(&name.as_str()));
    assert_eq!(names(&fresh, &[""])?, expected, "files of `{library}`");
    for name in expected {
        let same = fs::read_to_string(kept.join(&name))?.replace("\r\n", "\n")
            == fs::read_to_string(fresh.join(&name))?.replace("\r\n", "\n");
        let ours = format!("techlib/data/{library}");
        assert!(
            same,
            "{ours}/{name} is not what its script writes: run `python3 {ours}/generate.py {ours}`"
        );
    }
    Ok(())
}

#[test]
fn silicon_is_what_its_script_writes() -> Outcome {
    compare("silicon", &[])
}

#[test]
fn itrs_is_what_its_script_writes() -> Outcome {
    compare("itrs", &[])
}

#[test]
fn operations_are_what_their_script_writes() -> Outcome {
    compare(
        "operations",
        &["ageing.toml", "package.toml", "variation.toml"],
    )
}

/// The source is the last column, so that a row without one ends in a comma.
#[test]
fn every_fact_has_a_source() -> Outcome {
    let facts = data().join("facts");
    for name in names(&facts, &[".csv"])? {
        let text = fs::read_to_string(facts.join(&name))?;
        let mut lines = text.lines();
        let columns = lines.next().ok_or("an empty table")?;
        assert!(columns.ends_with(",source"), "{name}: {columns}");
        assert_ne!(lines.clone().count(), 0, "{name} has no facts");
        for line in lines {
            let bare = line.ends_with(',') || line.ends_with("\"\"");
            assert!(!bare, "{name} has a fact without a source: {line}");
        }
    }
    Ok(())
}
