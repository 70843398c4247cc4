//! The second-level cache in two partitions: who finds what where.

use std::sync::Arc;

use warpwatt_simt::trace::{MemoryOp, MemoryOpKind, Space, StaticInst, Unit, WarpRecorder};

use super::tests::{inst, one_cta};
use super::*;

/// Lines that a CTA accesses, a sector of each.
const LINES: u64 = 512;

/// One lane, line after line, past the first level; the next access waits for the one before.
fn lines(kind: MemoryOpKind) -> KernelTrace {
    let access = StaticInst {
        memory: Some(MemoryOp {
            past_l1: true,
            ..MemoryOp::new(Space::Global, kind, 4)
        }),
        ..inst(
            Unit::Memory,
            &[1],
            if kind == MemoryOpKind::Load {
                &[1]
            } else {
                &[]
            },
        )
    };
    let code = vec![access, inst(Unit::Control, &[], &[])];
    let mut trace = KernelTrace::new("lines", Arc::from(code), one_cta(32));
    let mut recorder = WarpRecorder::default();
    for line in 0..LINES {
        recorder.access(0, 1, 1, &[128 * line]);
    }
    recorder.step(1, 1, 1);
    trace.push_warp(&recorder).unwrap();
    trace
}

fn on_a100(partitions: u32, launches: &[KernelTrace]) -> Run {
    let mut spec = GpuSpec::preset("a100").unwrap();
    spec.l2.partitions = partitions;
    // Refreshes find other requests with other partitions.
    spec.dram.refresh_interval = 0;
    simulate(&spec, launches, Hooks::default()).unwrap()
}

#[test]
fn half_of_what_is_read_crosses_once_and_is_kept() {
    let (read, again) = (lines(MemoryOpKind::Load), lines(MemoryOpKind::Load));
    let [one, two] = [1, 2].map(|partitions| on_a100(partitions, &[read.clone(), again.clone()]));
    let n = |name| two.activity.get(name);
    let crossed = n("l2_crossings");
    assert!(crossed.abs_diff(LINES / 2) < LINES / 8, "{crossed}");
    assert_eq!(n("l2_read_misses"), LINES, "DRAM is asked for each once");
    assert_eq!(n("l2_read_hits"), LINES, "the second time all is near");
    assert_eq!(
        n("l2_reads"),
        2 * LINES + crossed,
        "what crosses is looked up there too"
    );
    assert_eq!(one.activity.get("l2_crossings"), 0);
    let longer = two.launches[0].cycles - one.launches[0].cycles;
    let there_and_back = crossed * 2 * 50;
    assert!(longer.abs_diff(there_and_back) < 50, "{longer}");
    assert_eq!(two.launches[1].cycles, one.launches[1].cycles);
}

#[test]
fn what_is_written_goes_to_where_it_lies_and_is_read_from_there() {
    let (store, read) = (lines(MemoryOpKind::Store), lines(MemoryOpKind::Load));
    let run = on_a100(2, &[store.clone(), read.clone(), read.clone(), store, read]);
    let n = |name| run.activity.get(name);
    let crossed = n("l2_crossings");
    assert_eq!(n("l2_writes"), 2 * LINES);
    assert_eq!(n("dram_reads"), 0, "all was written before");
    assert!(
        crossed.abs_diff(LINES) < LINES / 4,
        "copies do not outlive stores: {crossed}"
    );
    let cycles: Vec<u64> = run.launches.iter().map(|launch| launch.cycles).collect();
    assert_eq!(cycles[1], cycles[4]);
    assert!(cycles[2] < cycles[1], "{cycles:?}");
}

/// Both partitions wait for each other's sectors with few misses on their way, and go on.
#[test]
fn partitions_that_are_full_do_not_wait_in_a_circle() {
    let mut spec = GpuSpec::preset("a100").unwrap();
    spec.l2.mshrs = 1;
    spec.l2.dram_queue = 1;
    spec.l2.kb = 2560;
    spec.l2.ways = 2;
    let load = StaticInst {
        memory: Some(MemoryOp::new(Space::Global, MemoryOpKind::Load, 4)),
        ..inst(Unit::Memory, &[1], &[2])
    };
    let code = vec![load, inst(Unit::Control, &[], &[])];
    let mut shape = one_cta(32);
    shape.grid = [216, 1, 1];
    let mut trace = KernelTrace::new("lines", Arc::from(code), shape);
    let mut recorder = WarpRecorder::default();
    for cta in 0..216 {
        recorder.clear();
        for step in 0..32u64 {
            let addresses: Vec<u64> = (0..32)
                .map(|lane| 128 * (lane + 32 * step + 17 * cta))
                .collect();
            recorder.access(0, super::tests::ALL, super::tests::ALL, &addresses);
        }
        recorder.step(1, super::tests::ALL, super::tests::ALL);
        trace.push_warp(&recorder).unwrap();
    }
    let run = simulate(&spec, &[trace], Hooks::default()).unwrap();
    assert!(run.activity.get("l2_crossings") > 0);
}
