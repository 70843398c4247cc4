//! Laws, paper tables, oracle comparisons and command-line behaviour across the rooms; here is what they share.

use warpwatt_simt::trace::KernelTrace;
use warpwatt_suite::{RunOptions, kernel, run_case};

/// The traces of a kernel of the suite in its first case.
///
/// # Panics
/// If there is no such kernel, or it computes something wrong.
pub fn traces(name: &str) -> Vec<KernelTrace> {
    traced(name, RunOptions::default())
}

/// Likewise, in warps of `warp_width` lanes.
///
/// # Panics
/// As [`traces`].
pub fn traces_of_width(name: &str, warp_width: u32) -> Vec<KernelTrace> {
    let options = RunOptions {
        warp_width,
        ..RunOptions::default()
    };
    traced(name, options)
}

/// Likewise, showing where lanes have the same operands.
///
/// # Panics
/// As [`traces`].
pub fn traces_with_values(name: &str) -> Vec<KernelTrace> {
    let options = RunOptions {
        values: true,
        ..RunOptions::default()
    };
    traced(name, options)
}

fn traced(name: &str, options: RunOptions) -> Vec<KernelTrace> {
    let kernel = kernel(name).expect("a kernel of the suite");
    let module = warpwatt_ptx::load(kernel.ptx).expect("the suite's PTX is valid");
    let (case, prepared) = kernel.prepare(None).expect("the suite's cases are valid");
    let run = run_case(&module, &case, &prepared, options).expect("the suite's cases run");
    assert!(run.passed(), "{name} computes what it must");
    run.into_traces()
}
