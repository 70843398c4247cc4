//! A technology by what a user writes: the name of a node in a library, or the path of a node file of their own.

mod changes;
mod sheet;

pub use changes::{changes_json, changes_table, notes};
pub use sheet::{Line, Sheet, how};

use std::ops::Range;
use std::path::{Path, PathBuf};

use warpwatt_techlib::quantity::Length;
use warpwatt_techlib::{Fault, Flavour, Library, OwnNode, TechError, Technology};

use crate::diag::{Diag, Rejection, Sink, Span, did_you_mean};
use crate::input;

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
    let mut sink = Sink::default();
    let node = read_node(&mut sink, Path::new(""), &path.display().to_string(), None);
    sink.finish(node)
}

/// Reads the node file that is called `written` by something in `directory`, and those that it extends. What is wrong with them is left in `sink`; a file that
/// cannot be read is a fault of where it is `named`.
pub fn read_node(
    sink: &mut Sink,
    directory: &Path,
    written: &str,
    named: Option<Span>,
) -> Option<OwnNode> {
    let text = match read(&directory.join(written)) {
        Ok(text) => text,
        Err(problem) => {
            let diag =
                Diag::error("tech::unreadable", problem).help("give the path of a node file");
            sink.push(diag.on(named.as_ref(), ""));
            return None;
        }
    };
    let mut sources = vec![(written.to_owned(), sink.sources.add(written, &text))];
    let mut load = |parent: &str, written: &str| {
        let folder = Path::new(parent).parent().unwrap_or(Path::new(""));
        let path = tidy(&folder.join(written));
        let text = read(&directory.join(&path))?;
        let name = path.display().to_string();
        sources.push((name.clone(), sink.sources.add(&name, &text)));
        Ok((name, text))
    };
    let faults = match OwnNode::read(written, &text, &mut load) {
        Ok(node) => return Some(node),
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
    None
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
    input::text(path, LARGEST_FILE).map_err(problem)
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
