//! Running a study: every kernel executed once, every distinct configuration timed once, every node priced.

pub mod again;
pub mod boards;
mod built;
pub mod by_instruction;
pub mod cache;
mod clock;
pub mod counted;
pub mod drive;
pub mod elsewhere;
pub mod execute;
pub mod fleet;
pub mod forecast;
pub mod foreign;
mod guides;
pub mod inject;
pub mod kept;
pub mod kernel;
pub mod live;
pub mod plain;
pub mod plan;
#[cfg(unix)]
pub mod program;
mod recipes;
pub mod recorded;
pub mod registers;
pub mod reliability;
mod resolve;
pub mod sampling;
pub mod shard;
pub mod subject;
pub mod timeline;
pub mod trace_store;
pub mod work;
mod workloads;

use warpwatt_input::{diag, expression, input, toml_reader};
use warpwatt_pricing::{by_sm, digest, label, outcome, pace, peak, performance, pricing, recipe};
use warpwatt_store as store;
use warpwatt_study as study;

pub use resolve::{Resolved, resolve_text_with, resolve_with};

use std::num::NonZero;

pub use warpwatt_simt::Interrupt;

use crate::cache::TraceCache;
use crate::diag::{Diag, Sources};
use crate::outcome::Outcome;
use drive::{Batch, News, drive};
use elsewhere::{Elsewhere, gather};

/// What a run may use.
#[derive(Clone, Copy, Debug, Default)]
pub struct Means<'m> {
    /// Threads; one a core if that is not said.
    pub jobs: Option<u16>,
    /// Where traces are kept between runs; nowhere if that is not said.
    pub cache: Option<&'m TraceCache>,
    /// What may end the run before its time.
    pub interrupt: Option<Interrupt>,
    /// Who does the work in the place of threads here; nobody if that is not said.
    pub elsewhere: Option<&'m dyn Elsewhere>,
}

/// Runs all points of a study, executing every kernel, and keeps their outcomes in memory, in point order.
///
/// # Errors
/// As [`run_points`].
pub fn run_all(
    resolved: &Resolved,
    sources: &Sources,
    jobs: Option<u16>,
    news: impl FnMut(News),
) -> Result<Vec<Outcome>, Diag> {
    let finished = vec![false; resolved.plan.points.len()];
    let means = Means {
        jobs,
        ..Means::default()
    };
    run_in_memory(resolved, sources, &finished, means, news)
}

/// As [`run_all`], but for the points that are `finished`.
///
/// # Errors
/// As [`run_points`].
pub fn run_in_memory(
    resolved: &Resolved,
    sources: &Sources,
    finished: &[bool],
    means: Means<'_>,
    news: impl FnMut(News),
) -> Result<Vec<Outcome>, Diag> {
    let mut outcomes: Vec<Option<Outcome>> = vec![None; resolved.plan.points.len()];
    let study = (resolved, sources);
    run_points(study, finished, means, news, Ok, |batch| {
        for (point, outcome) in batch {
            outcomes[point] = Some(outcome);
        }
        Ok(())
    })?;
    Ok(outcomes.into_iter().flatten().collect())
}

/// Runs the points of a study that are not `finished`. Outcomes come in batches, of which `prepare` makes on any thread what is handed to `collect`, in an order that
/// depends on nothing but the study.
///
/// # Errors
/// The first kernel that cannot be executed, timed or priced; or what `prepare` or `collect` say.
pub fn run_points<T: Send>(
    (resolved, sources): (&Resolved, &Sources),
    finished: &[bool],
    means: Means<'_>,
    news: impl FnMut(News),
    prepare: impl Fn(Batch<Outcome>) -> Result<T, Diag> + Sync,
    mut collect: impl FnMut(T) -> Result<(), Diag>,
) -> Result<(), Diag> {
    let left = resolved.plan.work(finished);
    if let Some(elsewhere) = means.elsewhere {
        return gather(elsewhere, left, news, |batch| collect(prepare(batch)?));
    }
    let pool = pool(threads(means.jobs))?;
    let mut work = resolved.work(sources, means.cache);
    work.interrupt = means.interrupt;
    drive(&work, &left, &pool, news, prepare, collect)
}

/// So many threads.
///
/// # Errors
/// They cannot be started.
pub fn pool(jobs: usize) -> Result<rayon::ThreadPool, Diag> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    pool.map_err(|error| {
        let message = format!("cannot start {jobs} threads: {error}");
        Diag::error("run::threads", message).help("ask for fewer with `--jobs N`")
    })
}

/// The threads that were asked for, else one a core.
pub fn threads(asked: Option<u16>) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    asked.map_or(cores, usize::from)
}
