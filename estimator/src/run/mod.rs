//! Running a study: every kernel executed once, every distinct configuration timed once, every node priced.

pub mod drive;
pub mod execute;
pub mod kernel;
pub mod plan;
mod resolve;
pub mod work;

pub use resolve::{Resolved, catalogue, resolve, resolve_text};

use std::num::NonZero;

use crate::diag::{Diag, Sources};
use crate::outcome::Outcome;
use drive::{News, drive};
use work::StudyWork;

/// Runs all points of a study and keeps their outcomes in memory, in point order.
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
    let mut outcomes = Vec::with_capacity(finished.len());
    run_points(resolved, sources, (&finished, jobs), news, |_, outcome| {
        outcomes.push(outcome);
        Ok(())
    })?;
    Ok(outcomes)
}

/// Runs the points of a study that are not `finished` on `jobs` threads (one a core if that is not said). Outcomes are handed to `collect` in point order.
///
/// # Errors
/// The first kernel that cannot be executed, timed or priced; or what `collect` says.
pub fn run_points(
    resolved: &Resolved,
    sources: &Sources,
    (finished, jobs): (&[bool], Option<u16>),
    news: impl FnMut(News),
    collect: impl FnMut(usize, Outcome) -> Result<(), Diag>,
) -> Result<(), Diag> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let jobs = jobs.map_or(cores, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    let pool = pool.map_err(|error| {
        Diag::error(
            "run::threads",
            format!("cannot start {jobs} threads: {error}"),
        )
        .help("ask for fewer with `--jobs N`")
    })?;
    let work = StudyWork {
        plan: &resolved.plan,
        sources,
        study: resolved.source,
        limit: resolved.study.limits.warp_instructions,
    };
    drive(&work, &resolved.plan.work(finished), &pool, news, collect)
}
