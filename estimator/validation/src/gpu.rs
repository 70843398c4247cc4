//! The GPU model against runs of GPGPU-Sim 4.2.0.

use rayon::prelude::*;
use serde::Deserialize;
use warpwatt_gpu::{GpuSpec, Hooks, Lowering, Run, simulate};
use warpwatt_simt::trace::KernelTrace;
use warpwatt_suite::{Kernel, RunOptions, run_case};

use super::{Check, Tolerance};

/// Cycles of GPGPU-Sim 4.2.0 (commit 667834cf) with caches empty at launch, `kernel.sm70.ptx`, its own launch latency left out; what it counted beside them.
const COLD: &str = include_str!("gpgpusim_cold.csv");

/// No kernel's cycles may be further off.
const CYCLES: Tolerance = Tolerance::Relative(0.5);
/// Instructions are those of the PTX.
const INSTRUCTIONS: Tolerance = Tolerance::Relative(0.02);
/// Mean absolute error of a preset's cycles.
const MEAN_ERROR: f64 = 0.2;
/// What the correlation of the logarithms of cycles lacks of one.
const UNCORRELATED: f64 = 0.05;

/// A run of the simulator.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Reference {
    /// The kernel of the suite, in its first case.
    pub kernel: String,
    /// Our preset of the simulator's configuration.
    pub preset: String,
    /// Core cycles.
    pub cycles: u64,
    /// Warp instructions issued.
    pub warp_instructions: u64,
    /// Registers of a thread by ptxas 11.8 for sm_70, which the simulator takes for every GPU.
    pub registers: u32,
    /// CTAs that fit an SM.
    pub ctas_per_sm: u32,
    /// Sectors that reached the second-level cache.
    pub l2_accesses: u64,
    /// Activations of DRAM rows.
    pub dram_activates: u64,
    /// Processor seconds that the simulator took for the launch.
    pub cpu_s: f64,
}

/// A run of the simulator beside ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Theirs.
    pub reference: Reference,
    /// Ours, with the simulator's registers.
    pub run: Run,
    /// Our cycles with our own registers.
    pub own_registers: u64,
}

impl Compared {
    /// Our cycles over theirs, less one.
    pub fn error(&self) -> f64 {
        ratio(self.run.cycles, self.reference.cycles) - 1.0
    }
}

/// The reference runs.
///
/// # Errors
/// If the table is damaged.
pub fn references() -> Result<Vec<Reference>, String> {
    let mut reader = csv::Reader::from_reader(COLD.as_bytes());
    let rows: Result<Vec<Reference>, csv::Error> = reader.deserialize().collect();
    rows.map_err(|error| error.to_string())
}

/// Runs every kernel of the reference on its preset.
///
/// # Errors
/// If a kernel or preset of the table is not there, or cannot run.
pub fn compare(pool: &rayon::ThreadPool) -> Result<Vec<Compared>, String> {
    let references = references()?;
    pool.install(|| references.into_par_iter().map(compare_one).collect())
}

fn compare_one(reference: Reference) -> Result<Compared, String> {
    let name = &reference.kernel;
    let kernel =
        warpwatt_suite::kernel(name).ok_or_else(|| format!("the suite has no kernel `{name}`"))?;
    let ptx = kernel.ptx_sm70.unwrap_or(kernel.ptx);
    // The simulator runs PTX as it is.
    let spec = GpuSpec::preset_lowered(&reference.preset, Lowering::Ptx)
        .ok_or_else(|| format!("there is no preset `{}`", reference.preset))?;
    let mut traces = traces(kernel, ptx)?;
    let own_registers = timed(&spec, &traces)?.cycles;
    for trace in &mut traces {
        trace.launch.registers = reference.registers;
    }
    Ok(Compared {
        run: timed(&spec, &traces)?,
        own_registers,
        reference,
    })
}

