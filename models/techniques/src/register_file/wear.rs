//! How evenly registers are accessed.

use warpwatt_activity::Activity;
use warpwatt_gpu::Run;

use crate::Metric;

/// The list of accesses by physical register, register i lying in bank i modulo the banks.
pub const ACCESSES: &str = "register_accesses";

/// Adds what the distribution of accesses over the registers of an SM comes down to.
pub(super) fn report(accesses: &[u64], activity: &mut Activity) {
    let squares = accesses.iter().map(|count| count.saturating_mul(*count));
    let touched = accesses.iter().copied().filter(|&count| count > 0);
    activity.add("wear_registers", accesses.len() as u64);
    activity.add("wear_accesses", accesses.iter().sum());
    activity.add("wear_squares", squares.fold(0, u64::saturating_add));
    activity.add("wear_most", touched.clone().max().unwrap_or(0));
    activity.add("wear_least", touched.min().unwrap_or(0));
    activity.add_list(ACCESSES, accesses);
}

/// Lifetime of the most used register over what it would be if all were used alike: by Black's equation (J. R. Black, "Electromigration - A Brief Survey and Some
/// Recent Results", IEEE Transactions on Electron Devices 16(4), 1969) the mean time to failure goes with the current density to the power of -2 at one
/// temperature, and the mean current through a register's wires with its accesses.
fn lifetime(most_over_mean: f64) -> f64 {
    1.0 / (most_over_mean * most_over_mean)
}

/// Coefficient of variation, and most over least accesses of registers that are accessed at all, and the lifetime of the most
/// used register, each the mean over the SMs that worked.
pub fn metrics(name: &str, run: &Run) -> Vec<Metric> {
    let worked: Vec<&Activity> = run
        .per_sm
        .iter()
        .filter(|sm| sm.get("wear_accesses") > 0)
        .collect();
    let mean = |of: &dyn Fn(&Activity) -> f64| {
        let sum: f64 = worked.iter().map(|sm| of(sm)).sum();
        sum / worked.len().max(1) as f64
    };
    let average = |sm: &Activity| sm.get("wear_accesses") as f64 / sm.get("wear_registers") as f64;
    let variation = |sm: &Activity| {
        let squares = sm.get("wear_squares") as f64 / sm.get("wear_registers") as f64;
        (squares - average(sm) * average(sm)).max(0.0).sqrt() / average(sm)
    };
    let imbalance = |sm: &Activity| sm.get("wear_most") as f64 / sm.get("wear_least") as f64;
    let peak = |sm: &Activity| sm.get("wear_most") as f64 / average(sm);
    let metric = |what: &str, value| Metric {
        name: format!("{name}.{what}"),
        unit: "1",
        value,
        ratio: None,
    };
    vec![
        metric("wear_variation", mean(&variation)),
        metric("wear_most_over_least", mean(&imbalance)),
        metric("wear_most_over_mean", mean(&peak)),
        metric("wear_lifetime", mean(&|sm| lifetime(peak(sm)))),
    ]
}
