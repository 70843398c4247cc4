//! What is right, to be damaged: the project's own files.

use std::fs;
use std::path::Path;

/// A seed is cut to so many bytes, so that every input is read in a blink.
const LONGEST: usize = 12_000;

/// Every file below a folder of the project whose name ends so, in the order of their paths, cut to a length.
pub fn below(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    let mut waiting = vec![crate::root().join(folder)];
    let mut found = Vec::new();
    while let Some(path) = waiting.pop() {
        for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    let seeds = found.iter().filter_map(|path| head(path));
    seeds.collect()
}

fn head(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = fs::read(path).ok()?;
    bytes.truncate(LONGEST);
    Some(bytes)
}

/// Texts as seeds.
pub fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}
