//! Kernels on the GPU model against what others measured on silicon.

mod launch;
mod rows;

use rayon::prelude::*;
use warpwatt_gpu::{GpuSpec, Hooks, simulate};
use warpwatt_study::{lowered, lowering};
use warpwatt_suite::Lower;

use super::{Check, Kind, Tolerance};
use rows::{Amount, Device, Row, Rows, Unit};

/// Kernels on cards of these presets are summed up.
const SUMMED: [(&str, &str); 2] = [("v100", "V100"), ("h100", "H100")];

/// What rows come to.
const MEAN_ERROR: f64 = 0.15;
const MEDIAN_ERROR: f64 = 0.1;

/// A row and what ours takes.
struct Measured<'r> {
    row: &'r Row,
    /// In the unit of the row.
    ours: f64,
}

/// What most of the gaps hang on, with the experiment that shows it.
///
/// # Errors
/// If a row names what is not there.
pub fn why() -> Result<String, String> {
    Rows::shipped().map(|rows| rows.why)
}

/// Every row as the presets lower PTX, then what they come to, that way and the other.
///
/// # Errors
/// If a row names what is not there, or cannot run.
pub fn checks(pool: &rayon::ThreadPool) -> Result<Vec<Check>, String> {
    let rows = Rows::shipped()?;
    let all: Vec<&Row> = rows.rows.iter().collect();
    let own = measured(pool, &rows, all, None)?;
    let mut checks: Vec<Check> = own.iter().map(|one| check(&rows, one)).collect();
    for (preset, name) in SUMMED {
        checks.extend(sums(
            name,
            &of_preset(&own, preset, &rows),
            Kind::Independent,
        ));
        let chosen = GpuSpec::preset(preset).map(|spec| lowering(&spec));
        for lower in Lower::ALL.into_iter().filter(|&it| Some(it) != chosen) {
            let summed = rows.rows.iter().filter(|row| is_summed(&rows, row, preset));
            let other = measured(pool, &rows, summed.collect(), Some(lower))?;
            let place = format!("{name}, --lower {}", lower.name());
            checks.extend(sums(
                &place,
                &of_preset(&other, preset, &rows),
                Kind::Context,
            ));
        }
    }
    Ok(checks)
}

/// Rows on their devices, lowered as those do it or otherwise.
fn measured<'r>(
    pool: &rayon::ThreadPool,
    rows: &'r Rows,
    wanted: Vec<&'r Row>,
    lower: Option<Lower>,
) -> Result<Vec<Measured<'r>>, String> {
    pool.install(|| {
        let all = wanted.into_par_iter();
        let all = all.map(|row| {
            let ours = ours(row, rows.device(row)?, lower)
                .map_err(|error| format!("{}: {error}", row.what))?;
            Ok(Measured { row, ours })
        });
        all.collect()
    })
}

fn check(rows: &Rows, measured: &Measured<'_>) -> Check {
    let Measured { row, ours } = measured;
    let source = &rows.sources[&row.source];
    let place = format!("{}, {}", source.device, source.quality());
    let within = Tolerance::Relative(row.within);
    Check::new(&place, &*row.what, row.measured, *ours, within)
        .in_unit(row.unit.name())
        .of_kind(row.kind)
        .known(row.why.clone())
}

/// Whether a row is a kernel on a card of a preset, and no probe of one level.
fn is_summed(rows: &Rows, row: &Row, preset: &str) -> bool {
    rows.preset(row) == Some(preset) && row.program != "probes"
}

/// How far the times of the kernels on cards of a preset are off.
fn of_preset(measured: &[Measured<'_>], preset: &str, rows: &Rows) -> Vec<f64> {
    let kernels = measured.iter();
    let kernels = kernels.filter(|one| is_summed(rows, one.row, preset));
    kernels.map(|one| one.slower().abs()).collect()
}

/// Mean and median of how far times are off.
fn sums(place: &str, errors: &[f64], kind: Kind) -> Vec<Check> {
    let mut errors = errors.to_vec();
    errors.sort_by(f64::total_cmp);
    let half = errors.len() / 2;
    let median = (errors[half] + errors[errors.len() - 1 - half]) / 2.0;
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    let place = format!("{place}, {} kernels", errors.len());
    [
        ("time, mean absolute error", MEAN_ERROR, mean),
        ("time, median absolute error", MEDIAN_ERROR, median),
    ]
    .map(|(what, most, ours)| Check::at_most(&place, what, most, ours).of_kind(kind))
    .into()
}

impl Measured<'_> {
    /// Our time over the measured one, less one.
    fn slower(&self) -> f64 {
        let ratio = self.ours / self.row.measured;
        match self.row.unit {
            Unit::GigabytesPerSecond | Unit::GigabytesPerSecondMore => 1.0 / ratio - 1.0,
            Unit::Cycles | Unit::Microseconds | Unit::CyclesAStep => ratio - 1.0,
        }
    }
}

/// Ours, in the unit of the row.
fn ours(row: &Row, device: &Device, lower: Option<Lower>) -> Result<f64, String> {
    let spec = device.spec(lower.map(lowered))?;
    let lower = lowering(&spec);
    let cycles = |n: u64| cycles(row, &spec, lower, n);
    let n = row.n as f64;
    let hertz = f64::from(spec.sm.clock_mhz) * 1e6;
    let (whole, more) = match row.amount() {
        Amount::Whole => (cycles(row.n)?, 0.0),
        Amount::Line([few, many]) => {
            let (first, second) = (cycles(few)?, cycles(many)?);
            let more = (second - first) / (many - few) as f64;
            (first + more * (n - few as f64), more)
        }
        Amount::Mean(each) => {
            let all = each.iter().map(|&n| cycles(n));
            let all = all.collect::<Result<Vec<f64>, String>>()?;
            (all.iter().sum::<f64>() / all.len() as f64, 0.0)
        }
    };
    Ok(match row.unit {
        Unit::Cycles => whole,
        Unit::Microseconds => whole / hertz * 1e6,
        Unit::GigabytesPerSecond => row.bytes * n / (whole / hertz) / 1e9,
        Unit::GigabytesPerSecondMore => row.bytes / (more / hertz) / 1e9,
        Unit::CyclesAStep => more / row.steps,
    })
}

/// Core cycles of `n` of a row's work.
fn cycles(row: &Row, spec: &GpuSpec, lower: Lower, n: u64) -> Result<f64, String> {
    let traces = launch::traces(row, n, spec.sm.warp_width, lower)?;
    let run = simulate(spec, &traces, Hooks::default()).map_err(|error| error.to_string())?;
    Ok(run.cycles as f64)
}
