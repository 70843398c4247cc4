//! Files of the last version of each format are read, and JSON that scripts read only grows. Which versions there are is in `docs/changelog.md`.
//!
//! `WARPWATT_BLESS=1` writes the files of `tests/data/formats` anew: after a format was raised, or JSON lost a key on purpose. The changelog says so.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{Scratch, stderr, warpwatt};

const STUDY: &str = "[study]\ntitle = \"Formats\"\n[gpu]\npreset = \"tesla-16sm\"\nnode = \"32nm\"\n[workloads]\nkernels = [\"scan\"]\n[[technique]]\nname = \"filter_cache\"\nentries = [16]\n";

/// What scripts read: file, and the command that prints it.
const PRINTED: &[(&str, &[&str])] = &[
    (
        "kernel.json",
        &[
            "kernel", "scan", "--preset", "h100", "--node", "5nm", "--json",
        ],
    ),
    (
        "array.json",
        &[
            "array",
            "--capacity",
            "4KiB",
            "--word",
            "128b",
            "--node",
            "7nm",
            "--json",
        ],
    ),
    (
        "what-if.json",
        &[
            "what-if",
            "-k",
            "scan",
            "-t",
            "filter_cache",
            "--node",
            "32nm",
            "--json",
        ],
    ),
    ("trace.json", &["trace", "scan", "--json"]),
];

fn kept(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/formats");
    folder.join(name)
}

fn bless() -> bool {
    std::env::var_os("WARPWATT_BLESS").is_some()
}

/// Runs what must not be refused; checks that do not hold are no fault of a format.
fn read(here: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = warpwatt(here, arguments);
    let code = output.status.code();
    assert!(
        matches!(code, Some(0 | 1)),
        "{arguments:?}: {code:?}\n{}",
        stderr(&output)
    );
    output.stdout
}

/// The results of the last version, in a directory of this test's.
fn results(here: &Path) {
    fs::create_dir(here.join("results")).unwrap();
    let store = fs::read(kept("results.redb.lz4")).unwrap();
    let store = lz4_flex::decompress_size_prepended(&store).unwrap();
    fs::write(here.join("results/results.redb"), store).unwrap();
    fs::copy(kept("manifest.json"), here.join("results/manifest.json")).unwrap();
}

#[test]
fn results_of_the_last_version_are_reported() {
    let scratch = Scratch::new();
    let here = scratch.path("");
    if bless() {
        scratch.write("study.toml", STUDY);
        read(&here, &["run", "study.toml", "--quiet"]);
        let store = fs::read(here.join("results/results.redb")).unwrap();
        fs::write(
            kept("results.redb.lz4"),
            lz4_flex::compress_prepend_size(&store),
        )
        .unwrap();
        for name in ["manifest.json", "points.csv", "report.json"] {
            fs::copy(here.join("results").join(name), kept(name)).unwrap();
        }
        fs::remove_dir_all(here.join("results")).unwrap();
    }
    results(&here);
    let report: Value =
        serde_json::from_slice(&read(&here, &["report", "results", "--json"])).unwrap();
    let before: Value = serde_json::from_slice(&fs::read(kept("report.json")).unwrap()).unwrap();
    only_grows("report.json", &before, &report);
    let columns = |path: PathBuf| -> BTreeMap<String, Vec<String>> {
        let mut reader = csv::Reader::from_path(path).unwrap();
        let names: Vec<String> = reader
            .headers()
            .unwrap()
            .iter()
            .map(str::to_owned)
            .collect();
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        let column = |at: usize| rows.iter().map(|row| row[at].to_owned()).collect();
        names
            .into_iter()
            .enumerate()
            .map(|(at, name)| (name, column(at)))
            .collect()
    };
    let now = columns(here.join("results/points.csv"));
    let before = columns(kept("points.csv"));
    assert!(before.len() > 10 && before["cycles"].len() == 2);
    for (name, values) in &before {
        assert!(
            now.contains_key(name),
            "points.csv has no `{name}` any more"
        );
        // What is kept of a point; what else is told of it is made anew.
        if ["cycles", "area_m2", "dynamic_energy_j"].contains(&name.as_str()) {
            assert_eq!(&now[name], values, "{name}");
        }
    }
}

#[test]
fn a_manifest_of_the_last_version_is_run_again() {
    let scratch = Scratch::new();
    let here = scratch.path("");
    fs::copy(kept("manifest.json"), here.join("manifest.json")).unwrap();
    let verdict = read(&here, &["reproduce", "manifest.json", "--json"]);
    let verdict: Value = serde_json::from_slice(&verdict).unwrap();
    // What models say may have changed since.
    assert_eq!(verdict["points"], 2);
}

