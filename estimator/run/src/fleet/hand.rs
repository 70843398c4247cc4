//! A thread of a worker: which unit it takes next, and what it does with it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::beat::Beating;
use super::cost::{Job, Kind};
use super::outcome_file;
use super::queue::{HAND, Queue};
use super::rival::Rivals;
use super::worker::{Worked, Worker};
use crate::cache::TraceCache;
use crate::diag::{Diag, Sink, render};
use crate::drive::{BATCH, Batch, TimingRun, Work};
use crate::elsewhere::other_inputs;
use crate::outcome::Outcome;
use crate::work::{Executed, StudyWork};

/// How long whoever finds nothing to do waits at first, and at most.
const PAUSE: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// What the threads of a worker share.
#[derive(Debug)]
pub struct Bench<'b> {
    /// The worker.
    pub worker: Worker<'b>,
    /// Its sign of life.
    pub beating: &'b Beating<'b>,
    /// What executions left.
    pub cache: &'b TraceCache,
    /// Where units are done.
    pub pool: &'b rayon::ThreadPool,
    /// A thread has ended before its time: the others end too, so that nobody takes the worker for one that lives and waits for what that thread had.
    pub is_broken: AtomicBool,
}

/// Says, when it is dropped, that a thread has ended before its time.
struct Breaking<'b>(&'b AtomicBool);

impl Drop for Breaking<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What is said where a thread ended for no reason that it could give.
pub fn defect() -> Diag {
    Diag::error(
        "run::defect",
        "a thread of the worker ended before its time",
    )
}

/// A thread of a worker.
pub struct Hand<'h> {
    bench: &'h Bench<'h>,
    queue: &'h Queue,
    /// Its name, which what it has taken bears.
    name: String,
    work: StudyWork<'h>,
    /// The timing runs by their numbers.
    runs: BTreeMap<usize, TimingRun>,
    /// Units that were there to be taken when the folder was last looked at.
    todo: BTreeSet<String>,
    /// Executions that are known to be done.
    done: BTreeSet<String>,
    rivals: Rivals,
    /// What the last execution left: the next unit may need it too.
    last: Option<(usize, Executed)>,
}

/// What looking for a unit came to.
enum Found<'q> {
    Unit(&'q Job),
    /// Others have what is left, or what is needed for it.
    Nothing,
    /// There is nothing left that can be done.
    End,
}

impl<'h> Hand<'h> {
    /// The thread of this number.
    pub fn new(bench: &'h Bench<'h>, number: usize) -> Self {
        let Worker {
            queue,
            resolved,
            sources,
            ..
        } = bench.worker;
        let plan = &resolved.plan;
        let kernels = plan.work(&vec![false; plan.points.len()]).into_iter();
        let runs = kernels.flat_map(|kernel| kernel.runs);
        let lease = Duration::from_secs(queue.sheet.lease_s.into());
        Self {
            bench,
            queue,
            name: format!("{}{HAND}{number}", bench.beating.name),
            work: resolved.work(sources, Some(bench.cache)),
            runs: runs.map(|run| (run.timing, run)).collect(),
            todo: BTreeSet::new(),
            done: BTreeSet::new(),
            rivals: Rivals::new(lease),
            last: None,
        }
    }

