//! Executes the default case of every kernel of the suite, writes its traces to a file, reads them back and takes their statistics, once each: for a profiler that counts
//! instructions.
//!
//! `valgrind --tool=callgrind target/release/examples/trace_files`, then `callgrind_annotate --inclusive=yes`.

use warpwatt_simt::trace::file::{decode, encode};
use warpwatt_simt::trace::statistics::Statistics;
use warpwatt_simt::trace::{KernelTrace, Store};
use warpwatt_suite::{RunOptions, kernels, run_case};

fn main() {
    let (mut instructions, mut memory, mut disk) = (0, 0, 0);
    for kernel in kernels() {
        let (case, prepared) = kernel.prepare(None).expect("the suite's cases are right");
        let module = warpwatt_ptx::load(kernel.ptx).expect("the suite's PTX is right");
        let run = run_case(&module, &case, &prepared, RunOptions::default());
        let run = run.expect("the suite's kernels run");
        let launches = run.executions.iter();
        let traces: Vec<&KernelTrace> = launches
            .filter_map(|launch| launch.execution.trace.as_ref())
            .collect();
        let file = encode(&[0; 32], kernel.name, &traces).expect("they are in memory");
        let stored = decode(&file, 1 << 30, &Store::default()).expect("it was just written");
        let statistics = Statistics::of(traces.iter().copied()).expect("they are in memory");
        assert_eq!(stored.executions.len(), run.executions.len());
        assert_eq!(statistics.warp_instructions, run.warp_instructions());
        instructions += run.warp_instructions();
        memory += traces
            .iter()
            .map(|trace| trace.record_bytes())
            .sum::<usize>();
        disk += file.len();
    }
    println!("{instructions} warp instructions, {memory} bytes in memory, {disk} on disk");
}
