//! The order of work: kernels are executed once each, their timing runs follow at once, points are priced a batch at a time, and batches come out in one
//! order whatever the threads do.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, SyncSender};

use rayon::ScopeFifo;

/// What is to be done, seen from the threads that do it.
pub trait Work: Sync {
    /// What executing a kernel leaves, for its timing runs.
    type Trace: Send + Sync;
    /// What a timing run leaves, for pricing its points.
    type Timed: Send + Sync;
    /// What a point comes out as.
    type Outcome: Send;
    /// Why work cannot go on.
    type Error: Send;

    /// Executes a kernel, or takes what an earlier execution left.
    ///
    /// # Errors
    /// The kernel cannot be executed.
    fn execute(&self, kernel: usize) -> Result<Made<Self::Trace>, Self::Error>;

    /// Times what points share.
    ///
    /// # Errors
    /// The run cannot be timed.
    fn time(&self, trace: &Self::Trace, run: &TimingRun) -> Result<Self::Timed, Self::Error>;

    /// Prices points of a timing run; each outcome comes with the number of its point.
    ///
    /// # Errors
    /// A point cannot be priced.
    fn price(
        &self,
        timed: &Self::Timed,
        run: &TimingRun,
        points: &[usize],
    ) -> Result<Batch<Self::Outcome>, Self::Error>;
}

/// Outcomes with the numbers of their points.
pub type Batch<O> = Vec<(usize, O)>;

/// Points that are priced and collected together: enough that collecting them is no matter, few enough that a kill loses little.
pub(super) const BATCH: usize = 512;

/// Batches that wait for the collector before threads do: a megabyte each as they are stored.
const MOST_WAITING: usize = 8;

/// What executing a kernel leaves, and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made<T> {
    /// What it leaves.
    pub trace: T,
    /// It was kept from an earlier execution.
    pub kept: bool,
}

/// A timing run and the points that are priced from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimingRun {
    /// What is timed, by a number that [`Work`] understands.
    pub timing: usize,
    /// Numbers of points.
    pub points: Vec<usize>,
}

/// A kernel and the timing runs that need its trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelRuns {
    /// The kernel, by a number that [`Work`] understands.
    pub kernel: usize,
    /// Its runs.
    pub runs: Vec<TimingRun>,
}

/// What the threads say to the one that collects.
enum Said<T, E> {
    Executed {
        kernel: usize,
        kept: bool,
    },
    /// With the place of the batch in the order of work, and its points.
    Finished(usize, (usize, T)),
    Failed(Failed, E),
}

/// Where work failed: the batch that is not there for it, which is the first one of a timing run or of a kernel if those fail, and the kernel.
type Failed = (usize, usize);

/// News for a progress display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// A kernel's functional execution is done.
    Executed {
        /// The kernel.
        kernel: usize,
        /// It was not: its traces were kept from an earlier execution.
        kept: bool,
    },
    /// So many more points are timed and priced.
    Finished {
        /// How many.
        points: usize,
    },
}

/// Does all `kernels`' work on `pool` and hands what `prepare` makes of batches of outcomes to `collect`, on this thread: kernel by kernel, run by run. What is
/// prepared waits for what comes before it, and should be small.
///
/// Threads prefer the timing runs of kernels that are executed already, so that at most about as many traces as threads are in memory, and price a run before they
/// time another. A failure stops what comes behind it, not what comes before, so that the failure that is returned, and what was collected before it, do not depend
/// on the number of threads.
///
/// # Errors
/// The failure of the first batch that fails, or the failure of `collect`.
pub fn drive<W: Work, T: Send>(
    work: &W,
    kernels: &[KernelRuns],
    pool: &rayon::ThreadPool,
    mut news: impl FnMut(News),
    prepare: impl Fn(Batch<W::Outcome>) -> Result<T, W::Error> + Sync,
    mut collect: impl FnMut(T) -> Result<(), W::Error>,
) -> Result<(), W::Error> {
    let mut order = Reorder::default();
    let mut first_batch = 0;
    let first_failure = AtomicUsize::new(usize::MAX);
    let mut failure: Option<(Failed, W::Error)> = None;
    let (say, hear) = mpsc::sync_channel(MOST_WAITING);
    pool.in_place_scope_fifo(|scope| {
        let (first_failure, prepare) = (&first_failure, &prepare);
        for (place, kernel) in kernels.iter().enumerate() {
            let say = say.clone();
            let job = Job {
                work,
                prepare,
                place,
                kernel,
                first_failure,
                first_batch,
            };
            first_batch += kernel.runs.iter().map(TimingRun::batches).sum::<usize>();
            scope.spawn_fifo(move |scope| start(job, scope, say));
        }
        drop(say);
        for said in hear {
            match said {
                Said::Executed { kernel, kept } => news(News::Executed { kernel, kept }),
                Said::Failed(place, error) => {
                    if failure
                        .as_ref()
                        .is_none_or(|(earliest, _)| place < *earliest)
                    {
                        failure = Some((place, error));
                    }
                }
                Said::Finished(place, batch) => {
                    for (points, batch) in order.accept(place, batch) {
                        if let Err(error) = collect(batch) {
                            first_failure.store(0, Ordering::Relaxed);
                            failure = Some(((0, 0), error));
                            return;
                        }
                        news(News::Finished { points });
                    }
                }
            }
        }
    });
    failure.map_or(Ok(()), |(_, error)| Err(error))
}

