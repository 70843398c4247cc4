//! The invariants of `docs/architecture.md`, checked against manifests and sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

#[path = "invariants/modules.rs"]
mod modules;

fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests
        .parent()
        .expect("tests/ lies in the workspace")
        .to_owned()
}

/// Folder of each crate.
const ROOMS: &[(&str, &str)] = &[
    ("warpwatt-techlib", "techlib"),
    ("warpwatt-circuit", "models/circuit"),
    ("warpwatt-activity", "models/activity"),
    ("warpwatt-gpu", "models/gpu"),
    ("warpwatt-reliability", "models/reliability"),
    ("warpwatt-structures", "models/structures"),
    ("warpwatt-techniques", "models/techniques"),
    ("warpwatt-ptx", "workloads/ptx"),
    ("warpwatt-simt", "workloads/simt"),
    ("warpwatt-gcn", "workloads/gcn"),
    ("warpwatt-sass", "workloads/sass"),
    ("warpwatt-suite", "workloads/suite"),
    ("warpwatt-cudart", "workloads/cudart"),
    ("warpwatt-input", "estimator/input"),
    ("warpwatt-pricing", "estimator/pricing"),
    ("warpwatt-array", "estimator/array"),
    ("warpwatt-study", "estimator/study"),
    ("warpwatt-store", "estimator/store"),
    ("warpwatt-run", "estimator/run"),
    ("warpwatt-report", "estimator/report"),
    ("warpwatt-analysis", "estimator/analysis"),
    ("warpwatt-board", "estimator/board"),
    ("warpwatt-page", "estimator/page"),
    ("warpwatt-validation", "estimator/validation"),
    ("warpwatt", "estimator"),
    ("warpwatt-python", "estimator/python"),
];

