//! How far a queue has come.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::SystemTime;

use serde::Serialize;

use super::beat::Sign;
use super::queue::Queue;
use super::write::unusable;
use crate::diag::Diag;

/// What becomes of the units.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct State {
    /// The study's title.
    pub title: String,
    /// Units in all.
    pub units: usize,
    /// Those that are done.
    pub done: usize,
    /// Those that workers have.
    pub taken: usize,
    /// Those that nobody has.
    pub todo: usize,
    /// Those that cannot be done.
    pub failed: usize,
    /// Whether all are done, so that they can be merged.
    pub complete: bool,
    /// Estimate of what the units that are not done take one thread; `None` if it is not known of all.
    pub seconds_left: Option<f64>,
    /// The workers that have signed in and not left: those that live, and those that were killed.
    pub workers: Vec<Hand>,
    /// Why units cannot be done, by their names.
    pub failures: BTreeMap<String, String>,
}

/// A worker, and what it does.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hand {
    /// Its name.
    pub worker: String,
    /// What it says of itself; nothing if it has not begun to, or is not there any more.
    pub sign: Option<Sign>,
    /// How long ago it last showed a sign of life, as the clocks of this machine and of the file system have it; nothing if there is none.
    pub silent_s: Option<f64>,
    /// What it has taken, in words.
    pub taken: Vec<String>,
}

impl State {
    /// That of a queue.
    ///
    /// # Errors
    /// Its files cannot be read.
    pub fn of(queue: &Queue) -> Result<Self, Diag> {
        // In the order in which units go through folders, so that none is missed.
        let todo = queue.listed("todo")?;
        let taken = queue.taken()?;
        let failed: BTreeSet<String> = queue.listed("failed")?.into_iter().collect();
        let done: BTreeSet<String> = queue.listed("done")?.into_iter().collect();
        let units = &queue.sheet.units;
        let is_left = |name: &String| !done.contains(name);
        let left = units.iter().filter(|job| is_left(&job.name));
        let mut workers: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for name in queue.listed("workers")? {
            workers.entry(name).or_default();
        }
        let mut held = BTreeSet::new();
        for taken in taken.iter().filter(|taken| is_left(&taken.unit)) {
            let label = queue.job(&taken.unit).map(|job| job.label.clone());
            let own = workers.entry(taken.worker().to_owned()).or_default();
            own.push(label.unwrap_or_else(|| taken.unit.clone()));
            held.insert(&taken.unit);
        }
        let finished = units.iter().filter(|job| done.contains(&job.name)).count();
        let workers = workers.into_iter();
        Ok(Self {
            title: queue.sheet.title.clone(),
            units: units.len(),
            done: finished,
            taken: held.len(),
            todo: todo
                .iter()
                .filter(|unit| is_left(unit) && !held.contains(unit))
                .count(),
            failed: failed.iter().filter(|unit| is_left(unit)).count(),
            complete: finished == units.len(),
            seconds_left: left.map(|job| job.seconds).sum(),
            workers: workers
                .map(|(name, taken)| Hand::of(queue, name, taken))
                .collect(),
            failures: failures(queue, failed.into_iter().filter(is_left))?,
        })
    }
}

fn failures(
    queue: &Queue,
    failed: impl Iterator<Item = String>,
) -> Result<BTreeMap<String, String>, Diag> {
    let why = failed.map(|unit| {
        let path = queue.path("failed", &unit);
        let why = fs::read(&path).map_err(|error| unusable(&path, &error))?;
        Ok((unit, String::from_utf8_lossy(&why).into_owned()))
    });
    why.collect()
}

impl Hand {
    fn of(queue: &Queue, worker: String, taken: Vec<String>) -> Self {
        let path = queue.path("workers", &worker);
        let sign = fs::read(&path).ok();
        let shown = path.metadata().and_then(|file| file.modified()).ok();
        let silent = shown.map(|shown| SystemTime::now().duration_since(shown).unwrap_or_default());
        Self {
            worker,
            sign: sign.and_then(|bytes| serde_json::from_slice(&bytes).ok()),
            silent_s: silent.map(|silent| silent.as_secs_f64()),
            taken,
        }
    }
}
