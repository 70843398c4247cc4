//! How evenly registers are accessed.

use warpwatt_activity::Activity;
use warpwatt_gpu::Run;

use crate::Metric;

/// The list of accesses by physical register, register i lying in bank i modulo the banks.
pub const ACCESSES: &str = "register_accesses";

/// Adds the accesses of the registers of an SM.
pub(super) fn report(accesses: &[u64], activity: &mut Activity) {
    activity.add("wear_accesses", accesses.iter().sum());
    activity.add_list(ACCESSES, accesses);
}

/// Lifetime of the most used register over what it would be if all were used alike: by Black's equation (J. R. Black, "Electromigration - A Brief Survey and Some
/// Recent Results", IEEE Transactions on Electron Devices 16(4), 1969) the mean time to failure goes with the current density to the power of -2 at one
/// temperature, and the mean current through a register's wires with its accesses.
fn lifetime(most_over_mean: f64) -> f64 {
    1.0 / (most_over_mean * most_over_mean)
}

/// How the accesses of one SM's registers are distributed.
struct Spread {
    mean: f64,
    /// Standard deviation over mean.
    variation: f64,
    most: f64,
    /// Of those that are accessed at all.
    least: f64,
}

impl Spread {
    /// Nothing of an SM that did not work.
    fn of(accesses: &[u64]) -> Option<Self> {
        let counts = accesses.iter().map(|&count| count as f64);
        let registers = accesses.len() as f64;
        let mean = counts.clone().sum::<f64>() / registers;
        let squares = counts.clone().map(|count| count * count).sum::<f64>() / registers;
        let touched = counts.filter(|&count| count > 0.0);
        Some(Self {
            mean,
            variation: (squares - mean * mean).max(0.0).sqrt() / mean,
            most: touched.clone().reduce(f64::max)?,
            least: touched.reduce(f64::min)?,
        })
    }
}

/// Coefficient of variation, and most over least accesses of registers that are accessed at all, and the lifetime of the most
/// used register, each the mean over the SMs that worked. Of a run that was not timed whole nothing: what chance adds to the most of a part is put up with it.
pub fn metrics(name: &str, run: &Run) -> Vec<Metric> {
    if run.is_sampled() {
        return Vec::new();
    }
    let worked = run.per_sm.iter().map(|sm| Spread::of(sm.list(ACCESSES)));
    let worked: Vec<Spread> = worked.flatten().collect();
    let mean = |of: &dyn Fn(&Spread) -> f64| {
        let sum: f64 = worked.iter().map(of).sum();
        sum / worked.len().max(1) as f64
    };
    let peak = |sm: &Spread| sm.most / sm.mean;
    let metric = |what: &str, value| Metric {
        name: format!("{name}.{what}"),
        unit: "1",
        value,
        ratio: None,
    };
    vec![
        metric("wear_variation", mean(&|sm| sm.variation)),
        metric("wear_most_over_least", mean(&|sm| sm.most / sm.least)),
        metric("wear_most_over_mean", mean(&peak)),
        metric("wear_lifetime", mean(&|sm| lifetime(peak(sm)))),
    ]
}
