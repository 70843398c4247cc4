//! Running a study into its result store: begun, gone on with, begun afresh or repaired, to the end or for a part of it.

use std::path::Path;

use super::drive::News;
use super::plan::Plan;
use super::shard::Shard;
use super::{Means, Resolved, run_points};
use crate::diag::{Diag, Sources};
use crate::recipe::Recipes;
use crate::store::{Manifest, PointKey, Repaired, Store, StoreError, repair};

/// More points than are looked at one by one: what they were priced from is not kept.
pub const MOST_EXPLAINED: usize = 10_000;

/// What becomes of results that are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Begin {
    /// They stay, and the run goes on.
    #[default]
    Resume,
    /// They are thrown away.
    Fresh,
    /// Those that are whole stay.
    Repair,
}

/// How a study is run into a store.
#[derive(Clone, Copy, Debug)]
pub struct Keeping<'k> {
    /// The results directory.
    pub directory: &'k Path,
    /// What becomes of what is there.
    pub begin: Begin,
    /// The part that is run; all of the study if that is not said.
    pub shard: Option<Shard>,
    /// What the run may use.
    pub means: Means<'k>,
}

/// What happens on the way.
#[derive(Debug)]
pub enum Told {
    /// So many points of a damaged store were whole.
    Repaired {
        /// Points that stayed.
        kept: usize,
        /// Points of the study.
        points: usize,
    },
    /// So many of the points that are wanted are there already.
    Held {
        /// Points that are there.
        held: usize,
        /// Points that are wanted.
        points: usize,
    },
    /// The run begins.
    Begun {
        /// Points that are run.
        points: usize,
        /// Kernels that are executed for them.
        executions: usize,
    },
    /// The run goes on.
    News(News),
    /// The run has ended, well or not.
    Ended,
}

/// What the results of a study are made from; `parameters` are the names of what it chose.
pub fn manifest(resolved: &Resolved, sources: &Sources, parameters: Vec<String>) -> Manifest {
    let study = &resolved.study;
    Manifest {
        title: study.title.clone(),
        paper: study.paper.clone(),
        study: sources.text(resolved.source).to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        inputs: resolved.plan.inputs(),
        sampling: study.design.sampling().cloned(),
        budget: study.budget.clone(),
        pareto: study.pareto.clone(),
        uncertainty: study.uncertainty,
        parameters,
        points: resolved.plan.points.iter().map(|point| point.key).collect(),
    }
}

/// A study with what its results are made from.
#[derive(Clone, Copy, Debug)]
pub struct Whole<'s> {
    /// The study.
    pub resolved: &'s Resolved,
    /// The texts that were read for it.
    pub sources: &'s Sources,
    /// What its results are made from.
    pub manifest: &'s Manifest,
}

