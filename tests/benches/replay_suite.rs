#![allow(
    missing_docs,
    reason = "criterion's macro writes an undocumented function"
)]
//! How fast the suite's kernels are timed, their default cases, with the memory system on.
//!
//! `cargo bench -p warpwatt-tests --bench replay_suite`; a filter as in `-- v100` or `-- tesla-16sm/spmv_csr` picks presets and kernels. One core. After criterion's
//! own report: warp instructions a second of each kernel and their geometric mean, and on presets that GPGPU-Sim has how often faster that is than GPGPU-Sim
//! 4.2.0 was on the same kernels, of which it was recorded how long it took (`estimator/validation/src/gpgpusim_cold.csv`; two cores at 2.3 GHz, no power model).

use std::cell::RefCell;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use warpwatt::validate::gpu::references;
use warpwatt_gpu::{GpuSpec, Hooks, simulate};
use warpwatt_simt::trace::KernelTrace;
use warpwatt_suite::kernels;
use warpwatt_tests::traces;

const PRESETS: [&str; 3] = ["tesla-16sm", "gtx480", "v100"];

/// A kernel timed on a preset.
struct Timed {
    kernel: &'static str,
    preset: &'static str,
    warp_instructions: u64,
    /// Of the fastest sample.
    seconds: f64,
}

impl Timed {
    fn rate(&self) -> f64 {
        self.warp_instructions as f64 / self.seconds
    }
}

/// The time of one call.
#[expect(clippy::disallowed_methods, reason = "the time is what is asked for")]
fn timed<T>(call: impl FnOnce() -> T) -> Duration {
    let begin = Instant::now();
    std::hint::black_box(call());
    begin.elapsed()
}

fn replay(criterion: &mut Criterion) {
    let all = RefCell::new(Vec::new());
    let traced: Vec<_> = kernels()
        .iter()
        .map(|kernel| (kernel.name, traces(kernel.name)))
        .collect();
    for preset in PRESETS {
        let spec = GpuSpec::preset(preset).expect("the preset ships");
        let mut group = criterion.benchmark_group(preset);
        group
            .sample_size(10)
            .warm_up_time(Duration::from_millis(50))
            .measurement_time(Duration::from_millis(300));
        for &(kernel, ref traces) in &traced {
            let warp_instructions = traces.iter().map(KernelTrace::warp_instructions).sum();
            group.throughput(Throughput::Elements(warp_instructions));
            let best = RefCell::new(Duration::MAX);
            group.bench_function(kernel, |bencher| {
                bencher.iter_custom(|iterations| {
                    let mut total = Duration::ZERO;
                    for _ in 0..iterations {
                        let time = timed(|| simulate(&spec, traces, Hooks::default()));
                        best.replace_with(|best| time.min(*best));
                        total += time;
                    }
                    total
                });
            });
            let seconds = best.into_inner();
            if seconds != Duration::MAX {
                all.borrow_mut().push(Timed {
                    kernel,
                    preset,
                    warp_instructions,
                    seconds: seconds.as_secs_f64(),
                });
            }
        }
        group.finish();
    }
    summarize(&all.into_inner());
}

/// One line a kernel and preset, then one a preset.
fn summarize(all: &[Timed]) {
    let references = references().expect("the table of references is sound");
    let theirs = |timed: &Timed| {
        let same = references
            .iter()
            .find(|known| known.kernel == timed.kernel && known.preset == timed.preset)?;
        Some(same.warp_instructions as f64 / same.cpu_s)
    };
    println!("kernel, preset, million warp instructions a second, times GPGPU-Sim's rate");
    for timed in all {
        let times = theirs(timed).map_or_else(String::new, |theirs| {
            format!("{:.0}", timed.rate() / theirs)
        });
        println!(
            "{:<20}{:<14}{:>8.2}{times:>8}",
            timed.kernel,
            timed.preset,
            timed.rate() / 1e6
        );
    }
    for preset in PRESETS {
        let of_preset = || all.iter().filter(|timed| timed.preset == preset);
        let rates: Vec<f64> = of_preset().map(|timed| timed.rate() / 1e6).collect();
        if rates.is_empty() {
            continue;
        }
        let slowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
        print!(
            "{preset}: geometric mean of {} kernels {:.2}, slowest {slowest:.2}",
            rates.len(),
            geometric_mean(&rates)
        );
        let faster: Vec<f64> = of_preset()
            .filter_map(|timed| Some(timed.rate() / theirs(timed)?))
            .collect();
        if !faster.is_empty() {
            let (count, mean) = (faster.len(), geometric_mean(&faster));
            print!("; {mean:.0} times GPGPU-Sim's rate, geometric mean of {count}");
        }
        println!();
    }
}

fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

criterion_group!(benches, replay);
criterion_main!(benches);
