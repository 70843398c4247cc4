//! What is whole of a damaged store, in a new one.

use std::path::{Path, PathBuf};

use super::batch::Batch;
use super::check::Witness;
use super::database::{PLAIN, is_open_elsewhere};
use super::open::{begin, is_there, look_over, put_in_place, sweep};
use super::{BATCH, FILE_NAME, Manifest, PointKey, Store, StoreError};

/// What repairing a store came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repaired {
    /// Nothing was wrong with it.
    Sound,
    /// So many points of the study are whole; all others are gone, and what it said of the study too.
    Kept(usize),
}

/// After so many panics of the database the rest of a store is taken for lost.
const MOST_REOPENINGS: usize = 64;

/// Keeps what is whole of the study in the store of `directory`, if something there is damaged: running the study computes the rest.
///
/// The damaged store stays in its place until the new one is complete.
///
/// # Errors
/// The store is open elsewhere, belongs to another study, has another format, or a file cannot be written.
pub fn repair(directory: &Path, manifest: &Manifest) -> Result<Repaired, StoreError> {
    let path = directory.join(FILE_NAME);
    if !is_there(&path) {
        return Ok(Repaired::Sound);
    }
    if is_open_elsewhere(&path) {
        return Err(StoreError::Locked { path });
    }
    sweep(directory)?;
    match sound(directory, manifest) {
        Ok(()) => return Ok(Repaired::Sound),
        Err(StoreError::Damaged { .. }) => {}
        Err(error) => return Err(error),
    }
    let new = begin(&path, PLAIN)?;
    let kept = new
        .own(&manifest.title)
        .and_then(|()| salvage(&path, manifest, &new));
    let part = new.path.clone();
    drop(new);
    let kept = kept.and_then(|kept| match is_open_elsewhere(&path) {
        true => Err(StoreError::Locked { path: path.clone() }),
        false => put_in_place(&part, &path).map(|()| kept),
    });
    if kept.is_err() {
        sweep(directory)?;
    }
    Ok(Repaired::Kept(kept?))
}

/// Whether a run could go on with the store as it is.
fn sound(directory: &Path, manifest: &Manifest) -> Result<(), StoreError> {
    look_over(&directory.join(FILE_NAME), Some(&manifest.title), PLAIN)?;
    let mut store = Store::open_existing(directory)?;
    // Whatever else it says must be readable too.
    let finished = store.manifest()?;
    store.part()?;
    store.recipes()?;
    store.witness = Witness::beside(directory, manifest);
    store.verify(&manifest.points)?;
    if finished.as_ref() == Some(manifest) && store.held(&manifest.points)?.contains(&false) {
        return Err(store.lost(Vec::new()));
    }
    Ok(())
}

/// Copies the points that are whole; returns how many.
fn salvage(path: &Path, manifest: &Manifest, new: &Store) -> Result<usize, StoreError> {
    let directory = path.parent().unwrap_or(Path::new(""));
    let mut damaged = Wreck {
        path: path.to_path_buf(),
        store: None,
        reopenings: 0,
    };
    let witness = Witness::beside(directory, manifest);
    let mut kept = 0;
    for keys in manifest.points.chunks(BATCH) {
        let mut points = Vec::new();
        for key in keys {
            let agrees = |digest: [u8; 32]| {
                let witness = witness.as_ref();
                witness.is_none_or(|witness| witness.agrees(key, &digest))
            };
            if let Some((bytes, digest)) = damaged.point(key)
                && agrees(digest)
            {
                points.push((*key, bytes));
            }
        }
        let batch = damaged.batch(points);
        kept += batch.points.len();
        new.put_prepared(&batch)?;
    }
    Ok(kept)
}

/// A damaged store, of which some points can be read and others are errors.
struct Wreck {
    path: PathBuf,
    store: Option<Store>,
    reopenings: usize,
}

impl Wreck {
    /// It, opened.
    fn store(&mut self) -> Option<&Store> {
        if self.store.is_none() && self.reopenings < MOST_REOPENINGS {
            self.reopenings += 1;
            self.store = Store::reading(self.path.clone(), PLAIN).ok();
        }
        self.store.as_ref()
    }

    /// The point as it is stored, with its digest, if it is whole.
    fn point(&mut self, key: &PointKey) -> Option<(Vec<u8>, [u8; 32])> {
        let store = self.store()?;
        let read = store.kept(std::slice::from_ref(key)).and_then(|found| {
            let kept = found.into_iter().next().flatten();
            kept.map(|kept| store.outcome(&kept).map(|_| kept))
                .transpose()
        });
        match read {
            Ok(kept) => kept.map(|kept| (kept.stored.clone(), *kept.digest())),
            Err(StoreError::Damaged { points, .. }) if !points.is_empty() => None,
            // Nothing comes out of a database that has failed before.
            Err(_) => {
                self.store = None;
                None
            }
        }
    }

    /// Such points with their forms; none if these cannot be read any more.
    fn batch(&mut self, points: Vec<(PointKey, Vec<u8>)>) -> Batch {
        let batch = self.store().map(|store| store.batch(points));
        batch.and_then(Result::ok).unwrap_or_default()
    }
}
