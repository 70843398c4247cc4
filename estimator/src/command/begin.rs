//! `warpwatt new`: a launch file for a PTX file, with what the PTX tells.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use warpwatt_ptx::outline::{EntryOutline, Outline, outline};
use warpwatt_suite::LaunchFile;
use warpwatt_suite::launch::{begin, demangled, matching_entries};

use super::arguments::NewArguments;
use super::console::{Exit, out, reject};
use super::files::write_one;
use crate::diag::{Diag, Rejection, Sink};
use crate::input;

/// Entries that a message lists.
const LISTED: usize = 12;

/// Writes the file and says what is still to be said in it.
pub fn run(arguments: &NewArguments) -> Exit {
    match begun(arguments) {
        Ok(text) => {
            out(&text);
            Exit::Done
        }
        Err(rejection) => reject(&rejection, false),
    }
}

fn begun(arguments: &NewArguments) -> Result<String, Rejection> {
    let path = &arguments.file;
    let target = match &arguments.out {
        Some(out) => out.clone(),
        None => path.with_extension("toml"),
    };
    refuse_existing(&target)?;
    let outline = read(path)?;
    let entry = chosen(&outline, arguments.entry.as_deref(), path)?;
    let text = begin(entry, &from(&target, path), outline.address_bytes);
    write_one(&target, text.as_bytes())?;
    let missing = LaunchFile::parse(&text).map_or_else(|problems| problems.len(), |_| 0);
    let shown = target.display();
    let mut told = format!("{shown} launches `{}`", entry.name);
    if let Some(name) = demangled(&entry.name) {
        let _ = write!(told, " ({name})");
    }
    let _ = match missing {
        0 => writeln!(told, "."),
        1 => writeln!(told, "; one value in it is still `TODO`."),
        more => writeln!(told, "; {more} values in it are still `TODO`."),
    };
    let _ = writeln!(told, "Then: warpwatt kernel {shown}");
    Ok(told)
}

/// A file that is there may have been filled in.
fn refuse_existing(target: &Path) -> Result<(), Rejection> {
    if !target.exists() {
        return Ok(());
    }
    let message = format!("`{}` is there already", target.display());
    let diag = Diag::error("new::exists", message);
    Err(diag
        .help("name another file with `--out FILE`, or remove it")
        .into())
}

fn read(path: &Path) -> Result<Outline, Rejection> {
    let mut sink = Sink::default();
    let source = input::text(path, input::KERNEL).map_err(|error| {
        let message = format!("cannot read the PTX file `{}`: {error}", path.display());
        Diag::error("input::unreadable", message)
    })?;
    let found = outline(&source);
    let id = sink.sources.add(path.display().to_string(), source);
    found.map_err(|errors| {
        for error in errors {
            sink.push(
                Diag::error("ptx::invalid", error.message)
                    .at(id, error.span, "")
                    .maybe_help(error.help),
            );
        }
        Rejection(sink)
    })
}

/// The entry that is asked for, or the only one.
fn chosen<'o>(
    outline: &'o Outline,
    wanted: Option<&str>,
    path: &Path,
) -> Result<&'o EntryOutline, Rejection> {
    let names: Vec<&str> = outline
        .entries
        .iter()
        .map(|entry| entry.name.as_str())
        .collect();
    let found = match wanted {
        Some(wanted) => matching_entries(wanted, &names),
        None => names.clone(),
    };
    if let [only] = found[..]
        && let Some(entry) = outline.entries.iter().find(|entry| entry.name == only)
    {
        return Ok(entry);
    }
    let shown = path.display();
    let (message, listed) = match (wanted, names.is_empty()) {
        (_, true) => (
            format!("`{shown}` has no entry that could be launched"),
            names,
        ),
        (None, false) => (format!("`{shown}` has {} entries", names.len()), names),
        (Some(wanted), false) if found.is_empty() => {
            (format!("`{shown}` has no entry `{wanted}`"), names)
        }
        (Some(wanted), false) => (
            format!("`{wanted}` means {} entries of `{shown}`", found.len()),
            found,
        ),
    };
    let shown = listed
        .iter()
        .take(LISTED)
        .map(|name| match demangled(name) {
            Some(text) => format!("{name} ({text})"),
            None => (*name).to_owned(),
        });
    let shown: Vec<String> = shown.collect();
    let more = match listed.len() - shown.len() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let diag = Diag::error("new::entry", message);
    Err(match listed.is_empty() {
        true => diag.help("a kernel is an `.entry`; device functions (`.func`) have no launch"),
        false => diag.help(format!("choose with `--entry`: {}{more}", shown.join(", "))),
    }
    .into())
}

/// The PTX file's path as the launch file has to say it.
fn from(target: &Path, ptx: &Path) -> String {
    let folder = |path: &Path| path.parent().map(Path::to_owned).unwrap_or_default();
    let path = match folder(target) == folder(ptx) {
        true => ptx
            .file_name()
            .map_or_else(|| ptx.to_owned(), PathBuf::from),
        // Beside each other they would be moved together; apart, the whole path finds it.
        false => std::path::absolute(ptx).unwrap_or_else(|_| ptx.to_owned()),
    };
    path.display().to_string()
}
