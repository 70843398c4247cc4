//! `warpwatt calibrate`: a board's values from measured watts.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::boards::{Layout, board, rows};
use super::console::{Exit, out, out_json, reject, show};
use super::files::write_all;
use crate::board::board::Board;
use crate::board::calibrate::{Calibrated, calibrate};
use crate::board::parameter::parameter;
use crate::board::picture::scatter;
use crate::diag::{Diag, Rejection, Sink};

/// Learn what a graphics board draws, from a table of measured watts.
///
/// What is known of the board before its own measurements (the models' prices of its chip, or what other boards told) is weighed against them: a dozen cases are enough. The board's file
/// has every value with its prior, how sure it is, and whether the measurements told it; the picture beside it shows measured watts against those that the other cases predict.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt calibrate measured.csv --board titan-xp --out board.toml
  warpwatt calibrate my-gpu/ --board my-facts.toml --out board.toml     what workloads/your_gpu/run.py left
  warpwatt calibrate kernels.csv --board qv100 --transfer titan-v --out board.toml
  warpwatt calibrate --board my-facts.toml --transfer titan-v,titan-xp --out board.toml   nothing of it was measured

Exit codes: 0 done; 1 done, but the measurements contradict each other; 2 the input is wrong, nothing was written.")]
pub struct CalibrateArguments {
    /// Rows with watts, clocks and rates, counts or utilisations; or the folder of the suite for a GPU of one's own
    #[arg(
        value_name = "MEASURED.csv|FOLDER",
        required_unless_present = "transfer"
    )]
    pub measured: Option<PathBuf>,
    /// What is known before: a shipped board, or a file
    #[arg(long, value_name = "BOARD|FILE.toml")]
    pub board: String,
    /// The board's file; a picture of the same name with .svg goes beside it
    #[arg(long, value_name = "FILE.toml")]
    pub out: PathBuf,
    /// Begin with what these boards tell instead of what the board's file says
    #[arg(long, value_name = "BOARDS", value_delimiter = ',')]
    pub transfer: Vec<String>,
    /// How the table is read
    #[command(flatten)]
    pub layout: Layout,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
}

/// Calibrates, writes, and says how sure it is.
pub fn run(arguments: &CalibrateArguments) -> Exit {
    let mut sink = Sink::default();
    match calibrated(arguments, &mut sink) {
        Some(found) => {
            show(&sink);
            match arguments.json {
                true => out_json(&value(&found)),
                false => out(&text(&found, arguments)),
            }
            if found.contradicted {
                Exit::NotMet
            } else {
                Exit::Done
            }
        }
        None => reject(&Rejection(sink), arguments.json),
    }
}

