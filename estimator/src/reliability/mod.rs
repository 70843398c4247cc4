//! How vulnerable a GPU is while kernels run: needed bits, times rates of upsets.

mod figure;
mod fit;

pub use figure::{Bars, FIGURE_2, figure_2, measure_case};
pub use fit::{Fit, Rate};

use std::sync::Arc;

use rayon::prelude::*;
use warpwatt_gpu::{Control, GpuError, GpuSpec, Hooks, simulate_under};
use warpwatt_reliability::{
    BitCycles, LaunchAvf, Liveness, Probe, Structure, Whole, whole_structures,
};
use warpwatt_simt::trace::KernelTrace;

/// Shortest windows over time, in cycles; there are a thousand at the most, which are longer in longer launches.
pub const WINDOW: u64 = 16;

/// Runs launches on a GPU whose structures are protected so, and gives what that did to each; launches in order.
///
/// # Errors
/// A launch cannot run on this GPU, or takes too many cycles.
pub fn measure(
    spec: &GpuSpec,
    traces: &[KernelTrace],
    protections: &[Whole],
    cycle_limit: u64,
) -> Result<Vec<LaunchAvf>, GpuError> {
    let liveness: Vec<Arc<Liveness>> = traces
        .par_iter()
        .map(|trace| Arc::new(Liveness::of(trace)))
        .collect();
    let probe = Probe::new(spec, liveness, WINDOW);
    let mut hooks = Hooks::default();
    probe.attach(&mut hooks, whole_structures(protections.to_vec()));
    let control = Control {
        cycle_limit,
        watcher: None,
    };
    simulate_under(spec, traces, hooks, control)?;
    Ok(probe.finish())
}

/// Several launches together: the cycles, and the bit-cycles of each structure.
pub fn together<'l>(
    launches: impl IntoIterator<Item = &'l LaunchAvf>,
) -> (u64, [BitCycles; Structure::COUNT]) {
    let mut sum = (0, [BitCycles::default(); Structure::COUNT]);
    for launch in launches {
        sum.0 += launch.cycles;
        for (all, more) in sum.1.iter_mut().zip(launch.structures) {
            *all += more;
        }
    }
    sum
}
