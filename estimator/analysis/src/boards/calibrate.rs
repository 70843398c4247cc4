//! A board's values from measured watts.

use std::fmt::Write as _;

use serde_json::{Value, json};
use warpwatt_board::board::Board;
use warpwatt_board::calibrate::{Calibrated, calibrate};
use warpwatt_board::errors::Compared;
use warpwatt_board::parameter::parameter;
use warpwatt_board::picture::scatter;
use warpwatt_board::rows::Row;

use super::{Layout, Measured, board};
use crate::diag::{Diag, Sink};

/// A calibration that is asked for.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// Rows with watts. Without them the board is what is known of it.
    pub measured: Option<Measured>,
    /// What is known before: a shipped board by name, or a file.
    pub board: String,
    /// Begin with what these boards tell instead.
    pub transfer: Vec<String>,
    /// How the table is read.
    pub layout: Layout,
}

/// A board that was learned.
pub struct Learned {
    found: Calibrated,
}

impl Calibration {
    /// Learns it. Nothing: what is wrong is in `sink`.
    pub fn learn(&self, sink: &mut Sink) -> Option<Learned> {
        let base = self.base(sink);
        let found = match &self.measured {
            Some(measured) => self.from(measured, &base?, sink)?,
            None => Calibrated::of_nothing(base?),
        };
        for warning in &found.warnings {
            sink.push(Diag::warning("calibrate::told", warning.clone()));
        }
        Some(Learned { found })
    }

    fn from(&self, measured: &Measured, base: &Board, sink: &mut Sink) -> Option<Calibrated> {
        let rows = measured.rows(&self.layout, base, None, sink)?;
        if rows.refused.is_empty() && rows.used.iter().all(|row| row.power_w.is_none()) {
            let message = format!("{}: no row has watts", measured.name());
            let help = format!("a column `{}` holds them", rows.watts.join("` or `"));
            sink.push(Diag::error("calibrate::watts", message).help(help));
            return None;
        }
        let found = calibrate(base, &rows, &measured.last_name());
        let wrong = |message| {
            Diag::error("calibrate::rows", message)
                .help("docs/boards.md says which rows tell a board")
        };
        found.map_err(|message| sink.push(wrong(message))).ok()
    }

    /// What is known before.
    fn base(&self, sink: &mut Sink) -> Option<Board> {
        let base = board(&self.board, sink);
        if self.transfer.is_empty() {
            return base;
        }
        let sources = self.transfer.iter().map(|name| board(name, sink));
        let sources: Vec<Option<Board>> = sources.collect();
        let sources: Option<Vec<Board>> = sources.into_iter().collect();
        let found = Board::unmeasured(base?.facts, &sources?);
        found
            .map_err(|message| sink.push(Diag::error("calibrate::transfer", message)))
            .ok()
    }
}

/// Refused rows that are named in the text; the board's file has all of them.
const LISTED: usize = 8;

impl Learned {
    /// The board.
    pub fn board(&self) -> &Board {
        &self.found.board
    }

    /// Whether the measurements contradict the law or each other.
    pub fn contradicted(&self) -> bool {
        self.found.contradicted
    }

    /// Each used row with what the other cases alone predict for it.
    pub fn compared(&self) -> Vec<(&Row, Compared)> {
        self.found.compared()
    }

    /// Measured watts against those that the other cases predict, as SVG. Nothing, if nothing was measured.
    pub fn picture(&self) -> Option<String> {
        let compared: Vec<Compared> = self.compared().into_iter().map(|(_, one)| one).collect();
        let name = &self.board().facts.name;
        let title = format!("{name}: each case as the others predict it");
        (!compared.is_empty()).then(|| scatter(&title, &compared))
    }

    /// The document of `warpwatt calibrate --json`.
    pub fn value(&self) -> Value {
        let board = self.board();
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
            "scatter": record.scatter, "contradicted": self.contradicted(),
            "warnings": self.found.warnings, "refused": refused.collect::<Vec<Value>>(),
            "values": values.collect::<Vec<Value>>(),
        })
    }

    /// What it comes to, in lines.
    pub fn text(&self) -> String {
        let board = self.board();
        let facts = &board.facts;
        let mut text = format!("board {} ({} on {})\n", facts.name, facts.chip, facts.node);
        text += &self.record();
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
        text
    }

    /// How well the rows predict each other, and those that play no part.
    fn record(&self) -> String {
        let record = &self.board().record;
        let mut text = String::new();
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
            let (name, line, why) = (&row.name, row.line, &row.why);
            let _ = writeln!(text, "  refused: {name} (line {line}): {why}");
        }
        if record.refused.len() > LISTED {
            let more = record.refused.len() - LISTED;
            let _ = writeln!(text, "  refused: and {more} more, all named in the file");
        }
        text
    }
}

fn quantity(value: f64, unit: &str) -> String {
    match unit {
        "J" => format!("{:.3} pJ", 1e12 * value),
        "W" => format!("{value:.2} W"),
        _ => format!("{value:.3}"),
    }
}
