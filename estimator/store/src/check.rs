//! What the points of a finished study must be: all there, and what the manifest beside the store says of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::database::PLAIN;
use super::{BATCH, Manifest, PointKey, RECORD, Record, Store, StoreError};
use crate::digest::hex;
use crate::outcome::Outcome;

/// What `manifest.json` says of the points of its study.
#[derive(Debug)]
pub(super) struct Witness {
    /// Of each, unless there are too many.
    each: BTreeMap<PointKey, String>,
    /// Of all of them.
    all: String,
}

impl Witness {
    /// The one in `directory`, if it is of this study.
    pub(super) fn beside(directory: &Path, manifest: &Manifest) -> Option<Self> {
        let record = Record::beside(directory)?;
        if record.manifest != *manifest {
            return None;
        }
        let points = record.manifest.points.into_iter();
        Some(Self {
            each: points.zip(record.outcomes).collect(),
            all: record.results,
        })
    }

    /// Whether a point with this digest is the one that was reported.
    pub(super) fn agrees(&self, key: &PointKey, digest: &[u8; 32]) -> bool {
        let said = self.each.get(key);
        said.is_none_or(|said| *said == hex(digest))
    }
}

impl Store {
    /// Opens the store of a study that was finished in `directory` and may have been reported there: its points must be the ones that were.
    ///
    /// # Errors
    /// As [`Store::open_existing`], and when no study was finished.
    pub fn open_finished(directory: &Path) -> Result<(Manifest, Store), StoreError> {
        let mut store = Store::open_existing(directory)?;
        let Some(manifest) = store.manifest()? else {
            return Err(Store::unfinished(store.path));
        };
        store.witness = Witness::beside(directory, &manifest);
        Ok((manifest, store))
    }

    /// What there is to say of a store that says nothing of a study: where pages are damaged, what it said may be lost.
    pub(super) fn unfinished(path: PathBuf) -> StoreError {
        let checked = Store::reading(path.clone(), PLAIN);
        match checked.and_then(|mut store| store.database.check()) {
            Ok(()) => StoreError::NoStudy { path },
            Err(error) => error,
        }
    }

    /// All outcomes of the study, in point order.
    ///
    /// # Errors
    /// The store cannot be read, or a point is lost or not what was written.
    pub fn collect(&self, manifest: &Manifest) -> Result<Vec<Outcome>, StoreError> {
        let outcomes = self.outcomes(&manifest.points);
        outcomes.map_err(|error| error.numbered(&manifest.points))
    }

    /// What there is to say if points that belong to a finished study are not there.
    pub fn lost(&self, points: Vec<PointKey>) -> StoreError {
        self.spoilt("points of its study are lost", points)
    }

    /// Whether each of the points that are there is what was written and what was reported.
    ///
    /// # Errors
    /// As [`Store::collect`].
    pub(super) fn verify(&self, keys: &[PointKey]) -> Result<(), StoreError> {
        for keys in keys.chunks(BATCH) {
            let held = self.held(keys)?;
            if self.witness.is_some() {
                let held = keys.iter().zip(held).filter(|(_, held)| *held);
                let held: Vec<PointKey> = held.map(|(key, _)| *key).collect();
                self.outcomes(&held)?;
            }
        }
        Ok(())
    }

    /// Compares the digest of all points with what was reported.
    ///
    /// # Errors
    /// They differ.
    pub fn check_results(&self, all: &str) -> Result<(), StoreError> {
        match &self.witness {
            Some(witness) if witness.all != all => Err(StoreError::damaged(
                &self.path,
                format!("`{}` beside it says otherwise of its points", RECORD),
            )),
            _ => Ok(()),
        }
    }
}
