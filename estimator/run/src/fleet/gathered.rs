//! What the units of a queue came to, handed on as if they were done here: in the order in which one machine would do them, so that the store is the same to the byte.

use std::collections::BTreeMap;

use super::cost::{Kind, seal};
use super::outcome_file;
use super::queue::Queue;
use super::write::unusable;
use crate::diag::Diag;
use crate::drive::Batch;
use crate::elsewhere::{Elsewhere, Unit, other_inputs};
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::store::PointKey;

/// The outcomes in a queue.
#[derive(Debug)]
pub struct Gathered<'q> {
    queue: &'q Queue,
    plan: &'q Plan,
    /// The units by their timing runs.
    units: BTreeMap<usize, &'q str>,
}

impl<'q> Gathered<'q> {
    /// Those of `plan`.
    ///
    /// # Errors
    /// The queue is of another one.
    pub fn of(queue: &'q Queue, plan: &'q Plan) -> Result<Self, Diag> {
        if seal(plan) != queue.sheet.seal {
            return Err(other_inputs());
        }
        let units = queue.sheet.units.iter();
        let units = units.filter(|job| job.kind == Kind::Timing);
        let units = units.map(|job| (job.number, job.name.as_str()));
        Ok(Self {
            queue,
            plan,
            units: units.collect(),
        })
    }

    /// Looks at every file before anything is made of the first.
    ///
    /// # Errors
    /// All that are not what a worker wrote.
    pub fn check(&self) -> Result<(), Vec<Diag>> {
        let work = self.plan.work(&vec![false; self.plan.points.len()]);
        let units = work.into_iter().flat_map(|kernel| {
            let execution = kernel.kernel;
            let runs = kernel.runs.into_iter();
            runs.map(move |run| Unit { run, execution })
        });
        let faults: Vec<Diag> = units.filter_map(|unit| self.batch(&unit).err()).collect();
        if faults.is_empty() {
            Ok(())
        } else {
            Err(faults)
        }
    }

    /// The points of a unit.
    fn batch(&self, unit: &Unit) -> Result<Batch<Outcome>, Diag> {
        let name = self.units.get(&unit.run.timing).ok_or_else(other_inputs)?;
        let path = self.queue.path("done", name);
        let read = outcome_file::read(&path).map_err(|error| unusable(&path, &error))?;
        let damaged = || {
            let message = format!("`{}` is not what a worker wrote", path.display());
            Diag::error("fleet::damaged", message).help(AGAIN)
        };
        let mut there: BTreeMap<PointKey, Outcome> =
            read.ok_or_else(damaged)?.into_iter().collect();
        let points = unit.run.points.iter();
        let points = points.map(|point| {
            let outcome = there.remove(&self.plan.points[*point].key);
            Ok((*point, outcome.ok_or_else(damaged)?))
        });
        points.collect()
    }
}

/// The remedy for what has gone wrong with a unit.
pub const AGAIN: &str = "`warpwatt plan STUDY.toml --out DIR` puts back into the queue what failed or is damaged; then let a worker go on";

impl Elsewhere for Gathered<'_> {
    fn run(
        &self,
        units: &[Unit],
        done: &mut dyn FnMut(usize, Batch<Outcome>) -> Result<(), Diag>,
    ) -> Result<(), Diag> {
        let mut units = units.iter().enumerate();
        units.try_for_each(|(place, unit)| done(place, self.batch(unit)?))
    }
}
