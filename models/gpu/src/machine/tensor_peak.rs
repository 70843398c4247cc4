//! Matrix products on a Hopper GPU against the peak of its data sheet, 2,048 multiply-adds of 16-bit elements an SM and cycle (989 Tflop/s at 1830 MHz
//! and 132 SMs), and what keeps them from it.

use std::sync::Arc;

use super::tests::{ALL, groups, inst, one_cta};
use super::*;
use warpwatt_simt::trace::{
    Asynchronous, Beyond, Copied, LaunchShape, MemoryOp, MemoryOpKind, Piece, Space, StaticInst,
    Unit, WarpRecorder,
};

/// A CTA computes 128 rows and 256 columns, 64 of the inner dimension at a time.
const ROWS: u64 = 128;
const COLUMNS: u64 = 256;
const DEPTH: u64 = 64;
/// So many tiles may be under way.
const STAGES: u64 = 4;
/// Tiles along the inner dimension.
const STEPS: u64 = 32;
/// CTAs side by side and below each other: one for each SM.
const GRID: [u64; 2] = [12, 11];
/// Warps of the two warpgroups that multiply; one more copies.
const CONSUMERS: u64 = 8;
/// Barriers of full and of empty stages, by the stage.
const FULL: u64 = 0;
const EMPTY: u64 = 64;

const COPY: u32 = 0;
const ARRIVE: u32 = 1;
const WAIT: u32 = 2;
const PRODUCT: u32 = 3;
const COMMIT: u32 = 4;
const WAIT_FOR_OLDER: u32 = 5;
const WAIT_FOR_ALL: u32 = 6;
const EXIT: u32 = 7;

fn code() -> Vec<StaticInst> {
    let of = |space, kind, bytes| StaticInst {
        memory: Some(MemoryOp::new(space, kind, bytes)),
        ..inst(Unit::Memory, &[1], &[])
    };
    let product = StaticInst {
        multiply_adds: 16 * COLUMNS as u32 * 16,
        element_bits: 16,
        asynchronous: Some(Asynchronous::Product {
            shared_bytes: (16 + COLUMNS as u32 / 4) * 16 * 2,
        }),
        ..inst(Unit::Matrix, &[1, 2, 3], &[1, 2])
    };
    vec![
        of(Space::Global, MemoryOpKind::Load, 16),
        of(Space::Shared, MemoryOpKind::Atomic, 8),
        of(Space::Shared, MemoryOpKind::Atomic, 8),
        product,
        groups(Asynchronous::Commit),
        groups(Asynchronous::Wait(1)),
        groups(Asynchronous::Wait(0)),
        inst(Unit::Control, &[], &[]),
    ]
}

/// Rows of a matrix of 16-bit elements whose inner dimension is one behind the other.
fn tile(matrix: u64, first: u64, rows: u64, step: u64) -> Piece {
    let row = STEPS * DEPTH * 2;
    let mut piece = Piece::plain(matrix + first * row + step * DEPTH * 2, DEPTH * 2);
    piece.loops[0] = (rows, row as i64);
    piece
}

/// The warp that copies: `columns` of those of B, the others come from the neighbour in the cluster.
fn producer(recorder: &mut WarpRecorder, [x, y]: [u64; 2], columns: u64) {
    for step in 0..STEPS {
        let stage = step % STAGES;
        if step >= STAGES {
            let arrivals = step / STAGES * CONSUMERS;
            let at = EMPTY + 8 * stage;
            recorder.asynchronous(WAIT, ALL, ALL, at, &Beyond::Waits { arrivals, bytes: 0 });
        }
        let first = x * COLUMNS + y % (COLUMNS / columns) * columns;
        let a = tile(0xc000_0000, y * ROWS, ROWS, step);
        let b = tile(0xd000_0000, first, columns, step);
        let copied = Copied {
            barrier: Some(FULL + 8 * stage),
            bytes: (ROWS + columns) * DEPTH * 2,
            pieces: vec![a, b],
        };
        recorder.asynchronous(COPY, ALL, 1, a.base, &Beyond::Copy(copied));
    }
    recorder.step(EXIT, ALL, ALL);
}

fn consumer(recorder: &mut WarpRecorder, columns: u64) {
    for step in 0..STEPS {
        let stage = step % STAGES;
        let bytes = (step / STAGES + 1) * (ROWS + columns) * DEPTH * 2;
        let full = Beyond::Waits { arrivals: 0, bytes };
        recorder.asynchronous(WAIT, ALL, ALL, FULL + 8 * stage, &full);
        for _ in 0..DEPTH / 16 {
            recorder.step(PRODUCT, ALL, ALL);
        }
        recorder.step(COMMIT, ALL, ALL);
        recorder.step(WAIT_FOR_OLDER, ALL, ALL);
        if step > 0 {
            let at = EMPTY + 8 * ((step - 1) % STAGES);
            recorder.asynchronous(ARRIVE, ALL, 1, at, &Beyond::Arrives(1));
        }
    }
    recorder.step(WAIT_FOR_ALL, ALL, ALL);
    recorder.step(EXIT, ALL, ALL);
}

