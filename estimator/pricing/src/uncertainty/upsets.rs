//! Failures in time under draws: the raw rate of a bit errs for all structures of a node together, and for all techniques at it.

use crate::outcome::Metric;

/// The raw rate of upsets of a node, as a cause of error.
pub const UPSETS: &str = "rate of upsets";

/// Metrics in failures in time.
const FAILURES: [&str; 3] = ["fit_sdc", "fit_due", "fit_unprotected"];

/// The relative uncertainty of the rate that is behind these metrics; nothing if they are of no reliability study.
pub fn uncertainty(metrics: &[Metric]) -> Option<f64> {
    let mut metrics = metrics.iter();
    let found = metrics.find(|metric| metric.name == "fit_uncertainty");
    found.map(|metric| metric.value)
}

/// Sets the failures among `metrics` to `nominal` times `factor`.
pub fn scale(metrics: &mut [Metric], nominal: &[Metric], factor: f64) {
    for (metric, nominal) in metrics.iter_mut().zip(nominal) {
        if FAILURES.contains(&metric.name.as_str()) {
            metric.value = nominal.value * factor;
        }
    }
}
