//! Every diagnostic has a golden message, but those named here.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Codes whose message stands in no snapshot, since nothing from outside brings them about, each with the reason.
const UNPINNED: &[(&str, &str)] = &[
    (
        "artifact::incomplete",
        "a study names files in one way, and that is packed",
    ),
    (
        "avf::fit",
        "the GPU's own checks are stricter than what circuits refuse",
    ),
    ("avf::rate", "the rates of upsets that ship cannot be read"),
    ("batch::defect", "a table cannot be written to memory"),
    (
        "board::operands",
        "the command's options refuse such a word; Python's tests say one",
    ),
    (
        "board::preset",
        "a board whose preset is not known is refused when its file is read",
    ),
    (
        "calibrate::transfer",
        "the chip of every board that was read has a price",
    ),
    ("exec::library", "the library is built beside the command"),
    ("exec::place", "a temporary folder can be made"),
    (
        "exec::program",
        "needs a program on disk: `exec` has tests of its own",
    ),
    ("exec::several", "needs libraries beside the command"),
    ("exec::static", "needs a program that a compiler links"),
    (
        "explain::no_derivation",
        "a metric is listed and has no derivation; a test of `explain` goes through all of them",
    ),
    (
        "inject::defect",
        "the same run goes another way when it is repeated",
    ),
    (
        "inject::no_bits",
        "a GPU without one bit of a structure is refused before",
    ),
    (
        "inject::recorded",
        "recorded traces, which the tests of the command ask about",
    ),
    (
        "kernel::build",
        "the command's options refuse such a name; Python's tests ask for one",
    ),
    ("kernel::lower", "as `kernel::build`"),
    (
        "kernel::page",
        "a run whose page is asked for is counted over time",
    ),
    ("kernel::recorded", "as `inject::recorded`"),
    (
        "kernel::windows",
        "a run of more than 65,536 windows takes longer than a test may",
    ),
    ("man::defect", "a manual page cannot be written to memory"),
    (
        "output::stdout",
        "a full or closed output, which the tests of the command bring about for every command",
    ),
    (
        "ptx::empty",
        "a file without PTX, which the tests of the command ask about under several names",
    ),
    ("report::defect", "a report cannot be written to memory"),
    ("run::defect", "a unit's outcomes cannot be written or read"),
    (
        "run::interrupted",
        "Python raises what interrupted the run in its place",
    ),
    (
        "run::timeline",
        "a file that cannot be written has no reason",
    ),
    (
        "run::worker",
        "Python raises what the executor raised in its place",
    ),
    ("serve::token", "the system gives random numbers"),
    ("store::defect", "a point that was just stored is not there"),
    (
        "study::bad_sampling",
        "tests of the command ask for its words, case by case",
    ),
    (
        "study::not_sampled",
        "tests of the command ask for its words",
    ),
    ("suite::defect", "a kernel that ships cannot be read"),
    (
        "suite::no_build",
        "the tests of the command ask for a build that most kernels have not",
    ),
    (
        "techlib::defect",
        "the technology that ships cannot be read",
    ),
    ("trace::invalid", "as `inject::recorded`"),
    ("trace::list", "as `inject::recorded`"),
    ("trace::warp_width", "as `inject::recorded`"),
    (
        "uncertainty::draw",
        "what holds at a supply holds at what is drawn around it; a damaged store is `explain::circuit`",
    ),
    ("validate::defect", "the figures that ship cannot be read"),
    (
        "validate::timing",
        "a kernel that ships cannot be timed by a preset that ships",
    ),
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
    let sources = files(estimator, "rs");
    let sources = sources
        .iter()
        .filter(|path| path.components().any(|part| part.as_os_str() == "src"))
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
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let said: String = [estimator, here]
        .iter()
        .flat_map(|directory| files(directory, "snap"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let unpinned: Vec<&str> = codes
        .iter()
        .map(String::as_str)
        .filter(|code| !said.contains(&format!("[{code}]")))
        .collect();
    let known: Vec<&str> = UNPINNED.iter().map(|(code, _)| *code).collect();
    assert_eq!(unpinned, known);
}
