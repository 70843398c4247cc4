//! Writing traces to files, reading them back, and their statistics: warp instructions a second, on kernels of different kind.
//!
//! `cargo bench -p warpwatt-suite --bench traces`

use criterion::{Criterion, Throughput};
use warpwatt_simt::trace::file::{decode, encode};
use warpwatt_simt::trace::statistics::Statistics;
use warpwatt_simt::trace::{KernelTrace, Store};
use warpwatt_suite::{RunOptions, kernel, run_case};

/// Arithmetic; shared memory; divergence and many launches; scattered addresses.
const KERNELS: [&str; 4] = ["black_scholes", "matrix_mul", "bfs", "spmv_csr"];

const LIMIT: u64 = 1 << 30;

fn traces(name: &str) -> Vec<KernelTrace> {
    let kernel = kernel(name).expect("the suite has it");
    let (case, prepared) = kernel.prepare(None).expect("the suite's cases are right");
    let module = warpwatt_ptx::load(kernel.ptx).expect("the suite's PTX is right");
    let run = run_case(&module, &case, &prepared, RunOptions::default());
    let launches = run.expect("the suite's kernels run").executions;
    let traces = launches
        .into_iter()
        .filter_map(|launch| launch.execution.trace);
    traces.collect()
}

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("traces");
    for name in KERNELS {
        let traces = traces(name);
        let traces: Vec<&KernelTrace> = traces.iter().collect();
        let file = encode(&[0; 32], name, &traces).expect("they are in memory");
        let instructions = traces.iter().map(|trace| trace.warp_instructions()).sum();
        group.throughput(Throughput::Elements(instructions));
        group.bench_function(format!("{name}, written"), |b| {
            b.iter(|| encode(&[0; 32], name, &traces));
        });
        group.bench_function(format!("{name}, read"), |b| {
            b.iter(|| decode(&file, LIMIT, &Store::default()).expect("it was just written"));
        });
        group.bench_function(format!("{name}, statistics"), |b| {
            b.iter(|| Statistics::of(traces.iter().copied()));
        });
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().sample_size(20).configure_from_args();
    bench(&mut criterion);
    criterion.final_summary();
}
