//! Watts of a board over the points of a study.

use std::path::Path;

use warpwatt_board::board::{Board, MOST_BYTES};
use warpwatt_board::counted::{METRICS, row};
use warpwatt_board::shipped;
use warpwatt_gpu::GpuSpec;

use crate::diag::{Diag, Sink, SourceId, did_you_mean};
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
    let board = open(named, directory, (sink, source))?;
    let Some(other) = gpus.iter().find(|gpu| gpu.preset != board.facts.preset) else {
        return Some(board);
    };
    let message = format!(
        "the board `{}` has the GPU `{}`, the study has `{}`",
        board.facts.name, board.facts.preset, other.preset
    );
    let diag = Diag::error("study::board", message).at(source, named.range.clone(), "this board");
    sink.push(diag.help(format!("write preset = \"{}\"", board.facts.preset)));
    None
}

fn open(
    named: &Placed<String>,
    directory: &Path,
    (sink, source): (&mut Sink, SourceId),
) -> Option<Board> {
    let name = &named.value;
    if let Some(board) = shipped::shipped(name) {
        return Some(board);
    }
    let wrong = |message: String| {
        Diag::error("study::board", message).at(source, named.range.clone(), "this board")
    };
    if !name.ends_with(".toml") {
        let help = format!(
            "{}; or name a file that ends in .toml",
            did_you_mean(name, shipped::names())
        );
        sink.push(wrong(format!("no board is called `{name}`")).help(help));
        return None;
    }
    let text = match input::text(&directory.join(name), MOST_BYTES) {
        Ok(text) => text,
        Err(error) => {
            sink.push(wrong(format!("cannot read the board `{name}`: {error}")));
            return None;
        }
    };
    let file = sink.sources.add(name.clone(), text.clone());
    let faults = match Board::parse(&text) {
        Ok(board) => return Some(board),
        Err(faults) => faults,
    };
    for fault in faults {
        sink.push(Diag::error("board::file", fault.message).at(file, fault.range, ""));
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
    let values = [drawn.power_w, drawn.low_w, drawn.high_w];
    let metrics = METRICS.into_iter().zip(values);
    counted
        .metrics
        .extend(metrics.map(|((name, unit, _), value)| Metric {
            name: name.to_owned(),
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
        ),
    });
}
