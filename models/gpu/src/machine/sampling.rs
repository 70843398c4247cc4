//! Sampled runs beside whole ones.

use std::sync::Arc;

use warpwatt_simt::trace::{
    Flow, KernelTrace, LaunchShape, MemoryOp, MemoryOpKind, Space, StaticInst, Unit, WarpRecorder,
};

use super::tests::{ALL, inst};
use super::*;
use crate::{Policy, Way};

/// A loop that streams, computes and, in CTAs of two warps, meets at a barrier.
fn looping(ctas: u32, rounds: u64) -> KernelTrace {
    scattering(ctas, rounds, 0)
}

/// The same with lanes that lie a line apart in the first `scattered` rounds of a warp.
fn scattering(ctas: u32, rounds: u64, scattered: u64) -> KernelTrace {
    let access = |kind, sources: &[u16], destinations: &[u16]| StaticInst {
        memory: Some(MemoryOp::new(Space::Global, kind, 4)),
        ..inst(Unit::Memory, sources, destinations)
    };
    let code = vec![
        access(MemoryOpKind::Load, &[1], &[2]),
        inst(Unit::Fp32, &[2, 3], &[3]),
        inst(Unit::Fp32, &[3, 4], &[4]),
        inst(Unit::Barrier, &[], &[]),
        inst(Unit::Control, &[], &[]),
        access(MemoryOpKind::Store, &[3], &[]),
        StaticInst {
            flow: Some(Flow::Exit),
            ..inst(Unit::Control, &[], &[])
        },
    ];
    let shape = LaunchShape {
        grid: [ctas, 1, 1],
        block: [64, 1, 1],
        warp_width: 32,
        shared_bytes: 0,
        registers: 8,
    };
    let mut trace = KernelTrace::new("looping", Arc::from(code), shape);
    let mut recorder = WarpRecorder::default();
    for warp in 0..u64::from(ctas) * 2 {
        recorder.clear();
        let addresses = |round: u64| -> Vec<u64> {
            let base = (warp * rounds + round) * 128;
            let apart = if round < scattered { 128 } else { 4 };
            (0..32).map(|lane| base + apart * lane).collect()
        };
        for round in 0..rounds {
            recorder.access(0, ALL, ALL, &addresses(round));
            (1..5).for_each(|inst| recorder.step(inst, ALL, ALL));
        }
        recorder.access(5, ALL, ALL, &addresses(0));
        recorder.step(6, ALL, ALL);
        trace.push_warp(&recorder).unwrap();
    }
    trace
}

fn small() -> GpuSpec {
    let mut spec = GpuSpec::preset("gtx480").unwrap();
    spec.sm.count = 3;
    spec
}

fn run(spec: &GpuSpec, trace: &KernelTrace, sampling: Option<Sampling>) -> Run {
    let control = Control {
        sampling,
        ..Control::default()
    };
    let launches = std::slice::from_ref(trace);
    simulate_under(spec, launches, Hooks::default(), control).unwrap()
}

fn sampling(way: Way) -> Option<Sampling> {
    Some(Sampling { batches: 8, way })
}

/// Figures of a sampled run, by how much they differ from those of a whole one.
fn off(sampled: &Run, whole: &Run, counter: &str) -> f64 {
    sampled.activity.get(counter) as f64 / whole.activity.get(counter) as f64 - 1.0
}

/// Counts add up, and none is far off.
fn is_near(sampled: &Run, whole: &Run, within: f64) {
    for counter in ["cycles", "l2_reads", "dram_reads", "resident_warp_cycles"] {
        let off = off(sampled, whole, counter);
        assert!(off.abs() < within, "{counter}: {off}");
    }
    for (counter, within) in [
        ("warp_instructions", 1e-3),
        ("thread_instructions", 1e-3),
        ("register_file.read", 1e-3),
        ("ctas", 5e-3),
    ] {
        let off = off(sampled, whole, counter);
        assert!(off.abs() < within, "{counter}: {off}");
    }
    let spent = [
        "issue_cycles",
        "stall_unit",
        "stall_memory",
        "stall_dependence",
        "stall_icache",
    ];
    let others = ["stall_fetch", "stall_barrier", "stall_drain", "idle_cycles"];
    let spent = spent
        .iter()
        .chain(&others)
        .map(|name| sampled.activity.get(name));
    let cycles = sampled.cycles * sampled.per_sm.len() as u64;
    let left = spent.sum::<u64>() as f64 / cycles as f64 - 1.0;
    assert!(
        left.abs() < 1e-3,
        "cycles are put down to something: {left}"
    );
}

#[test]
fn ctas_of_a_long_grid_are_left_out() {
    let (spec, trace) = (small(), looping(1500, 10));
    let whole = run(&spec, &trace, None);
    for way in [Way::Ctas, Way::Any] {
        let sampled = run(&spec, &trace, sampling(way));
        let sample = sampled.launches[0].sample.as_ref().unwrap();
        assert!(2 * sample.skipped() > sample.warp_instructions);
        is_near(&sampled, &whole, 0.03);
        assert_eq!(sampled, run(&spec, &trace, sampling(way)));
    }
}

#[test]
fn warps_of_a_wave_leave_stretches_out() {
    let (spec, trace) = (small(), looping(30, 1500));
    let whole = run(&spec, &trace, None);
    let sampled = run(&spec, &trace, sampling(Way::Any));
    let sample = sampled.launches[0].sample.as_ref().unwrap();
    assert!(2 * sample.skipped() > sample.warp_instructions);
    is_near(&sampled, &whole, 0.05);
    assert_eq!(sampled, run(&spec, &trace, sampling(Way::Any)));
}

/// A warp is long where its accesses scatter, and longer if it is young: warps come to lie where they would, and what they access there is counted in.
#[test]
fn a_phase_that_takes_long_is_not_passed_over() {
    for policy in [Policy::Gto, Policy::RoundRobin, Policy::ActivePool] {
        let mut spec = small();
        (spec.scheduler.policy, spec.scheduler.active_warps) = (policy, 3);
        let trace = scattering(120, 600, 60);
        let whole = run(&spec, &trace, None);
        let sampling = Sampling {
            batches: 16,
            way: Way::Any,
        };
        let sampled = run(&spec, &trace, Some(sampling));
        let sample = sampled.launches[0].sample.as_ref().unwrap();
        assert!(3 * sample.skipped() > 2 * sample.warp_instructions);
        let off = off(&sampled, &whole, "cycles");
        assert!(off.abs() < 0.05, "{policy:?}: {off}");
    }
}

#[test]
fn a_short_launch_is_timed_whole() {
    let (spec, trace) = (small(), looping(30, 20));
    let whole = run(&spec, &trace, None);
    for way in [Way::Ctas, Way::Any] {
        assert_eq!(run(&spec, &trace, sampling(way)), whole);
    }
}
