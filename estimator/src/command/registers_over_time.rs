//! Live registers over time, and how much of the subarrays that have power they fill.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use warpwatt_gpu::trace::KernelTrace;
use warpwatt_gpu::{Control, GpuSpec, Hooks, simulate_under};
use warpwatt_techniques::{MOST_WINDOWS, RegisterWindow, RegistersOverTime};

use super::files::write_one;
use crate::diag::{Diag, Rejection, Sink};
use crate::run::execute::untimed;
use crate::study::{Asked, Configuration};

/// A register is live from the write of a value to its last reader, and nothing else than that is seen.
const LIVE: &str =
    "register_virtualization(renaming_table_bytes=full, pipeline_cycles=0, wake_cycles=0)";

/// Columns of the plot.
const COLUMNS: usize = 60;

/// What is asked of registers over time.
#[derive(Debug, Args)]
pub struct LiveArguments {
    /// Write live registers over time as CSV: of those reserved, and of subarrays that have power
    #[arg(long, value_name = "FILE.csv", conflicts_with = "no_timing")]
    pub live: Option<PathBuf>,
    /// Cycles of a window of --live
    #[arg(long, value_name = "N", requires = "live", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub live_window: u64,
    /// What manages registers for --live, such as register_shrink [default: register_virtualization of all registers, at no cost in time]
    #[arg(long, value_name = "TECHNIQUE", requires = "live")]
    pub live_with: Option<String>,
}

/// Registers over time.
pub struct Live {
    technique: String,
    window: u64,
    subarray: u64,
    rows: Vec<RegisterWindow>,
}

impl LiveArguments {
    /// The technique that manages registers, if they are asked for; else nothing. What is wrong is in `sink`.
    pub fn configuration(&self, sink: &mut Sink) -> Option<Configuration> {
        self.live.as_ref()?;
        let technique = self.live_with.clone().unwrap_or_else(|| LIVE.to_owned());
        let asked = Asked::read(&[technique], &[], sink);
        asked.configurations(sink)?.pop()
    }
}

impl Live {
    /// Those of a run of `traces` with a technique, which is timed for that.
    ///
    /// # Errors
    /// It cannot be timed, manages no registers, or takes too many windows.
    pub fn of(
        configuration: &Configuration,
        (spec, traces): (&GpuSpec, &[KernelTrace]),
        window: u64,
        control: Control<'_>,
    ) -> Result<Self, Diag> {
        let (mut spec, mut hooks) = (spec.clone(), Hooks::default());
        configuration.stack.reshape(&mut spec);
        let log = RegistersOverTime::new(window);
        if !configuration
            .stack
            .attach_over_time(&spec, &mut hooks, &log)
        {
            let message = format!("`{}` manages no registers", configuration.label);
            let help = "`register_virtualization`, `register_shrink` and `power_gating` do";
            return Err(Diag::error("kernel::live", message).help(help));
        }
        let timed = simulate_under(&spec, traces, hooks, control);
        timed.map_err(|error| untimed("kernel::timing", &error))?;
        let subarray = u64::from(log.subarray());
        let rows = log.finish().ok_or_else(|| {
            let message = format!("the run has more than {MOST_WINDOWS} windows of registers");
            Diag::error("kernel::live", message).help("choose a larger `--live-window`")
        })?;
        Ok(Self {
            technique: configuration.label.clone(),
            window,
            subarray,
            rows,
        })
    }

    /// Writes them, and says what was written: the value for the document, and lines with a plot.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(Value, String), Rejection> {
        write_one(path, self.table().as_bytes())?;
        let file = path.display().to_string();
        let sum = self.between(0, self.rows.len());
        let value = json!({
            "file": file, "windows": self.rows.len(), "technique": self.technique,
            "held_of_reserved": held_of_reserved(&sum), "held_of_powered": self.held_of_powered(&sum),
        });
        let mut text = format!(
            "  registers over time, {} windows: {file}\n    with {}\n",
            self.rows.len(),
            self.technique
        );
        let of_powered = |row: &RegisterWindow| self.held_of_powered(row);
        self.plot(&mut text, "live of those reserved", held_of_reserved);
        self.plot(&mut text, "live in subarrays with power", of_powered);
        Ok((value, text))
    }

    /// A row a window; means over its cycles, of all SMs together. A share of nothing is empty.
    fn table(&self) -> String {
        let mut text = "from_cycle,to_cycle,live,reserved,powered_subarrays,live_of_reserved,live_of_powered\n".to_owned();
        for (number, row) in (0..).zip(&self.rows) {
            let mean = |sum: u64| sum as f64 / self.window as f64;
            let share = |share: Option<f64>| share.map_or(String::new(), |share| share.to_string());
            let _ = writeln!(
                text,
                "{},{},{},{},{},{},{}",
                number * self.window,
                (number + 1) * self.window,
                mean(row.held),
                mean(row.reserved),
                mean(row.powered),
                share(held_of_reserved(row)),
                share(self.held_of_powered(row)),
            );
        }
        text
    }

    fn held_of_powered(&self, row: &RegisterWindow) -> Option<f64> {
        share(row.held, row.powered * self.subarray)
    }

    fn between(&self, from: usize, to: usize) -> RegisterWindow {
        let mut sum = RegisterWindow::default();
        for row in &self.rows[from..to] {
            sum.held += row.held;
            sum.reserved += row.reserved;
            sum.powered += row.powered;
        }
        sum
    }

    /// A line of bars, from the first cycle to the last, an eighth of the whole a step.
    fn plot(&self, text: &mut String, what: &str, of: impl Fn(&RegisterWindow) -> Option<f64>) {
        const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let columns = COLUMNS.min(self.rows.len());
        let edge = |column: usize| column * self.rows.len() / columns;
        let bars = (0..columns).map(|column| {
            let share = of(&self.between(edge(column), edge(column + 1))).unwrap_or(0.0);
            BARS[((8.0 * share).ceil() as usize).min(8)]
        });
        let bars: String = bars.collect();
        let mean = of(&self.between(0, self.rows.len())).unwrap_or(0.0);
        let most = self.rows.iter().filter_map(&of).fold(0.0, f64::max);
        let _ = writeln!(
            text,
            "    {what:<30}|{bars}| mean {:.1}%, most {:.1}%",
            100.0 * mean,
            100.0 * most
        );
    }
}

fn held_of_reserved(row: &RegisterWindow) -> Option<f64> {
    share(row.held, row.reserved)
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
