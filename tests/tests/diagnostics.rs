//! Every diagnostic has a golden message, but those named here.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Codes whose message stands in no snapshot. Defects of the program cannot be brought about from outside; the others are gaps: whoever pins one takes it off the list.
const UNPINNED: &[&str] = &[
    "avf::fit",
    "avf::mismatch",
    "avf::protect",
    "avf::rate",
    "avf::structure",
    "batch::defect",
    "batch::duplicate_column",
    "batch::malformed",
    "batch::no_header",
    "batch::too_large",
    "batch::unknown_column",
    "cache::limit",
    "cache::unusable",
    "cfg::inputs",
    "cfg::mixed_sides",
    "cfg::twice",
    "counts::file",
    "counts::kernel",
    "counts::map",
    "counts::missing",
    "counts::techniques",
    "counts::unmapped",
    "explain::circuit",
    "explain::no_derivation",
    "explain::other_version",
    "explain::unfinished",
    "inject::defect",
    "inject::no_bits",
    "inject::stopped",
    "inject::timing",
    "inject::too_many",
    "inject::wrong_result",
    "input::too_large",
    "kernel::endless",
    "kernel::timeline",
    "kernel::wrong_result",
    "launch::no_ptx",
    "logic::value",
    "man::defect",
    "manifest::damaged",
    "map::no_counters",
    "output::unwritable",
    "report::defect",
    "run::threads",
    "run::timeline",
    "store::defect",
    "store::format",
    "store::no_recipes",
    "study::ambiguous_kernel",
    "study::fit",
    "study::no_such_kernel_yet",
    "study::only_with",
    "study::paper_incomplete",
    "study::pricing",
    "study::timing",
    "study::uncertainty",
    "suite::defect",
    "techlib::defect",
    "trace::unusable",
    "uncertainty::draw",
    "validate::defect",
];

fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found
}

/// `area::fault`, the only literals of that shape in the sources.
fn is_code(text: &str) -> bool {
    let word =
        |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    text.split_once("::")
        .is_some_and(|(area, fault)| word(area) && word(fault))
}

fn codes(estimator: &Path) -> BTreeSet<String> {
    let sources = files(&estimator.join("src"), "rs");
    let sources = sources
        .iter()
        .filter(|path| path.file_stem().is_some_and(|name| name != "tests"));
    let texts = sources.map(|path| fs::read_to_string(path).unwrap());
    texts
        .flat_map(|text| {
            let code = text
                .split("#[cfg(test)]")
                .next()
                .unwrap_or_default()
                .to_owned();
            let literals: Vec<String> = code
                .split('"')
                .filter(|literal| is_code(literal))
                .map(str::to_owned)
                .collect();
            literals
        })
        .collect()
}

#[test]
fn every_diagnostic_has_a_golden_message() {
    let estimator = Path::new(env!("CARGO_MANIFEST_DIR")).join("../estimator");
    let codes = codes(&estimator);
    assert!(codes.len() > 100, "only {} codes were found", codes.len());
    let said: String = [estimator.join("tests"), estimator.join("src")]
        .iter()
        .flat_map(|directory| {
            files(directory, "snap")
                .into_iter()
                .chain(files(directory, "rs"))
        })
        .filter(|path| {
            path.extension().is_some_and(|e| e == "snap")
                || path.to_string_lossy().contains("tests")
        })
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let unpinned: Vec<&str> = codes
        .iter()
        .map(String::as_str)
        .filter(|code| !said.contains(&format!("[{code}]")))
        .collect();
    assert_eq!(unpinned, UNPINNED);
}
