//! Text from outside never panics, hangs or takes memory without bound: real files, damaged in many ways, are read and run.
//!
//! Bounded in inputs, not in time. `tests/fuzz` has the same entry points for a fuzzer.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use warpwatt::diag::{Sink, render};
use warpwatt::run::{catalogue, resolve_text};
use warpwatt::study::{Catalogue, Draft, read};
use warpwatt_ptx::Module;
use warpwatt_simt::{DeviceMemory, Launch, Options, execute};
use warpwatt_suite::launch::{Files, LaunchFile};

/// Inputs of each kind in the normal run.
const FEW: u64 = 5_000;

/// Inputs of each kind in the slow run.
const MANY: u64 = 1_000_000;

/// Studies that are read with all that they name, as before a run: kernels, GPUs, nodes, circuits.
const WHOLE: u64 = 40;

/// A seed is cut to so many bytes, so that every input is read in a blink.
const LONGEST: usize = 12_000;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// What is put where a token stood, besides other tokens of the file.
const ODDITIES: [&str; 28] = [
    "0",
    "-1",
    "1",
    "99999999999999999999",
    "18446744073709551615",
    "0x7fffffff",
    "4294967296",
    "1e308",
    "nan",
    "",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ";",
    ",",
    "\"",
    "/*",
    "\u{e9}",
    "%r0",
    ".b8",
    ".global",
    "=",
    "_",
    "\0",
    "'",
];

/// Runs of letters and digits, and single other characters.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut start = 0;
    let in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '%' | '$');
    let mut before = None;
    for (at, c) in text.char_indices() {
        if before.is_some_and(|before| !(in_word(before) && in_word(c))) {
            tokens.push(&text[start..at]);
            start = at;
        }
        before = Some(c);
    }
    tokens.push(&text[start..]);
    tokens
}

