//! What the figures of a sampled run are uncertain by.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use warpwatt_gpu::{LaunchSample, Run, Way};

/// By how much leaving out disturbs a launch that is left out whole, relative, as a standard deviation: warps that lie where they would not, SMs that end at other times,
/// caches that hold nearly what they would. The root mean square over kernels of the suite on four presets, which were also timed whole: docs/sampling.md has the
/// table, `cargo run --release -p warpwatt-tests --example sampling` makes it again.
pub const DISTURBANCE: f64 = 0.038;

/// What of a run was timed, and what its figures are off by for that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sampled {
    /// The share of its warp instructions that was timed.
    pub timed: f64,
    /// What its time and energy are uncertain by.
    pub errors: Vec<SampleError>,
}

/// A cause of error: something that was left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleError {
    /// Runs of which this is the same are off by it together.
    pub cause: Arc<str>,
    /// What the time may be off by, as a standard deviation, negative where a figure falls in it: seconds.
    pub time_s: f64,
    /// The same of the energy: joules, prices being what they are.
    pub energy_j: f64,
}

/// What a run was sampled by.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// Those of the launches that were not timed whole.
    pub launches: Vec<LaunchSample>,
    /// Warp instructions of the run.
    pub warp_instructions: u64,
}

impl Samples {
    /// Those of a run; none if all of it was timed.
    pub fn of(run: &Run) -> Option<Self> {
        let launches = run.launches.iter().filter_map(|run| run.sample.clone());
        let launches: Vec<LaunchSample> = launches.collect();
        (!launches.is_empty()).then(|| Self {
            launches,
            warp_instructions: run.activity.get("warp_instructions"),
        })
    }

    /// Whether nothing but whole CTAs was left out.
    pub fn whole_ctas(&self) -> bool {
        self.launches.iter().all(|launch| launch.way == Way::Ctas)
    }

    /// By how much the cycles of the run may be off by what was left out, relative, as a standard deviation; what that disturbs is not in it.
    pub fn cycles_sigma(&self, cycles: u64) -> f64 {
        let errors = self.launches.iter().flat_map(|launch| {
            let cycles = launch.batches.iter();
            let cycles = cycles.map(|batch| batch.activity.get("cycles") as f64);
            launch.errors(&cycles.collect::<Vec<f64>>())
        });
        errors.map(|error| error * error).sum::<f64>().sqrt() / cycles.max(1) as f64
    }

    /// The share of the run that was not timed.
    pub fn skipped(&self) -> f64 {
        let skipped: u64 = self.launches.iter().map(LaunchSample::skipped).sum();
        skipped as f64 / self.warp_instructions.max(1) as f64
    }

    /// [`cycles_sigma`](Self::cycles_sigma) with what leaving out disturbs.
    pub fn sigma(&self, cycles: u64) -> f64 {
        self.cycles_sigma(cycles)
            .hypot(DISTURBANCE * self.skipped())
    }
}

impl Sampled {
    /// Standard deviation of the time.
    pub fn time_sigma_s(&self) -> f64 {
        self.together(|error| error.time_s)
    }

    /// Standard deviation of the energy, prices being what they are.
    pub fn energy_sigma_j(&self) -> f64 {
        self.together(|error| error.energy_j)
    }

    fn together(&self, figure: fn(&SampleError) -> f64) -> f64 {
        let errors = self.errors.iter().map(figure);
        errors.map(|error| error * error).sum::<f64>().sqrt()
    }
}