fn traces(kernel: &Kernel, ptx: &str) -> Result<Vec<KernelTrace>, String> {
    let module = warpwatt_ptx::load(ptx)
        .map_err(|_| format!("the PTX of `{}` cannot be read", kernel.name))?;
    let (case, prepared) = kernel.prepare(None).map_err(|error| error.to_string())?;
    let options = RunOptions {
        record: true,
        limit: u64::MAX,
        ..RunOptions::default()
    };
    let run = run_case(&module, &case, &prepared, options).map_err(|error| error.to_string())?;
    Ok(run.into_traces())
}

fn timed(spec: &GpuSpec, traces: &[KernelTrace]) -> Result<Run, String> {
    simulate(spec, traces, Hooks::default()).map_err(|error| error.to_string())
}

/// The checks of [`compare`]: cycles and instructions of every run, then the statistics of each preset.
///
/// # Errors
/// As [`compare`].
pub fn gpgpusim(pool: &rayon::ThreadPool) -> Result<Vec<Check>, String> {
    let compared = compare(pool)?;
    let mut checks = Vec::new();
    for preset in ["gtx480", "v100"] {
        let runs: Vec<&Compared> = compared
            .iter()
            .filter(|run| run.reference.preset == preset)
            .collect();
        for run in &runs {
            let what = format!("{}: cycles", run.reference.kernel);
            checks.push(Check::new(
                preset,
                what,
                run.reference.cycles as f64,
                run.run.cycles as f64,
                CYCLES,
            ));
        }
        for run in &runs {
            let what = format!("{}: warp instructions", run.reference.kernel);
            checks.push(Check::new(
                preset,
                what,
                run.reference.warp_instructions as f64,
                run.run.activity.get("warp_instructions") as f64,
                INSTRUCTIONS,
            ));
        }
        checks.extend(statistics(preset, &runs));
    }
    Ok(checks)
}

/// Error and correlation over the runs of a preset.
fn statistics(preset: &str, runs: &[&Compared]) -> Vec<Check> {
    let place = format!("{preset}, {} kernels", runs.len());
    let at_most = |what, most, ours| Check::at_most(&place, what, most, ours);
    let theirs = |run: &&Compared| run.reference.cycles;
    let errors = mean(runs.iter().map(|run| run.error().abs()));
    let own = mean(
        runs.iter()
            .map(|run| (ratio(run.own_registers, theirs(run)) - 1.0).abs()),
    );
    let logs: Vec<(f64, f64)> = runs
        .iter()
        .map(|run| {
            (
                libm::log(theirs(run) as f64),
                libm::log(run.run.cycles as f64),
            )
        })
        .collect();
    vec![
        at_most("cycles, mean absolute error", MEAN_ERROR, errors),
        at_most("the same with our register allocation", MEAN_ERROR, own),
        at_most(
            "logarithm of cycles, 1 - correlation",
            UNCORRELATED,
            1.0 - correlation(&logs),
        ),
    ]
}

fn ratio(ours: u64, theirs: u64) -> f64 {
    ours as f64 / theirs as f64
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// Pearson's correlation of pairs.
fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let x = mean(pairs.iter().map(|pair| pair.0));
    let y = mean(pairs.iter().map(|pair| pair.1));
    let sum = |of: fn(f64, f64) -> f64| {
        pairs
            .iter()
            .map(|pair| of(pair.0 - x, pair.1 - y))
            .sum::<f64>()
    };
    let spread = sum(|a, _| a * a) * sum(|_, b| b * b);
    sum(|a, b| a * b) / spread.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_fourteen_kernels_on_two_gpus() {
        let references = references().unwrap();
        assert_eq!(references.len(), 28);
        assert!(
            references
                .iter()
                .all(|row| row.cycles > 0 && row.registers > 0)
        );
    }

    #[test]
    fn a_line_is_perfectly_correlated_and_a_parabola_is_not() {
        let line: Vec<(f64, f64)> = (0..9)
            .map(|x| (f64::from(x), f64::from(3 * x + 1)))
            .collect();
        assert!((correlation(&line) - 1.0).abs() < 1e-12);
        let parabola: Vec<(f64, f64)> =
            (-4..=4).map(|x| (f64::from(x), f64::from(x * x))).collect();
        assert!(correlation(&parabola).abs() < 1e-12);
    }
}