/// The share of the peak that a product reaches, of which each CTA copies so many columns of B itself.
fn share_of_peak(spec: &GpuSpec, columns: u64) -> f64 {
    let shape = LaunchShape {
        grid: [GRID[0] as u32, GRID[1] as u32, 1],
        block: [32 * (CONSUMERS as u32 + 1), 1, 1],
        warp_width: 32,
        shared_bytes: (STAGES * (ROWS + COLUMNS) * DEPTH * 2) as u32 + 128,
        registers: 168,
    };
    let mut trace = KernelTrace::new("gemm", Arc::from(code()), shape);
    for y in 0..GRID[1] {
        for x in 0..GRID[0] {
            for warp in 0..=CONSUMERS {
                let mut recorder = WarpRecorder::default();
                match warp == CONSUMERS {
                    true => producer(&mut recorder, [x, y], columns),
                    false => consumer(&mut recorder, columns),
                }
                trace.push_warp(&recorder).unwrap();
            }
        }
    }
    trace.counts().unwrap();
    let run = simulate(spec, &[trace], Hooks::default()).unwrap();
    let work = GRID[0] * GRID[1] * ROWS * COLUMNS * DEPTH * STEPS;
    assert_eq!(run.activity.get("tensor_multiply_adds"), work);
    let peak = 2048 * u64::from(spec.sm.count);
    work as f64 / peak as f64 / run.cycles as f64
}

/// A product of 1,408 by 3,072 with 2,048 between on an H100, each CTA with a tile for itself, and each two of a cluster with half of B for each other. A tile of 128
/// by 256 takes 48 bytes an SM and cycle at the peak, of which the second level brings 32 if each CTA asks for all of it; clusters ask for 32.
#[test]
fn a_large_product_comes_near_the_peak() {
    let mut spec = GpuSpec::preset("h100").unwrap();
    let [alone, shared] = [COLUMNS, COLUMNS / 2].map(|columns| share_of_peak(&spec, columns));
    // A sector a cycle for each SM, and few loads that wait for one sector, as other presets have it.
    (spec.noc.port_flits, spec.noc.lookahead, spec.l2.merges) = (1, 1, 4);
    let narrow = share_of_peak(&spec, COLUMNS / 2);
    let found = format!("{alone:.3} {shared:.3} {narrow:.3}");
    assert!((0.5..0.7).contains(&alone), "{found}");
    assert!((0.75..=1.0).contains(&shared), "{found}");
    assert!(narrow < 0.6, "{found}");
}

/// Cycles that a tensor unit is busy with a product of so many multiply-adds of elements of so many bits.
fn busy(preset: &str, multiply_adds: u32, element_bits: u8) -> u64 {
    let product = StaticInst {
        multiply_adds,
        element_bits,
        ..inst(Unit::Matrix, &[1, 2, 3], &[4])
    };
    let code = vec![product, inst(Unit::Control, &[], &[])];
    let mut trace = KernelTrace::new("k", Arc::from(code), one_cta(32));
    let mut recorder = WarpRecorder::default();
    recorder.step(0, ALL, ALL);
    recorder.step(1, ALL, ALL);
    trace.push_warp(&recorder).unwrap();
    let spec = GpuSpec::preset(preset).unwrap();
    let run = simulate(&spec, &[trace], Hooks::default()).unwrap();
    run.activity.get("tensor_busy_cycles")
}

/// `mma` takes a tensor core for its multiply-adds at the rate of the data sheet (A100: 312 Tflop/s of halves, 156 of TF32, 624 Tops of bytes, 19.5 Tflop/s of
/// doubles); on Hopper, where only `wgmma` comes to the peak, at 62.9 % of it.
#[test]
fn products_of_a_warp_take_as_long_as_they_are_large() {
    let of = |preset| {
        [
            busy(preset, 16 * 8 * 16, 16),
            busy(preset, 16 * 8 * 8, 16),
            busy(preset, 16 * 8 * 8, 32),
            busy(preset, 16 * 8 * 32, 8),
            busy(preset, 8 * 8 * 4, 64),
            busy(preset, 16 * 16 * 16, 16),
        ]
    };
    assert_eq!(of("a100"), [8, 4, 8, 8, 16, 16]);
    assert_eq!(of("h100"), [7, 4, 7, 7, 13, 13]);
    assert_eq!(of("h200"), of("h100"));
    // 125 Tflop/s of a V100; GPGPU-Sim's has half of it.
    assert_eq!(of("v100")[5], 32);
    let simulated = GpuSpec::preset_lowered("v100", crate::Lowering::Ptx).unwrap();
    assert_eq!(simulated.timing.tensor.interval, 64);
}