/// The seed with one to eight tokens deleted, doubled, exchanged, replaced, or with a piece of it repeated or taken out.
fn damaged(seed: &str, random: &mut Random) -> String {
    let mut parts: Vec<&str> = tokens(seed);
    for _ in 0..=random.below(8) {
        let (at, other) = (random.below(parts.len()), random.below(parts.len()));
        match random.below(8) {
            0 if parts.len() > 1 => {
                parts.remove(at);
            }
            1 => parts.insert(at, parts[at]),
            2 => parts.swap(at, other),
            3 => parts[at] = parts[other],
            4 => parts.insert(at, parts[other]),
            5 | 6 => parts[at] = ODDITIES[random.below(ODDITIES.len())],
            _ => {
                let (low, high) = (at.min(other), at.max(other).min(at.min(other) + 60));
                let piece = parts[low..high].to_vec();
                if random.below(2) == 0 && parts.len() > piece.len() {
                    parts.drain(low..high);
                } else {
                    parts.splice(low..low, piece);
                }
            }
        }
    }
    parts.concat()
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

/// Every file below a folder whose name ends so, in the order of their paths, cut to a length.
fn seeds(name: &str, ending: &str) -> Vec<String> {
    let mut waiting = vec![folder(name)];
    let mut found = Vec::new();
    while let Some(path) = waiting.pop() {
        for entry in fs::read_dir(&path).expect("the folder is there").flatten() {
            let path = entry.path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no {ending} below {name}");
    found
        .iter()
        .map(|path| {
            let text = fs::read_to_string(path).expect("the file is text");
            let mut end = text.len().min(LONGEST);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text[..end].to_owned()
        })
        .collect()
}

/// Gives `check` so many damaged seeds and says which one it did not survive.
fn survive(seeds: &[String], inputs: u64, check: impl Fn(&str)) {
    for seed in seeds {
        check(seed);
    }
    for number in 0..inputs {
        let mut random = Random(number);
        let seed = &seeds[random.below(seeds.len())];
        let text = damaged(seed, &mut random);
        if catch_unwind(AssertUnwindSafe(|| check(&text))).is_err() {
            panic!("input {number} is not survived:\n{text}");
        }
    }
}

/// Loads a module, describes it, and runs every entry that can run for a moment.
fn ptx(text: &str) {
    let _ = warpwatt_ptx::inspect(text, None);
    let Ok(module) = warpwatt_ptx::load(text) else {
        return;
    };
    for entry in module
        .entries
        .iter()
        .filter(|entry| entry.unsupported.is_empty())
    {
        run(&module, &entry.name, entry.param_bytes() as usize);
    }
}

fn run(module: &Module, entry: &str, bytes: usize) {
    if module.globals.len() + module.constants.len() > 1 << 20 {
        return;
    }
    let mut memory = DeviceMemory::new(module);
    let buffer = memory.alloc("buffer", vec![1; 1 << 14]);
    let pointers = buffer.to_le_bytes().into_iter().cycle();
    let launch = Launch {
        entry,
        grid: [2, 1, 1],
        block: [33, 1, 1],
        dynamic_shared: 1 << 12,
        params: pointers.take(bytes).collect(),
    };
    let options = Options {
        limit: 3_000,
        ..Options::default()
    };
    let _ = execute(module, &launch, &mut memory, &options);
}

fn launch_file(text: &str) {
    let Ok(file) = LaunchFile::parse(text) else {
        return;
    };
    for case in &file.cases {
        if case.buffer_bytes() <= 1 << 16 {
            let _ = case.fill(Files::None);
        }
    }
}

fn study(catalogue: &Catalogue, text: &str) {
    let mut sink = Sink::default();
    let source = sink.sources.add("study.toml", text);
    let draft = read(&mut sink, source, catalogue);
    if draft.and_then(Draft::finish).is_none() {
        assert_located(&sink);
    }
}

/// What `warpwatt run` does before anything runs.
fn whole_study(text: &str) {
    let mut sink = Sink::default();
    let directory = folder("workloads/studies");
    if resolve_text("study.toml", text, &directory, &mut sink).is_none() {
        assert_located(&sink);
    }
}

/// What is refused is refused with reasons, and each shows its place.
fn assert_located(sink: &Sink) {
    assert!(sink.has_errors());
    for diag in &sink.diags {
        assert!(!diag.labels.is_empty(), "{}", render(sink, false));
    }
}

/// The kernels of the suite, and the forms of instructions in modules of a few.
fn modules() -> Vec<String> {
    let mut modules = seeds("workloads/kernels", ".ptx");
    let forms = include_str!("../../workloads/ptx/tests/forms.txt");
    let lines: Vec<&str> = forms
        .lines()
        .filter_map(|line| line.strip_prefix("+ "))
        .collect();
    for few in lines.chunks(4) {
        // The first of all alternatives in each brace that stands in an opcode.
        let body: String = few
            .iter()
            .map(|line| format!("{};\n", first_form(line)))
            .collect();
        modules.push(format!(
            ".version 8.7\n.target sm_90a\n.address_size 64\n.func function() {{ ret; }}\n.visible .entry k(.param .u64 p)\n{{
            .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .shared .align 16 .b8 s[256];
            ld.param.u64 %d1, [p]; mov.u64 %d2, %d1; mov.u32 %r1, s; mov.u32 %r2, 16; mov.u32 %r3, s;
            T: .branchtargets L, M;\nL:\n{body}\nM:\nret;\n}}\n"
        ));
    }
    modules
}

fn first_form(line: &str) -> String {
    let end = if line.starts_with('@') {
        line.len()
    } else {
        line.find(' ').unwrap_or(line.len())
    };
    let mut form = String::new();
    let mut rest = &line[..end];
    while let Some((before, inside)) = rest.split_once('{') {
        let (choices, after) = inside.split_once('}').expect("braces are closed");
        form.push_str(before);
        form.push_str(choices.rsplit(',').next().unwrap_or_default());
        rest = after;
    }
    form + rest + &line[end..]
}

#[test]
fn damaged_modules_are_read_and_run() {
    survive(&modules(), FEW, ptx);
}

#[test]
fn damaged_launch_files_are_read() {
    survive(&seeds("workloads/kernels", "launch.toml"), FEW, launch_file);
}

#[test]
fn damaged_studies_are_read() {
    let catalogue = catalogue();
    let check = |text: &str| study(&catalogue, text);
    survive(&seeds("workloads/studies", ".toml"), FEW, check);
}

#[test]
fn damaged_studies_are_read_with_all_that_they_name() {
    survive(&seeds("workloads/studies", ".toml"), WHOLE, whole_study);
}

#[test]
#[ignore = "a million inputs of each kind take hours"]
fn a_million_damaged_modules_are_read_and_run() {
    survive(&modules(), MANY, ptx);
}

#[test]
#[ignore = "a million inputs of each kind take hours"]
fn a_million_damaged_launch_files_are_read() {
    survive(
        &seeds("workloads/kernels", "launch.toml"),
        MANY,
        launch_file,
    );
}

#[test]
#[ignore = "a million inputs of each kind take hours"]
fn a_million_damaged_studies_are_read() {
    let catalogue = catalogue();
    let check = |text: &str| study(&catalogue, text);
    survive(&seeds("workloads/studies", ".toml"), MANY, check);
}
