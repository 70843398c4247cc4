//! Figure 2 of Tan, Li and Fu, "Cost-Effective Soft-Error Protection for SRAM-Based Structures in GPGPUs" (CF 2013).

use rayon::prelude::*;
use warpwatt_gpu::{Control, GpuSpec};
use warpwatt_reliability::{LaunchAvf, Structure};
use warpwatt_suite::{RunOptions, kernel, run_case};

use super::{measure, together};

/// The structures of the figure: instruction buffer, branch unit, registers, shared memory.
pub const FIGURE_2: [Structure; 4] = [
    Structure::InstructionBuffer,
    Structure::SimtStack,
    Structure::RegisterFile,
    Structure::SharedMemory,
];

/// A bar of the figure for each structure.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// The paper's name of the workload.
    pub workload: &'static str,
    /// AVF over all bits and SMs, in the order of [`FIGURE_2`].
    pub avf: [f64; FIGURE_2.len()],
    /// AVF over the bits in use.
    pub of_occupied: [f64; FIGURE_2.len()],
}

/// The vulnerability of a case of the suite on a GPU.
///
/// # Errors
/// In words: there is no such kernel or case, or it does not run there.
pub fn measure_case(name: &str, case: &str, spec: &GpuSpec) -> Result<Vec<LaunchAvf>, String> {
    let kernel = kernel(name).ok_or_else(|| format!("there is no kernel `{name}`"))?;
    let module = warpwatt_ptx::load(kernel.ptx).map_err(|error| format!("{name}: {error:?}"))?;
    let (case, prepared) = kernel
        .prepare(Some(case))
        .map_err(|problems| format!("{name}, case {case}: {problems:?}"))?;
    let options = RunOptions {
        warp_width: spec.sm.warp_width,
        ..RunOptions::default()
    };
    let run = run_case(&module, &case, &prepared, options);
    let run = run.map_err(|error| format!("{name}: {error}"))?;
    if !run.passed() {
        return Err(format!("{name} computes a wrong result"));
    }
    let found = measure(spec, &run.into_traces(), &[], Control::CYCLE_LIMIT);
    found.map_err(|error| format!("{name}: {error}"))
}

/// The figure: for each workload, by the kernel and the case that stand for it, in the order given.
///
/// # Errors
/// As [`measure_case`], of the first that fails.
pub fn figure_2(
    spec: &GpuSpec,
    workloads: &[(&'static str, (&'static str, &'static str))],
) -> Result<Vec<Bars>, String> {
    let bars = workloads.par_iter().map(|&(workload, (kernel, case))| {
        let launches = measure_case(kernel, case, spec)?;
        let (_, found) = together(&launches);
        let of = FIGURE_2.map(|structure| found[structure as usize]);
        Ok(Bars {
            workload,
            avf: of.map(|it| it.avf()),
            of_occupied: of.map(|it| it.avf_of_occupied()),
        })
    });
    bars.collect()
}
