//! Units of a study that an executor of Python's does.

use std::fmt::{self, Debug, Formatter};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use warpwatt_analysis::run::drive::{Batch, TimingRun};
use warpwatt_analysis::run::elsewhere::{Elsewhere, Unit, other_inputs};
use warpwatt_analysis::run::plan::Plan;
use warpwatt_input::diag::Diag;
use warpwatt_pricing::outcome::Outcome;
use warpwatt_simt::Interrupt;

/// A unit as it is sent: a number of a timing run, numbers of its points, and what decides these.
#[derive(FromPyObject, IntoPyObject)]
pub struct Sent(usize, Vec<usize>, String);

impl Sent {
    fn of(unit: &Unit, plan: &Plan) -> Self {
        let run = &unit.run;
        Self(run.timing, run.points.clone(), unit.seal(plan))
    }

    /// The unit that was meant.
    ///
    /// # Errors
    /// This plan is not the one that it is of.
    pub fn unit(self, plan: &Plan) -> Result<Unit, Diag> {
        let Self(timing, points, seal) = self;
        let run = TimingRun { timing, points };
        let unit = Unit::of(plan, run)?;
        match unit.seal(plan) == seal {
            true => Ok(unit),
            false => Err(other_inputs()),
        }
    }
}

/// Those who do units: an object of Python's with `begin`, which takes all units, and `next`, which gives the place and the bytes of a unit that is finished, or after
/// a while nothing.
pub struct Hands<'p> {
    workers: &'p Py<PyAny>,
    plan: &'p Plan,
    stop: Interrupt,
    raised: Mutex<Option<PyErr>>,
}

impl Debug for Hands<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Hands")
    }
}

impl<'p> Hands<'p> {
    /// `workers` for the units of `plan`, until `stop` is set.
    pub fn new(workers: &'p Py<PyAny>, plan: &'p Plan, stop: Interrupt) -> Self {
        Self {
            workers,
            plan,
            stop,
            raised: Mutex::default(),
        }
    }

    /// What they raised.
    pub fn raised(self) -> Option<PyErr> {
        let raised = self.raised.into_inner();
        raised.unwrap_or_else(PoisonError::into_inner)
    }

    /// What they gave; what they raised is kept.
    fn asked<T>(&self, ask: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T, Diag> {
        Python::attach(ask).map_err(|error| {
            let diag = Diag::error("run::worker", error.to_string());
            let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
            *raised = Some(error);
            diag
        })
    }

    /// A unit that is finished, and its place; nothing if none is yet.
    fn next(&self) -> Result<Option<(usize, Vec<u8>)>, Diag> {
        self.asked(|py| self.workers.call_method0(py, "next")?.extract(py))
    }
}

impl Elsewhere for Hands<'_> {
    fn run(
        &self,
        units: &[Unit],
        done: &mut dyn FnMut(usize, Batch<Outcome>) -> Result<(), Diag>,
    ) -> Result<(), Diag> {
        let sent: Vec<Sent> = units.iter().map(|unit| Sent::of(unit, self.plan)).collect();
        self.asked(|py| self.workers.call_method1(py, "begin", (sent,)))?;
        let mut left = units.len();
        while left > 0 {
            if self.stop.is_set() {
                return Err(Diag::error("run::interrupted", "is interrupted"));
            }
            let Some((place, bytes)) = self.next()? else {
                continue;
            };
            let batch: Batch<Outcome> = serde_json::from_slice(&bytes)
                .map_err(|error| Diag::error("run::defect", error.to_string()))?;
            let points = batch.iter().map(|(point, _)| *point);
            if !units
                .get(place)
                .is_some_and(|unit| points.eq(unit.run.points.iter().copied()))
            {
                return Err(other_inputs());
            }
            done(place, batch)?;
            left -= 1;
        }
        Ok(())
    }
}
