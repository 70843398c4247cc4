//! The time of a timing run grows with what is executed and not with what passes meanwhile. Time itself is not measured: what the simulation does is counted.

use crate::gpu_support::{gpu, presets_of_32, run, streaming};
use warpwatt_gpu::{GpuSpec, Hooks, Policy, Run, Work, simulate};
use warpwatt_simt::trace::KernelTrace;
use warpwatt_tests::traces;

/// Events and ticks: each takes a bounded time.
fn steps(run: &Run) -> f64 {
    let Work { events, ticks, .. } = run.work;
    (events + ticks) as f64
}

/// Steps of the simulation for each warp instruction.
fn per_instruction(spec: &GpuSpec, trace: KernelTrace) -> f64 {
    let instructions = trace.warp_instructions() as f64;
    steps(&run(spec, trace)) / instructions
}

/// Eight times the warp instructions take eight times the steps, on every preset, as the grid grows and as the loop does. What waits in a full queue takes an
/// event more, and queues are full for more of a longer run: up to two fifths.
#[test]
fn steps_grow_linearly_with_warp_instructions() {
    for preset in presets_of_32() {
        let (preset, spec) = (preset.name, GpuSpec::preset(preset.name).unwrap());
        let small = per_instruction(&spec, streaming(256, 4));
        for (ctas, iterations) in [(2048, 4), (256, 32)] {
            let large = per_instruction(&spec, streaming(ctas, iterations));
            assert!(
                large < 1.4 * small,
                "{preset}, {ctas} CTAs of {iterations} rounds: {large} steps an instruction, {small} at an eighth of the size"
            );
        }
    }
}

/// Memory that is a hundred times as far away: the cycles multiply, the steps do not.
#[test]
fn idle_cycles_cost_nothing() {
    let near = gpu();
    let mut far = gpu();
    far.dram.latency_cycles *= 100;
    let near = run(&near, streaming(16, 16));
    let far = run(&far, streaming(16, 16));
    assert!(
        far.cycles > 50 * near.cycles,
        "{} {}",
        far.cycles,
        near.cycles
    );
    assert!(
        steps(&far) < 1.1 * steps(&near),
        "{:?} after {} cycles, {:?} after {}",
        far.work,
        far.cycles,
        near.work,
        near.cycles
    );
}

/// One CTA on a GPU of one SM, and of a hundred: those without a warp take no step.
#[test]
fn idle_sms_cost_nothing() {
    let on = |count| {
        let mut spec = gpu();
        spec.sm.count = count;
        run(&spec, streaming(1, 64)).work
    };
    assert_eq!(on(100), on(1));
}

/// Warps of a full pool wait for a busy unit, and others for room in the pool: nobody looks at them cycle after cycle.
#[test]
fn a_full_pool_costs_nothing() {
    let traces = traces("spmv_csr");
    let ticks = |policy| {
        let mut spec = GpuSpec::preset("fermi-16sm").unwrap();
        spec.sm.count = 1;
        spec.scheduler.policy = policy;
        let run = simulate(&spec, &traces, Hooks::default()).unwrap();
        run.work.ticks as f64
    };
    let (pool, all) = (ticks(Policy::ActivePool), ticks(Policy::RoundRobin));
    assert!(pool < 1.2 * all, "{pool} ticks, of all warps {all}");
}
