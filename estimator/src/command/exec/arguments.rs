//! What `warpwatt exec` takes.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use warpwatt_board::facts::Facts;

use crate::boards::board;
use crate::command::arguments::{PointArguments, given};
use crate::command::sample::{Sample, sample};
use crate::diag::Diag;
use crate::study::Question;

/// The GPU where none is named, and its node.
const PRESET: &str = "v100";
const NODE: &str = "12nm";

/// Run a CUDA program without a GPU: its kernels are executed, timed and priced, and a report by kernel follows.
///
/// The program is not changed: it is linked with the shared runtime (nvcc -cudart shared) and holds PTX (docs/exec.md). Its input, output and exit code are its own.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt exec -- ./vector_add
  warpwatt exec --preset v100 --node 12nm -- ./hotspot 512 2 2 temp_512 power_512 out.txt
  warpwatt exec --board titan-v --technique filter_cache --json report.json -- ./app
  warpwatt exec --functional -- ./app

Exit codes: those of the program, 128 and the signal's number if one ended it; 2 if it could not begin.")]
pub struct ExecArguments {
    /// The program and its arguments
    #[arg(value_name = "PROGRAM", required = true, last = true)]
    pub command: Vec<OsString>,
    /// The GPU [default: v100, or the board's]
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// A setting of the GPU, sm.count=40, or a parameter of the techniques, entries=16 (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// A technique with or without parameters, or several joined by + that work together (repeatable: each is compared with the plain GPU)
    #[arg(long = "technique", short = 't', value_name = "TECHNIQUE")]
    pub techniques: Vec<String>,
    /// What runs of PTX: ptx, sass-like [default: as the preset says]
    #[arg(long, value_name = "HOW")]
    pub lower: Option<String>,
    /// Technology node [default: 12nm, or the board's]
    #[arg(long, value_name = "NODE")]
    pub node: Option<String>,
    /// The technology library: silicon, itrs [default: silicon]
    #[arg(long, value_name = "NAME")]
    pub library: Option<String>,
    /// Where in the technology
    #[command(flatten)]
    pub point: PointArguments,
    /// Say what a graphics board draws while kernels run: a shipped board, or the file of one
    #[arg(long, value_name = "BOARD|FILE.toml")]
    pub board: Option<String>,
    /// Only execute; no time and no energy
    #[arg(long)]
    pub functional: bool,
    /// Keep the first launch of each kernel and shape as a launch file with its memory, for `warpwatt kernel`
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
    /// Write the report to a file instead of to standard error
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write the report as JSON to a file: standard output is the program's
    #[arg(long, value_name = "FILE.json")]
    pub json: Option<PathBuf>,
    /// Write figures as CSV, a row a kernel and configuration
    #[arg(long, value_name = "FILE.csv")]
    pub csv: Option<PathBuf>,
    /// Write the report as a page
    #[arg(long, value_name = "FILE.html")]
    pub html: Option<PathBuf>,
    /// Write launches and copies as a trace that ui.perfetto.dev opens
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,
    /// How long power must last to be a peak
    #[arg(long, value_name = "TIME", default_value = "1 us")]
    pub peak_window: String,
    /// Device memory that the program may allocate, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 8192, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub memory: u64,
    /// Stop a kernel at what a GPU lets pass: an access behind the end of a buffer, a lane in a shuffle or ballot that does not name it
    #[arg(long)]
    pub sanitize: bool,
    /// Warp instructions that a launch may execute before it is taken for endless
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    pub limit: u64,
    /// Launches that are timed at most, those that repeat an earlier one not counted; the report says how many others there were
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub launches: u64,
    /// The longest trace of a launch that is timed, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub trace_bytes: u64,
    /// Traces that wait to be timed, in MiB; the program waits when there are more
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub trace_memory: u64,
    /// Time a part of long launches, as much as it takes until what is left out is known so well (95 %): error=2%, or off
    #[arg(long, value_name = "error=N%|off", default_value = "off", value_parser = sample)]
    pub sample: Sample,
    /// Threads that execute kernels and time launches [default: one a core]; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

impl ExecArguments {
    /// The program's file: a path, or what the shell would find.
    pub fn program(&self) -> Result<PathBuf, Diag> {
        let named = PathBuf::from(&self.command[0]);
        let missing = || {
            let message = format!("there is no program `{}`", named.display());
            Diag::error("exec::program", message)
                .help("name the program behind `--`, with its path: -- ./app")
        };
        if named.components().count() > 1 {
            return named.is_file().then(|| named.clone()).ok_or_else(missing);
        }
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::env::split_paths(&folders).map(|folder| folder.join(&named));
        paths
            .into_iter()
            .find(|path| path.is_file())
            .ok_or_else(missing)
    }

    /// The files that are written when the program has ended.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let named = [
            &self.report,
            &self.json,
            &self.csv,
            &self.html,
            &self.timeline,
        ];
        named.into_iter().flatten()
    }

    /// What stands behind the program.
    pub fn words(&self) -> &[OsString] {
        &self.command[1..]
    }

    /// The GPU: that which is named, that of the board, or the default.
    pub fn gpu(&self) -> String {
        let named = self.preset.clone();
        let named = named.or_else(|| self.facts().map(|facts| facts.preset));
        named.unwrap_or_else(|| PRESET.to_owned())
    }

    /// The node, likewise.
    fn node(&self) -> String {
        let named = self.node.clone();
        let named = named.or_else(|| self.facts().map(|facts| facts.node));
        named.unwrap_or_else(|| NODE.to_owned())
    }

    /// What is published of the board, if one is named. What is wrong with it is said elsewhere.
    fn facts(&self) -> Option<Facts> {
        let mut ignored = crate::diag::Sink::default();
        Some(board(self.board.as_ref()?, &mut ignored)?.facts)
    }

    /// What is asked, but for the kernels, which the program has.
    pub fn question(&self, preset: &str) -> Question {
        let mut gpu = vec![("preset", preset.to_owned()), ("node", self.node())];
        let own = [
            ("lower", &self.lower),
            ("library", &self.library),
            ("board", &self.board),
        ];
        gpu.extend(given(own).chain(self.point.given()));
        let sampling = self.sample.error().map(str::to_owned);
        Question {
            kernels: vec!["vector_add".to_owned()],
            techniques: self.techniques.clone(),
            settings: self.set.clone(),
            gpu,
            // Power over windows of time needs all of them.
            peak_window: sampling.is_none().then(|| self.peak_window.clone()),
            sampling,
            ..Question::default()
        }
    }
}
