//! The price of one run without a study: a kernel on a plain GPU, in one technology.

use std::collections::BTreeMap;

use warpwatt_gpu::{GpuSpec, Run};
use warpwatt_structures::inventory;
use warpwatt_techlib::quantity::Frequency;

use crate::outcome::{BASELINE, KernelName, Outcome, Point};
use crate::performance::Performance;
use crate::pricing::{
    CostTable, Counted, NodeCircuits, PricingError, price, technology_name, technology_notes,
};

/// Prices `run`, which timed `kernel` on `gpu` of the preset of that name.
///
/// # Errors
/// A structure of the GPU cannot be built in the technology.
pub fn priced(
    kernel: KernelName,
    (preset, gpu): (&str, &GpuSpec),
    run: &Run,
    circuits: &NodeCircuits,
) -> Result<Outcome, PricingError> {
    let point = Point {
        kernel,
        gpu: preset.to_owned(),
        axes: BTreeMap::new(),
        technology: technology_name(circuits),
        technique: BASELINE.to_owned(),
    };
    let counted = Counted {
        cycles: run.cycles,
        clock: Frequency::from_mhz(f64::from(gpu.sm.clock_mhz)),
        activity: run.activity.clone(),
        performance: Performance::of(gpu, run),
        metrics: Vec::new(),
        register_accesses: None,
        windows: None,
        notes: technology_notes(circuits),
    };
    let table = CostTable::of(&inventory(gpu), gpu.sm.count, circuits)?;
    price(point, counted, &table)
}

#[cfg(test)]
mod tests;