/// A kernel's work, shared by the threads.
struct Job<'w, W, P> {
    work: &'w W,
    prepare: &'w P,
    /// Place of the kernel in the order of work.
    place: usize,
    kernel: &'w KernelRuns,
    /// Place of the first batch that failed.
    first_failure: &'w AtomicUsize,
    /// Place of its first batch in the order of work.
    first_batch: usize,
}

impl<W, P> Clone for Job<'_, W, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W, P> Copy for Job<'_, W, P> {}

impl<W: Work, P> Job<'_, W, P> {
    fn is_behind_a_failure(&self, batch: usize) -> bool {
        self.first_failure.load(Ordering::Relaxed) < batch
    }

    fn fail<T>(&self, batch: usize, error: W::Error) -> Said<T, W::Error> {
        self.first_failure.fetch_min(batch, Ordering::Relaxed);
        Said::Failed((batch, self.place), error)
    }

    /// Prices a batch of points and prepares it, if nothing before it has failed.
    fn price<T>(
        &self,
        (timed, run): (&W::Timed, &TimingRun),
        batch: usize,
        points: &[usize],
        say: &Say<W, T>,
    ) where
        P: Fn(Batch<W::Outcome>) -> Result<T, W::Error>,
    {
        if self.is_behind_a_failure(batch) {
            return;
        }
        let priced = self.work.price(timed, run, points);
        let said = match priced.and_then(self.prepare) {
            Ok(prepared) => Said::Finished(batch, (points.len(), prepared)),
            Err(error) => self.fail(batch, error),
        };
        let _ = say.send(said);
    }
}

impl TimingRun {
    fn batches(&self) -> usize {
        self.points.len().div_ceil(BATCH)
    }
}

/// Where threads say what they did. Nobody may be listening any more: what is said then is dropped.
type Say<W, T> = SyncSender<Said<T, <W as Work>::Error>>;

/// Executes a kernel and leaves its timing runs to whichever thread is free.
fn start<'s, W, P, T>(job: Job<'s, W, P>, scope: &ScopeFifo<'s>, say: Say<W, T>)
where
    W: Work + 's,
    P: Fn(Batch<W::Outcome>) -> Result<T, W::Error> + Sync,
    T: Send + 's,
{
    if job.is_behind_a_failure(job.first_batch) {
        return;
    }
    let made = match job.work.execute(job.kernel.kernel) {
        Ok(made) => made,
        Err(error) => {
            let _ = say.send(job.fail(job.first_batch, error));
            return;
        }
    };
    let trace = Arc::new(made.trace);
    let _ = say.send(Said::Executed {
        kernel: job.kernel.kernel,
        kept: made.kept,
    });
    let mut batch = job.first_batch;
    for run in &job.kernel.runs {
        let (trace, say) = (Arc::clone(&trace), say.clone());
        let first = batch;
        batch += run.batches();
        scope.spawn_fifo(move |scope| time(job, (run, first), &trace, scope, &say));
    }
}

