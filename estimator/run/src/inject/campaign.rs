//! All executions of a plan, on as many threads as there are.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use warpwatt_reliability::inject::{Class, Tally};
use warpwatt_suite::RunError;

use super::worker::Worker;
use super::{Golden, Plan};

/// Executions that a thread takes at a time: neighbours, so that it stays at a CTA.
const TAKEN: usize = 32;

/// Memory that all threads may take together.
const MEMORY: u64 = 4 << 30;

/// Images of the kernel's memory that a thread holds.
const IMAGES: u64 = 4;

/// Why a campaign did not come to its end.
#[derive(Debug)]
pub enum Unfinished {
    /// An execution of the golden run failed.
    Run(RunError),
    /// `found` said so.
    Stopped,
}

/// Executes what of `plan` is not `known` yet, on at most `jobs` threads. `found` is told each outcome as it comes, in no certain order, and may end it all;
/// the counts do not depend on the threads.
///
/// # Errors
/// As [`Unfinished`] says.
pub fn campaign(
    golden: &Golden<'_>,
    plan: &Plan,
    known: &[Option<Class>],
    jobs: usize,
    mut found: impl FnMut(usize, Class) -> bool,
) -> Result<Tally, Unfinished> {
    let mut outcomes = known.to_vec();
    outcomes.resize(plan.strikes.len(), None);
    let open: Vec<usize> = (0..outcomes.len())
        .filter(|at| outcomes[*at].is_none())
        .collect();
    let image = golden.last.bytes().max(1);
    let room = (MEMORY / (IMAGES * image)).max(1) as usize;
    let threads = jobs.min(room).min(open.len().div_ceil(TAKEN));
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (send, receive) = mpsc::channel();
    let result = std::thread::scope(|scope| {
        for _ in 0..threads {
            let send = send.clone();
            let (open, next, stop) = (&open, &next, &stop);
            scope.spawn(move || {
                let mut worker = Worker::new(golden);
                while !stop.load(Ordering::Relaxed) {
                    let first = next.fetch_add(TAKEN, Ordering::Relaxed);
                    let Some(rest) = open.get(first..).filter(|rest| !rest.is_empty()) else {
                        return;
                    };
                    for &number in rest.iter().take(TAKEN) {
                        let outcome = worker.outcome(&plan.strikes[number].0);
                        if send.send((number, outcome)).is_err() {
                            return;
                        }
                    }
                }
            });
        }
        drop(send);
        for (number, outcome) in receive {
            let told = outcome.map_err(Unfinished::Run).and_then(|class| {
                outcomes[number] = Some(class);
                let goes_on = found(number, class);
                goes_on.then_some(()).ok_or(Unfinished::Stopped)
            });
            if told.is_err() {
                stop.store(true, Ordering::Relaxed);
                return told;
            }
        }
        Ok(())
    });
    result?;
    let mut tally = plan.known;
    for ((_, count), outcome) in plan.strikes.iter().zip(outcomes) {
        tally.add(outcome.ok_or(Unfinished::Stopped)?, *count);
    }
    Ok(tally)
}
