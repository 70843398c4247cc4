//! What our own timing run counted, as a row of a board, and what is reported of it.

use warpwatt_activity::Activity;
use warpwatt_gpu::GpuSpec;

use crate::channel::Channel;
use crate::facts::Facts;
use crate::rows::{Change, Row};

/// What is reported of a point: name, unit, meaning. The watts, and the ends of their interval.
pub const METRICS: [(&str, &str, &str); 3] = [
    ("board.power_w", "W", "what the graphics board draws"),
    (
        "board.low_w",
        "W",
        "2.5 % of measurements of the board lie below",
    ),
    (
        "board.high_w",
        "W",
        "2.5 % of measurements of the board lie above",
    ),
];

/// Names and units of what is reported.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    METRICS.into_iter().map(|(name, unit, _)| (name, unit))
}

/// What a figure means; nothing if it is not one of a board.
pub fn meaning(name: &str) -> Option<String> {
    let found = METRICS.iter().find(|(known, _, _)| *known == name)?;
    Some(found.2.to_owned())
}

/// A run of `cycles` on `gpu`, which is that of the board, at the GPU's clock. Data are taken to be as random as those of measured kernels.
pub fn row(name: &str, (cycles, activity): (u64, &Activity), gpu: &GpuSpec, board: &Facts) -> Row {
    let clock_mhz = f64::from(gpu.sm.clock_mhz);
    let seconds = cycles.max(1) as f64 / (1e6 * clock_mhz);
    let all = cycles.max(1) as f64 * f64::from(gpu.sm.count);
    let idle = activity.get("idle_cycles") as f64;
    Row {
        name: name.to_owned(),
        line: 0,
        power_w: None,
        core: clock_mhz / board.core_mhz,
        memory: 1.0,
        rates: Channel::ALL.map(|channel| channel.counted(activity) / seconds),
        active: (1.0 - idle / all).clamp(0.0, 1.0),
        operands: Change::Share(1.0),
        shares: None,
        supply: None,
        temperature_k: None,
        unknown: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_counts_over_time() {
        let gpu = GpuSpec::preset("titan-v").unwrap();
        let board = crate::shipped::shipped("titan-v").unwrap();
        let counts = [
            ("fp32_mul.read", 3000),
            ("fp32_add.read", 1000),
            ("idle_cycles", 40_000),
        ];
        let activity: Activity = counts.into_iter().collect();
        let row = row("k", (1000, &activity), &gpu, &board.facts);
        let seconds = 1000.0 / (1e6 * f64::from(gpu.sm.clock_mhz));
        approx::assert_relative_eq!(row.rates[Channel::Fp32 as usize], 4000.0 / seconds);
        approx::assert_relative_eq!(row.active, 0.5);
    }
}
