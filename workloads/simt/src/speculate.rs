//! CTAs on several threads, with the outcome of one after the other.
//!
//! Stretches of a grid run side by side, each on a [view](View) of memory as it was before all of them. If none has read a word that one in front of it wrote,
//! they did what they do one after the other, and what they wrote is written, the first stretch first. Else, and if anything at all goes wrong, nothing has
//! happened: the stretches run again one CTA after the other. (Thread-level speculation; J. G. Steffan and T. C. Mowry, "The Potential for Using
//! Thread-Level Data Speculation to Facilitate Automatic Parallelization", HPCA 1998.)

use std::mem;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use warpwatt_ptx::Entry;
use warpwatt_ptx::program::{
    CopyAsync, CopySize, GRID_WORKSPACE, Op, RuntimeCall, Source, Special,
};
use warpwatt_ptx::types::Space;

use crate::memory::{DeviceMemory, PAGE, View, Writes, Written};

/// Pages that the stretches of a round may touch together: 512 MiB.
const PAGES: usize = (512 << 20) / PAGE;

/// Warp instructions after which it is known about how many a CTA has.
pub(crate) const PROBE: u64 = 20_000;

/// Warp instructions below which threads are not worth it.
const LEAST: u64 = 200_000;

/// Warp instructions of a round.
const ROUND: u64 = 32_000_000;

/// Stretches of a round for each thread: some take longer than others.
const SHARES: usize = 4;

/// Whether stretches can be told apart by their loads and stores: nothing else reaches device memory, and nothing that a CTA alone does not have.
pub(crate) fn can(entry: &Entry) -> bool {
    let waits = Source::Special(Special::Number(GRID_WORKSPACE as u32));
    let own = |space| {
        matches!(
            space,
            Space::Shared | Space::Local | Space::Const | Space::Param
        )
    };
    let apart = |op: &Op| match op {
        Op::Load(_) | Op::Store(_) => true,
        Op::CopyAsync(CopyAsync {
            to,
            size: CopySize::Bytes { .. },
            ..
        }) => to.space == Space::Shared,
        // A stretch that comes to them has not been apart.
        Op::Runtime(RuntimeCall::Print | RuntimeCall::Assert) => true,
        Op::Runtime(_) | Op::ImageQuery(_) | Op::TensorMemory(_) => false,
        op => op.traits().memory.is_none_or(|memory| own(memory.space)),
    };
    !entry.words.contains(&waits) && entry.code.iter().all(|inst| apart(&inst.op))
}

/// The CTAs of the next round, if `left` of them, with so many warp instructions each, are worth threads.
pub(crate) fn round(left: usize, each: u64, threads: usize) -> Option<usize> {
    let worth = (left as u64).saturating_mul(each) >= LEAST;
    let some = usize::try_from(ROUND / each.max(1)).unwrap_or(left);
    let some = some.max(threads * SHARES).min(left);
    (worth && left >= 2 * threads).then_some(some)
}

/// Runs stretches of `ctas` on as many threads; what each comes to, in order. None, and memory as it was, if they are not apart.
pub(crate) fn stretches<T: Send>(
    memory: &mut DeviceMemory,
    ctas: Range<usize>,
    threads: usize,
    run: impl Fn(Range<usize>, &mut DeviceMemory, &AtomicBool) -> Option<T> + Sync,
) -> Option<Vec<T>> {
    let count = (threads * SHARES).min(ctas.len());
    let edge = |number: usize| ctas.start + ctas.len() * number / count;
    let base = Arc::new(mem::take(memory));
    let budget = Arc::new(AtomicUsize::new(PAGES));
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let found: Vec<_> = (0..count).map(|_| Mutex::new(None)).collect();
    thread::scope(|scope| {
        let work = || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count || failed.load(Ordering::Relaxed) {
                    return;
                }
                let view = View::new(Arc::clone(&base), Arc::clone(&budget));
                let mut seen = DeviceMemory::seen(view);
                let outcome = run(edge(number)..edge(number + 1), &mut seen, &failed);
                failed.fetch_or(outcome.is_none(), Ordering::Relaxed);
                if let (Ok(mut place), Some(outcome)) = (found[number].lock(), outcome) {
                    *place = Some((outcome, seen));
                }
            }
        };
        (1..threads).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    let found = found.into_iter().map(|it| it.into_inner().ok().flatten());
    let writes = apart(found);
    // The views are gone, and nobody else has the memory.
    *memory = Arc::try_unwrap(base).unwrap_or_else(|base| (*base).clone());
    let (outcomes, writes): (Vec<_>, Vec<_>) = writes?.into_iter().unzip();
    writes.iter().for_each(|writes| writes.apply(memory));
    Some(outcomes)
}

/// What the stretches wrote, if all came to their end and none read what one before it wrote.
fn apart<T>(found: impl Iterator<Item = Option<(T, DeviceMemory)>>) -> Option<Vec<(T, Writes)>> {
    let mut written = Written::default();
    let each = found.map(|stretch| {
        let (outcome, seen) = stretch?;
        let view = seen.into_view()?;
        let apart = view.is_apart(&mut written);
        apart.then(|| (outcome, view.into_writes()))
    });
    // All of them, so that none keeps the memory.
    let each: Vec<_> = each.collect();
    each.into_iter().collect()
}
