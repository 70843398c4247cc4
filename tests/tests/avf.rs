//! Laws of vulnerability: over the kernels of the suite, and over random programs.

use std::sync::Arc;

use crate::random_programs::{steps, traced};
use proptest::prelude::*;
use warpwatt::reliability::{FIGURE_2, figure_2, measure, together};
use warpwatt_gpu::{Control, GpuSpec, Hooks, Policy, simulate};
use warpwatt_reliability::{LaunchAvf, Liveness, Outcome, Shape, Structure, Verdict, Whole};
use warpwatt_simt::trace::KernelTrace;
use warpwatt_tests::traces;

fn gpu() -> GpuSpec {
    GpuSpec::preset("softerror-28sm").unwrap()
}

fn found(spec: &GpuSpec, traces: &[KernelTrace], protections: &[Whole]) -> Vec<LaunchAvf> {
    measure(spec, traces, protections, Control::CYCLE_LIMIT).unwrap()
}

/// ACE is a part of what is there, which is a part of everything; windows add up.
fn holds(spec: &GpuSpec, launches: &[LaunchAvf]) {
    let shape = Shape::new(spec);
    for launch in launches {
        for structure in Structure::ALL {
            let it = launch.of(structure);
            let bits = u128::from(shape.bits(structure));
            assert_eq!(it.total, bits * u128::from(launch.cycles), "{structure}");
            assert!(
                it.ace <= it.occupied,
                "{structure} of {}: {it:?}",
                launch.kernel
            );
            assert!(
                it.occupied <= it.total,
                "{structure} of {}: {it:?}",
                launch.kernel
            );
            assert_eq!(it.ace + it.unace(), it.total);
            let windows = launch.over_time.windows.iter();
            let sum: u128 = windows.map(|window| window[structure as usize]).sum();
            assert_eq!(sum, it.ace, "{structure}");
        }
    }
}

/// Needed bits are born and die equally often: none is lost or made up along a warp.
fn balanced(liveness: &Liveness, warps: usize) {
    for warp in 0..warps {
        let start: u64 = liveness
            .at_start(warp)
            .iter()
            .map(|&bits| u64::from(bits))
            .sum();
        let facts = || {
            liveness
                .numbers(warp)
                .iter()
                .map(|&number| liveness.fact(number))
        };
        let sum = |of: fn(&warpwatt_reliability::Fact) -> &Vec<u32>| -> u64 {
            facts().flat_map(of).map(|&bits| u64::from(bits)).sum()
        };
        let (written, last, rest) = (
            sum(|it| &it.written),
            sum(|it| &it.last),
            sum(|it| &it.rest),
        );
        assert_eq!(start + written, last + rest, "warp {warp}");
        for fact in facts() {
            assert!(fact.verdict != Verdict::Dead || fact.written.iter().all(|&bits| bits == 0));
            assert!(
                fact.last
                    .iter()
                    .zip(&fact.read)
                    .all(|(last, read)| last <= read)
            );
        }
    }
}

/// Kernels of different kind: divergence, shared memory, atomics, calls, constants, textures.
const KERNELS: [&str; 8] = [
    "matrix_mul",
    "bfs",
    "reduction",
    "histogram",
    "n_queens",
    "needleman_wunsch",
    "mummer_tree",
    "spmv_csr",
];

#[test]
fn suite_kernels_keep_the_laws() {
    let spec = gpu();
    for name in KERNELS {
        let traces = traces(name);
        for trace in &traces {
            let warps = trace.launch.ctas() * trace.launch.warps_per_cta();
            balanced(&Liveness::of(trace).unwrap(), warps);
        }
        let launches = found(&spec, &traces, &[]);
        holds(&spec, &launches);
        let (_, sums) = together(&launches);
        assert!(sums[Structure::RegisterFile as usize].ace > 0, "{name}");
        let plain = simulate(&spec, &traces, Hooks::default()).unwrap();
        let cycles = plain.launches.iter().map(|launch| launch.cycles);
        assert!(
            cycles.eq(launches.iter().map(|launch| launch.cycles)),
            "{name}"
        );
    }
}

/// Figure 2: what holds of the paper's workloads whatever stands for them. Absolute heights depend on how full the SMs are, and our inputs are small.
#[test]
fn buffers_and_registers_are_more_vulnerable_than_stacks_and_shared_memory() {
    let workloads = [
        ("MM", ("matrix_mul", "default")),
        ("FWT", ("walsh", "default")),
        ("BS", ("black_scholes", "default")),
    ];
    let bars = figure_2(&gpu(), &workloads).unwrap();
    let names: Vec<&str> = bars.iter().map(|bar| bar.workload).collect();
    assert_eq!(names, ["MM", "FWT", "BS"]);
    let [buffer, stack, file, shared] = [0, 1, 2, 3];
    assert_eq!(FIGURE_2[file], Structure::RegisterFile);
    for bar in &bars {
        let avf = bar.avf;
        assert!(
            avf[buffer] > avf[stack] && avf[file] > avf[shared],
            "{bar:?}"
        );
        assert!(bar.of_occupied.iter().all(|avf| *avf <= 1.0), "{bar:?}");
    }
}

/// On SMs that a small input fills, the heights of figure 2: up to 98 % of the buffer and 81 % of the registers, little of the branch unit (docs/reliability.md).
#[test]
fn full_sms_are_as_vulnerable_as_the_papers() {
    let mut spec = gpu();
    spec.sm.count = 2;
    let workloads = [
        ("CP", ("coulombic", "default")),
        ("MT", ("transpose_naive", "default")),
    ];
    let bars = figure_2(&spec, &workloads).unwrap();
    let near = |ours: f64, documented: f64| (ours - documented).abs() < 0.005;
    assert!(
        near(bars[0].avf[0], 0.923) && near(bars[0].avf[2], 0.679),
        "{bars:?}"
    );
    assert!(
        near(bars[1].avf[0], 0.751) && bars[1].avf[0] > 0.65,
        "{bars:?}"
    );
    assert!(bars.iter().all(|bar| bar.avf[1] < 0.05), "{bars:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn random_programs_keep_the_laws(steps in steps(), policy in 0usize..3) {
        let trace = traced(&steps);
        let liveness = Arc::new(Liveness::of(&trace).unwrap());
        balanced(&liveness, 1);
        let mut spec = gpu();
        spec.sm.count = 1;
        spec.scheduler.policy = [Policy::RoundRobin, Policy::Gto, Policy::Fair][policy];
        let launches = found(&spec, std::slice::from_ref(&trace), &[]);
        holds(&spec, &launches);
        // Protection moves what is needed from silent to noticed, and needs nothing itself.
        let protections = Structure::ALL.map(|structure| Whole { structure, outcome: Outcome::Detected });
        let protected = found(&spec, std::slice::from_ref(&trace), &protections);
        for structure in Structure::ALL {
            let (before, after) = (launches[0].of(structure), protected[0].of(structure));
            prop_assert_eq!(before.ace, after.ace);
            prop_assert_eq!(after.silent(), 0);
            prop_assert_eq!(after.detected, before.ace);
        }
    }
}
