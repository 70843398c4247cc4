//! The study that stores, disks and threads are attacked with.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use crate::attack::Setting;
use crate::program::{Call, Ended};
use crate::scratch::Scratch;

/// Some points, of which each takes a moment.
const STUDY: &str = include_str!("../../data/studies/attacked.toml");

/// Where results go.
pub const RESULTS: &str = "results";

/// The store among the results.
pub const STORE: &str = "results.redb";

/// What a run says, so that a machine at work is not slowed by it.
pub const RUN: &[&str] = &["run", "study.toml", "--quiet", "--no-cache", "--jobs", "1"];

/// The bytes of files by their names.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A folder with the study in it.
///
/// # Errors
/// It cannot be written.
pub fn folder() -> io::Result<Scratch> {
    let scratch = Scratch::new()?;
    fs::write(scratch.join("study.toml"), STUDY)?;
    Ok(scratch)
}

/// The study run without a disturbance: the folder, and the files of its report.
///
/// # Errors
/// It cannot be run, or does not end well.
pub fn finished(setting: &Setting) -> Result<(Scratch, Files), String> {
    let folder = folder().map_err(|error| error.to_string())?;
    let ended = start(setting, folder.path(), RUN).map_err(|error| error.to_string())?;
    if ended.report.code != Some(0) {
        return Err(format!("the study does not run: {}", ended.last_words()));
    }
    let files = report(&folder.join(RESULTS)).map_err(|error| error.to_string())?;
    match files.is_empty() {
        true => Err("the study leaves no report".to_owned()),
        false => Ok((folder, files)),
    }
}

/// Runs the program in a folder.
///
/// # Errors
/// It cannot be started.
pub fn start(setting: &Setting, folder: &Path, words: &[&str]) -> io::Result<Ended> {
    Call::new(&setting.program, folder).args(words).run()
}

/// The files of a report: all but the store.
///
/// # Errors
/// They cannot be read.
pub fn report(folder: &Path) -> io::Result<Files> {
    let mut files = Files::new();
    if !folder.is_dir() {
        return Ok(files);
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_file() && !name.starts_with(STORE) {
            files.insert(name.into_owned(), fs::read(&path)?);
        }
    }
    Ok(files)
}

/// How a report differs from the one that it must be.
pub fn difference(is: &Files, must: &Files) -> Option<String> {
    let names = must.keys().chain(is.keys());
    let mut other = names.filter(|name| is.get(*name) != must.get(*name));
    other.next().map(|name| match is.get(name) {
        None => format!("{name} is missing"),
        Some(_) => format!("{name} differs"),
    })
}
