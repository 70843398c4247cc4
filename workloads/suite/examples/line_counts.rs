//! How often warps execute each line of the suite's PTX, in the default cases: `kernel,line,warp_instructions` as CSV, for `workloads/kernels/sass/compare.py`.

use std::collections::BTreeMap;

use warpwatt_simt::trace::KernelTrace;
use warpwatt_suite::{RunOptions, kernels, run_case};

fn main() {
    println!("kernel,line,warp_instructions");
    for kernel in kernels() {
        let (case, prepared) = kernel.prepare(None).expect("the suite's cases are right");
        let module = warpwatt_ptx::load(kernel.ptx).expect("the suite's PTX is right");
        let run = run_case(&module, &case, &prepared, RunOptions::default());
        let mut counts = BTreeMap::new();
        for trace in run.expect("the suite's kernels run").into_traces() {
            count(&trace, &mut counts);
        }
        for (line, count) in counts {
            println!("{},{line},{count}", kernel.name);
        }
    }
}

fn count(trace: &KernelTrace, counts: &mut BTreeMap<u32, u64>) {
    for cta in 0..trace.launch.ctas() {
        for warp in 0..trace.launch.warps_per_cta() {
            for step in trace.warp(cta, warp).unwrap() {
                *counts
                    .entry(trace.code[step.inst as usize].line)
                    .or_insert(0) += 1;
            }
        }
    }
}
