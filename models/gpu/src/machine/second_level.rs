//! Bandwidth of the second level beside silicon: the kernel of gpu-l2-cache (RRZE-HPC, gpu-benches, commit 1038c5d0), access by access.

use std::sync::Arc;

use super::tests::{ALL, inst};
use super::*;
use warpwatt_simt::trace::{
    LaunchShape, MemoryOp, MemoryOpKind, Space, StaticInst, Unit, WarpRecorder,
};

/// Threads of a block; so many fit an SM twice.
const THREADS: u64 = 1024;
/// Doubles that a thread reads, two at a time.
const DOUBLES: u64 = 64;
/// Bytes that a block reads.
const BLOCK_BYTES: u64 = DOUBLES * THREADS * 8;
/// Blocks that read different bytes: 18,500 KB in all, which no first level holds and every second one.
const BLOCKS: u64 = 37;
/// Registers that loads go to, one after the other.
const REGISTERS: u32 = 16;

/// Bytes an SM and cycle that were measured: GB/s of gpu-l2-cache/{a100_80,h100_pcie,h200}.txt at 18,432 kB, 5,435.9 over 108 SMs and 1410 MHz, 6,920.8 over 114
/// and 1755 MHz, 9,774.3 over 132 and 1980 MHz.
const MEASURED: [(&str, f64); 3] = [("a100", 35.70), ("h100", 34.59), ("h200", 37.40)];

fn code() -> Vec<StaticInst> {
    let load = |register: u32| StaticInst {
        memory: Some(MemoryOp::new(Space::Global, MemoryOpKind::Load, 8)),
        ..inst(Unit::Memory, &[100], &[register as u16])
    };
    let exit = inst(Unit::Control, &[], &[]);
    (0..REGISTERS).map(load).chain([exit]).collect()
}

/// `ctas` blocks; blocks a round apart read the same.
fn reads(ctas: u64) -> KernelTrace {
    let shape = LaunchShape {
        grid: [ctas as u32, 1, 1],
        block: [THREADS as u32, 1, 1],
        warp_width: 32,
        shared_bytes: 0,
        registers: 32,
    };
    let mut trace = KernelTrace::new("reads", Arc::from(code()), shape);
    let mut recorder = WarpRecorder::default();
    for cta in 0..ctas {
        for warp in 0..THREADS / 32 {
            recorder.clear();
            for step in 0..DOUBLES {
                let (pair, second) = (step / 2, step % 2);
                let first = (THREADS * BLOCKS * pair + cta % BLOCKS * THREADS) * 2
                    + second * THREADS
                    + 32 * warp;
                let addresses: Vec<u64> = (0..32)
                    .map(|lane| 0xc000_0000 + 8 * (first + lane))
                    .collect();
                recorder.access(step as u32 % REGISTERS, ALL, ALL, &addresses);
            }
            recorder.step(REGISTERS, ALL, ALL);
            trace.push_warp(&recorder).unwrap();
        }
    }
    trace
}

/// Bytes an SM and cycle once the second level holds all of the buffer.
fn plateau(spec: &GpuSpec) -> f64 {
    let resident = 2 * u64::from(spec.sm.count);
    let launches = [reads(BLOCKS), reads(resident)];
    let run = simulate(spec, &launches, Hooks::default()).unwrap();
    (2 * BLOCK_BYTES) as f64 / run.launches[1].cycles as f64
}

/// Within 10 %: more than a port of a sector a cycle could bring.
#[test]
fn the_second_level_brings_what_was_measured() {
    for (name, measured) in MEASURED {
        let ours = plateau(&GpuSpec::preset(name).unwrap());
        assert!(
            (ours / measured - 1.0).abs() < 0.1,
            "{name}: {ours}, {measured} measured"
        );
    }
}
