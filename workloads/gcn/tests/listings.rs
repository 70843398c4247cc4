//! Decoded instructions print as the listings that a compiler wrote.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use warpwatt_gcn::{Names, Object, Op, decode};

/// Folders with a `kernel.o` and its listing.
fn cases() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let shared = std::env::var_os("WARPWATT_SOUTHERN_ISLANDS").map(PathBuf::from);
    let shared = shared
        .iter()
        .flat_map(|root| [root.join("cases"), root.join("fuzz")]);
    let mut found = Vec::new();
    for folder in [own].into_iter().chain(shared) {
        let entries = std::fs::read_dir(folder).unwrap();
        let folders = entries.map(|entry| entry.unwrap().path());
        found.extend(folders.filter(|path| path.join("kernel.o").exists()));
    }
    found.sort();
    found
}

/// Labels and instructions of a listing.
fn lines(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .map(|line| line.split(';').next().unwrap().trim());
    let is_name = |label: &str| label.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_code = |line: &&str| match line.strip_suffix(':') {
        Some(label) => label.starts_with(".LBB") || is_name(label),
        None => ["s_", "v_", "ds_", "buffer_", "tbuffer_"]
            .iter()
            .any(|start| line.starts_with(start)),
    };
    lines.filter(is_code).map(str::to_owned).collect()
}

/// The text of an object's code, an instruction a line, with the listing's labels.
fn compare(object: &Object, listing: &[String]) -> Result<usize, String> {
    let words = object.words();
    // A place may have several labels.
    let mut labels: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let (mut at, mut checked) = (0, 0);
    let mut decoded = Vec::new();
    for line in listing {
        if let Some(label) = line.strip_suffix(':') {
            let is_function = object
                .functions
                .iter()
                .any(|function| function.name == label);
            if is_function {
                let function = object
                    .functions
                    .iter()
                    .find(|function| function.name == label);
                at = ((function.unwrap().start - object.code.start) / 4) as usize;
            }
            labels.entry(at).or_default().push(label.to_owned());
            continue;
        }
        let inst = decode(&words[at..]).map_err(|error| format!("{at}: {error} for {line}"))?;
        decoded.push((at, inst, line));
        at += inst.words as usize;
    }
    for (at, inst, line) in decoded {
        let next = at as i64 + i64::from(inst.words);
        let target = inst
            .op
            .is_branch()
            .then(|| next + i64::from(inst.literal as u16 as i16));
        let literal = object.code.start + 4 * at as u64 + 4;
        let relocated = object.relocated.iter().find(|(place, _)| *place == literal);
        let names = Names {
            target: target.and_then(|target| {
                let labels = labels.get(&(target as usize))?;
                let listed = labels.iter().find(|label| line.ends_with(label.as_str()));
                listed.or(labels.first()).cloned()
            }),
            literal: relocated.map(|(_, target)| symbol(object, *target, inst.op)),
        };
        let text = inst.text(&names);
        if text != *line {
            return Err(format!("at word {at}: `{text}` for `{line}`"));
        }
        checked += 1;
    }
    Ok(checked)
}

/// `fn0@rel32@lo+4`: the listing's name of an address that is half of a distance.
fn symbol(object: &Object, target: u64, op: Op) -> String {
    let (half, addend) = match op {
        Op::SAddU32 => ("lo", 4),
        _ => ("hi", 12),
    };
    let functions = object.functions.iter();
    let mut names = functions.filter(|function| function.start + addend == target);
    let name = names.next_back().map_or("?", |function| &function.name);
    format!("{name}@rel32@{half}+{addend}")
}

#[test]
fn decoding_prints_what_the_compiler_listed() {
    let mut checked = 0;
    let mut wrong = Vec::new();
    for case in cases() {
        let object = Object::read(&std::fs::read(case.join("kernel.o")).unwrap()).unwrap();
        let listing = ["kernel.s", "kernel.lst"].map(|name| case.join(name));
        let listing = listing.iter().find(|path| path.exists()).unwrap();
        match compare(&object, &lines(&std::fs::read_to_string(listing).unwrap())) {
            Ok(count) => checked += count,
            Err(error) => wrong.push(format!("{}: {error}", case.display())),
        }
    }
    assert!(checked > 800, "{checked} instructions");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