/// The arrows of the architecture page: what each room may build on.
const ARROWS: &[(&str, &[&str])] = &[
    ("warpwatt-techlib", &[]),
    ("warpwatt-circuit", &["warpwatt-techlib"]),
    ("warpwatt-activity", &[]),
    ("warpwatt-gpu", &["warpwatt-activity", "warpwatt-simt"]),
    ("warpwatt-reliability", &["warpwatt-gpu", "warpwatt-simt"]),
    (
        "warpwatt-structures",
        &["warpwatt-activity", "warpwatt-circuit", "warpwatt-gpu"],
    ),
    (
        "warpwatt-techniques",
        &[
            "warpwatt-activity",
            "warpwatt-circuit",
            "warpwatt-gpu",
            "warpwatt-reliability",
            "warpwatt-structures",
            "warpwatt-techlib",
        ],
    ),
    ("warpwatt-ptx", &[]),
    ("warpwatt-simt", &["warpwatt-ptx"]),
    ("warpwatt-gcn", &["warpwatt-simt"]),
    ("warpwatt-sass", &["warpwatt-simt"]),
    (
        "warpwatt-suite",
        &[
            "warpwatt-gcn",
            "warpwatt-input",
            "warpwatt-ptx",
            "warpwatt-simt",
        ],
    ),
    ("warpwatt-cudart", &["warpwatt-ptx", "warpwatt-simt"]),
    ("warpwatt-input", &["warpwatt-techlib"]),
    (
        "warpwatt-pricing",
        &[
            "warpwatt-activity",
            "warpwatt-circuit",
            "warpwatt-gpu",
            "warpwatt-reliability",
            "warpwatt-structures",
            "warpwatt-techlib",
            "warpwatt-techniques",
        ],
    ),
    (
        "warpwatt-array",
        &[
            "warpwatt-circuit",
            "warpwatt-input",
            "warpwatt-pricing",
            "warpwatt-techlib",
        ],
    ),
    (
        "warpwatt-study",
        &[
            "warpwatt-activity",
            "warpwatt-array",
            "warpwatt-circuit",
            "warpwatt-gpu",
            "warpwatt-input",
            "warpwatt-pricing",
            "warpwatt-reliability",
            "warpwatt-suite",
            "warpwatt-techlib",
            "warpwatt-techniques",
        ],
    ),
    (
        "warpwatt-store",
        &["warpwatt-input", "warpwatt-pricing", "warpwatt-study"],
    ),
    (
        "warpwatt-run",
        &[
            "warpwatt-activity",
            "warpwatt-board",
            "warpwatt-circuit",
            "warpwatt-cudart",
            "warpwatt-gcn",
            "warpwatt-gpu",
            "warpwatt-input",
            "warpwatt-pricing",
            "warpwatt-ptx",
            "warpwatt-reliability",
            "warpwatt-sass",
            "warpwatt-simt",
            "warpwatt-store",
            "warpwatt-study",
            "warpwatt-suite",
            "warpwatt-structures",
            "warpwatt-techlib",
            "warpwatt-techniques",
        ],
    ),
    (
        "warpwatt-report",
        &[
            "warpwatt-activity",
            "warpwatt-board",
            "warpwatt-circuit",
            "warpwatt-gpu",
            "warpwatt-input",
            "warpwatt-pricing",
            "warpwatt-techniques",
        ],
    ),
    (
        "warpwatt-analysis",
        &[
            "warpwatt-board",
            "warpwatt-circuit",
            "warpwatt-gpu",
            "warpwatt-input",
            "warpwatt-pricing",
            "warpwatt-ptx",
            "warpwatt-reliability",
            "warpwatt-report",
            "warpwatt-run",
            "warpwatt-store",
            "warpwatt-study",
            "warpwatt-simt",
            "warpwatt-suite",
            "warpwatt-techlib",
            "warpwatt-techniques",
        ],
    ),
    (
        "warpwatt-board",
        &[
            "warpwatt-activity",
            "warpwatt-circuit",
            "warpwatt-gpu",
            "warpwatt-input",
            "warpwatt-pricing",
            "warpwatt-structures",
            "warpwatt-techlib",
        ],
    ),
    (
        "warpwatt-validation",
        &[
            "warpwatt-array",
            "warpwatt-board",
            "warpwatt-circuit",
            "warpwatt-gpu",
            "warpwatt-input",
            "warpwatt-pricing",
            "warpwatt-ptx",
            "warpwatt-report",
            "warpwatt-simt",
            "warpwatt-structures",
            "warpwatt-study",
            "warpwatt-suite",
            "warpwatt-techlib",
            "warpwatt-techniques",
        ],
    ),
    (
        "warpwatt-page",
        &[
            "warpwatt-analysis",
            "warpwatt-array",
            "warpwatt-input",
            "warpwatt-pricing",
            "warpwatt-report",
            "warpwatt-run",
            "warpwatt-store",
            "warpwatt-study",
            "warpwatt-techlib",
            "warpwatt-techniques",
        ],
    ),
    (
        "warpwatt",
        &[
            "warpwatt-analysis",
            "warpwatt-board",
            "warpwatt-page",
            "warpwatt-validation",
            "warpwatt-run",
            "warpwatt-store",
            "warpwatt-study",
            "warpwatt-array",
            "warpwatt-activity",
            "warpwatt-circuit",
            "warpwatt-cudart",
            "warpwatt-gpu",
            "warpwatt-input",
            "warpwatt-pricing",
            "warpwatt-ptx",
            "warpwatt-reliability",
            "warpwatt-report",
            "warpwatt-simt",
            "warpwatt-suite",
            "warpwatt-techlib",
            "warpwatt-techniques",
        ],
    ),
    (
        "warpwatt-python",
        &[
            "warpwatt-analysis",
            "warpwatt-array",
            "warpwatt-board",
            "warpwatt-gpu",
            "warpwatt-input",
            "warpwatt-pricing",
            "warpwatt-ptx",
            "warpwatt-report",
            "warpwatt-simt",
            "warpwatt-study",
            "warpwatt-suite",
            "warpwatt-techlib",
        ],
    ),
];

fn allowed() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let arrows = ARROWS.iter();
    arrows
        .map(|(room, below)| (*room, below.iter().copied().collect()))
        .collect()
}

fn dependencies(folder: &str) -> BTreeSet<String> {
    let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let table = manifest.get("dependencies").and_then(toml::Value::as_table);
    let names = table.into_iter().flat_map(|table| table.keys().cloned());
    names.filter(|name| name.starts_with("warpwatt")).collect()
}

