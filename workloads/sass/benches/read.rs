//! Reading a launch as text.

use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Cursor;

use criterion::{Criterion, Throughput};
use warpwatt_sass::{Limits, Packing, read};

const WARPS: u32 = 64;
const ROUNDS: u32 = 500;

/// A loop of loads, arithmetic and a store, some of them scattered.
fn text() -> String {
    let mut text = format!(
        "-kernel name = loop\n-grid dim = (8,1,1)\n-block dim = ({},1,1)\n-nregs = 16\n-binary version = 70\n-accelsim tracer version = 4\n\n#traces format = ...\n",
        WARPS / 8 * 32
    );
    for block in 0..8 {
        let _ = write!(text, "#BEGIN_TB\nthread block = {block},0,0\n");
        for warp in 0..WARPS / 8 {
            let _ = write!(text, "warp = {warp}\ninsts = {}\n", ROUNDS * 6);
            for round in 0..ROUNDS {
                let at = 0x7f00_0000_0000u64 + u64::from(round) * 128;
                let deltas: String = (1..32).map(|lane| format!(" {}", lane * 8 - 60)).collect();
                let _ = write!(
                    text,
                    "0000 ffffffff 1 R4 LDG.E.SYS 1 R2 4 1 {at:#x} 4 0\n\
                     0010 ffffffff 1 R5 LDG.E.SYS 1 R6 4 2 {at:#x}{deltas} 0\n\
                     0020 ffffffff 1 R7 FFMA 3 R4 R5 R7 0 0\n\
                     0030 ffffffff 1 R2 IADD3 2 R2 R255 0 0\n\
                     0040 0000ffff 0 STG.E.SYS 2 R2 R7 4 1 {at:#x} 4 0\n\
                     0050 ffffffff 0 BRA 0 0 0\n",
                );
            }
        }
        text.push_str("#END_TB\n");
    }
    text
}

fn reading(criterion: &mut Criterion) {
    let text = text();
    let limits = Limits::of(u64::MAX);
    let mut group = criterion.benchmark_group("read");
    group.sample_size(10);
    group.throughput(Throughput::Elements(u64::from(WARPS * ROUNDS * 6)));
    group.bench_function("text", |bencher| {
        bencher
            .iter(|| read(Cursor::new(black_box(&text)), Packing::Text, limits.clone()).unwrap());
    });
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    reading(&mut criterion);
    criterion.final_summary();
}