/// Times a run and prices the first batch of its points, so that what cannot be priced is known before another run is timed; leaves the others to whichever
/// thread is free.
fn time<'s, W, P, T>(
    job: Job<'s, W, P>,
    (run, first): (&'s TimingRun, usize),
    trace: &W::Trace,
    scope: &ScopeFifo<'s>,
    say: &Say<W, T>,
) where
    W: Work + 's,
    P: Fn(Batch<W::Outcome>) -> Result<T, W::Error> + Sync,
    T: Send + 's,
{
    if job.is_behind_a_failure(first) {
        return;
    }
    let timed = match job.work.time(trace, run) {
        Ok(timed) => Arc::new(timed),
        Err(error) => {
            let _ = say.send(job.fail(first, error));
            return;
        }
    };
    let mut batches = (first..).zip(run.points.chunks(BATCH));
    let own = batches.next();
    for (batch, points) in batches {
        let (timed, say) = (Arc::clone(&timed), say.clone());
        scope.spawn_fifo(move |_| job.price((&timed, run), batch, points, &say));
    }
    if let Some((batch, points)) = own {
        job.price((&timed, run), batch, points, say);
    }
}

/// Holds batches back until all that come before them are there.
pub(super) struct Reorder<T> {
    /// The place of the batch that is to come next.
    next: usize,
    waiting: BTreeMap<usize, T>,
}

impl<T> Default for Reorder<T> {
    fn default() -> Self {
        Reorder {
            next: 0,
            waiting: BTreeMap::new(),
        }
    }
}

impl<T> Reorder<T> {
    /// Takes a batch and returns those that nothing is in front of any more.
    pub fn accept(&mut self, place: usize, batch: T) -> Vec<T> {
        self.waiting.insert(place, batch);
        let mut ready = Vec::new();
        while let Some(batch) = self.waiting.remove(&self.next) {
            ready.push(batch);
            self.next += 1;
        }
        ready
    }