impl Whole<'_> {
    /// Runs what of the study is not in the store; gives the store, open for reading, with every point.
    ///
    /// # Errors
    /// The store cannot be used, or as [`run_points`].
    pub fn finish(&self, keeping: Keeping<'_>, mut tell: impl FnMut(Told)) -> Result<Store, Diag> {
        self.begin(keeping, &mut tell)?;
        let points = self.manifest.points.len();
        if let Some(store) = self.finished_already(keeping.directory)? {
            tell(Told::Held {
                held: points,
                points,
            });
            return Ok(store);
        }
        self.fill(keeping, &mut tell, Store::put_manifest)?;
        // What was reported before is no witness of what was run since.
        Store::open_existing(keeping.directory).map_err(|error| self.diag(error))
    }

    /// Runs what of the part is not in the store, and notes there what it is a part of; returns how many points that is in all.
    ///
    /// # Errors
    /// As [`Whole::finish`].
    pub fn finish_part(
        &self,
        keeping: Keeping<'_>,
        mut tell: impl FnMut(Told),
    ) -> Result<usize, Diag> {
        self.begin(keeping, &mut tell)?;
        self.fill(keeping, &mut tell, Store::put_part)
    }

    fn begin(&self, keeping: Keeping<'_>, tell: &mut impl FnMut(Told)) -> Result<(), Diag> {
        let points = self.manifest.points.len();
        match keeping.begin {
            Begin::Resume => Ok(()),
            Begin::Fresh => Store::clear(keeping.directory).map_err(|error| self.diag(error)),
            Begin::Repair => match repair(keeping.directory, self.manifest) {
                Ok(Repaired::Sound) => Ok(()),
                Ok(Repaired::Kept(kept)) => {
                    tell(Told::Repaired { kept, points });
                    Ok(())
                }
                Err(error) => Err(self.diag(error)),
            },
        }
    }

    /// The store of a study that was finished before, looked through. Whatever else is there is reported when it is opened for writing.
    fn finished_already(&self, directory: &Path) -> Result<Option<Store>, Diag> {
        let Ok((manifest, store)) = Store::open_finished(directory) else {
            return Ok(None);
        };
        let explained = self.manifest.points.len() > MOST_EXPLAINED
            || store.has_recipes().map_err(|error| self.diag(error))?;
        if manifest != *self.manifest || !explained {
            return Ok(None);
        }
        let held = store.held(&manifest.points);
        let held = held.map_err(|error| self.diag(error))?;
        let lost = manifest.points.iter().zip(held);
        let lost: Vec<PointKey> = lost
            .filter(|(_, held)| !held)
            .map(|(key, _)| *key)
            .collect();
        match lost.is_empty() {
            true => Ok(Some(store)),
            false => Err(self.diag(store.lost(lost))),
        }
    }

    /// Runs what the store does not hold yet, and has `note` say in it of which study that is; returns how many points are there.
    fn fill(
        &self,
        keeping: Keeping<'_>,
        tell: &mut impl FnMut(Told),
        note: impl FnOnce(&Store, &Manifest) -> Result<(), StoreError>,
    ) -> Result<usize, Diag> {
        let store = Store::open_for(keeping.directory, &self.manifest.title);
        let store = store.map_err(|error| self.diag(error))?;
        let filled = self.fill_store(&store, keeping, tell).and_then(|points| {
            let noted = self.keep_recipes(&store);
            let noted = noted.and_then(|()| note(&store, self.manifest));
            noted.map_err(|error| self.diag(error))?;
            Ok(points)
        });
        store.close();
        filled
    }

    fn fill_store(
        &self,
        store: &Store,
        keeping: Keeping<'_>,
        tell: &mut impl FnMut(Told),
    ) -> Result<usize, Diag> {
        let plan = &self.resolved.plan;
        let keys = &self.manifest.points;
        let held = store.held(keys).map_err(|error| self.diag(error))?;
        let wanted = match keeping.shard {
            Some(shard) => shard.of(plan),
            None => vec![true; keys.len()],
        };
        let points = wanted.iter().filter(|wanted| **wanted).count();
        let done = wanted.iter().zip(&held);
        let done: Vec<bool> = done.map(|(wanted, held)| !wanted || *held).collect();
        let left = done.iter().filter(|done| !**done).count();
        if left < points {
            let held = points - left;
            tell(Told::Held { held, points });
        }
        tell(Told::Begun {
            points: left,
            executions: plan.work(&done).len(),
        });
        let ran = run_points(
            (self.resolved, self.sources),
            &done,
            keeping.means,
            |news| tell(Told::News(news)),
            |batch| {
                let batch = batch.into_iter();
                let keyed = batch.map(|(point, outcome)| (keys[point], outcome));
                store
                    .prepare(keyed.collect())
                    .map_err(|error| self.diag(error))
            },
            |batch| store.put_prepared(&batch).map_err(|error| self.diag(error)),
        );
        tell(Told::Ended);
        ran.map(|()| points)
    }

    /// Keeps what points were priced from, if they are few enough to be looked at one by one.
    fn keep_recipes(&self, store: &Store) -> Result<(), StoreError> {
        if self.manifest.points.len() > MOST_EXPLAINED {
            return Ok(());
        }
        store.put_recipes(&Recipes::from(&self.resolved.plan))
    }

    /// The finding, with the points that it is about by name.
    fn diag(&self, error: StoreError) -> Diag {
        let points = &self.manifest.points;
        let error = error.naming(|key| {
            let place = points.iter().position(|known| known == key)?;
            let name = name(&self.resolved.plan, place);
            Some(format!("point {} of {} ({name})", place + 1, points.len()))
        });
        error.diag()
    }
}

/// A point in words.
fn name(plan: &Plan, point: usize) -> String {
    let point = plan.point(point);
    let kernel = &point.kernel;
    format!(
        "{} {}, {}, {}, {}",
        kernel.name,
        kernel.case,
        point.gpu,
        point.technology.label(),
        point.technique
    )
}
