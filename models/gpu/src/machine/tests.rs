use std::sync::Arc;

use super::*;
use warpwatt_simt::trace::{
    Asynchronous, Beyond, Copied, Flow, LaunchShape, MemoryOp, MemoryOpKind, Piece, Register,
    RegisterKind, Space, StaticInst, TensorWork, Unit, WarpRecorder,
};

pub(super) const ALL: u64 = 0xffff_ffff;

pub(super) fn inst(unit: Unit, sources: &[u16], destinations: &[u16]) -> StaticInst {
    let word = |&number: &u16| Register {
        kind: RegisterKind::Word,
        number,
    };
    StaticInst {
        sources: sources.iter().map(word).collect(),
        destinations: destinations.iter().map(word).collect(),
        line: 1,
        ..StaticInst::bare(unit)
    }
}

/// A launch of one CTA that leaves room for all others.
pub(super) fn one_cta(threads: u32) -> LaunchShape {
    LaunchShape {
        grid: [1, 1, 1],
        block: [threads, 1, 1],
        warp_width: 32,
        shared_bytes: 0,
        registers: 8,
    }
}

/// Three warps: each loads, uses what it loaded, waits for the others, and ends.
fn trace() -> KernelTrace {
    let load = StaticInst {
        memory: Some(MemoryOp::new(Space::Global, MemoryOpKind::Load, 4)),
        ..inst(Unit::Memory, &[1], &[2])
    };
    let code = vec![
        load,
        inst(Unit::Int, &[2], &[3]),
        inst(Unit::Barrier, &[], &[]),
        inst(Unit::Control, &[], &[]),
    ];
    let shape = one_cta(96);
    let mut trace = KernelTrace::new("k", Arc::from(code), shape);
    let mut recorder = WarpRecorder::default();
    for warp in 0..3 {
        recorder.clear();
        let addresses: Vec<u64> = (0..64).map(|lane| 4096 * (warp + 1) + 4 * lane).collect();
        recorder.access(0, ALL, ALL, &addresses);
        for inst in 1..4 {
            recorder.step(inst, ALL, ALL);
        }
        trace.push_warp(&recorder).unwrap();
    }
    trace
}

