//! `--live`: live registers over time, and how much of the subarrays that have power they fill.

mod show;
mod study;

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use warpwatt_gpu::trace::KernelTrace;
use warpwatt_gpu::{Control, GpuSpec};
use warpwatt_run::live::{Live, manages};

use crate::diag::{Diag, Rejection, Sink};
use crate::study::{Asked, Configuration};
use show::Shown;
pub use study::StudyLive;

/// A register is live from the write of a value to its last reader, and nothing else than that is seen.
const LIVE: &str =
    "register_virtualization(renaming_table_bytes=full, pipeline_cycles=0, wake_cycles=0)";

/// What is asked of registers over time.
#[derive(Debug, Args)]
pub struct LiveArguments {
    /// Write live registers over time, of those reserved and of subarrays that have power: a table, or a picture if the name ends with .svg
    #[arg(long, value_name = "FILE.csv|FILE.svg")]
    pub live: Option<PathBuf>,
    /// Cycles of a window of --live
    #[arg(long, value_name = "N", requires = "live", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub live_window: u64,
    /// What manages registers for --live, such as register_shrink [default: of a kernel register_virtualization of all registers, at no cost in time; of a study each of its techniques that does]
    #[arg(long, value_name = "TECHNIQUE", requires = "live")]
    pub live_with: Option<String>,
}

impl LiveArguments {
    /// The technique that manages registers of a single kernel, if they are asked for; else nothing. What is wrong is in `sink`.
    pub fn configuration(&self, sink: &mut Sink) -> Option<Configuration> {
        if let Err(diag) = show::named(self.live.as_ref()?) {
            sink.push(diag);
        }
        asked(self.live_with.as_deref().unwrap_or(LIVE), sink)
    }
}

/// The configuration that a text names. What is wrong is in `sink`.
fn asked(technique: &str, sink: &mut Sink) -> Option<Configuration> {
    let asked = Asked::read(&[technique.to_owned()], &[], sink);
    asked.configurations(sink)?.pop()
}

/// `spec` as the techniques reshape it, if one of them manages registers.
///
/// # Errors
/// None does.
fn reshaped(configuration: &Configuration, spec: &GpuSpec) -> Result<GpuSpec, Diag> {
    let mut spec = spec.clone();
    configuration.stack.reshape(&mut spec);
    if manages(&configuration.stack, &spec) {
        return Ok(spec);
    }
    let message = format!("`{}` manages no registers", configuration.label);
    let help = "`register_virtualization`, `register_shrink` and `power_gating` do";
    Err(Diag::error("kernel::live", message).help(help))
}

/// Registers over time of a kernel, written: the value for the document, and lines with a plot.
///
/// # Errors
/// The run cannot be timed, manages no registers or takes too many windows, or the file cannot be written.
pub fn of_kernel(
    arguments: &LiveArguments,
    (configuration, path): (&Configuration, &Path),
    (name, spec, traces): (&str, &GpuSpec, &[KernelTrace]),
    control: Control<'_>,
) -> Result<(Value, String), Rejection> {
    let spec = reshaped(configuration, spec)?;
    let live = Live::of(
        &configuration.stack,
        (&spec, traces),
        arguments.live_window,
        control,
    )?;
    let shown = Shown {
        name: name.to_owned(),
        technique: configuration.label.clone(),
        columns: Vec::new(),
        live,
    };
    let runs = [shown];
    show::write(path, &runs)?;
    let file = path.display().to_string();
    let [Shown { live, .. }] = &runs;
    let windows = live.rows.len();
    let value = json!({
        "file": file, "windows": windows, "technique": configuration.label,
        "held_of_reserved": live.of_reserved(0..windows), "held_of_powered": live.of_powered(0..windows),
    });
    let mut text = format!(
        "  registers over time, {windows} windows: {file}\n    with {}\n",
        configuration.label
    );
    show::plot(&mut text, live);
    Ok((value, text))
}
