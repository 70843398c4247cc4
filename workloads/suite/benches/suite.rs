//! Warp instructions a second of kernels of the suite, of different kinds, with their default cases and traces recorded.
//!
//! `cargo bench -p warpwatt-suite --bench suite`. Preparing the buffers' contents is not measured, comparing them is.

use criterion::{Criterion, Throughput};
use warpwatt_suite::{RunOptions, kernel, run_case};

const KERNELS: [&str; 8] = [
    "coulombic",
    "black_scholes",
    "vector_add",
    "transpose_naive",
    "mandelbrot",
    "bfs",
    "scan",
    "matmul_tiled",
];

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("suite");
    for name in KERNELS {
        let kernel = kernel(name).expect("the suite has this kernel");
        let module = warpwatt_ptx::load(kernel.ptx).expect("the suite's PTX is valid");
        let (case, prepared) = kernel.prepare(None).expect("the suite's cases are valid");
        let run = || {
            let run = run_case(&module, &case, &prepared, RunOptions::default());
            run.expect("the suite's cases run")
        };
        group.throughput(Throughput::Elements(run().warp_instructions()));
        group.bench_function(name, |b| b.iter(run));
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().sample_size(20).configure_from_args();
    bench(&mut criterion);
    criterion.final_summary();
}