/// Runs the trace but loses the first event that `lost` says.
fn losing(lost: impl Fn(&Event) -> bool) -> Result<(), GpuError> {
    let spec = GpuSpec::preset("tesla-16sm").unwrap();
    let trace = trace();
    let program = Program::new(&spec, &trace, 0);
    let mut gpu = Gpu::new(&spec, &Hooks::default(), Control::default());
    let mut grid = gpu.begin(&trace, &program, demand(&spec, &trace)?, None)?;
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

/// `bar.red`: what all threads say together comes when the barrier has opened.
#[test]
fn results_of_a_barrier_come_when_it_opens() {
    let exit = StaticInst {
        flow: Some(Flow::Exit),
        ..inst(Unit::Control, &[], &[])
    };
    // The second warp comes later, by a chain of additions; then the result is added to, and the next barrier's result is the last thing of all.
    let cycles = |chain: usize, said: &[u16]| {
        let code = vec![
            inst(Unit::Fp32, &[1], &[1]),
            inst(Unit::Barrier, &[1], said),
            inst(Unit::Fp32, &[2], &[3]),
            inst(Unit::Barrier, &[3], said),
            exit.clone(),
        ];
        let mut trace = KernelTrace::new("k", Arc::from(code), one_cta(64));
        for additions in [1, chain] {
            let mut recorder = WarpRecorder::default();
            (0..additions).for_each(|_| recorder.step(0, ALL, ALL));
            (1..5).for_each(|inst| recorder.step(inst, ALL, ALL));
            trace.push_warp(&recorder).unwrap();
        }
        let spec = GpuSpec::preset("v100").unwrap();
        simulate(&spec, &[trace], Hooks::default()).unwrap().cycles
    };
    let latency = u64::from(GpuSpec::preset("v100").unwrap().timing.control.latency);
    for chain in [1, 101] {
        let [plain, said] = [&[][..], &[2]].map(|said| cycles(chain, said));
        let most = plain + 3 * latency;
        assert!(plain < said && said <= most, "{chain}: {plain} {said}");
    }
}

/// Four warps that execute `records` in turn on an H100.
fn warpgroup(code: Vec<StaticInst>, records: impl Fn(&mut WarpRecorder)) -> crate::Run {
    let shape = LaunchShape {
        shared_bytes: 65_536,
        ..one_cta(128)
    };
    let mut trace = KernelTrace::new("k", Arc::from(code), shape);
    for _ in 0..4 {
        let mut recorder = WarpRecorder::default();
        records(&mut recorder);
        trace.push_warp(&recorder).unwrap();
    }
    trace.counts().unwrap();
    let spec = GpuSpec::preset("h100").unwrap();
    simulate(&spec, &[trace], Hooks::default()).unwrap()
}

fn product() -> StaticInst {
    StaticInst {
        asynchronous: Some(Asynchronous::Product { shared_bytes: 2560 }),
        multiply_adds: 16 * 256 * 16,
        element_bits: 16,
        ..inst(Unit::Matrix, &[1, 2, 3], &[1, 2])
    }
}

pub(super) fn groups(asynchronous: Asynchronous) -> StaticInst {
    StaticInst {
        asynchronous: Some(asynchronous),
        ..inst(Unit::Int, &[], &[])
    }
}

/// Products that add to the same registers follow each other at the documented rate, and the warps wait for the last of them.
#[test]
fn products_of_a_warpgroup_keep_the_tensor_units_busy() {
    let cycles = |count: u32| {
        let code = vec![
            product(),
            groups(Asynchronous::Commit),
            groups(Asynchronous::Wait(0)),
            inst(Unit::Control, &[], &[]),
        ];
        let run = warpgroup(code, |recorder| {
            for _ in 0..count {
                recorder.step(0, ALL, ALL);
            }
            (1..4).for_each(|inst| recorder.step(inst, ALL, ALL));
        });
        let each = 16 * 256 * 16 * 4;
        let activity = &run.activity;
        assert_eq!(
            activity.get("tensor_multiply_adds"),
            u64::from(count * each)
        );
        assert_eq!(
            activity.get("tensor_busy_cycles"),
            u64::from(count) * 4 * 128
        );
        run.cycles
    };
    assert_eq!(cycles(40) - cycles(20), 20 * 128);
}

/// All groups but the latest are waited for.
#[test]
fn the_latest_groups_may_go_on() {
    let cycles = |wait: u32| {
        let code = vec![
            product(),
            groups(Asynchronous::Commit),
            groups(Asynchronous::Wait(wait)),
            inst(Unit::Barrier, &[], &[]),
            inst(Unit::Control, &[], &[]),
        ];
        let run = warpgroup(code, |recorder| {
            for _ in 0..3 {
                (0..2).for_each(|inst| recorder.step(inst, ALL, ALL));
            }
            (2..5).for_each(|inst| recorder.step(inst, ALL, ALL));
        });
        run.cycles
    };
    assert_eq!(cycles(0) - cycles(1), 128);
    assert_eq!(cycles(1) - cycles(2), 128);
}

/// So many products that one warp begins, and another waits for at a barrier.
fn tensor_products(count: u64, work: TensorWork) -> Run {
    const BARRIER: u64 = 64;
    let of_barrier = StaticInst {
        memory: Some(MemoryOp::new(Space::Shared, MemoryOpKind::Atomic, 8)),
        ..inst(Unit::Memory, &[1], &[])
    };
    let code = vec![
        StaticInst {
            asynchronous: Some(Asynchronous::Tensor),
            ..inst(Unit::Matrix, &[1, 2, 3], &[])
        },
        StaticInst {
            asynchronous: Some(Asynchronous::Completes),
            ..of_barrier.clone()
        },
        of_barrier,
        inst(Unit::Control, &[], &[]),
    ];
    let shape = LaunchShape {
        shared_bytes: 65_536,
        ..one_cta(64)
    };
    let mut trace = KernelTrace::new("k", Arc::from(code), shape);
    let mut recorder = WarpRecorder::default();
    for _ in 0..count {
        recorder.asynchronous(0, ALL, 1, 0, &Beyond::Tensor(work));
    }
    // A guard that no lane passes begins nothing.
    recorder.step(0, ALL, 0);
    recorder.asynchronous(1, ALL, 1, BARRIER, &Beyond::Arrives(1));
    recorder.step(3, ALL, ALL);
    trace.push_warp(&recorder).unwrap();
    recorder.clear();
    let waits = Beyond::Waits {
        arrivals: 1,
        bytes: 0,
    };
    recorder.asynchronous(2, ALL, ALL, BARRIER, &waits);
    recorder.step(3, ALL, ALL);
    trace.push_warp(&recorder).unwrap();
    trace.counts().unwrap();
    let spec = GpuSpec::preset("h100").unwrap();
    simulate(&spec, &[trace], Hooks::default()).unwrap()
}

/// A product of 128 rows and 256 columns.
const PRODUCT: TensorWork = TensorWork {
    multiply_adds: 128 * 256 * 16,
    element_bits: 16,
    shared_bytes: (128 + 256) * 32,
    pair: false,
};

/// Products that one warp begins keep the tensor units of the whole SM busy, and the barrier is told when the last of them has ended.
#[test]
fn work_of_all_tensor_units_is_waited_for_at_its_barrier() {
    let (run, product) = (tensor_products, PRODUCT);
    let (few, many) = (run(10, product), run(30, product));
    // 2,048 multiply-adds an SM and cycle.
    assert_eq!(many.cycles - few.cycles, 20 * 256);
    assert!(few.cycles > 10 * 256, "{}", few.cycles);
    for (name, each) in [
        ("tensor_multiply_adds", 128 * 256 * 16),
        ("tensor_busy_cycles", 4 * 256),
        ("shared_words", (128 + 256) * 8),
    ] {
        let found = [&few, &many].map(|run| run.activity.get(name));
        assert_eq!(found[1] - found[0], 20 * each, "{name}");
    }
    // Bytes take half as long; a product of few columns as long as shared memory gives what it reads.
    let bytes = TensorWork {
        element_bits: 8,
        ..product
    };
    assert_eq!(run(30, bytes).cycles - run(10, bytes).cycles, 20 * 128);
    let narrow = TensorWork {
        multiply_adds: 128 * 8 * 16,
        element_bits: 16,
        shared_bytes: (128 + 8) * 32,
        pair: false,
    };
    assert_eq!(run(30, narrow).cycles - run(10, narrow).cycles, 20 * 34);
}

#[test]
fn two_sms_share_what_a_pair_of_ctas_does() {
    let shared = TensorWork {
        pair: true,
        ..PRODUCT
    };
    let [few, many] = [10, 30].map(|count| tensor_products(count, shared));
    assert_eq!(many.cycles - few.cycles, 20 * 128);
    let alone = tensor_products(30, PRODUCT);
    for name in ["tensor_multiply_adds", "tensor_busy_cycles", "shared_words"] {
        assert_eq!(many.activity.get(name), alone.activity.get(name), "{name}");
    }
}

/// Who waits at a barrier in shared memory waits for the bytes that a copy tells it; they come from memory, not by way of the first-level cache.
#[test]
fn a_copy_is_waited_for_at_its_barrier() {
    let memory = |space, kind, bytes| MemoryOp::new(space, kind, bytes);
    let run = |bytes: u64| {
        let of = |op| StaticInst {
            memory: Some(op),
            ..inst(Unit::Memory, &[1], &[])
        };
        let code = vec![
            of(memory(Space::Global, MemoryOpKind::Load, 16)),
            of(memory(Space::Shared, MemoryOpKind::Atomic, 8)),
            inst(Unit::Control, &[], &[]),
        ];
        warpgroup(code, |recorder| {
            let copied = Copied {
                barrier: Some(64),
                bytes: 16_384,
                pieces: vec![Piece::plain(0xc000_0000, 16_384)],
            };
            recorder.asynchronous(0, ALL, 1, 0xc000_0000, &Beyond::Copy(copied));
            let waits = Beyond::Waits { arrivals: 0, bytes };
            recorder.asynchronous(1, ALL, ALL, 64, &waits);
            recorder.step(2, ALL, ALL);
        })
    };
    let (all, none) = (run(4 * 16_384), run(0));
    assert!(all.cycles >= none.cycles, "{} {}", all.cycles, none.cycles);
    let warps = |run: &crate::Run| run.activity.get("resident_warp_cycles");
    assert!(
        warps(&all) > warps(&none) + 4 * 400,
        "{} {}",
        warps(&all),
        warps(&none)
    );
    assert_eq!(all.activity.get("load_bytes"), 4 * 16_384);
    assert_eq!(all.activity.get("l1_reads"), 0);
    // What copies move passes through shared memory, besides the four looks at the barrier.
    assert_eq!(all.activity.get("shared_words"), 4 * 16_384 / 4 + 4 * 64);
}

/// A load that passes the first level by leaves nothing there, so that the next one asks memory again.
#[test]
fn a_load_past_the_first_level_asks_memory_each_time() {
    let run = |past_l1: bool| {
        let load = StaticInst {
            memory: Some(MemoryOp {
                past_l1,
                ..MemoryOp::new(Space::Global, MemoryOpKind::Load, 4)
            }),
            ..inst(Unit::Memory, &[1], &[1])
        };
        let code = vec![load.clone(), load, inst(Unit::Control, &[], &[])];
        warpgroup(code, |recorder| {
            let addresses: Vec<u64> = (0..64).map(|lane| 0xc000_0000 + 4 * lane).collect();
            recorder.access(0, ALL, ALL, &addresses);
            recorder.access(1, ALL, ALL, &addresses);
            recorder.step(2, ALL, ALL);
        })
    };
    let (held, past) = (run(false), run(true));
    let of = |run: &crate::Run, name| run.activity.get(name);
    assert_eq!(of(&held, "l1_reads"), 4 * 2 * 4);
    assert_eq!(of(&past, "l1_reads"), 0);
    // Four warps want the same 128 bytes.
    assert_eq!(of(&held, "load_bytes"), 128);
    assert_eq!(of(&past, "load_bytes"), 4 * 2 * 128);
    assert!(past.cycles > held.cycles, "{} {}", past.cycles, held.cycles);
}
