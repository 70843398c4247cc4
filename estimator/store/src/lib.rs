//! The result store: one file with every finished point, written a batch at a time.
//!
//! A point's key is the hash of everything that decides its result, so that points are shared between studies, resumed after a kill and
//! never computed twice. Nothing in the file depends on the clock, the host or the number of threads: the same points written in the same order are the same bytes.

mod batch;
mod boundary;
mod bundle;
mod check;
mod common;
mod database;
mod error;
#[cfg(any(test, feature = "faults"))]
pub mod faults;
mod files;
mod index;
mod key;
mod manifest;
mod medium;
mod merge;
mod open;
mod owner;
mod point;
mod read;
mod recipes;
mod record;
mod repair;
mod seal;

use warpwatt_input::{diag, input};
use warpwatt_pricing::{digest, outcome, recipe, uncertainty};
use warpwatt_study as study;

pub use batch::Batch;
pub use boundary::panic_is_a_finding;
pub use bundle::{bundle, unbundle};
pub use database::Layer;
pub use error::{Spoilt, StoreError};
pub use files::{hash_of, hashes, remove_files};
pub use key::PointKey;
pub use manifest::Manifest;
pub use merge::{Merged, merge};
pub use read::Kept;
pub use record::{Digester, Digests, Files, NoRecord, RECORD, Record};
pub use repair::{Repaired, repair};
pub use warpwatt_input::goal::Budget;

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use redb::{ReadTransaction, TableDefinition};

use check::Witness;
use common::{Met, Name};
use database::Handle;
use index::Index;
use open::Made;

use crate::outcome::Outcome;

/// The version of the store's layout. Raise it when that changes its meaning.
pub const FORMAT: u64 = 8;

/// The version of the outcomes in it, which decides points' keys. Raise it when outcomes change their meaning.
pub const OUTCOMES: u64 = 4;

/// The store's file in a results directory.
pub const FILE_NAME: &str = "results.redb";

/// The format, which every version must be able to read.
const META: TableDefinition<'_, &str, &str> = TableDefinition::new("meta");
const FORMAT_KEY: &str = "format";

/// What is about all points, each text behind its checksum.
const TEXTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("texts");
const TEXTS_SEAL: &str = "texts";
const MANIFEST: &str = "manifest";
const PART: &str = "part";

/// The points by numbers, as they came, each behind its checksum: the names of its form, notes and costs, and its figures.
const POINTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("numbered points");
/// The keys of the points of a batch, in their order, by the number of the first.
const KEYS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("keys of points");
/// The forms, notes and costs of points, each behind its checksum.
const COMMON: TableDefinition<'_, &Name, &[u8]> = TableDefinition::new("sealed common parts");

/// Points that are looked at or copied in one transaction.
const BATCH: usize = 1024;

/// An open result store. No other process can write to it meanwhile.
#[derive(Debug)]
pub struct Store {
    database: Handle,
    path: PathBuf,
    /// What opening it made, to be taken back if nothing came of it.
    made: Made,
    /// What else is known of its points.
    witness: Option<Witness>,
    /// What points have in common, as far as it was read and written.
    met: Met,
    /// Where its points are.
    index: Index,
}

impl Store {
    /// Where the store is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a finished point.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn put(&self, key: &PointKey, outcome: &Outcome) -> Result<(), StoreError> {
        self.put_all(&[(*key, outcome)])
    }

    /// How many points are finished, of this study or of others.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn len(&self) -> Result<u64, StoreError> {
        self.index.len(&self.database)
    }

    /// Whether no point is finished.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn is_empty(&self) -> Result<bool, StoreError> {
        Ok(self.len()? == 0)
    }

    /// Writes what the results were made from and which points belong to the study, unless exactly that is there already.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn put_manifest(&self, manifest: &Manifest) -> Result<(), StoreError> {
        self.put_json(MANIFEST, manifest)
    }

    /// As [`Store::put_manifest`], for a study of which the store holds a part.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn put_part(&self, manifest: &Manifest) -> Result<(), StoreError> {
        self.put_json(PART, manifest)
    }

    /// What the results were made from; `None` in a store in which no study was finished.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn manifest(&self) -> Result<Option<Manifest>, StoreError> {
        self.json(MANIFEST)
    }

    /// The study that the store holds a part of, if it does.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn part(&self) -> Result<Option<Manifest>, StoreError> {
        self.json(PART)
    }

    fn put_json(&self, name: &str, value: &impl Serialize) -> Result<(), StoreError> {
        let text = serde_json::to_string(value)
            .map_err(|error| StoreError::damaged(&self.path, format!("{name}: {error}")))?;
        self.put_text(name, &text)
    }

    /// Writes a text, unless exactly that is there already.
    fn put_text(&self, name: &str, text: &str) -> Result<(), StoreError> {
        if self.text(name)?.as_deref() == Some(text) {
            return Ok(());
        }
        let checksum = seal::checksum(TEXTS_SEAL, name.as_bytes(), text.as_bytes());
        self.database.write(|write| {
            let mut table = write.open_table(TEXTS)?;
            // The text of a large study is not copied once more.
            let mut place = table.insert_reserve(name, seal::BYTES + text.len())?;
            let (before, behind) = place.as_mut().split_at_mut(seal::BYTES);
            before.copy_from_slice(&checksum);
            behind.copy_from_slice(text.as_bytes());
            Ok(())
        })
    }

    fn json<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, StoreError> {
        let text = self.text(name)?;
        let value = text.map(|text| serde_json::from_str(&text)).transpose();
        value.map_err(|error| StoreError::damaged(&self.path, format!("{name}: {error}")))
    }

    fn text(&self, name: &str) -> Result<Option<String>, StoreError> {
        let found = self.database.read(|read| {
            let table = match read.open_table(TEXTS) {
                Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
                table => table?,
            };
            let value = table.get(name)?;
            let text = value.map(|bytes| {
                let text = seal::open(TEXTS_SEAL, name.as_bytes(), bytes.value())?;
                std::str::from_utf8(text).map(str::to_owned).ok()
            });
            Ok(text)
        })?;
        match found {
            Some(None) => {
                let detail = format!("its {name} is not what was written");
                Err(StoreError::damaged(&self.path, detail))
            }
            text => Ok(text.flatten()),
        }
    }

    fn spoilt(&self, detail: &str, points: Vec<PointKey>) -> StoreError {
        let points = points.into_iter().map(|key| Spoilt { key, name: None });
        StoreError::Damaged {
            path: self.path.clone(),
            detail: detail.to_owned(),
            points: points.collect(),
        }
    }
}

/// The format that a store names.
fn format(read: &ReadTransaction) -> Result<Option<String>, redb::Error> {
    match read.open_table(META) {
        Err(redb::TableError::TableDoesNotExist(_)) => Ok(None),
        table => Ok(table?
            .get(FORMAT_KEY)?
            .map(|value| value.value().to_owned())),
    }
}

#[cfg(test)]
mod tests;