    /// Does units until there is nothing left, or a thread of the worker has broken down; returns how many failed.
    ///
    /// # Errors
    /// The queue's files cannot be used.
    pub fn work(mut self, tell: &(impl Fn(Worked<'_>) + Sync)) -> Result<usize, Diag> {
        let breaking = Breaking(&self.bench.is_broken);
        let failed = self.units(tell)?;
        std::mem::forget(breaking);
        Ok(failed)
    }

    fn units(&mut self, tell: &(impl Fn(Worked<'_>) + Sync)) -> Result<usize, Diag> {
        let mut pause = PAUSE.0;
        let mut failed = 0;
        while !self.bench.is_broken.load(Ordering::Relaxed) {
            match self.look()? {
                Found::Unit(job) => {
                    pause = PAUSE.0;
                    failed += self.unit(job, tell)?;
                }
                Found::Nothing => {
                    thread::sleep(pause);
                    pause = (2 * pause).min(PAUSE.1);
                }
                Found::End => break,
            }
        }
        Ok(failed)
    }

    /// Takes the first unit that can be done.
    fn look(&mut self) -> Result<Found<'h>, Diag> {
        if let Some(job) = self.first_of_todo()? {
            return Ok(Found::Unit(job));
        }
        // What has gone from one folder to the next meanwhile is seen in one of them if they are read in its order.
        self.todo = self.queue.listed("todo")?.into_iter().collect();
        let taken = self.queue.taken()?;
        if let Some(job) = self.first_of_todo()? {
            return Ok(Found::Unit(job));
        }
        let mut waiting = false;
        for taken in taken {
            let done = self.queue.is_done(&taken.unit)?;
            waiting |= !done;
            let is_own = taken.worker() == self.bench.beating.name;
            if is_own || !self.rivals.is_silent(self.queue, taken.worker()) {
                continue;
            }
            if done {
                // It ended between putting in place what it came to and giving it up.
                self.queue.drop_taken(&taken.unit, &taken.hand)?;
                continue;
            }
            let job = self.queue.job(&taken.unit);
            if let Some(job) = job
                && self.queue.take_from(&taken, &self.name)?
            {
                return Ok(Found::Unit(job));
            }
        }
        let blocked = self.todo.iter().all(|unit| self.is_blocked(unit));
        Ok(match waiting || !blocked {
            true => Found::Nothing,
            false => Found::End,
        })
    }

    /// The first unit of those seen in `todo` that can be done and nobody else was faster to take.
    fn first_of_todo(&mut self) -> Result<Option<&'h Job>, Diag> {
        for unit in std::mem::take(&mut self.todo) {
            let Some(job) = self.queue.job(&unit) else {
                continue;
            };
            if !self.is_ready(job)? {
                self.todo.insert(unit);
            } else if self.queue.take(&unit, &self.name)? {
                return Ok(Some(job));
            }
        }
        Ok(None)
    }

    /// Whether what a unit needs is done.
    fn is_ready(&mut self, job: &Job) -> Result<bool, Diag> {
        let Some(needed) = &job.needs else {
            return Ok(true);
        };
        if !self.done.contains(needed) && self.queue.is_done(needed)? {
            self.done.insert(needed.clone());
        }
        Ok(self.done.contains(needed))
    }

    /// Whether what a unit needs has failed, or the unit is none of this queue.
    fn is_blocked(&self, unit: &str) -> bool {
        self.queue.job(unit).is_none_or(|job| {
            let failed = |needed: &String| self.queue.has_failed(needed).unwrap_or(false);
            job.needs.as_ref().is_some_and(failed)
        })
    }

    /// Does a unit that was taken; returns how many failed.
    #[expect(clippy::disallowed_methods, reason = "a display may know the time")]
    fn unit(&mut self, job: &Job, tell: &(impl Fn(Worked<'_>) + Sync)) -> Result<usize, Diag> {
        let since = Instant::now();
        if self.queue.is_done(&job.name)? {
            self.queue.drop_taken(&job.name, &self.name)?;
            return Ok(0);
        }
        let pool = self.bench.pool;
        let failure = match pool.install(|| self.outcome(job)) {
            Ok(bytes) => {
                self.queue.finish(&job.name, &self.name, &bytes)?;
                self.bench.beating.count();
                None
            }
            Err(diag) => {
                let sink = Sink {
                    sources: self.bench.worker.sources.clone(),
                    diags: vec![diag.clone()],
                };
                self.queue
                    .fail(&job.name, &self.name, &render(&sink, false))?;
                Some(diag)
            }
        };
        let failed = usize::from(failure.is_some());
        tell(Worked {
            job,
            seconds: since.elapsed().as_secs_f64(),
            failure,
        });
        Ok(failed)
    }

    /// What a unit comes to.
    fn outcome(&mut self, job: &Job) -> Result<Vec<u8>, Diag> {
        let plan = self.work.plan;
        let outcomes = match job.kind {
            Kind::Execution => {
                self.executed(job.number)?;
                Batch::new()
            }
            Kind::Timing => {
                let run = self.runs.get(&job.number).ok_or_else(other_inputs)?.clone();
                self.priced(&run)?
            }
        };
        outcome_file::encode(plan, outcomes)
    }

    /// Sees to it that what an execution left is at hand.
    fn executed(&mut self, execution: usize) -> Result<(), Diag> {
        if self
            .last
            .as_ref()
            .is_none_or(|(last, _)| *last != execution)
        {
            self.last = None;
            let made = self.work.execute(execution)?;
            self.last = Some((execution, made.trace));
        }
        Ok(())
    }

    /// The points of a timing run.
    fn priced(&mut self, run: &TimingRun) -> Result<Batch<Outcome>, Diag> {
        let execution = self.work.plan.timings[run.timing].execution;
        self.executed(execution)?;
        let Some((_, trace)) = &self.last else {
            return Err(defect());
        };
        let timed = self.work.time(trace, run)?;
        let mut outcomes = Batch::new();
        for points in run.points.chunks(BATCH) {
            outcomes.extend(self.work.price(&timed, run, points)?);
        }
        Ok(outcomes)
    }
}
