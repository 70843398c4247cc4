//! Watts of a board over the points of a study.

use std::path::Path;

use warpwatt_board::board::{Board, MOST_BYTES};
use warpwatt_board::counted::row;
use warpwatt_board::shipped;
use warpwatt_board::split::{Part, parts};
use warpwatt_gpu::GpuSpec;

use crate::diag::{Diag, Sink, SourceId, did_you_mean};
use crate::input;
use crate::outcome::{Metric, Note, NoteKind};
use crate::pricing::Counted;
use crate::study::{Placed, Variant};

/// What the figures of a board begin with.
const PREFIX: &str = "board.";
/// The unit of all of them.
const UNIT: &str = "W";
/// What is reported before the parts: name, meaning.
const WHOLE: [(&str, &str); 3] = [
    ("power", "what the graphics board draws"),
    ("low", "2.5 % of measurements of the board lie below"),
    ("high", "2.5 % of measurements of the board lie above"),
];

/// Names and meanings of what is reported: watts with their interval, then each part.
fn figures() -> impl Iterator<Item = (String, String)> {
    let whole = WHOLE
        .into_iter()
        .map(|(name, meaning)| (name, meaning.to_owned()));
    let parts = parts().map(|part| (part.key, format!("of what the board draws, {}", part.words)));
    whole
        .chain(parts)
        .map(|(name, meaning)| (format!("{PREFIX}{name}_w"), meaning))
}

/// Names and units of what is reported.
pub fn names() -> impl Iterator<Item = (String, &'static str)> {
    figures().map(|(name, _)| (name, UNIT))
}

/// What a figure means; nothing if it is not one of a board.
pub fn meaning(name: &str) -> Option<String> {
    if !name.starts_with(PREFIX) {
        return None;
    }
    let found = figures().find(|(known, _)| known == name)?;
    Some(found.1)
}

/// Watts of a board as a point's metrics have them.
pub struct Reported {
    /// What the board draws.
    pub power_w: f64,
    /// Its interval.
    pub within_w: (f64, f64),
    /// Each of the parts.
    pub parts: Vec<(Part, f64)>,
}

impl Reported {
    /// All watts, in the order of [`names`].
    pub fn watts(&self) -> impl Iterator<Item = f64> {
        let whole = [self.power_w, self.within_w.0, self.within_w.1].into_iter();
        whole.chain(self.parts.iter().map(|(_, watts)| *watts))
    }

    /// Those among a point's metrics; none if the study names no board.
    pub fn of(metrics: &[Metric]) -> Option<Self> {
        let value = |key: &str| {
            let own = |metric: &&Metric| {
                let name = metric.name.strip_prefix(PREFIX);
                name.and_then(|name| name.strip_suffix("_w")) == Some(key)
            };
            metrics.iter().find(own).map(|metric| metric.value)
        };
        let parts = parts().map(|part| Some((part, value(part.key)?)));
        let [power, low, high] = WHOLE.map(|(name, _)| value(name));
        Some(Self {
            power_w: power?,
            within_w: (low?, high?),
            parts: parts.collect::<Option<Vec<(Part, f64)>>>()?,
        })
    }
}

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
    let whole = [drawn.power_w, drawn.low_w, drawn.high_w].into_iter();
    let values = names().zip(whole.chain(drawn.split.watts()));
    counted
        .metrics
        .extend(values.map(|((name, unit), value)| Metric {
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
        ),
    });
}
