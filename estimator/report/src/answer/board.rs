//! What the graphics board draws, if the study names one.

use warpwatt_board::counted::METRICS;

use crate::outcome::{BASELINE, Outcome};

/// A sentence: means over the points of the plain GPU.
pub(super) fn words(points: &[Outcome]) -> Option<String> {
    let plain = points
        .iter()
        .filter(|point| point.point.technique == BASELINE);
    let plain: Vec<&Outcome> = plain.collect();
    let mean = |name: &str| {
        let values = plain.iter().filter_map(|point| {
            let found = point.metrics.iter().find(|metric| metric.name == name)?;
            Some(found.value)
        });
        let values: Vec<f64> = values.collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let [power, low, high] = METRICS.map(|(name, ..)| mean(name));
    let (power, low, high) = (power?, low?, high?);
    let over = match plain.len() {
        1 => String::new(),
        count => format!(", as a mean over {count} points"),
    };
    Some(format!(
        "The board draws {power:.0} W with the plain GPU (95 % within {low:.0} to {high:.0} W){over}."
    ))
}
