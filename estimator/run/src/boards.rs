//! Watts of a board over the points of a study.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use warpwatt_board::board::{Board, MOST_BYTES};
use warpwatt_board::counted::row;
use warpwatt_board::reported::{names, values};
use warpwatt_board::shipped;
use warpwatt_gpu::GpuSpec;

use crate::diag::{Diag, Sink, SourceId, Span, did_you_mean};
use crate::input;
use crate::outcome::{Metric, Note, NoteKind};
use crate::pricing::Counted;
use crate::study::{Placed, Variant};

/// The board that a study names, whose GPU is that of the study. Nothing: what is wrong is in the sink.
pub(crate) fn named(
    named: &Placed<String>,
    directory: &Path,
    gpus: &[Variant],
    (sink, source): (&mut Sink, SourceId),
) -> Option<Board> {
    let place = Span {
        source,
        range: named.range.clone(),
    };
    let board = open(&named.value, directory, sink, Some(&place))?;
    let Some(other) = gpus.iter().find(|gpu| gpu.preset != board.facts.preset) else {
        return Some(board);
    };
    let message = format!(
        "the board `{}` has the GPU `{}`, the study has `{}`",
        board.facts.name, board.facts.preset, other.preset
    );
    let diag = Diag::error("study::board", message).on(Some(&place), "this board");
    sink.push(diag.help(format!("write preset = \"{}\"", board.facts.preset)));
    None
}

/// The board of that name, or of that file below `directory`; `place` is where the name stands, if it is in a text. Nothing: what is wrong is in `sink`.
pub fn open(name: &str, directory: &Path, sink: &mut Sink, place: Option<&Span>) -> Option<Board> {
    if let Some(board) = shipped::shipped(name) {
        return Some(board);
    }
    let wrong =
        |code: &'static str, message: String| Diag::error(code, message).on(place, "this board");
    let path = directory.join(name);
    if path.extension() != Some(OsStr::new("toml")) {
        let message = format!("there is no board `{name}`");
        let help = format!(
            "{}; or name a file that ends in .toml",
            did_you_mean(name, shipped::names())
        );
        sink.push(wrong("board::unknown", message).help(help));
        return None;
    }
    let text = match input::text(&path, MOST_BYTES) {
        Ok(text) => text,
        Err(error) => {
            let message = format!("cannot read `{name}`: {error}");
            sink.push(wrong("input::unreadable", message).help("name a file that can be read"));
            return None;
        }
    };
    parse(name, text, sink)
}

/// The board of a file's text, with the name of the file. Nothing: what is wrong is in `sink`.
pub fn parse(name: &str, text: String, sink: &mut Sink) -> Option<Board> {
    let faults = match Board::parse(&text) {
        Ok(board) => return Some(board),
        Err(faults) => faults,
    };
    let source = sink.sources.add(name, text);
    for fault in faults {
        let diag = Diag::error("board::file", fault.message).at(source, fault.range, "");
        sink.push(diag.help("docs/boards.md says what a board's file holds"));
    }
    None
}

/// Adds what the board draws to what was counted of a point.
pub(crate) fn report(board: &Board, gpu: &GpuSpec, counted: &mut Counted) {
    let row = row(
        "point",
        (counted.cycles, &counted.activity),
        gpu,
        &board.facts,
    );
    let drawn = board.predict(&row);
    let values = names().zip(values(&drawn));
    Arc::make_mut(&mut counted.metrics).extend(values.map(|((name, unit), value)| Metric {
        name,
        unit: unit.to_owned(),
        value,
        ratio: None,
    }));
    let clipped = match drawn.clipped {
        true => "; its power limit bounds them, and it would slow down",
        false => "",
    };
    counted.notes.push(Note {
        kind: NoteKind::Scope,
        text: format!(
            "watts of the board {} follow from what the GPU did; structures that a technique adds are not among them{clipped}",
            board.facts.name
        ).into(),
    });
}
