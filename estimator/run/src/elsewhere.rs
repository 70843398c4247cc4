//! Units of a study's work that others do, on other threads, processes or machines: a timing run with its points each.

use std::fmt::Debug;

use super::drive::{BATCH, Batch, KernelRuns, News, Reorder, TimingRun};
use super::plan::Plan;
use crate::diag::Diag;
use crate::digest::{digest, hex};
use crate::outcome::Outcome;

/// A timing run with those of its points that are wanted. Whoever does it executes the run's kernel too, or has its traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The run.
    pub run: TimingRun,
    /// The execution that it replays, among the plan's.
    pub execution: usize,
}

impl Unit {
    /// The unit of `plan` with this run.
    ///
    /// # Errors
    /// The plan has no such run, or these are no points of it.
    pub fn of(plan: &Plan, run: TimingRun) -> Result<Self, Diag> {
        let mut points = run.points.iter();
        let is_of = |point: &usize| {
            let planned = plan.points.get(*point);
            planned.is_some_and(|planned| plan.timings[planned.timing].together == run.timing)
        };
        match plan.timings.get(run.timing) {
            Some(timing) if points.all(is_of) => Ok(Self {
                execution: timing.execution,
                run,
            }),
            _ => Err(other_inputs()),
        }
    }

    /// What decides its points, as a text: whoever does it must come to the same one, or reads other inputs.
    pub fn seal(&self, plan: &Plan) -> String {
        let points = self.run.points.iter();
        hex(&digest(points.map(|point| &plan.points[*point].key.0[..])))
    }
}

/// What is said where a unit is not that of the study as it is read here.
pub fn other_inputs() -> Diag {
    let message = "a worker reads other inputs for this study than where it was begun";
    Diag::error("run::other_inputs", message).help(
        "see that it has the same version of warpwatt, and under the same paths the same files that the study names",
    )
}

/// Who does units elsewhere.
pub trait Elsewhere: Debug + Sync {
    /// Does all `units`, and hands the outcomes of each to `done` with its place among them, each once and in any order.
    ///
    /// # Errors
    /// A unit that cannot be done, after those that are finished by then were handed over; or what `done` says.
    fn run(
        &self,
        units: &[Unit],
        done: &mut dyn FnMut(usize, Batch<Outcome>) -> Result<(), Diag>,
    ) -> Result<(), Diag>;
}

/// Has `work` done elsewhere. Outcomes are handed on as [`drive`](super::drive::drive) does, in the same batches and the same order; if something fails, what was finished behind it
/// follows, so that nothing is lost.
///
/// # Errors
/// As [`Elsewhere::run`], or what `collect` says.
pub fn gather(
    elsewhere: &dyn Elsewhere,
    work: Vec<KernelRuns>,
    mut news: impl FnMut(News),
    mut collect: impl FnMut(Batch<Outcome>) -> Result<(), Diag>,
) -> Result<(), Diag> {
    let units = work.into_iter().flat_map(|kernel| {
        let execution = kernel.kernel;
        let runs = kernel.runs.into_iter();
        runs.map(move |run| Unit { run, execution })
    });
    let units: Vec<Unit> = units.collect();
    let mut keep = |unit: Batch<Outcome>| {
        let mut left = unit.into_iter().peekable();
        while left.peek().is_some() {
            let batch: Batch<Outcome> = left.by_ref().take(BATCH).collect();
            let points = batch.len();
            collect(batch)?;
            news(News::Finished { points });
        }
        Ok(())
    };
    let mut order = Reorder::default();
    let ran = elsewhere.run(&units, &mut |place, batch| {
        order
            .accept(place, batch)
            .into_iter()
            .try_for_each(&mut keep)
    });
    order.rest().try_for_each(keep).and(ran)
}
