//! `warpwatt predict`: what a board draws for rows of counts.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::boards::{Layout, board, rows};
use super::console::{Exit, out, out_data, out_json, reject, show};
use super::files::write_one;
use crate::board::board::{Board, Prediction};
use crate::board::errors::{Compared, Errors};
use crate::board::map::Operands;
use crate::board::rows::{Row, Rows};
use crate::board::split::parts;
use crate::diag::{Diag, Rejection, Sink, did_you_mean};
use crate::single::prediction;

/// What a graphics board draws for each row of a table of rates, counts or utilisations.
///
/// Columns of the result: name, power_w with low_w and high_w (95 % of measurements lie between), whether the power limit clipped it, and watts by what they are for.
/// Where the table has watts, the errors are reported.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt predict counts.csv --board titan-v --out watts.csv
  warpwatt predict counts.csv --board board.toml --set clock_mhz=1350 --set temperature_k=340
  warpwatt predict measured.csv --board qv100 --json    errors beside the rows

Exit codes: 0 done; 2 the input is wrong, nothing was written.")]
pub struct PredictArguments {
    /// The rows: as calibrate takes them, with or without watts
    #[arg(value_name = "COUNTS.csv|FOLDER")]
    pub counts: PathBuf,
    /// A shipped board, or the file of one
    #[arg(long, value_name = "BOARD|FILE.toml")]
    pub board: String,
    /// Where the watts go [default: standard output]
    #[arg(long, value_name = "FILE.csv")]
    pub out: Option<PathBuf>,
    /// Another state than the rows': clock_mhz, memory_mhz, temperature_k, supply (over that at the default clock)
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// How the table is read
    #[command(flatten)]
    pub layout: Layout,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
}

/// Predicts and compares.
pub fn run(arguments: &PredictArguments) -> Exit {
    let mut sink = Sink::default();
    match predicted(arguments, &mut sink) {
        Some(found) => {
            show(&sink);
            found.print(arguments);
            Exit::Done
        }
        None => reject(&Rejection(sink), arguments.json),
    }
}

/// Rows with what the board draws for them.
struct Predicted {
    board: Board,
    rows: Rows,
    predictions: Vec<Prediction>,
    table: Vec<u8>,
}

fn predicted(arguments: &PredictArguments, sink: &mut Sink) -> Option<Predicted> {
    let board = board(&arguments.board, sink);
    let state = states(&arguments.set, sink);
    let board = board?;
    let rows = rows(
        &arguments.counts,
        &arguments.layout,
        &board,
        Some(Operands::Random),
        sink,
    );
    let (state, mut rows) = (state?, rows?);
    for refused in &rows.refused {
        let message = format!(
            "{}:{}: `{}` is left out: {}",
            arguments.counts.display(),
            refused.line,
            refused.name,
            refused.why
        );
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
    let predictions: Vec<Prediction> = rows.used.iter().map(|row| board.predict(row)).collect();
    let table = match table(&rows.used, &predictions) {
        Ok(table) => table,
        Err(error) => {
            sink.push(Diag::error("predict::table", error.to_string()));
            return None;
        }
    };
    if let Some(path) = &arguments.out
        && let Err(rejection) = write_one(path, &table)
    {
        sink.diags.extend(rejection.0.diags);
        return None;
    }
    Some(Predicted {
        board,
        rows,
        predictions,
        table,
    })
}

/// What `--set` says.
#[derive(Default)]
struct State {
    clock_mhz: Option<f64>,
    memory_mhz: Option<f64>,
    temperature_k: Option<f64>,
    supply: Option<f64>,
}

impl State {
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

const KEYS: [&str; 4] = ["clock_mhz", "memory_mhz", "temperature_k", "supply"];

fn states(settings: &[String], sink: &mut Sink) -> Option<State> {
    let mut state = State::default();
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

/// The result as CSV.
fn table(rows: &[Row], predictions: &[Prediction]) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let fixed = [
        "name",
        "power_w",
        "low_w",
        "high_w",
        "measured_w",
        "clipped",
    ];
    let header = fixed.into_iter().map(str::to_owned);
    writer.write_record(header.chain(parts().map(|part| format!("{}_w", part.key))))?;
    for (row, prediction) in rows.iter().zip(predictions) {
        let numbers = [prediction.power_w, prediction.low_w, prediction.high_w];
        let mut cells = vec![row.name.clone()];
        cells.extend(numbers.map(|watts| watts.to_string()));
        cells.push(
            row.power_w
                .map_or_else(String::new, |watts| watts.to_string()),
        );
        cells.push(prediction.clipped.to_string());
        cells.extend(prediction.split.watts().map(|watts| watts.to_string()));
        writer.write_record(&cells)?;
    }
    writer
        .into_inner()
        .map_err(|error| csv::Error::from(error.into_error()))
}

impl Predicted {
    fn errors(&self) -> Option<Errors> {
        let pairs = self.rows.used.iter().zip(&self.predictions);
        let compared = pairs.filter_map(|(row, prediction)| {
            Some(Compared {
                measured_w: row.power_w?,
                predicted_w: prediction.power_w,
                within_w: (prediction.low_w, prediction.high_w),
            })
        });
        Errors::of(&compared.collect::<Vec<_>>())
    }

    fn print(&self, arguments: &PredictArguments) {
        if arguments.json {
            return out_json(&self.value());
        }
        if arguments.out.is_none() {
            out_data(&self.table);
            return;
        }
        let clipped = self.predictions.iter().filter(|one| one.clipped).count();
        let mut text = format!(
            "board {}: {} rows\n",
            self.board.facts.name,
            self.predictions.len()
        );
        if clipped > 0 {
            text += &format!(
                "  {clipped} of them at the power limit of {} W\n",
                self.board.facts.power_limit_w
            );
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
        out(&text);
    }

    fn value(&self) -> Value {
        let pairs = self.rows.used.iter().zip(&self.predictions);
        let rows = pairs.map(|(row, drawn)| {
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
}
