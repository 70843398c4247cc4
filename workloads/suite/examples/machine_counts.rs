//! Warp instructions of the suite's default cases by kind, as CSV like `workloads/kernels/sass/counts.csv`: of PTX, and of what stands for the machine's code.

use warpwatt_ptx::Lower;
use warpwatt_ptx::traits::{MemoryOpKind, Unit};
use warpwatt_ptx::types::Space;
use warpwatt_simt::trace::{KernelTrace, StaticInst};
use warpwatt_suite::{RunOptions, kernels, run_case};

const KINDS: [&str; 11] = [
    "all",
    "integer",
    "fp32",
    "fp64",
    "sfu",
    "control",
    "barrier",
    "ld_global",
    "st_global",
    "ld_shared",
    "st_shared",
];

fn main() {
    println!("kernel,code,{},other", KINDS.join(","));
    for kernel in kernels() {
        for lower in Lower::ALL {
            let (case, prepared) = kernel.prepare(None).expect("the suite's cases are right");
            let module =
                warpwatt_ptx::load_lowered(kernel.ptx, lower).expect("the suite's PTX is right");
            let run = run_case(&module, &case, &prepared, RunOptions::default())
                .expect("the suite's kernels run");
            if !run.passed() {
                eprintln!(
                    "{} {}: {} values are wrong",
                    kernel.name,
                    lower.name(),
                    run.mismatch_count
                );
            }
            let mut counts = [0u64; KINDS.len() + 1];
            for trace in run.into_traces() {
                count(&trace, &mut counts);
            }
            let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
            println!("{},{},{}", kernel.name, lower.name(), counts.join(","));
        }
    }
}

fn count(trace: &KernelTrace, counts: &mut [u64; KINDS.len() + 1]) {
    let kinds: Vec<usize> = trace.code.iter().map(kind).collect();
    for cta in 0..trace.launch.ctas() {
        for warp in 0..trace.launch.warps_per_cta() {
            for step in trace.warp(cta, warp) {
                counts[0] += 1;
                counts[kinds[step.inst as usize]] += 1;
            }
        }
    }
}

fn kind(inst: &StaticInst) -> usize {
    let name = match (inst.unit, inst.memory) {
        (Unit::Memory, Some(memory)) => match (memory.space, memory.kind) {
            (Space::Global | Space::Generic, MemoryOpKind::Load) => "ld_global",
            (Space::Global | Space::Generic, MemoryOpKind::Store) => "st_global",
            (Space::Shared, MemoryOpKind::Load) => "ld_shared",
            (Space::Shared, MemoryOpKind::Store) => "st_shared",
            _ => "other",
        },
        (Unit::Int, _) => "integer",
        (Unit::Fp32, _) => "fp32",
        (Unit::Fp64, _) => "fp64",
        (Unit::Sfu, _) => "sfu",
        (Unit::Control, _) => "control",
        (Unit::Barrier, _) => "barrier",
        _ => "other",
    };
    KINDS
        .iter()
        .position(|kind| *kind == name)
        .unwrap_or(KINDS.len())
}
