#![allow(
    missing_docs,
    reason = "criterion's macro writes an undocumented function"
)]
//! The hold model: take an event, schedule another; the cost of one event with many pending.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use warpwatt_gpu::EventQueue;

/// Delays as a GPU has them: seven of eight within 32 cycles, the rest within 600.
fn delay(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    let random = *state >> 33;
    if random.is_multiple_of(8) {
        1 + (random >> 3) % 600
    } else {
        1 + (random >> 3) % 32
    }
}

fn hold(criterion: &mut Criterion) {
    const EVENTS: u64 = 100_000;
    let mut group = criterion.benchmark_group("hold");
    group
        .throughput(Throughput::Elements(EVENTS))
        .sample_size(20);
    for pending in [1_000u64, 100_000] {
        group.bench_function(format!("wheel/{pending}"), |bencher| {
            let mut queue = EventQueue::new();
            let mut random = 1;
            for event in 0..pending {
                queue.schedule(delay(&mut random), event).unwrap();
            }
            bencher.iter(|| {
                for _ in 0..EVENTS {
                    let (now, event) = queue.pop_until(u64::MAX).unwrap();
                    queue.schedule(now + delay(&mut random), event).unwrap();
                }
            });
        });
        group.bench_function(format!("heap/{pending}"), |bencher| {
            let mut heap = BinaryHeap::new();
            let (mut random, mut sequence) = (1, 0u64);
            for event in 0..pending {
                heap.push(Reverse((delay(&mut random), event, event)));
            }
            bencher.iter(|| {
                for _ in 0..EVENTS {
                    let Reverse((now, _, event)) = heap.pop().unwrap();
                    sequence += 1;
                    heap.push(Reverse((
                        now + delay(&mut random),
                        pending + sequence,
                        event,
                    )));
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, hold);
criterion_main!(benches);
