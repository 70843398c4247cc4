//! A technology by what a user writes: the name of a node in a library, or the path of a node file of their own.

mod sheet;

pub use sheet::{Line, Sheet, how};

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use warpwatt_techlib::quantity::Length;
use warpwatt_techlib::{Fault, Flavour, Library, OwnNode, TechError, Technology};

use crate::diag::{Diag, Rejection, Sink, did_you_mean};

/// Node files above this many bytes are refused: they hold a few values, not data sets.
const LARGEST_FILE: u64 = 1 << 20;

/// Whether `node` is the path of a node file, and not the name of a node.
pub fn is_file(node: &str) -> bool {
    node.ends_with(".toml") || node.contains(['/', '\\'])
}

/// The technology that `node` stands for: `7nm` in the library of this name, or a path.
///
/// # Errors
///
/// There is no such node or flavour, or everything that is wrong with the file.
pub fn load(node: &str, library: &str, flavour: Flavour) -> Result<Technology, Rejection> {
    let refused = |error: TechError| Rejection::from(refusal(&error));
    if is_file(node) {
        return load_file(Path::new(node))?
            .technology(flavour)
            .map_err(refused);
    }
    let library = Library::named(library).map_err(refused)?;
    library.node(node, flavour).map_err(refused)
}

fn refusal(error: &TechError) -> Diag {
    let diag = Diag::error("tech::refused", error.to_string());
    match error {
        TechError::NodeName { .. } => {
            diag.help("or give the path of a node file, which ends in `.toml`")
        }
        TechError::NodeOutOfRange { node, .. } | TechError::BetweenKinds { node, .. } => {
            diag.maybe_help(nearest(*node))
        }
        _ => diag,
    }
}

/// The node of `silicon`, which reaches furthest, that is nearest to `node`.
fn nearest(node: Length) -> Option<String> {
    let library = Library::silicon().ok()?;
    let far = |candidate: &Length| (candidate.si() / node.si()).ln().abs();
    let nearest = library.nodes().min_by(|a, b| far(a).total_cmp(&far(b)))?;
    Some(format!(
        "nearest that works: `{:.0}nm` of the library silicon; `warpwatt list nodes` has all",
        nearest.as_nm()
    ))
}

/// Reads a node file and those that it extends.
///
/// # Errors
///
/// Everything that is wrong with them.
pub fn load_file(path: &Path) -> Result<OwnNode, Rejection> {
    let text = read(path).map_err(|problem| {
        Diag::error("tech::unreadable", problem).help("give the path of a node file")
    })?;
    let name = path.display().to_string();
    let mut sink = Sink::default();
    let mut sources = vec![(name.clone(), sink.sources.add(&name, &text))];
    let mut load = |parent: &str, written: &str| {
        let folder = Path::new(parent).parent().unwrap_or(Path::new(""));
        let path = tidy(&folder.join(written));
        let text = read(&path)?;
        let name = path.display().to_string();
        sources.push((name.clone(), sink.sources.add(&name, &text)));
        Ok((name, text))
    };
    let faults = match OwnNode::read(&name, &text, &mut load) {
        Ok(node) => return Ok(node),
        Err(faults) => faults,
    };
    for fault in faults {
        let source = sources.iter().find(|(name, _)| *name == fault.file);
        let mut diag = Diag::error(fault.code, &fault.message).maybe_help(help(&fault));
        if let Some((_, source)) = source {
            let range: Range<usize> = fault.range;
            diag = diag.at(*source, range, "");
        }
        sink.push(diag);
    }
    sink.sort();
    Err(Rejection(sink))
}

fn help(fault: &Fault) -> Option<String> {
    if fault.candidates.is_empty() {
        return fault.help.clone();
    }
    let written = fault.message.rsplit('`').nth(1)?;
    Some(did_you_mean(
        written,
        fault.candidates.iter().map(String::as_str),
    ))
}

fn read(path: &Path) -> Result<String, String> {
    let problem = |error: std::io::Error| format!("cannot read `{}`: {error}", path.display());
    let size = fs::metadata(path).map_err(problem)?.len();
    if size > LARGEST_FILE {
        return Err(format!(
            "`{}` has {size} bytes; a node file has at most {LARGEST_FILE}",
            path.display()
        ));
    }
    fs::read_to_string(path).map_err(problem)
}

/// Without `.` and `..`, so that a file has one name however it is reached.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir if tidy.file_name().is_some() => {
                tidy.pop();
            }
            other => tidy.push(other),
        }
    }
    tidy
}
