//! Studies that ship, damaged in many ways, through the command: no panic, reasons with their places, and nothing half written.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::Index;

use crate::common::{Scratch, stderr, stdout, warpwatt};

/// What befalls a study.
#[derive(Clone, Debug)]
enum Damage {
    /// Bytes go.
    Delete(Index, usize),
    /// Bytes come twice.
    Double(Index, usize),
    /// A byte becomes another.
    Garble(Index, u8),
    /// A value becomes another: number, text, list, table.
    Value(Index, &'static str),
    /// A line goes, or comes twice.
    Line(Index, bool),
}

/// What stands where a value stood.
const VALUES: [&str; 12] = [
    "0",
    "-1",
    "1e308",
    "nan",
    "99999999999999999999",
    "\"\"",
    "\"none\"",
    "[]",
    "{}",
    "[[1, 2], [3]]",
    "true",
    "1979-05-27",
];

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<Index>;
    prop_oneof![
        (at(), 1..40usize).prop_map(|(at, bytes)| Damage::Delete(at, bytes)),
        (at(), 1..40usize).prop_map(|(at, bytes)| Damage::Double(at, bytes)),
        (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Garble(at, byte)),
        (at(), prop::sample::select(&VALUES[..])).prop_map(|(at, value)| Damage::Value(at, value)),
        (at(), any::<bool>()).prop_map(|(at, twice)| Damage::Line(at, twice)),
    ]
}

fn damaged(bytes: &[u8], damage: &Damage) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let end = |at: usize, count: usize, bytes: &[u8]| (at + count).min(bytes.len());
    match damage {
        _ if bytes.is_empty() => {}
        Damage::Delete(at, count) => {
            let at = at.index(bytes.len());
            bytes.drain(at..end(at, *count, &bytes));
        }
        Damage::Double(at, count) => {
            let at = at.index(bytes.len());
            let piece = bytes[at..end(at, *count, &bytes)].to_vec();
            bytes.splice(at..at, piece);
        }
        Damage::Garble(at, byte) => {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        Damage::Value(..) | Damage::Line(..) => return damaged_line(&bytes, damage),
    }
    bytes
}

fn damaged_line(bytes: &[u8], damage: &Damage) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    match damage {
        Damage::Line(at, true) => {
            let at = at.index(lines.len());
            lines.insert(at, lines[at].clone());
        }
        Damage::Line(at, false) => drop(lines.remove(at.index(lines.len()))),
        Damage::Value(at, value) => {
            let assigns = |line: &&mut Vec<u8>| line.contains(&b'=');
            let mut assignments: Vec<&mut Vec<u8>> = lines.iter_mut().filter(assigns).collect();
            if !assignments.is_empty() {
                let at = at.index(assignments.len());
                let line = &mut assignments[at];
                let key = line
                    .split(|byte| *byte == b'=')
                    .next()
                    .unwrap_or_default()
                    .len();
                line.truncate(key + 1);
                line.extend_from_slice(value.as_bytes());
                line.push(b'\n');
            }
        }
        _ => {}
    }
    lines.concat()
}

fn shipped() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads/studies");
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .collect();
    found.sort();
    assert!(found.len() > 10, "only {} studies ship", found.len());
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// What can still run is not run: that takes too long.
    #[test]
    fn a_damaged_study_is_refused_with_places_or_can_run(
        study in prop::sample::select(shipped()),
        damages in prop::collection::vec(damage(), 1..5),
    ) {
        let scratch = Scratch::new();
        let bytes = damages.iter().fold(fs::read(study).unwrap(), |bytes, it| damaged(&bytes, it));
        fs::write(scratch.path("study.toml"), bytes).unwrap();
        let forecast = warpwatt(&scratch.path(""), &["run", "study.toml", "--dry-run"]);
        let text = stderr(&forecast);
        prop_assert!(!text.contains("panicked") && !text.contains("::defect]"), "{}", text);
        if forecast.status.code() != Some(0) {
            let run = warpwatt(&scratch.path(""), &["run", "study.toml", "--quiet"]);
            for refused in [&forecast, &run] {
                prop_assert_eq!(refused.status.code(), Some(2), "{}", stderr(refused));
                prop_assert_eq!(stdout(refused), "");
            }
            let unreadable = text.starts_with("error[input::unreadable]");
            prop_assert!(unreadable || text.contains("--> study.toml:"), "{}", text);
        }
        let left = fs::read_dir(scratch.path("")).unwrap().count();
        prop_assert_eq!(left, 1, "something else than the study is there");
    }
}