    /// The batches that something is in front of still.
    pub fn rest(self) -> impl Iterator<Item = T> {
        self.waiting.into_values()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Kernel `k` has the trace `10 * k`; point `p` of it comes out as `10 * k + p`.
    #[derive(Default)]
    struct Fake {
        /// Kernels that fail to execute.
        broken: Vec<usize>,
        /// Points that have no price.
        unpriced: Vec<usize>,
        executed: Mutex<Vec<usize>>,
        /// Configurations that were timed.
        timed: Mutex<Vec<usize>>,
    }

    impl Work for Fake {
        type Trace = usize;
        type Timed = usize;
        type Outcome = usize;
        type Error = String;

        fn execute(&self, kernel: usize) -> Result<Made<usize>, String> {
            self.executed.lock().unwrap().push(kernel);
            // Earlier kernels take longer, so that results overtake one another.
            std::thread::sleep(std::time::Duration::from_millis(20 / (kernel as u64 + 1)));
            if self.broken.contains(&kernel) {
                Err(format!("kernel {kernel}"))
            } else {
                Ok(Made {
                    trace: 10 * kernel,
                    kept: false,
                })
            }
        }

        fn time(&self, trace: &usize, run: &TimingRun) -> Result<usize, String> {
            self.timed.lock().unwrap().push(run.timing);
            Ok(*trace)
        }

        fn price(
            &self,
            timed: &usize,
            _: &TimingRun,
            points: &[usize],
        ) -> Result<Batch<usize>, String> {
            let priced = points
                .iter()
                .map(|point| match self.unpriced.contains(point) {
                    true => Err(format!("point {point}")),
                    false => Ok((*point, timed + point)),
                });
            priced.collect()
        }
    }

    /// `count` kernels with two runs of two points each; a run's points are not neighbours.
    fn kernels(count: usize) -> Vec<KernelRuns> {
        let runs = |kernel: usize| {
            [[0, 2], [1, 3]]
                .iter()
                .enumerate()
                .map(move |(timing, points)| TimingRun {
                    timing,
                    points: points.iter().map(|point| 4 * kernel + point).collect(),
                })
        };
        (0..count)
            .map(|kernel| KernelRuns {
                kernel,
                runs: runs(kernel).collect(),
            })
            .collect()
    }

    fn collected(
        work: &Fake,
        kernels: &[KernelRuns],
        jobs: usize,
    ) -> (Vec<(usize, usize)>, Result<(), String>) {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(jobs)
            .build()
            .unwrap();
        let mut outcomes = Vec::new();
        let result = drive(
            work,
            kernels,
            &pool,
            |_| (),
            Ok,
            |batch| {
                outcomes.extend(batch);
                Ok(())
            },
        );
        (outcomes, result)
    }

    #[test]
    fn outcomes_come_run_by_run_for_any_number_of_threads() {
        let points = (0..5).flat_map(|kernel| [0, 2, 1, 3].map(|point| 4 * kernel + point));
        let wanted: Vec<(usize, usize)> = points
            .map(|point| (point, 10 * (point / 4) + point))
            .collect();
        for jobs in [1, 2, 5] {
            let (outcomes, result) = collected(&Fake::default(), &kernels(5), jobs);
            assert_eq!(result, Ok(()));
            assert_eq!(outcomes, wanted, "{jobs} threads");
        }
    }

    /// A run of many points is priced a batch at a time, by all threads.
    #[test]
    fn long_runs_come_in_batches_in_order() {
        let points: Vec<usize> = (0..10 * BATCH + 1).collect();
        let run = |points: &[usize]| TimingRun {
            timing: 0,
            points: points.to_vec(),
        };
        let (first, last) = points.split_at(3 * BATCH + 7);
        let runs = vec![run(first), run(last)];
        for jobs in [1, 3] {
            let kernels = [KernelRuns {
                kernel: 0,
                runs: runs.clone(),
            }];
            let (outcomes, result) = collected(&Fake::default(), &kernels, jobs);
            assert_eq!(result, Ok(()));
            assert!(
                outcomes
                    .iter()
                    .map(|(point, _)| *point)
                    .eq(points.iter().copied())
            );
        }
    }

    #[test]
    fn every_kernel_is_executed_once() {
        let work = Fake::default();
        collected(&work, &kernels(5), 3).1.unwrap();
        let mut executed = work.executed.into_inner().unwrap();
        executed.sort_unstable();
        assert_eq!(executed, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn the_first_failure_in_order_wins_and_all_before_it_is_collected() {
        for jobs in [1, 2, 4] {
            let work = Fake {
                broken: vec![2, 3],
                ..Fake::default()
            };
            let (outcomes, result) = collected(&work, &kernels(5), jobs);
            assert_eq!(result, Err("kernel 2".to_owned()), "{jobs} threads");
            assert_eq!(outcomes.len(), 8, "{jobs} threads");
        }
    }

    /// Runs of one kernel may be thousands, each of seconds: none is timed behind one that has no price.
    #[test]
    fn what_has_no_price_is_known_before_another_run_is_timed() {
        let run = |number: usize| TimingRun {
            timing: number,
            points: vec![2 * number, 2 * number + 1],
        };
        let kernels = [KernelRuns {
            kernel: 0,
            runs: (0..1000).map(run).collect(),
        }];
        for jobs in [1, 3] {
            let work = Fake {
                unpriced: vec![1, 40, 1001],
                ..Fake::default()
            };
            let (outcomes, result) = collected(&work, &kernels, jobs);
            assert_eq!(result, Err("point 1".to_owned()), "{jobs} threads");
            assert!(outcomes.is_empty(), "{jobs} threads");
            if jobs == 1 {
                assert_eq!(work.timed.into_inner().unwrap(), [0]);
            }
        }
    }

    #[test]
    fn points_that_are_done_already_leave_gaps_that_nobody_waits_for() {
        let mut kernels = kernels(2);
        kernels[0].runs[0].points = vec![2];
        kernels[1].runs.clear();
        let (outcomes, _) = collected(&Fake::default(), &kernels, 2);
        assert_eq!(
            outcomes.iter().map(|(point, _)| *point).collect::<Vec<_>>(),
            [2, 1, 3]
        );
    }

    #[test]
    fn a_failing_collector_ends_the_work() {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(2)
            .build()
            .unwrap();
        let work = Fake::default();
        let result = drive(
            &work,
            &kernels(3),
            &pool,
            |_| (),
            Ok,
            |batch| {
                if batch[0].0 == 1 {
                    Err("full".to_owned())
                } else {
                    Ok(())
                }
            },
        );
        assert_eq!(result, Err("full".to_owned()));
    }
}
