//! What `calibrate` and `predict` read: boards, maps, tables of measurements.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::board::board::{Board, MOST_BYTES as MOST_OF_A_BOARD};
use crate::board::map::{Map, Operands, SHIPPED as MAPS};
use crate::board::rows::{MOST_BYTES, Rows, Table};
use crate::diag::{Diag, Sink, did_you_mean};
use crate::input;
use crate::input_table::report;
use crate::run::boards::open;

/// How a table is read.
#[derive(Debug, Args)]
pub struct Layout {
    /// Which column is what: utilisation, accelwattch, ncu, nvml, or a file of one's own [default: told by the columns]
    #[arg(long, value_name = "MAP|FILE.toml")]
    pub map: Option<String>,
    /// What the rows compute on: loops on what they loaded once, or data [default: calibrate as the map says, predict data]
    #[arg(long, value_name = "WHICH")]
    pub operands: Option<OperandChoice>,
}

/// On what rows compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OperandChoice {
    /// Loops that compute again and again on what they loaded: little switches
    Still,
    /// Kernels on data
    Random,
}

impl From<OperandChoice> for Operands {
    fn from(choice: OperandChoice) -> Self {
        match choice {
            OperandChoice::Still => Self::Still,
            OperandChoice::Random => Self::Random,
        }
    }
}

/// The board of that name, or of that file. Nothing: what is wrong is in `sink`.
pub fn board(name: &str, sink: &mut Sink) -> Option<Board> {
    open(name, Path::new(""), sink, None)
}

/// The text of a file. Nothing: what is wrong is in `sink`.
fn read(path: &Path, most: u64, sink: &mut Sink) -> Option<String> {
    match input::text(path, most) {
        Ok(text) => Some(text),
        Err(error) => {
            let message = format!("cannot read `{}`: {error}", path.display());
            sink.push(
                Diag::error("input::unreadable", message).help("name a file that can be read"),
            );
            None
        }
    }
}

/// The rows of a table of measurements, or of the folder that the suite for a GPU of one's own leaves. What they compute on is `unsaid` where the
/// layout does not say; the map knows if that is nothing. Nothing: what is wrong is in `sink`.
pub fn rows(
    path: &Path,
    layout: &Layout,
    board: &Board,
    unsaid: Option<Operands>,
    sink: &mut Sink,
) -> Option<Rows> {
    let table = table(path, sink)?;
    let map = map(layout.map.as_deref(), &table, path, sink)?;
    let gpu = match board.gpu() {
        Ok(gpu) => gpu,
        Err(message) => {
            sink.push(
                Diag::error("board::preset", message).help("`warpwatt list presets` names them"),
            );
            return None;
        }
    };
    let unsaid = unsaid.unwrap_or(map.operands);
    let operands = layout.operands.map_or(unsaid, Operands::from);
    let rows = Rows::of(&table, &map, (&board.facts, &gpu), operands);
    if !rows.unread.is_empty() {
        let message = format!(
            "{}: columns that play no part: {}",
            path.display(),
            rows.unread.join(", ")
        );
        sink.push(Diag::warning("board::columns", message));
    }
    for sentence in &rows.assumed {
        let message = format!("{}: {sentence}", path.display());
        sink.push(Diag::warning("board::assumed", message));
    }
    Some(rows)
}

fn table(path: &Path, sink: &mut Sink) -> Option<Table> {
    if !path.is_dir() {
        return one_table(path, sink);
    }
    let watts = one_table(&path.join("watts.csv"), sink);
    let counts = one_table(&path.join("counts.csv"), sink);
    Some(watts?.joined(&counts?, "name"))
}

fn one_table(path: &Path, sink: &mut Sink) -> Option<Table> {
    let text = read(path, MOST_BYTES, sink)?;
    match Table::parse(&text) {
        Ok(table) => Some(table),
        Err(faults) => {
            report(sink, "board::table", &path.display().to_string(), &faults);
            None
        }
    }
}

fn map(asked: Option<&str>, table: &Table, path: &Path, sink: &mut Sink) -> Option<Map> {
    let Some(name) = asked else {
        let columns: Vec<&str> = table.header.iter().map(String::as_str).collect();
        let map = Map::recognised(&columns);
        if map.is_none() {
            let known = MAPS.map(|(name, _)| name).join(", ");
            let message = format!(
                "{}: the columns are of no layout that is known",
                path.display()
            );
            let help =
                format!("name one with --map: {known}, or a file of your own (docs/boards.md)");
            sink.push(Diag::error("board::layout", message).help(help));
        }
        return map;
    };
    if let Some(map) = Map::shipped(name) {
        return Some(map);
    }
    let own = PathBuf::from(name);
    if own.extension() != Some(OsStr::new("toml")) {
        let names = MAPS.map(|(name, _)| name);
        let message = format!("there is no map `{name}`");
        let help = format!(
            "{}; or name a file that ends in .toml",
            did_you_mean(name, names)
        );
        sink.push(Diag::error("board::map", message).help(help));
        return None;
    }
    let text = read(&own, MOST_OF_A_BOARD, sink)?;
    let source = sink.sources.add(name, text.clone());
    match Map::parse(&text) {
        Ok(map) => Some(map),
        Err((range, message)) => {
            sink.push(Diag::error("board::map", message).at(source, range, ""));
            None
        }
    }
}
