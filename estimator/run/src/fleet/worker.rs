//! Who does the units of a queue.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::thread;

use super::beat::Beating;
use super::cost::{Job, seal};
use super::hand::{Bench, Hand, defect};
use super::queue::Queue;
use crate::Resolved;
use crate::diag::{Diag, Sources};
use crate::elsewhere::other_inputs;

/// A worker that is about to begin.
#[derive(Clone, Copy, Debug)]
pub struct Worker<'w> {
    /// The queue.
    pub queue: &'w Queue,
    /// Its study, as it is read here.
    pub resolved: &'w Resolved,
    /// The texts that were read for it.
    pub sources: &'w Sources,
    /// Threads that do units.
    pub jobs: usize,
}

/// A unit that was done or failed.
#[derive(Debug)]
pub struct Worked<'w> {
    /// The unit.
    pub job: &'w Job,
    /// How long it took.
    pub seconds: f64,
    /// Why it failed, if it did.
    pub failure: Option<Diag>,
}

/// How a worker ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Units that it has done.
    pub done: usize,
    /// Units that failed here.
    pub failed: usize,
}

impl Worker<'_> {
    /// Does units until nobody has one and none is left that can be done. What becomes of each is told as it happens; a unit that fails is noted in the queue, and the
    /// others go on.
    ///
    /// # Errors
    /// The study is read otherwise here than where it was planned, or the queue's files cannot be used.
    pub fn work(&self, tell: impl Fn(Worked<'_>) + Sync) -> Result<Ended, Diag> {
        if seal(&self.resolved.plan) != self.queue.sheet.seal {
            return Err(other_inputs());
        }
        let pool = crate::pool(self.jobs)?;
        let cache = self.queue.traces();
        let beating = Beating::enter(self.queue, self.jobs)?;
        let bench = Bench {
            worker: *self,
            beating: &beating,
            cache: &cache,
            pool: &pool,
            is_broken: AtomicBool::new(false),
        };
        let (living, enough) = mpsc::channel::<()>();
        let ended = thread::scope(|scope| {
            let (bench, tell) = (&bench, &tell);
            scope.spawn(move || bench.beating.beat(enough));
            let hands: Vec<_> = (0..self.jobs)
                .map(|number| scope.spawn(move || Hand::new(bench, number).work(tell)))
                .collect();
            let hands = hands.into_iter();
            let ended: Vec<Result<usize, Diag>> = hands
                .map(|hand| hand.join().unwrap_or_else(|_| Err(defect())))
                .collect();
            drop(living);
            ended
        });
        let done = beating.done();
        beating.leave()?;
        let failed = ended.into_iter().sum::<Result<usize, Diag>>()?;
        Ok(Ended { done, failed })
    }
}
