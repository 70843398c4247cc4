//! The order of work: kernels are executed once each, their timing runs follow at once, and results come out in point order whatever the threads do.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};

/// What is to be done, seen from the threads that do it.
pub trait Work: Sync {
    /// What executing a kernel leaves, for its timing runs.
    type Trace: Send + Sync;
    /// What a point comes out as.
    type Outcome: Send;
    /// Why work cannot go on.
    type Error: Send;

    /// Executes a kernel, or takes what an earlier execution left.
    ///
    /// # Errors
    /// The kernel cannot be executed.
    fn execute(&self, kernel: usize) -> Result<Made<Self::Trace>, Self::Error>;

    /// Times and prices the points that share one timing run; each outcome comes with the number of its point.
    ///
    /// # Errors
    /// The run cannot be timed or priced.
    fn time(
        &self,
        trace: &Self::Trace,
        run: &TimingRun,
    ) -> Result<Vec<(usize, Self::Outcome)>, Self::Error>;
}

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
    /// The configuration to time, by a number that [`Work`] understands.
    pub configuration: usize,
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
enum Said<O, E> {
    Executed {
        kernel: usize,
        kept: bool,
    },
    Finished(Vec<(usize, O)>),
    /// With the place of the kernel and of the run: zero for the execution itself.
    Failed((usize, usize), E),
}

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

/// Does all `kernels`' work on `pool` and hands every outcome to `collect` in ascending point order, on this thread.
///
/// Threads prefer the timing runs of kernels that are executed already, so that at most about as many traces as threads are in memory. A failure
/// stops what comes behind it, not what comes before, so that the failure that is returned, and what was collected before it, do not depend on the number of threads.
///
/// # Errors
/// The failure of the first kernel that fails, or the failure of `collect`.
pub fn drive<W: Work>(
    work: &W,
    kernels: &[KernelRuns],
    pool: &rayon::ThreadPool,
    mut news: impl FnMut(News),
    mut collect: impl FnMut(usize, W::Outcome) -> Result<(), W::Error>,
) -> Result<(), W::Error> {
    let mut order = Reorder::new(kernels);
    let first_failure = AtomicUsize::new(usize::MAX);
    let mut failure: Option<((usize, usize), W::Error)> = None;
    let (say, hear) = mpsc::channel();
    pool.in_place_scope(|scope| {
        let first_failure = &first_failure;
        for (place, kernel) in kernels.iter().enumerate() {
            let say = say.clone();
            scope.spawn(move |scope| {
                start(
                    &Job {
                        work,
                        place,
                        kernel,
                        first_failure,
                    },
                    scope,
                    say,
                )
            });
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
                Said::Finished(outcomes) => {
                    news(News::Finished {
                        points: outcomes.len(),
                    });
                    for (point, outcome) in order.accept(outcomes) {
                        if let Err(error) = collect(point, outcome) {
                            first_failure.store(0, Ordering::Relaxed);
                            failure = Some(((0, 0), error));
                            return;
                        }
                    }
                }
            }
        }
    });
    failure.map_or(Ok(()), |(_, error)| Err(error))
}

/// A kernel's work, shared by the threads.
struct Job<'w, W> {
    work: &'w W,
    /// Place of the kernel in the order of work.
    place: usize,
    kernel: &'w KernelRuns,
    /// Place of the first kernel that failed.
    first_failure: &'w AtomicUsize,
}

impl<W: Work> Job<'_, W> {
    fn is_behind_a_failure(&self) -> bool {
        self.first_failure.load(Ordering::Relaxed) < self.place
    }

    fn fail(&self, run: usize, error: W::Error) -> Said<W::Outcome, W::Error> {
        self.first_failure.fetch_min(self.place, Ordering::Relaxed);
        Said::Failed((self.place, run), error)
    }
}

