//! How vulnerable a GPU is while kernels run: needed bits, times rates of upsets.

mod figure;

pub use figure::{Bars, FIGURE_2, figure_2, measure_case};
pub use warpwatt_pricing::reliability::{Fit, Rate, meaning, metrics, names, together};

use std::sync::Arc;

use rayon::prelude::*;
use warpwatt_gpu::{Control, GpuError, GpuSpec, Hooks, Run, simulate_under};
use warpwatt_reliability::{
    Journals, LaunchAvf, Liveness, Probe, Shape, Whole, all_of, whole_structures,
};
use warpwatt_simt::trace::{KernelTrace, StoreError};
use warpwatt_techniques::Stack;

/// Shortest windows over time, in cycles; there are a thousand at the most, which are longer in longer launches.
pub const WINDOW: u64 = 16;

/// What makes flips noticed: techniques at work, and codes on whole structures.
#[derive(Clone, Copy, Debug, Default)]
pub struct Guarded<'g> {
    /// Techniques; they may change timing as well.
    pub techniques: Option<&'g Stack>,
    /// Codes that cost nothing and change nothing.
    pub codes: &'g [Whole],
}

/// Which bits launches need: once for all runs of them.
///
/// # Errors
/// A trace cannot be read where it is kept.
pub fn needs(traces: &[KernelTrace]) -> Result<Vec<Arc<Liveness>>, StoreError> {
    traces
        .par_iter()
        .map(|trace| Liveness::of(trace).map(Arc::new))
        .collect()
}

/// The storage of a GPU that is followed, with what techniques add.
pub fn shape(spec: &GpuSpec, techniques: &Stack) -> Shape {
    Shape::new(spec).with_added(&techniques.storage(spec))
}

/// Runs launches with these [`needs`] on a GPU, and gives how the run went, and what it did to each; launches in order.
///
/// # Errors
/// A launch cannot run on this GPU, or takes too many cycles.
pub fn follow(
    spec: &GpuSpec,
    traces: &[KernelTrace],
    needs: Vec<Arc<Liveness>>,
    guarded: Guarded<'_>,
    control: Control<'_>,
) -> Result<(Run, Vec<LaunchAvf>), GpuError> {
    let mut shared = guarded.codes.to_vec();
    let stack = guarded.techniques;
    shared.extend(stack.map(Stack::shared_codes).into_iter().flatten());
    let mut probe = Probe::new(spec, needs, WINDOW).with_shared(&shared);
    let mut hooks = Hooks::default();
    let mut protections = vec![whole_structures(guarded.codes.to_vec())];
    if let Some(stack) = guarded.techniques {
        let journals = Journals::default();
        probe = probe.with_added(&stack.storage(spec), &journals);
        protections.push(stack.attach_protecting(spec, &mut hooks, &journals));
    }
    probe.attach(&mut hooks, all_of(protections));
    let run = simulate_under(spec, traces, hooks, control)?;
    Ok((run, probe.finish()))
}

/// As [`follow`], without techniques.
///
/// # Errors
/// As [`follow`].
pub fn measure(
    spec: &GpuSpec,
    traces: &[KernelTrace],
    codes: &[Whole],
    cycle_limit: u64,
) -> Result<Vec<LaunchAvf>, GpuError> {
    let guarded = Guarded {
        codes,
        ..Guarded::default()
    };
    let control = Control {
        cycle_limit,
        ..Control::default()
    };
    let found = follow(spec, traces, needs(traces)?, guarded, control)?;
    Ok(found.1)
}
