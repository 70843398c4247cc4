//! `warpwatt diff`: the same kernels before and after a change.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::console::{Exit, out, out_data, out_json, reject};
use super::report::stored;
use crate::diag::{Diag, Rejection, Sink};
use crate::goal::quantity;
use crate::input::{self, DOCUMENT};
use crate::report::difference::{Difference, Spent, read, spent};
use crate::store::FILE_NAME;

/// What changed between two reports: cycles, energy and power of each kernel that both have, and where the energy went.
///
/// A report is what `warpwatt kernel --json`, `run --json` or `exec --json` wrote, a directory of such files, or one that `warpwatt run` wrote its results to.
/// Kernels are matched by name, case and configuration; two reports of one kernel each are compared whatever they are called.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt kernel softmax.toml --preset h100 --node 5nm --json > before.json       and after.json after the change
  warpwatt diff before.json after.json
  warpwatt diff before after --format markdown --allow 2%      for a comment on a change, in which every kernel is to stay within 2 %

Exit codes: 0 done; 1 time or energy of a kernel rises by more than --allow; 2 a report cannot be read, or they have nothing in common.")]
pub struct DiffArguments {
    /// The report before the change
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,
    /// The report after it
    #[arg(value_name = "AFTER")]
    pub after: PathBuf,
    /// How it is shown
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Shown,
    /// Exit with 1 if time or energy of a kernel rises by more, such as 2%
    #[arg(long, value_name = "SHARE")]
    pub allow: Option<String>,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
}

/// How a difference is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shown {
    /// Tables for a terminal
    Text,
    /// Tables in Markdown
    Markdown,
}

/// Compares.
pub fn run(arguments: &DiffArguments) -> Exit {
    let compared = compared(arguments);
    let (difference, allowed) = match compared {
        Ok(compared) => compared,
        Err(rejection) => return reject(&rejection, arguments.json),
    };
    match (arguments.json, arguments.format) {
        (true, _) => out_json(&serde_json::json!(difference)),
        (false, Shown::Text) => out(&difference.text()),
        (false, Shown::Markdown) => out_data(difference.markdown().as_bytes()),
    }
    match allowed {
        Some(share) if difference.beyond(share).next().is_some() => Exit::NotMet,
        _ => Exit::Done,
    }
}

fn compared(arguments: &DiffArguments) -> Result<(Difference, Option<f64>), Rejection> {
    let mut sink = Sink::default();
    let allowed = arguments.allow.as_deref().and_then(|text| {
        let share = quantity::read(text, "1");
        let share = share.map_err(|why| {
            let message = format!("`--allow {text}`: {why}");
            sink.push(Diag::error("diff::allow", message).help("write for example `--allow 2%`"));
        });
        share.ok()
    });
    let [before, after] = [&arguments.before, &arguments.after].map(|path| all(path, &mut sink));
    if sink.has_errors() {
        return Err(Rejection(sink));
    }
    let difference = Difference::between(&before, &after);
    if difference.rows.is_empty() {
        let message = format!(
            "`{}` and `{}` have no kernel with the same configuration",
            arguments.before.display(),
            arguments.after.display()
        );
        let only = |names: &[String]| {
            names
                .first()
                .map_or_else(|| "nothing".to_owned(), Clone::clone)
        };
        let help = format!(
            "the first has {}, the second {}",
            only(&difference.only_before),
            only(&difference.only_after)
        );
        return Err(Diag::error("diff::nothing_in_common", message)
            .help(help)
            .into());
    }
    Ok((difference, allowed))
}

/// What the kernels of a report took.
fn all(path: &Path, sink: &mut Sink) -> Vec<Spent> {
    if !path.is_dir() {
        return document(path, sink);
    }
    if path.join(FILE_NAME).is_file() {
        return match stored(path) {
            Ok((_, outcomes)) => outcomes.iter().map(spent).collect(),
            Err(diag) => {
                sink.push(diag);
                Vec::new()
            }
        };
    }
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) => {
            let message = format!("cannot list `{}`: {error}", path.display());
            sink.push(Diag::error("input::unreadable", message));
            return Vec::new();
        }
    };
    let mut documents: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    documents.sort();
    if documents.is_empty() {
        let message = format!("`{}` has no results and no JSON document", path.display());
        sink.push(Diag::error("diff::empty", message));
    }
    let documents = documents.iter();
    documents.flat_map(|path| document(path, sink)).collect()
}

fn document(path: &Path, sink: &mut Sink) -> Vec<Spent> {
    let shown = path.display();
    let text = match input::text(path, DOCUMENT) {
        Ok(text) => text,
        Err(error) => {
            let message = format!("cannot read `{shown}`: {error}");
            sink.push(Diag::error("input::unreadable", message));
            return Vec::new();
        }
    };
    let value: Result<Value, String> =
        serde_json::from_str(&text).map_err(|error| error.to_string());
    value.and_then(|value| read(&value)).unwrap_or_else(|why| {
        let help =
            "reports are written by `warpwatt kernel --json`, `run --json` and `exec --json`";
        sink.push(Diag::error("diff::document", format!("`{shown}`: {why}")).help(help));
        Vec::new()
    })
}