fn calibrated(arguments: &CalibrateArguments, sink: &mut Sink) -> Option<Calibrated> {
    let base = based(arguments, sink);
    let found = match &arguments.measured {
        Some(path) => {
            let base = base?;
            let rows = rows(path, &arguments.layout, &base, None, sink)?;
            if rows.refused.is_empty() && rows.used.iter().all(|row| row.power_w.is_none()) {
                let message = format!("{}: no row has watts", path.display());
                let help = format!("a column `{}` holds them", rows.watts.join("` or `"));
                sink.push(Diag::error("calibrate::watts", message).help(help));
                return None;
            }
            let table = path
                .file_name()
                .unwrap_or(path.as_os_str())
                .to_string_lossy();
            let found = calibrate(&base, &rows, &table);
            let wrong = |message| {
                Diag::error("calibrate::rows", message)
                    .help("docs/boards.md says which rows tell a board")
            };
            found.map_err(|message| sink.push(wrong(message))).ok()?
        }
        None => Calibrated::of_nothing(base?),
    };
    for warning in &found.warnings {
        sink.push(Diag::warning("calibrate::told", warning.clone()));
    }
    let name = |extension: &str| {
        let path = arguments.out.with_extension(extension);
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let mut files = vec![(name("toml"), found.board.text())];
    if !found.left_out.is_empty() {
        let title = format!(
            "{}: each case as the others predict it",
            found.board.facts.name
        );
        let compared = found.compared().into_iter().map(|(_, compared)| compared);
        files.push((name("svg"), scatter(&title, &compared.collect::<Vec<_>>())));
    }
    let directory = arguments.out.parent().unwrap_or(std::path::Path::new(""));
    if let Err(rejection) = write_all(directory, &files) {
        sink.diags.extend(rejection.0.diags);
        return None;
    }
    Some(found)
}

/// What is known before.
fn based(arguments: &CalibrateArguments, sink: &mut Sink) -> Option<Board> {
    let base = board(&arguments.board, sink);
    if arguments.transfer.is_empty() {
        return base;
    }
    let sources = arguments.transfer.iter().map(|name| board(name, sink));
    let sources: Vec<Option<Board>> = sources.collect();
    let sources: Option<Vec<Board>> = sources.into_iter().collect();
    let found = Board::unmeasured(base?.facts, &sources?);
    found
        .map_err(|message| sink.push(Diag::error("calibrate::transfer", message)))
        .ok()
}

fn value(found: &Calibrated) -> Value {
    let board = &found.board;
    let record = &board.record;
    let values = board.values().map(|value| {
        let known = parameter(value.at);
        json!({
            "key": known.key, "unit": known.unit, "value": value.value, "sigma": value.sigma,
            "prior": value.prior, "prior_sigma": value.prior_sigma, "told": value.told,
        })
    });
    let refused = record
        .refused
        .iter()
        .map(|row| json!({"name": row.name, "line": row.line, "why": row.why}));
    json!({
        "board": board.facts.name, "rows": record.rows, "cases": record.cases,
        "left_out_error": record.left_out.map(|(error, _)| error),
        "left_out_bias": record.left_out.map(|(_, bias)| bias),
        "scatter": record.scatter, "contradicted": found.contradicted,
        "warnings": found.warnings, "refused": refused.collect::<Vec<Value>>(),
        "values": values.collect::<Vec<Value>>(),
    })
}

/// Refused rows that are named on the terminal; the file has all of them.
const LISTED: usize = 8;

fn text(found: &Calibrated, arguments: &CalibrateArguments) -> String {
    let board = &found.board;
    let record = &board.record;
    let mut text = format!(
        "board {} ({} on {})\n",
        board.facts.name, board.facts.chip, board.facts.node
    );
    if let Some((error, bias)) = record.left_out {
        let _ = writeln!(
            text,
            "  {} rows of {} cases; each case left out in turn is {:.1} % off on the mean, bias {:+.1} %",
            record.rows,
            record.cases,
            100.0 * error,
            100.0 * bias
        );
    }
    for row in record.refused.iter().take(LISTED) {
        let _ = writeln!(
            text,
            "  refused: {} (line {}): {}",
            row.name, row.line, row.why
        );
    }
    if record.refused.len() > LISTED {
        let _ = writeln!(
            text,
            "  refused: and {} more, all named in the file",
            record.refused.len() - LISTED
        );
    }
    let _ = writeln!(
        text,
        "  {:<22}{:>14}{:>14}  {:<9}told",
        "value", "before", "now", "sigma"
    );
    for value in board.values() {
        let known = parameter(value.at);
        let _ = writeln!(
            text,
            "  {:<22}{:>14}{:>14}  {:<9.2}{}",
            known.key,
            quantity(value.prior, known.unit),
            quantity(value.value, known.unit),
            value.sigma,
            if value.told { "yes" } else { "no" }
        );
    }
    let _ = writeln!(text, "  written: {}", arguments.out.display());
    text
}

fn quantity(value: f64, unit: &str) -> String {
    match unit {
        "J" => format!("{:.3} pJ", 1e12 * value),
        "W" => format!("{value:.2} W"),
        _ => format!("{value:.3}"),
    }
}
