use std::sync::Arc;

use super::*;
use warpwatt_simt::trace::{
    LatencyClass, LaunchShape, Marks, MemoryOp, MemoryOpKind, Needs, Register, RegisterKind,
    Release, Results, Space, StaticInst, Unit, WarpRecorder,
};

const ALL: u64 = 0xffff_ffff;

fn inst(unit: Unit, sources: &[u16], destinations: &[u16]) -> StaticInst {
    let word = |&number: &u16| Register {
        kind: RegisterKind::Word,
        number,
    };
    StaticInst {
        unit,
        latency: LatencyClass::Simple,
        sources: sources.iter().map(word).collect(),
        destinations: destinations.iter().map(word).collect(),
        memory: None,
        flow: None,
        results: Results::FromSources,
        release: Release::default(),
        marks: Marks::default(),
        needs: Needs::default(),
        split: None,
        uniform: false,
        multiply_adds: 0,
        asynchronous: None,
        line: 1,
    }
}

/// Three warps: each loads, uses what it loaded, waits for the others, and ends.
fn trace() -> KernelTrace {
    let load = StaticInst {
        memory: Some(MemoryOp {
            space: Space::Global,
            kind: MemoryOpKind::Load,
            bytes: 4,
        }),
        ..inst(Unit::Memory, &[1], &[2])
    };
    let code = vec![
        load,
        inst(Unit::Int, &[2], &[3]),
        inst(Unit::Barrier, &[], &[]),
        inst(Unit::Control, &[], &[]),
    ];
    let shape = LaunchShape {
        grid: [1, 1, 1],
        block: [96, 1, 1],
        warp_width: 32,
        shared_bytes: 0,
        registers: 8,
    };
    let mut trace = KernelTrace::new("k", Arc::from(code), shape);
    let mut recorder = WarpRecorder::default();
    for warp in 0..3 {
        recorder.clear();
        let addresses: Vec<u64> = (0..64).map(|lane| 4096 * (warp + 1) + 4 * lane).collect();
        recorder.access(0, ALL, ALL, &addresses);
        for inst in 1..4 {
            recorder.step(inst, ALL, ALL);
        }
        trace.push_warp(&recorder);
    }
    trace
}

/// Runs the trace but loses the first event that `lost` says.
fn losing(lost: impl Fn(&Event) -> bool) -> Result<(), GpuError> {
    let spec = GpuSpec::preset("tesla-16sm").unwrap();
    let trace = trace();
    let program = Program::new(&spec, &trace, 0);
    let mut gpu = Gpu::new(&spec, &Hooks::default(), Control::default());
    let mut grid = gpu.begin(&trace, &program, demand(&spec, &trace)?)?;
    let mut to_lose = 1;
    while let Some(now) = gpu.next_time() {
        gpu.queue.advance(now);
        while let Some(event) = gpu.queue.pop_now() {
            if to_lose > 0 && lost(&event) {
                to_lose -= 1;
                continue;
            }
            gpu.handle(event, now, &mut grid)?;
        }
        gpu.tick(now, &grid)?;
    }
    gpu.end(&grid)
}

/// The report of a run that is stuck, without the cycle, which is no matter here.
fn report(lost: impl Fn(&Event) -> bool) -> String {
    let error = losing(lost).unwrap_err();
    let GpuError::Deadlock { cycle, .. } = error else {
        panic!("{error}");
    };
    error.to_string().replace(&cycle.to_string(), "N")
}

#[test]
fn nothing_lost_nothing_stuck() {
    assert_eq!(losing(|_| false), Ok(()));
}

#[test]
fn data_that_never_come_are_waited_for_and_the_barrier_with_them() {
    assert_eq!(
        report(|event| matches!(event, Event::Reply(_))),
        "kernel `k` is stuck at cycle N with 1 CTAs left:\n  \
         SM 0, CTA 0, warp in slot 0: waits for the result of a load, next is instruction 1, with loads on their way\n  \
         SM 0, CTA 0, warps in slot 1, 2: wait at barrier 0, next is instruction 3"
    );
}

#[test]
fn a_barrier_that_never_opens_keeps_everyone() {
    assert_eq!(
        report(|event| matches!(event, Event::Barrier { .. })),
        "kernel `k` is stuck at cycle N with 1 CTAs left:\n  \
         SM 0, CTA 0, warps in slot 0, 1, 2: wait at barrier 0, next is instruction 3"
    );
}

#[test]
fn a_line_of_code_that_never_comes_keeps_who_wants_it() {
    let report = report(|event| matches!(event, Event::Fill { .. }));
    assert!(
        report.contains("wait for an I-cache line, next is instruction 0"),
        "{report}"
    );
}

#[test]
fn a_warp_that_never_retires_keeps_its_cta() {
    let report = report(|event| matches!(event, Event::Retire { .. }));
    assert!(report.contains("has issued everything"), "{report}");
}

#[test]
fn a_cta_that_is_never_placed_is_missed() {
    let report = report(|event| matches!(event, Event::Dispatch { .. }));
    assert_eq!(report, "kernel `k` is stuck at cycle N with 1 CTAs left:\n");
}
