//! Points and what they have in common, ready to be written.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use redb::ReadableTable;

use super::common::{Met, Name, Stored};
use super::{COMMON, KEYS, POINTS, PointKey, Store, StoreError, index, point, seal};
use crate::outcome::Outcome;

/// The table that checksums of points name.
pub(super) const POINTS_SEAL: &str = "points";

/// Points as they are stored, with their forms and notes, and with their costs but for those that the store is known to have.
#[derive(Debug, Default)]
pub struct Batch {
    pub(super) common: BTreeMap<Name, Arc<[u8]>>,
    pub(super) points: Vec<(PointKey, Vec<u8>)>,
}

impl Batch {
    /// Of outcomes.
    ///
    /// # Errors
    /// An outcome cannot be written.
    pub(super) fn of(
        points: Vec<(PointKey, Outcome)>,
        met: &Met,
    ) -> Result<Self, serde_json::Error> {
        let mut batch = Self::default();
        for (key, outcome) in points {
            let parts = met.parts(outcome)?;
            let value = point::encode(&parts);
            for Stored { name, bytes } in [parts.form, parts.notes] {
                batch.common.entry(name).or_insert(bytes);
            }
            if !met.is_written(&parts.costs.name) {
                let costs = batch.common.entry(parts.costs.name);
                costs.or_insert_with(|| parts.costs.sealed());
            }
            let sealed = seal::sealed(POINTS_SEAL, &key.0, &value);
            batch.points.push((key, sealed));
        }
        Ok(batch)
    }

    fn keys(&self) -> impl Iterator<Item = PointKey> {
        self.points.iter().map(|(key, _)| *key)
    }
}

impl Store {
    /// Writes finished points in one transaction: all of them are there after a kill, or none.
    ///
    /// # Errors
    /// The file cannot be written; then none of them is there.
    pub fn put_all(&self, points: &[(PointKey, &Outcome)]) -> Result<(), StoreError> {
        let points = points.iter();
        let points = points.map(|(key, outcome)| (*key, (*outcome).clone()));
        self.put_prepared(&self.prepare(points.collect())?)
    }

    /// Makes of points what is stored of them, from any thread.
    ///
    /// # Errors
    /// An outcome cannot be written.
    pub fn prepare(&self, points: Vec<(PointKey, Outcome)>) -> Result<Batch, StoreError> {
        let batch = Batch::of(points, &self.met);
        batch.map_err(|error| StoreError::damaged(&self.path, error.to_string()))
    }

    /// As [`Store::put_all`], for points as they are stored.
    ///
    /// # Errors
    /// As [`Store::put_all`].
    pub fn put_prepared(&self, batch: &Batch) -> Result<(), StoreError> {
        let first = self.database.write(|write| {
            let mut common = write.open_table(COMMON)?;
            for (name, bytes) in &batch.common {
                if common.get(name)?.is_none() {
                    common.insert(name, &bytes[..])?;
                }
            }
            let mut table = write.open_table(POINTS)?;
            let last = table.last()?.map(|(number, _)| number.value());
            let first = last.map_or(0, |last| last + 1);
            for (number, (_, bytes)) in (first..).zip(&batch.points) {
                table.insert(number, bytes.as_slice())?;
            }
            if !batch.points.is_empty() {
                let list = index::list(first, batch.keys());
                write.open_table(KEYS)?.insert(first, list.as_slice())?;
            }
            Ok(first)
        })?;
        self.index.add(first, batch.keys());
        self.met.wrote(batch.common.keys());
        Ok(())
    }

    /// Points of this store, as they are stored, with what they have in common.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn batch(&self, points: Vec<(PointKey, Vec<u8>)>) -> Result<Batch, StoreError> {
        let parts = points
            .iter()
            .filter_map(|(_, bytes)| point::split(bytes.get(seal::BYTES..)?));
        let names = parts.flat_map(|parts| [*parts.form, *parts.notes, *parts.costs]);
        let names: BTreeSet<Name> = names.collect();
        let common = self.database.read(|read| {
            let table = read.open_table(COMMON)?;
            let mut common = BTreeMap::new();
            for name in names {
                if let Some(bytes) = table.get(&name)? {
                    common.insert(name, bytes.value().into());
                }
            }
            Ok(common)
        })?;
        Ok(Batch { common, points })
    }
}