/// Every Rust source of a room, without the tests beside the code.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let is_tests = stem == "tests" || stem.ends_with("_tests");
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") && !is_tests {
                let text = fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]").next().unwrap_or("").to_owned();
                found.push((path, code));
            }
        }
    }
    found.sort();
    assert!(
        !found.is_empty(),
        "no sources under {folder}: this test would pass vacuously"
    );
    found
}

/// Lines of code (comments left out) of `rooms` that contain one of `words`, apart from the excepted files.
fn lines_with(rooms: &[&str], words: &[&str], except: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in rooms.iter().flat_map(|room| sources(room)) {
        if except.iter().any(|except| path.ends_with(except)) {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or("");
            if words.iter().any(|word| contains_name(code, word)) {
                found.push(format!(
                    "{}:{}: {}",
                    path.display(),
                    number + 1,
                    line.trim()
                ));
            }
        }
    }
    found
}

/// Whether `word` begins at the beginning of a name: `File::` is not in `NodeFile::`.
fn contains_name(code: &str, word: &str) -> bool {
    let in_name = |c: char| c.is_alphanumeric() || c == '_';
    let is_suffix = word.starts_with('_');
    code.match_indices(word)
        .any(|(at, _)| is_suffix || !code[..at].ends_with(in_name))
}

const LIBRARIES: &[&str] = &[
    "techlib",
    "models/circuit",
    "models/activity",
    "models/gpu",
    "models/reliability",
    "models/structures",
    "models/techniques",
    "workloads/ptx",
    "workloads/simt",
    "workloads/gcn",
    "workloads/sass",
    "workloads/suite",
    "estimator/input",
    "estimator/pricing",
    "estimator/array",
    "estimator/study",
    "estimator/store",
    "estimator/run",
    "estimator/report",
    "estimator/analysis",
    "estimator/board",
    "estimator/page",
    "estimator/validation",
    "estimator/python",
];

/// Libraries that no host needs to hold: a browser, or another language.
const PURE: &[&str] = &[
    "techlib",
    "models/circuit",
    "models/activity",
    "estimator/input",
    "estimator/pricing",
    "estimator/board",
    "estimator/report",
];

/// The reader of files, which finds none in a browser.
const NOT_IN_A_BROWSER: &[&str] = &["input/src/input.rs"];

/// Libraries that read or write files: what users write, launch files, results and traces.
const WITH_FILES: &[&str] = &[
    "workloads/suite",
    "estimator/input",
    "estimator/store",
    "estimator/run",
];

/// What keeps traces beyond memory, in a file that nobody else sees.
const BEYOND_MEMORY: &[&str] = &["simt/src/trace/store.rs"];

#[test]
fn arrows_point_one_way() {
    let allowed = allowed();
    for (room, folder) in ROOMS {
        for below in dependencies(folder) {
            assert!(
                allowed[room].contains(below.as_str()),
                "{room} depends on {below}: docs/architecture.md has no such arrow"
            );
        }
    }
}

#[test]
fn the_gpu_model_and_reliability_know_no_physics() {
    let words = [
        "Energy", "Power", "joule", "Joule", "watt_", "_pj", "_nj", "techlib", "circuit",
    ];
    let mut found = lines_with(&["models/gpu", "models/reliability"], &words, &[]);
    // Titles of papers may name it.
    found.retain(|line| !line.contains("citation: "));
    assert_eq!(found, [""; 0]);
}

#[test]
fn circuits_know_no_simulated_time() {
    let words = ["warpwatt_gpu", "warpwatt_activity", "Activity", "cycles"];
    assert_eq!(lines_with(&["models/circuit"], &words, &[]), [""; 0]);
}

#[test]
fn a_technology_is_a_parameter() {
    let words = [
        "static mut",
        "OnceLock",
        "LazyLock",
        "thread_local!",
        "lazy_static",
    ];
    let physics = [
        "techlib",
        "models/circuit",
        "models/structures",
        "models/techniques",
        "models/gpu",
    ];
    assert_eq!(lines_with(&physics, &words, &[]), [""; 0]);
}

