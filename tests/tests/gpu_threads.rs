//! A run is the same, to the last event, on any number of threads.

use std::time::Duration;

use crate::gpu_support::streaming;
use warpwatt_gpu::{Control, GpuError, GpuSpec, Hooks, Run, Sampling, SmView, Watcher, Way};
use warpwatt_gpu::{MemoryView, simulate_under};
use warpwatt_simt::trace::KernelTrace;
use warpwatt_tests::traces;

fn on(threads: usize, spec: &GpuSpec, launches: &[KernelTrace], control: Control<'_>) -> Run {
    let control = Control { threads, ..control };
    simulate_under(spec, launches, Hooks::default(), control).expect("it runs")
}

/// What is looked at on several threads, and the run as if it had not been.
fn without(mut run: Run) -> (u64, Run) {
    (std::mem::take(&mut run.work.beside), run)
}

/// Kernels that compute, share memory, read textures, scatter and stream; whether so many SMs have something to do at once that threads are worth it.
const KERNELS: [(&str, bool); 6] = [
    ("black_scholes", true),
    ("hotspot", true),
    ("matmul_tiled", true),
    ("mummer_tree", false),
    ("spmv_csr", false),
    ("transpose_naive", true),
];

#[test]
fn a_run_is_the_same_on_any_number_of_threads() {
    for (kernel, is_wide) in KERNELS {
        let launches = traces(kernel);
        for preset in ["gtx480", "v100"] {
            let spec = GpuSpec::preset(preset).unwrap();
            let (beside, alone) = without(on(1, &spec, &launches, Control::default()));
            assert_eq!(beside, 0, "{kernel} on {preset}");
            for threads in [2, 5] {
                let (beside, run) = without(on(threads, &spec, &launches, Control::default()));
                assert!(run == alone, "{kernel} on {preset}, {threads} threads");
                let many = spec.sm.count > 64 || threads == 2;
                assert!(
                    beside > 0 || !(is_wide && many),
                    "{kernel} on {preset} never needed {threads} threads"
                );
            }
        }
    }
}

/// Jumps between what is timed see SMs as they are then.
#[test]
fn so_is_a_sampled_one() {
    let mut spec = GpuSpec::preset("v100").unwrap();
    spec.sm.count = 16;
    for (way, launch) in [(Way::Ctas, (4000, 4)), (Way::Any, (256, 600))] {
        let launches = [streaming(launch.0, launch.1)];
        let sampled = |threads| {
            let sampling = Some(Sampling { batches: 4, way });
            let control = Control {
                sampling,
                ..Control::default()
            };
            without(on(threads, &spec, &launches, control))
        };
        let ((_, alone), (beside, run)) = (sampled(1), sampled(2));
        assert!(run.is_sampled(), "{way:?}");
        assert!(run == alone && beside > 0, "{way:?}");
    }
}

/// What was seen of SMs; and it keeps the run waiting so long, again and again.
#[derive(Default)]
struct Seen {
    all: Vec<(u64, u16, u64, &'static str)>,
    waits: Duration,
}

impl Watcher for Seen {
    fn launch(&mut self, _: u64, _: &str) {}

    fn watches(&self, sm: u16) -> bool {
        sm % 3 == 1
    }

    fn sm(&mut self, cycle: u64, view: &SmView<'_>) {
        let seen = (cycle, view.number(), view.live(), view.spends());
        self.all.push(seen);
    }

    fn memory(&mut self, cycle: u64, _: &MemoryView<'_>) -> u64 {
        std::thread::sleep(self.waits);
        cycle + 500
    }

    fn end(&mut self, _: u64, _: &MemoryView<'_>) {}
}

/// Also if threads have nothing to do for so long that they go to sleep.
#[test]
fn who_looks_on_sees_the_same() {
    let spec = GpuSpec::preset("gtx480").unwrap();
    let launches = traces("hotspot");
    let seen = |threads, waits| {
        let mut seen = Seen {
            waits,
            ..Seen::default()
        };
        let control = Control {
            watcher: Some(&mut seen),
            ..Control::default()
        };
        on(threads, &spec, &launches, control);
        seen.all
    };
    let alone = seen(1, Duration::ZERO);
    assert!(alone.len() > 10_000);
    for waits in [Duration::ZERO, Duration::from_millis(5)] {
        assert!(seen(2, waits) == alone, "{waits:?}");
    }
}

/// A run that ends before its time does so in the same cycle and with the same words.
#[test]
fn limits_hold_at_the_same_cycle() {
    let spec = GpuSpec::preset("v100").unwrap();
    let launches = [streaming(320, 60)];
    let limited = |threads| {
        let control = Control {
            cycle_limit: 2_000,
            threads,
            ..Control::default()
        };
        match simulate_under(&spec, &launches, Hooks::default(), control) {
            Err(error @ GpuError::CycleLimit { .. }) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(limited(4), limited(1));
}
