//! The price of one run without a study: a kernel on a plain GPU, in one technology.

use std::collections::BTreeMap;
use std::sync::Arc;

use warpwatt_gpu::{GpuSpec, Run};
use warpwatt_structures::inventory;
use warpwatt_techlib::quantity::Frequency;
use warpwatt_techniques::Stack;

use crate::by_sm::{CountedRun, PowerBySm, SmWindows};
use crate::outcome::{BASELINE, KernelName, Outcome, Point, Samples};
use crate::peak::Windows;
use crate::performance::Performance;
use crate::pricing::{
    CostTable, Counted, NodeCircuits, PricingError, price, technology_name, technology_notes,
};

/// A kernel that was timed on a plain GPU.
#[derive(Clone, Copy, Debug)]
pub struct TimedKernel<'t> {
    /// The kernel.
    pub kernel: &'t KernelName,
    /// The preset of the GPU.
    pub preset: &'t str,
    /// The GPU, which may differ from its preset.
    pub gpu: &'t GpuSpec,
    /// What was counted.
    pub run: &'t Run,
    /// What was counted window by window, if power over time is wanted.
    pub windows: Option<&'t Windows>,
    /// The same of single SMs, if theirs is.
    pub by_sm: Option<&'t SmWindows>,
}

/// Prices a run.
///
/// # Errors
/// A structure of the GPU cannot be built in the technology.
pub fn priced(timed: TimedKernel<'_>, circuits: &NodeCircuits) -> Result<Priced, PricingError> {
    let TimedKernel { gpu, run, .. } = timed;
    let point = Point {
        kernel: timed.kernel.clone().into(),
        gpu: timed.preset.into(),
        axes: BTreeMap::new().into(),
        technology: technology_name(circuits),
        technique: BASELINE.into(),
    };
    let counted = counted(gpu, run, circuits);
    let built = inventory(gpu);
    let table = CostTable::of(&built, gpu.sm.count, circuits)?;
    let outcome = price(point, counted, &table)?;
    let power = timed.windows.map(|windows| {
        let charged = windows.charged(table.charges());
        let run = CountedRun {
            windows,
            charged: &charged,
            built: &built,
            priced: &outcome.structures,
            sms: gpu.sm.count,
            time_s: outcome.time_s,
        };
        PowerOverTime::of(&run, timed.by_sm)
    });
    Ok(Priced { outcome, power })
}

fn counted(gpu: &GpuSpec, run: &Run, circuits: &NodeCircuits) -> Counted {
    Counted {
        cycles: run.cycles,
        clock: Frequency::from_mhz(f64::from(gpu.sm.clock_mhz)),
        activity: run.activity.clone().into(),
        performance: Performance::of(gpu, run).into(),
        metrics: Vec::new().into(),
        register_accesses: None,
        windows: None,
        samples: Samples::of(run).map(Arc::new),
        before: Default::default(),
        notes: technology_notes(circuits),
    }
}

/// The energy of a run with techniques at work, on the GPU as they have it: all of it, and the dynamic part, in joules.
///
/// # Errors
/// A structure cannot be built in the technology.
pub fn energy_with(
    gpu: &GpuSpec,
    stack: &Stack,
    run: &Run,
    circuits: &NodeCircuits,
) -> Result<(f64, f64), PricingError> {
    let mut built = inventory(gpu);
    stack.build(gpu, &mut built);
    let table = CostTable::of(&built, gpu.sm.count, circuits)?;
    let point = Point {
        kernel: KernelName::default().into(),
        gpu: String::new().into(),
        axes: BTreeMap::new().into(),
        technology: technology_name(circuits),
        technique: stack.label().into(),
    };
    let outcome = price(point, counted(gpu, run, circuits), &table)?;
    Ok((outcome.energy_j(), outcome.totals.dynamic_j))
}

/// A run's price.
#[derive(Clone, Debug)]
pub struct Priced {
    /// All of it.
    pub outcome: Outcome,
    /// By windows of time, if it was counted so.
    pub power: Option<PowerOverTime>,
}

/// Power of every structure, window by window.
#[derive(Clone, Debug)]
pub struct PowerOverTime {
    /// Where each window begins and ends, in seconds.
    pub spans: Vec<(f64, f64)>,
    /// The same in cycles.
    pub cycles: Vec<(u64, u64)>,
    /// By window, in the order of the outcome's structures: watts.
    pub watts: Vec<Vec<f64>>,
    /// That of single SMs, if they were counted.
    pub by_sm: Option<PowerBySm>,
}

impl PowerOverTime {
    fn of(run: &CountedRun<'_>, of_sms: Option<&SmWindows>) -> Self {
        let cycle_s = run.time_s / run.windows.cycles.max(1) as f64;
        let spans = (0..run.windows.rows.len()).map(|number| run.windows.span(number));
        let spans = spans.filter(|(_, cycles)| *cycles > 0);
        let cycles: Vec<(u64, u64)> = spans.map(|(from, cycles)| (from, from + cycles)).collect();
        let spans = cycles.iter();
        let spans = spans.map(|(from, ends)| (*from as f64 * cycle_s, *ends as f64 * cycle_s));
        Self {
            spans: spans.collect(),
            watts: run.charged.power(run.priced, run.time_s),
            by_sm: of_sms.map(|of_sms| PowerBySm::of(run, of_sms.clone())),
            cycles,
        }
    }
}

#[cfg(test)]
mod tests;
