//! Where points are: stored one behind the other as they come, and found by a list of their keys that each batch leaves.
//!
//! Keys are hashes. A table in their order would have every point of a batch on another page, and each page written again with nearly every batch.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use redb::{ReadTransaction, ReadableTable};

use super::database::Handle;
use super::{KEYS, PointKey, StoreError, seal};

/// The table that checksums of lists name.
const KEYS_SEAL: &str = "keys";

/// The keys of points with the numbers under which they are stored, read when they are first asked for.
#[derive(Debug, Default)]
pub(super) struct Index(RwLock<Option<Found>>);

#[derive(Debug, Default)]
struct Found {
    numbers: BTreeMap<PointKey, u64>,
    /// A list is not what was written: whatever is not found may have been on it.
    damaged: bool,
}

/// What is known of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is stored under this number.
    At(u64),
    /// It is not there.
    Nowhere,
    /// It may have been there.
    Lost,
}

impl Index {
    /// Where points are.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn places(
        &self,
        database: &Handle,
        keys: &[PointKey],
    ) -> Result<Vec<Place>, StoreError> {
        self.with(database, |found| {
            let place = |key| match found.numbers.get(key) {
                Some(number) => Place::At(*number),
                None if found.damaged => Place::Lost,
                None => Place::Nowhere,
            };
            keys.iter().map(place).collect()
        })
    }

    /// How many points there are.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn len(&self, database: &Handle) -> Result<u64, StoreError> {
        self.with(database, |found| found.numbers.len() as u64)
    }

    /// Adds points that are stored from this number on, if the lists were read.
    pub(super) fn add(&self, first: u64, keys: impl Iterator<Item = PointKey>) {
        let mut index = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = index.as_mut() {
            found.numbers.extend(keys.zip(first..));
        }
    }

    fn with<T>(&self, database: &Handle, look: impl FnOnce(&Found) -> T) -> Result<T, StoreError> {
        if let Some(found) = &*self.0.read().unwrap_or_else(PoisonError::into_inner) {
            return Ok(look(found));
        }
        let found = database.read(read)?;
        let mut index = self.0.write().unwrap_or_else(PoisonError::into_inner);
        Ok(look(index.insert(found)))
    }
}

/// The list of a batch behind its checksum.
pub(super) fn list(first: u64, keys: impl Iterator<Item = PointKey>) -> Vec<u8> {
    let keys: Vec<u8> = keys.flat_map(|key| key.0).collect();
    seal::sealed(KEYS_SEAL, &first.to_le_bytes(), &keys)
}

/// Reads all lists. Of points that were written twice the later is what counts.
fn read(read: &ReadTransaction) -> Result<Found, redb::Error> {
    let mut found = Found::default();
    let table = match read.open_table(KEYS) {
        Err(redb::TableError::TableDoesNotExist(_)) => return Ok(found),
        table => table?,
    };
    for entry in table.iter()? {
        let (first, list) = entry?;
        let first = first.value();
        let keys = seal::open(KEYS_SEAL, &first.to_le_bytes(), list.value());
        match keys.map(<[u8]>::as_chunks) {
            Some((keys, [])) => found
                .numbers
                .extend(keys.iter().map(|key| PointKey(*key)).zip(first..)),
            _ => found.damaged = true,
        }
    }
    Ok(found)
}
