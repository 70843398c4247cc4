//! Tables of measurements and counts, as rows of a board.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use warpwatt_board::board::{Board, MOST_BYTES as MOST_OF_A_BOARD};
use warpwatt_board::map::{Map, Operands, SHIPPED as MAPS};
use warpwatt_board::rows::{MOST_BYTES, Rows, Table};
use warpwatt_input::table::report;

use crate::diag::{Diag, Sink, did_you_mean};
use crate::input;

/// How a table is read.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Which column is what: a shipped map by name, or a file; else the columns tell.
    pub map: Option<String>,
    /// What the rows compute on, if it is said.
    pub operands: Option<Operands>,
}

/// Where rows come from.
#[derive(Clone, Debug)]
pub enum Measured {
    /// A table, or the folder that the suite for a GPU of one's own leaves.
    File(PathBuf),
    /// A table in memory, as CSV.
    Text(String),
}

impl Measured {
    /// The name in messages.
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Text(_) => "the table".to_owned(),
        }
    }

    /// The name in a board's file, without folders.
    pub(super) fn last_name(&self) -> String {
        match self {
            Self::File(path) => {
                let name = path.file_name().unwrap_or(path.as_os_str());
                name.to_string_lossy().into_owned()
            }
            Self::Text(_) => self.name(),
        }
    }

    /// The rows. What they compute on is `unsaid` where the layout does not say; the map knows if that is nothing. Nothing: what is wrong is in `sink`.
    pub(super) fn rows(
        &self,
        layout: &Layout,
        board: &Board,
        unsaid: Option<Operands>,
        sink: &mut Sink,
    ) -> Option<Rows> {
        let table = self.table(sink)?;
        let name = self.name();
        let map = map(layout.map.as_deref(), &table, &name, sink)?;
        let gpu = match board.gpu() {
            Ok(gpu) => gpu,
            Err(message) => {
                sink.push(
                    Diag::error("board::preset", message)
                        .help("`warpwatt list presets` names them"),
                );
                return None;
            }
        };
        let operands = layout.operands.or(unsaid).unwrap_or(map.operands);
        let rows = Rows::of(&table, &map, (&board.facts, &gpu), operands);
        if !rows.unread.is_empty() {
            let unread = rows.unread.join(", ");
            let message = format!("{name}: columns that play no part: {unread}");
            sink.push(Diag::warning("board::columns", message));
        }
        for sentence in &rows.assumed {
            let message = format!("{name}: {sentence}");
            sink.push(Diag::warning("board::assumed", message));
        }
        Some(rows)
    }

    fn table(&self, sink: &mut Sink) -> Option<Table> {
        match self {
            Self::Text(text) => parsed(text, &self.name(), sink),
            Self::File(path) if path.is_dir() => {
                let watts = one_table(&path.join("watts.csv"), sink);
                let counts = one_table(&path.join("counts.csv"), sink);
                Some(watts?.joined(&counts?, "name"))
            }
            Self::File(path) => one_table(path, sink),
        }
    }
}

fn one_table(path: &Path, sink: &mut Sink) -> Option<Table> {
    let text = read(path, MOST_BYTES, sink)?;
    parsed(&text, &path.display().to_string(), sink)
}

fn parsed(text: &str, name: &str, sink: &mut Sink) -> Option<Table> {
    match Table::parse(text) {
        Ok(table) => Some(table),
        Err(faults) => {
            report(sink, "board::table", name, &faults);
            None
        }
    }
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

fn map(asked: Option<&str>, table: &Table, whose: &str, sink: &mut Sink) -> Option<Map> {
    let Some(name) = asked else {
        let columns: Vec<&str> = table.header.iter().map(String::as_str).collect();
        let map = Map::recognised(&columns);
        if map.is_none() {
            let known = MAPS.map(|(name, _)| name).join(", ");
            let message = format!("{whose}: the columns are of no layout that is known");
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
