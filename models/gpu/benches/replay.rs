#![allow(
    missing_docs,
    reason = "criterion's macro writes an undocumented function"
)]
//! How fast traces are replayed, in warp instructions a second (criterion's "elements").
//!
//! Three synthetic kernels on the preset `tesla-16sm`, memory system on: one that computes, one that works in shared memory with barriers, one that streams.

use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use warpwatt_gpu::{GpuSpec, Hooks, simulate};
use warpwatt_simt::trace::{
    KernelTrace, LatencyClass, LaunchShape, MemoryOp, MemoryOpKind, Register, RegisterKind, Space,
    StaticInst, Unit, WarpRecorder,
};

const ALL: u64 = 0xffff_ffff;

fn inst(unit: Unit, sources: &[u16], destinations: &[u16]) -> StaticInst {
    let words = |numbers: &[u16]| {
        let word = |&number| Register {
            kind: RegisterKind::Word,
            number,
        };
        numbers.iter().map(word).collect()
    };
    StaticInst {
        latency: LatencyClass::Mad,
        sources: words(sources),
        destinations: words(destinations),
        line: 1,
        ..StaticInst::bare(unit)
    }
}

fn access(space: Space, kind: MemoryOpKind, register: u16) -> StaticInst {
    let (sources, destinations) = match kind {
        MemoryOpKind::Store => (vec![register, 30], vec![]),
        _ => (vec![30], vec![register]),
    };
    StaticInst {
        memory: Some(MemoryOp::new(space, kind, 4)),
        ..inst(Unit::Memory, &sources, &destinations)
    }
}

fn arithmetic(count: u16) -> impl Iterator<Item = StaticInst> {
    (0..count).map(|number| {
        inst(
            Unit::Fp32,
            &[number % 20, (number + 5) % 20, 21],
            &[(number + 9) % 20],
        )
    })
}

/// The body of a loop, its instructions in order; the last one branches back.
fn kernel(name: &str, body: Vec<StaticInst>, ctas: u32, iterations: u32) -> KernelTrace {
    let mut code = body;
    code.push(inst(Unit::Control, &[25], &[]));
    code.push(inst(Unit::Control, &[], &[]));
    let launch = LaunchShape {
        grid: [ctas, 1, 1],
        block: [256, 1, 1],
        warp_width: 32,
        shared_bytes: 4096,
        registers: 16,
    };
    let code: Arc<[StaticInst]> = Arc::from(code);
    let mut trace = KernelTrace::new(name, Arc::clone(&code), launch);
    let mut recorder = WarpRecorder::default();
    for warp in 0..u64::from(ctas * 8) {
        recorder.clear();
        for iteration in 0..u64::from(iterations) {
            for (index, inst) in code[..code.len() - 1].iter().enumerate() {
                let base = match inst.memory {
                    None => {
                        recorder.step(index as u32, ALL, ALL);
                        continue;
                    }
                    Some(MemoryOp {
                        space: Space::Shared,
                        ..
                    }) => 0x0100_0000 + 128 * (warp % 8),
                    Some(_) => {
                        0xc000_0000 + 128 * (iteration * 4096 + warp) + 4_194_304 * index as u64
                    }
                };
                let addresses: Vec<u64> = (0..32).map(|lane| base + 4 * lane).collect();
                recorder.access(index as u32, ALL, ALL, &addresses);
            }
        }
        recorder.step(code.len() as u32 - 1, ALL, ALL);
        trace.push_warp(&recorder).unwrap();
    }
    trace
}

fn kernels() -> Vec<KernelTrace> {
    let shared = |kind, register| access(Space::Shared, kind, register);
    let global = |kind, register| access(Space::Global, kind, register);
    let tiled = [
        global(MemoryOpKind::Load, 1),
        shared(MemoryOpKind::Store, 1),
        inst(Unit::Barrier, &[], &[]),
    ]
    .into_iter()
    .chain((0..16).flat_map(|register| {
        [
            shared(MemoryOpKind::Load, register),
            inst(Unit::Fp32, &[register, 21, 22], &[22]),
        ]
    }))
    .chain([inst(Unit::Barrier, &[], &[])])
    .collect();
    let stream = [global(MemoryOpKind::Load, 1), global(MemoryOpKind::Load, 2)]
        .into_iter()
        .chain(arithmetic(6))
        .chain([global(MemoryOpKind::Store, 3)])
        .collect();
    vec![
        kernel("compute", arithmetic(40).collect(), 128, 20),
        kernel("tiled", tiled, 128, 20),
        kernel("stream", stream, 128, 40),
    ]
}

fn replay(criterion: &mut Criterion) {
    let spec = GpuSpec::preset("tesla-16sm").expect("the preset ships");
    let mut group = criterion.benchmark_group("replay");
    group.sample_size(10);
    for trace in kernels() {
        group.throughput(Throughput::Elements(trace.warp_instructions()));
        let name = trace.kernel.clone();
        let launches = [trace];
        group.bench_function(name, |bencher| {
            bencher.iter(|| simulate(&spec, &launches, Hooks::default()).expect("it runs"));
        });
    }
    group.finish();
}

criterion_group!(benches, replay);
criterion_main!(benches);