#[test]
fn a_trace_of_the_last_version_is_read() {
    let scratch = Scratch::new();
    let here = scratch.path("");
    let path = kept("scan.trace");
    let path = path.to_str().unwrap();
    if bless() {
        read(&here, &["trace", "scan", "--out", path]);
    }
    let trace: Value = serde_json::from_slice(&read(&here, &["trace", path, "--json"])).unwrap();
    assert_eq!(trace["warp_width"], 32);
}

#[test]
fn json_only_grows() {
    let scratch = Scratch::new();
    for (name, arguments) in PRINTED {
        let now = read(&scratch.path(""), arguments);
        if bless() {
            fs::write(kept(name), &now).unwrap();
        }
        let before: Value = serde_json::from_slice(&fs::read(kept(name)).unwrap()).unwrap();
        only_grows(name, &before, &serde_json::from_slice(&now).unwrap());
    }
}

/// Every key that there was is there, with a value of the same kind; a list's elements are taken together.
fn only_grows(place: &str, before: &Value, now: &Value) {
    match (before, now) {
        // What is not known in one case may be known in another.
        (Value::Null, _) | (_, Value::Null) => {}
        (Value::Object(before), Value::Object(now)) => {
            for (key, value) in before {
                let place = format!("{place}: {key}");
                let now = now.get(key).unwrap_or_else(|| panic!("{place} is gone"));
                only_grows(&place, value, now);
            }
        }
        (Value::Array(before), Value::Array(now)) => {
            if let (Some(before), Some(now)) = (together(before), together(now)) {
                only_grows(place, &before, &now);
            }
        }
        (Value::Bool(_), Value::Bool(_)) | (Value::Number(_), Value::Number(_)) => {}
        (Value::String(_), Value::String(_)) => {}
        _ => panic!("{place} is of another kind"),
    }
}

/// One value with the keys of all; of others than objects the first.
fn together(values: &[Value]) -> Option<Value> {
    let mut all = values.first()?.clone();
    if let Value::Object(all) = &mut all {
        for object in values.iter().filter_map(Value::as_object) {
            all.extend(
                object
                    .iter()
                    .map(|(key, value)| (key.clone(), value.clone())),
            );
        }
    }
    Some(all)
}

/// The table of the changelog names today's versions.
#[test]
fn the_changelog_tells_each_format_s_version() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/changelog.md");
    let page = fs::read_to_string(page).unwrap();
    let manifest: Value =
        serde_json::from_slice(&fs::read(kept("manifest.json")).unwrap()).unwrap();
    let versions = [
        ("result store", warpwatt::store::FORMAT),
        ("outcomes in it", warpwatt::store::OUTCOMES),
        ("manifest", manifest["format"].as_u64().unwrap()),
        ("trace", u64::from(warpwatt_simt::trace::file::FORMAT)),
        (
            "campaigns of injected faults",
            u64::from(warpwatt::inject::MODEL_VERSION),
        ),
    ];
    for (format, version) in versions {
        let row = format!("| {format} | {version} |");
        assert!(page.contains(&row), "docs/changelog.md has no `{row}`");
    }
}

/// What cannot take the version from `Cargo.toml` has it too.
#[test]
fn the_version_is_the_same_everywhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let version = env!("CARGO_PKG_VERSION");
    for (file, line) in [
        ("CITATION.cff", format!("version: {version}")),
        ("docs/changelog.md", format!("## {version}")),
        (
            "estimator/packaging/conda/recipe.yaml",
            format!("  version: \"{version}\""),
        ),
    ] {
        let text = fs::read_to_string(root.join(file)).unwrap();
        assert!(
            text.lines().any(|one| one == line),
            "{file} has no `{line}`"
        );
    }
    // Rooms name each other by it.
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let rooms = manifest.lines().filter(|line| line.starts_with("warpwatt"));
    let exact = format!("version = \"={version}\"");
    let rooms: Vec<&str> = rooms.collect();
    assert!(rooms.len() > 20 && rooms.iter().all(|line| line.contains(&exact)));
}

/// The test of the comparison itself.
#[test]
#[should_panic(expected = "x: a: b is gone")]
fn a_key_that_is_gone_is_found() {
    let before = serde_json::json!({"a": [{"c": 1}, {"b": 1}]});
    let now = serde_json::json!({"a": [{"c": 1}, {"d": 1}]});
    only_grows("x", &before, &now);
}