/// Executes a kernel and leaves its timing runs to whichever thread is free. Nobody may be listening any more: what is said then is dropped.
fn start<'s, W: Work + 's>(
    job: &Job<'s, W>,
    scope: &rayon::Scope<'s>,
    say: Sender<Said<W::Outcome, W::Error>>,
) {
    if job.is_behind_a_failure() {
        return;
    }
    let made = match job.work.execute(job.kernel.kernel) {
        Ok(made) => made,
        Err(error) => {
            let _ = say.send(job.fail(0, error));
            return;
        }
    };
    let trace = Arc::new(made.trace);
    let _ = say.send(Said::Executed {
        kernel: job.kernel.kernel,
        kept: made.kept,
    });
    for (number, run) in job.kernel.runs.iter().enumerate() {
        let job = Job {
            work: job.work,
            place: job.place,
            kernel: job.kernel,
            first_failure: job.first_failure,
        };
        let (trace, say) = (Arc::clone(&trace), say.clone());
        scope.spawn(move |_| {
            if job.is_behind_a_failure() {
                return;
            }
            let said = job
                .work
                .time(&trace, run)
                .map_or_else(|error| job.fail(number + 1, error), Said::Finished);
            let _ = say.send(said);
        });
    }
}

/// Holds outcomes back until all that come before them are there.
struct Reorder<O> {
    /// Points that are still to come, ascending.
    expected: std::iter::Peekable<std::vec::IntoIter<usize>>,
    waiting: BTreeMap<usize, O>,
}

impl<O> Reorder<O> {
    fn new(kernels: &[KernelRuns]) -> Reorder<O> {
        let runs = kernels.iter().flat_map(|kernel| &kernel.runs);
        let mut points: Vec<usize> = runs.flat_map(|run| run.points.iter().copied()).collect();
        points.sort_unstable();
        Reorder {
            expected: points.into_iter().peekable(),
            waiting: BTreeMap::new(),
        }
    }

    /// Takes outcomes and returns those that nothing is in front of any more.
    fn accept(&mut self, outcomes: Vec<(usize, O)>) -> Vec<(usize, O)> {
        self.waiting.extend(outcomes);
        let mut ready = Vec::new();
        while let Some(next) = self.expected.peek() {
            let Some(outcome) = self.waiting.remove(next) else {
                break;
            };
            ready.push((*next, outcome));
            self.expected.next();
        }
        ready
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
        executed: Mutex<Vec<usize>>,
    }

    impl Work for Fake {
        type Trace = usize;
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

        fn time(&self, trace: &usize, run: &TimingRun) -> Result<Vec<(usize, usize)>, String> {
            Ok(run
                .points
                .iter()
                .map(|point| (*point, trace + point))
                .collect())
        }
    }

    /// `count` kernels with two runs of two points each; a run's points are not neighbours.
    fn kernels(count: usize) -> Vec<KernelRuns> {
        let runs = |kernel: usize| {
            [[0, 2], [1, 3]]
                .iter()
                .enumerate()
                .map(move |(configuration, points)| TimingRun {
                    configuration,
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
            |point, outcome| {
                outcomes.push((point, outcome));
                Ok(())
            },
        );
        (outcomes, result)
    }

    #[test]
    fn outcomes_come_in_point_order_for_any_number_of_threads() {
        let wanted: Vec<(usize, usize)> = (0..20)
            .map(|point| (point, 10 * (point / 4) + point))
            .collect();
        for jobs in [1, 2, 5] {
            let (outcomes, result) = collected(&Fake::default(), &kernels(5), jobs);
            assert_eq!(result, Ok(()));
            assert_eq!(outcomes, wanted, "{jobs} threads");
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

    #[test]
    fn points_that_are_done_already_leave_gaps_that_nobody_waits_for() {
        let mut kernels = kernels(2);
        kernels[0].runs[0].points = vec![2];
        kernels[1].runs.clear();
        let (outcomes, _) = collected(&Fake::default(), &kernels, 2);
        assert_eq!(
            outcomes.iter().map(|(point, _)| *point).collect::<Vec<_>>(),
            [1, 2, 3]
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
            |point, _| {
                if point == 1 {
                    Err("full".to_owned())
                } else {
                    Ok(())
                }
            },
        );
        assert_eq!(result, Err("full".to_owned()));
    }
}
