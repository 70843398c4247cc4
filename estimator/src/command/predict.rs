//! `warpwatt predict`: what a board draws for rows of counts.

use std::path::PathBuf;

use clap::Args;

use super::boards::LayoutArguments;
use super::console::{Exit, out, out_data, out_json, reject, show};
use super::files::write_one;
use crate::boards::{Measured, Predicted, board};
use crate::diag::{Rejection, Sink};

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
    pub layout: LayoutArguments,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
}

/// Predicts and compares.
pub fn run(arguments: &PredictArguments) -> Exit {
    let mut sink = Sink::default();
    let Some((predicted, table)) = arguments.predicted(&mut sink) else {
        return reject(&Rejection(sink), arguments.json);
    };
    show(&sink);
    match (arguments.json, &arguments.out) {
        (true, _) => out_json(&predicted.value()),
        (false, None) => out_data(table.as_bytes()),
        (false, Some(_)) => out(&predicted.text()),
    }
    Exit::Done
}

impl PredictArguments {
    /// The prediction and its table, which is written where it is to lie. Nothing: what is wrong is in `sink`.
    fn predicted(&self, sink: &mut Sink) -> Option<(Predicted, String)> {
        let board = board(&self.board, sink);
        let counts = Measured::File(self.counts.clone());
        let predicted = Predicted::of(&counts, board, (&self.layout.layout(), &self.set), sink)?;
        let table = predicted.sheet().csv();
        if let Some(path) = &self.out
            && let Err(rejection) = write_one(path, table.as_bytes())
        {
            sink.diags.extend(rejection.0.diags);
            return None;
        }
        Some((predicted, table))
    }
}
