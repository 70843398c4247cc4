//! The rows: what was measured where, and which kernel of ours is set beside it.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Value;
use warpwatt_gpu::{GpuSpec, Lowering, presets};

use crate::Kind;

/// Sources, devices and rows.
const SHIPPED: &str = include_str!("../../silicon/rows.toml");

/// Everything that was measured.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rows {
    /// What most of the gaps hang on, with the experiment that shows it.
    pub why: String,
    /// By the names that rows use.
    pub sources: BTreeMap<String, Source>,
    devices: BTreeMap<String, Device>,
    /// In the order in which they are shown.
    pub rows: Vec<Row>,
}

/// Who measured.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Which device.
    pub device: String,
    /// What is known of its clock.
    pub clock: String,
    /// What that makes of it.
    pub grade: Grade,
}

impl Source {
    /// What the measurements are worth, and what is known of the clock.
    pub fn quality(&self) -> String {
        format!("{:?}: {}", self.grade, self.clock)
    }
}

/// What a measurement is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Grade {
    /// Input complete, clock known.
    A,
    /// Clock or variant of the card not recorded.
    B,
}

/// A device: a preset, and what its data sheet has otherwise.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    preset: String,
    #[serde(default)]
    set: BTreeMap<String, i64>,
}

/// A kernel and what it took.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The kernel and its input, for people.
    pub what: String,
    /// Who measured it.
    pub source: String,
    /// File of `workloads/silicon`, without its ending.
    pub program: String,
    /// The entry there.
    pub entry: String,
    /// CTAs: numbers, or expressions of `n`.
    pub grid: Vec<Value>,
    /// Threads of one.
    pub block: Vec<u32>,
    /// Bytes of dynamic shared memory.
    #[serde(default)]
    pub shared: u64,
    /// Parameters: `f32[n]`, an array; `u32 n`, a number.
    pub args: Vec<String>,
    /// A launch that prepares.
    pub before: Option<Before>,
    /// How much was measured.
    pub n: u64,
    run: Option<[u64; 2]>,
    each: Option<Vec<u64>>,
    /// Bytes that each of `n` is counted with.
    #[serde(default)]
    pub bytes: f64,
    /// Steps that each of `n` is.
    #[serde(default = "one")]
    pub steps: f64,
    /// How much was measured, in `unit`.
    pub measured: f64,
    /// Of `measured`.
    pub unit: Unit,
    /// How near ours is expected to be.
    #[serde(default = "kernels")]
    pub within: f64,
    /// What the comparison is worth.
    #[serde(default)]
    pub kind: Kind,
    /// Why it is a gap, where an experiment showed that.
    pub why: Option<String>,
}

/// A launch before the one that is measured.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Before {
    /// The entry.
    pub entry: String,
    /// As of the row.
    pub grid: Vec<Value>,
    /// As of the row.
    pub block: Vec<u32>,
    /// Places among the row's parameters.
    pub args: Vec<usize>,
}

/// Of what was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Unit {
    /// Core cycles of a launch.
    #[serde(rename = "cycles")]
    Cycles,
    /// Time of a launch.
    #[serde(rename = "us")]
    Microseconds,
    /// The bytes that a launch is counted with over its time.
    #[serde(rename = "GB/s")]
    GigabytesPerSecond,
    /// The same of the work that the larger of two runs has more.
    #[serde(rename = "GB/s more")]
    GigabytesPerSecondMore,
    /// Cycles of what the larger of two runs has more, a step.
    #[serde(rename = "cycles a step")]
    CyclesAStep,
}

/// What runs of a row's work.
pub enum Amount<'r> {
    /// All of it.
    Whole,
    /// Two smaller amounts, and the line through them.
    Line([u64; 2]),
    /// Each of these values of `n`, for their mean.
    Mean(&'r [u64]),
}

fn one() -> f64 {
    1.0
}

/// No kernel may be further off.
fn kernels() -> f64 {
    0.4
}

impl Rows {
    /// Those that ship.
    ///
    /// # Errors
    /// If the file is damaged, or a row names what is not there.
    pub fn shipped() -> Result<Self, String> {
        let rows: Self = toml::from_str(SHIPPED).map_err(|error| error.to_string())?;
        for row in &rows.rows {
            rows.device(row)?;
        }
        Ok(rows)
    }

    /// The device of a row.
    ///
    /// # Errors
    /// If there is none.
    pub fn device(&self, row: &Row) -> Result<&Device, String> {
        let source = self.sources.get(&row.source);
        let source = source.ok_or_else(|| format!("{}: no source `{}`", row.what, row.source))?;
        let device = self.devices.get(&source.device);
        device.ok_or_else(|| format!("no device `{}`", source.device))
    }

    /// The preset that a row's device is nearest to.
    pub fn preset(&self, row: &Row) -> Option<&str> {
        let device = self.device(row).ok()?;
        Some(&device.preset)
    }
}

impl Row {
    /// What runs.
    pub fn amount(&self) -> Amount<'_> {
        match (&self.run, &self.each) {
            (_, Some(each)) => Amount::Mean(each),
            (Some(run), None) => Amount::Line(*run),
            (None, None) => Amount::Whole,
        }
    }
}

impl Unit {
    /// As tables write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Microseconds => "us",
            Self::GigabytesPerSecond | Self::GigabytesPerSecondMore => "GB/s",
            Self::CyclesAStep => "cycles a step",
        }
    }
}

impl Device {
    /// The preset with the device's own settings, and that lowering or its own.
    ///
    /// # Errors
    /// If there is no such preset or setting.
    pub fn spec(&self, lower: Option<Lowering>) -> Result<GpuSpec, String> {
        let preset = presets().iter().find(|preset| preset.name == self.preset);
        let preset = preset.ok_or_else(|| format!("there is no preset `{}`", self.preset))?;
        let mut table = preset.table_lowered(lower);
        for (path, value) in &self.set {
            let (section, key) = path.split_once('.').unwrap_or(("", path));
            let section = table.get_mut(section).and_then(Value::as_table_mut);
            let section = section.ok_or_else(|| format!("there is no setting `{path}`"))?;
            section.insert(key.to_owned(), Value::Integer(*value));
        }
        GpuSpec::from_table(table).map_err(|problems| {
            let texts = problems.iter();
            let texts = texts.map(|problem| format!("{}: {}", problem.path, problem.message));
            texts.collect::<Vec<_>>().join("; ")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_complete() {
        let rows = Rows::shipped().unwrap();
        assert!(rows.rows.len() > 50);
        for row in &rows.rows {
            assert!(row.measured > 0.0 && row.within > 0.0, "{}", row.what);
            let source = &rows.sources[&row.source];
            assert!(source.quality().len() > 3);
            let runs = matches!(row.amount(), Amount::Line([few, many]) if few < many);
            let by_difference =
                matches!(row.unit, Unit::GigabytesPerSecondMore | Unit::CyclesAStep);
            assert!(runs || !by_difference, "{}", row.what);
        }
        let devices = rows.devices.values();
        assert!(
            devices
                .map(|device| device.spec(None))
                .all(|spec| spec.is_ok())
        );
    }
}
