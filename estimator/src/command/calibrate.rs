//! `warpwatt calibrate`: a board's values from measured watts.

use std::path::{Path, PathBuf};

use clap::Args;

use super::boards::LayoutArguments;
use super::console::{Exit, out, out_json, reject, show};
use super::files::write_all;
use crate::boards::{Calibration, Learned, Measured};
use crate::diag::{Rejection, Sink};

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
    pub layout: LayoutArguments,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
}

/// Calibrates, writes, and says how sure it is.
pub fn run(arguments: &CalibrateArguments) -> Exit {
    let mut sink = Sink::default();
    let learned = arguments.calibration().learn(&mut sink);
    let learned = learned.and_then(|learned| arguments.write(learned, &mut sink));
    let Some(learned) = learned else {
        return reject(&Rejection(sink), arguments.json);
    };
    show(&sink);
    match arguments.json {
        true => out_json(&learned.value()),
        false => {
            let written = arguments.out.display();
            out(&format!("{}  written: {written}\n", learned.text()));
        }
    }
    match learned.contradicted() {
        true => Exit::NotMet,
        false => Exit::Done,
    }
}

impl CalibrateArguments {
    fn calibration(&self) -> Calibration {
        Calibration {
            measured: self.measured.clone().map(Measured::File),
            board: self.board.clone(),
            transfer: self.transfer.clone(),
            layout: self.layout.layout(),
        }
    }

    /// Writes the board and its picture. Nothing: what is wrong is in `sink`.
    fn write(&self, learned: Learned, sink: &mut Sink) -> Option<Learned> {
        let name = |extension: &str| {
            let path = self.out.with_extension(extension);
            let name = path.file_name().unwrap_or_default();
            name.to_string_lossy().into_owned()
        };
        let mut files = vec![(name("toml"), learned.board().text())];
        files.extend(learned.picture().map(|picture| (name("svg"), picture)));
        let directory = self.out.parent().unwrap_or(Path::new(""));
        match write_all(directory, &files) {
            Ok(()) => Some(learned),
            Err(rejection) => {
                sink.diags.extend(rejection.0.diags);
                None
            }
        }
    }
}