#[test]
fn only_the_command_prints() {
    let words = ["println!", "eprintln!", "print!(", "eprint!(", "dbg!"];
    assert_eq!(lines_with(LIBRARIES, &words, &[]), [""; 0]);
    // And the command in one place, which tells what could not be written.
    let streams = ["stdout()", "stderr().lock", "stderr().write"];
    let words = [&words[..], &streams].concat();
    let console = ["command/console.rs"];
    assert_eq!(lines_with(&["estimator"], &words, &console), [""; 0]);
    assert_ne!(lines_with(&["estimator"], &words, &[]), [""; 0]);
}

#[test]
fn few_libraries_touch_files() {
    let words = ["std::fs", "fs::", "File::"];
    let others = LIBRARIES.iter().filter(|room| !WITH_FILES.contains(room));
    let others: Vec<&str> = others.copied().collect();
    assert_eq!(lines_with(&others, &words, BEYOND_MEMORY), [""; 0]);
}

#[test]
fn what_a_browser_needs_has_neither_files_nor_threads() {
    let words = [
        "std::fs",
        "fs::",
        "File::",
        "std::env",
        "std::net",
        "std::thread",
        "rayon",
    ];
    assert_eq!(lines_with(PURE, &words, NOT_IN_A_BROWSER), [""; 0]);
    assert_ne!(lines_with(PURE, &words, &[]), [""; 0]);
}

#[test]
fn no_order_depends_on_a_random_seed() {
    let words = [
        "collections::HashMap",
        "collections::HashSet",
        "RandomState",
        "thread_rng",
    ];
    let all: Vec<&str> = ROOMS.iter().map(|(_, folder)| *folder).collect();
    assert_eq!(lines_with(&all, &words, &[]), [""; 0]);
}

/// The rooms of C: what it passes, and memory at fixed addresses.
const OF_C: &[&str] = &["cudart/src/foreign.rs", "cudart/src/pages.rs"];

#[test]
fn unsafe_is_one_call_and_what_c_needs() {
    let all: Vec<&str> = ROOMS.iter().map(|(_, folder)| *folder).collect();
    let unsafe_lines = lines_with(&all, &["unsafe "], OF_C);
    assert!(
        unsafe_lines.len() == 1 && unsafe_lines[0].contains("simt/src/warp/vectors.rs"),
        "{unsafe_lines:?}"
    );
    // Each block of C's says why it may.
    for (path, text) in sources("workloads/cudart") {
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let reasons = lines[number.saturating_sub(3)..number].iter();
            let mut reasons = reasons.filter(|line| line.contains("// SAFETY: "));
            let said = !line.contains("unsafe {") || reasons.next().is_some();
            assert!(said, "{}:{}: no reason", path.display(), number + 1);
        }
    }
    // Functions that C calls have names of C's, and are in one folder.
    let names = lines_with(&["workloads/cudart"], &["unsafe(no_mangle)"], &[]);
    assert!(!names.is_empty() && names.iter().all(|line| line.contains("cudart/src/api/")));
}

/// Techniques declare what they report, and papers are plug-ins: nothing else in the reports names one.
#[test]
fn reports_know_no_technique_and_no_paper() {
    let techniques = warpwatt_techniques::ALL.iter();
    let names = techniques.map(|definition| format!("\"{}", definition.name));
    let papers = ["Paper::load", "crate::papers"].map(str::to_owned);
    let words: Vec<String> = names.chain(papers).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let found = lines_with(&["estimator/report"], &words, &["sample.rs"]);
    let of_reports =
        |line: &&String| !line.contains("src/beside/") && !line.contains("src/papers/");
    let found: Vec<&String> = found.iter().filter(of_reports).collect();
    assert_eq!(found, Vec::<&String>::new());
}

/// A file that the binary of these tests does not declare would never run.
#[test]
fn every_file_of_tests_is_a_module() {
    let tests = root().join("tests/tests");
    let main = fs::read_to_string(tests.join("main.rs")).unwrap();
    let declared: BTreeSet<&str> = main
        .lines()
        .filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'))
        .collect();
    let paths = fs::read_dir(&tests)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files: BTreeSet<String> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|name| name != "main")
        .collect();
    for file in &files {
        assert!(
            declared.contains(file.as_str()),
            "tests/tests/{file}.rs is not a module of main.rs: it does not run"
        );
    }
}
