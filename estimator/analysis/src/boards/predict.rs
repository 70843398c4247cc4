//! What a board draws for rows of counts.

use serde_json::{Value, json};
use warpwatt_board::board::{Board, Prediction};
use warpwatt_board::errors::{Compared, Errors};
use warpwatt_board::map::Operands;
use warpwatt_board::rows::{Row, Rows};
use warpwatt_board::split::parts;
use warpwatt_report::sheet::{Cell, Kind, Sheet, SheetColumn};

use super::{Layout, Measured};
use crate::diag::{Diag, Sink, did_you_mean};
use crate::single::prediction;

/// Rows with what the board draws for them.
pub struct Predicted {
    board: Board,
    rows: Rows,
    predictions: Vec<Prediction>,
}

impl Predicted {
    /// What `board` draws for `counts`, in another state than theirs where `settings` (`KEY=VALUE`) say so. Nothing: what is wrong is in `sink`.
    pub fn of(
        counts: &Measured,
        board: Option<Board>,
        (layout, settings): (&Layout, &[String]),
        sink: &mut Sink,
    ) -> Option<Self> {
        let state = State::parse(settings, sink);
        let board = board?;
        let rows = counts.rows(layout, &board, Some(Operands::Random), sink);
        let (state, mut rows) = (state?, rows?);
        for refused in &rows.refused {
            let (name, line, why) = (&refused.name, refused.line, &refused.why);
            let message = format!("{}:{line}: `{name}` is left out: {why}", counts.name());
            sink.push(Diag::warning("predict::row", message));
        }
        if rows.used.is_empty() {
            sink.push(
                Diag::error("predict::rows", "no row can be predicted")
                    .help("docs/boards.md says which columns a row needs"),
            );
            return None;
        }
        for row in &mut rows.used {
            state.apply(row, &board);
        }
        let predictions = rows.used.iter().map(|row| board.predict(row)).collect();
        Some(Self {
            board,
            rows,
            predictions,
        })
    }

    /// The rows: name, watts with their interval, measured watts, and watts by what they are for.
    pub fn sheet(&self) -> Sheet {
        let watts = |name: &str| SheetColumn::new(name, Kind::Real);
        let mut columns = vec![SheetColumn::new("name", Kind::Text)];
        columns.extend(["power_w", "low_w", "high_w", "measured_w"].map(watts));
        columns.push(SheetColumn::new("clipped", Kind::Mark));
        columns.extend(parts().map(|part| watts(&format!("{}_w", part.key))));
        let rows = self.drawn().map(|(row, drawn)| {
            let mut cells = vec![Cell::from(row.name.as_str())];
            cells.extend([drawn.power_w, drawn.low_w, drawn.high_w].map(Cell::from));
            cells.extend([row.power_w.into(), drawn.clipped.into()]);
            cells.extend(drawn.split.watts().map(Cell::from));
            cells
        });
        let rows = rows.collect();
        Sheet { columns, rows }
    }

    /// The document of `warpwatt predict --json`.
    pub fn value(&self) -> Value {
        let rows = self.drawn().map(|(row, drawn)| {
            let mut value = prediction(drawn);
            value["name"] = json!(row.name);
            value["measured_w"] = json!(row.power_w);
            value
        });
        let errors = self.errors().map(|errors| {
            json!({
                "rows": errors.rows, "mean_absolute_percentage_error": 100.0 * errors.mean_absolute,
                "bias_percent": 100.0 * errors.bias, "correlation": errors.correlation, "coverage": errors.coverage,
            })
        });
        let refused = self
            .rows
            .refused
            .iter()
            .map(|row| json!({"name": row.name, "line": row.line, "why": row.why}));
        json!({
            "board": self.board.facts.name, "rows": rows.collect::<Vec<Value>>(), "errors": errors,
            "refused": refused.collect::<Vec<Value>>(),
        })
    }

    /// What it comes to, in lines.
    pub fn text(&self) -> String {
        let facts = &self.board.facts;
        let mut text = format!("board {}: {} rows\n", facts.name, self.predictions.len());
        let clipped = self.predictions.iter().filter(|one| one.clipped).count();
        if clipped > 0 {
            let limit = facts.power_limit_w;
            text += &format!("  {clipped} of them at the power limit of {limit} W\n");
        }
        if let Some(errors) = self.errors() {
            text += &format!(
                "  against {} measurements: mean absolute error {:.1} %, bias {:+.1} %, correlation {}, {:.0} % within their intervals\n",
                errors.rows,
                100.0 * errors.mean_absolute,
                100.0 * errors.bias,
                errors
                    .correlation
                    .map_or_else(|| "none".to_owned(), |r| format!("{r:.3}")),
                100.0 * errors.coverage
            );
        }
        text
    }

    fn drawn(&self) -> impl Iterator<Item = (&Row, &Prediction)> {
        self.rows.used.iter().zip(&self.predictions)
    }

    fn errors(&self) -> Option<Errors> {
        let compared = self.drawn().filter_map(|(row, drawn)| {
            Some(Compared {
                measured_w: row.power_w?,
                predicted_w: drawn.power_w,
                within_w: (drawn.low_w, drawn.high_w),
            })
        });
        Errors::of(&compared.collect::<Vec<_>>())
    }
}

/// Another state of the board than that of the rows.
#[derive(Default)]
struct State {
    clock_mhz: Option<f64>,
    memory_mhz: Option<f64>,
    temperature_k: Option<f64>,
    /// Over that at the default clock.
    supply: Option<f64>,
}

/// What a state can say.
const KEYS: [&str; 4] = ["clock_mhz", "memory_mhz", "temperature_k", "supply"];

impl State {
    /// That of texts `KEY=VALUE`. Nothing: what is wrong is in `sink`.
    fn parse(settings: &[String], sink: &mut Sink) -> Option<Self> {
        let mut state = Self::default();
        let before = sink.diags.len();
        for setting in settings {
            let (key, text) = setting.split_once('=').unwrap_or((setting, ""));
            let value = text.trim().parse::<f64>().ok();
            let value = value.filter(|value| value.is_finite() && *value > 0.0);
            let slot = match key.trim() {
                "clock_mhz" => &mut state.clock_mhz,
                "memory_mhz" => &mut state.memory_mhz,
                "temperature_k" => &mut state.temperature_k,
                "supply" => &mut state.supply,
                other => {
                    let message = format!("--set knows no `{other}`");
                    sink.push(Diag::error("predict::set", message).help(did_you_mean(other, KEYS)));
                    continue;
                }
            };
            if value.is_none() {
                let message = format!("`{setting}`: the value is a number above zero");
                sink.push(
                    Diag::error("predict::set", message).help("for example --set clock_mhz=1350"),
                );
            }
            *slot = value;
        }
        (sink.diags.len() == before).then_some(state)
    }

    fn apply(&self, row: &mut Row, board: &Board) {
        if let Some(clock) = self.clock_mhz {
            row.core = clock / board.facts.core_mhz;
        }
        if let Some(clock) = self.memory_mhz {
            row.memory = clock / board.facts.memory_mhz;
        }
        row.temperature_k = self.temperature_k.or(row.temperature_k);
        row.supply = self.supply.or(row.supply);
    }
}
