//! Reading points: all are looked at, so that all that are spoilt are told.

use std::sync::Arc;

use redb::{AccessGuard, Range, ReadOnlyTable, ReadTransaction, StorageError};

use super::batch::POINTS_SEAL;
use super::common::{self, Name, Read};
use super::index::Place;
use super::point::{self, Split};
use super::{COMMON, POINTS, PointKey, RECORD, Store, StoreError, seal};
use crate::outcome::{Form, Note, Outcome};

/// A point that was read, of which no outcome is made yet.
#[derive(Debug)]
pub struct Kept {
    key: PointKey,
    /// As it is stored, checksum and all.
    pub(super) stored: Vec<u8>,
    common: Common,
    digest: [u8; 32],
}

/// What a point has in common with others.
#[derive(Clone, Debug)]
struct Common {
    form: Arc<Form>,
    notes: Arc<Vec<Note>>,
    costs: Arc<Vec<u8>>,
}

impl Kept {
    /// Whether no technique is at work.
    pub fn is_baseline(&self) -> bool {
        self.common.form.outcome().point.is_baseline()
    }

    /// What it is known by.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    fn outcome(&self) -> Option<Outcome> {
        let Common { form, notes, costs } = &self.common;
        let parts = point::split(value(&self.stored))?;
        form.filled(Arc::clone(notes), costs, parts.figures)
    }
}

/// What is behind the checksum.
fn value(stored: &[u8]) -> &[u8] {
    stored.get(seal::BYTES..).unwrap_or_default()
}

impl Store {
    /// The point under `key`, if it is finished.
    ///
    /// # Errors
    /// The file cannot be read, or what it holds is not what was written.
    pub fn get(&self, key: &PointKey) -> Result<Option<Outcome>, StoreError> {
        let kept = self.kept(std::slice::from_ref(key))?.pop().flatten();
        kept.map(|kept| self.outcome(&kept)).transpose()
    }

    /// The finished points under `keys`, in their order.
    ///
    /// # Errors
    /// As [`Store::get`], and if one of them is not there.
    pub fn outcomes(&self, keys: &[PointKey]) -> Result<Vec<Outcome>, StoreError> {
        let kept = self.all_kept(keys)?;
        kept.iter().map(|kept| self.outcome(kept)).collect()
    }

    /// The same before outcomes are made of them.
    ///
    /// # Errors
    /// As [`Store::outcomes`].
    pub fn all_kept(&self, keys: &[PointKey]) -> Result<Vec<Kept>, StoreError> {
        let kept = self.kept(keys)?;
        let absent = keys.iter().zip(&kept);
        let absent = absent.filter_map(|(key, kept)| kept.is_none().then_some(*key));
        let absent: Vec<PointKey> = absent.collect();
        match absent.is_empty() {
            true => Ok(kept.into_iter().flatten().collect()),
            false => Err(self.lost(absent)),
        }
    }

    /// What a point came out as.
    ///
    /// # Errors
    /// It is not what was reported.
    pub fn outcome(&self, kept: &Kept) -> Result<Outcome, StoreError> {
        let outcome = kept.outcome();
        let outcome = outcome.ok_or_else(|| self.spoilt("no outcome", vec![kept.key]))?;
        match &self.witness {
            Some(witness) if !witness.agrees(&kept.key, &kept.digest) => {
                let detail = format!("`{RECORD}` beside it says otherwise");
                Err(self.spoilt(&detail, vec![kept.key]))
            }
            _ => Ok(outcome),
        }
    }

    /// Which of the points are finished.
    ///
    /// # Errors
    /// The file cannot be read, or one of them is not what was written.
    pub fn held(&self, keys: &[PointKey]) -> Result<Vec<bool>, StoreError> {
        self.look_up(keys, |_, found, _| found.is_some())
    }

    /// The points under `keys` that are there.
    ///
    /// # Errors
    /// As [`Store::held`].
    pub(super) fn kept(&self, keys: &[PointKey]) -> Result<Vec<Option<Kept>>, StoreError> {
        self.look_up(keys, |key, stored, common| {
            let stored = stored?;
            Some(Kept {
                key: *key,
                digest: point::digest(value(stored)),
                stored: stored.to_vec(),
                common: common?,
            })
        })
    }

    /// What `take` makes of the points under `keys`, as they are stored, and of what they have in common with others.
    fn look_up<T>(
        &self,
        keys: &[PointKey],
        take: impl Fn(&PointKey, Option<&[u8]>, Option<Common>) -> T,
    ) -> Result<Vec<T>, StoreError> {
        let places = self.index.places(&self.database, keys)?;
        let mut spoilt = Vec::new();
        let found = self.database.read(|read| {
            let points = match read.open_table(POINTS) {
                Err(redb::TableError::TableDoesNotExist(_)) => None,
                table => Some(table?),
            };
            let mut scan = points.as_ref().map(Scan::of);
            let mut found: Vec<Option<T>> = keys.iter().map(|_| None).collect();
            for at in in_order(&places) {
                let (key, place) = (&keys[at], places[at]);
                let stored = match (place, &mut scan) {
                    (Place::At(number), Some(scan)) => scan.get(number)?,
                    _ => None,
                };
                let stored = stored.as_ref().map(|stored| stored.value());
                let common = match stored {
                    None => None,
                    Some(stored) => self.whole(read, key, stored)?,
                };
                if common.is_none() && (stored.is_some() || place != Place::Nowhere) {
                    spoilt.push(at);
                }
                found[at] = Some(take(key, stored, common));
            }
            Ok(found.into_iter().flatten().collect())
        })?;
        spoilt.sort_unstable();
        let spoilt: Vec<PointKey> = spoilt.into_iter().map(|at| keys[at]).collect();
        match spoilt.is_empty() {
            true => Ok(found),
            false => Err(self.spoilt("not what was written", spoilt)),
        }
    }

    /// What a point has in common with others; nothing if it, or that, is not what was written.
    fn whole(
        &self,
        read: &ReadTransaction,
        key: &PointKey,
        stored: &[u8],
    ) -> Result<Option<Common>, redb::Error> {
        let value = seal::open(POINTS_SEAL, &key.0, stored);
        let Some(Split {
            form, notes, costs, ..
        }) = value.and_then(point::split)
        else {
            return Ok(None);
        };
        let form = one(&self.met.forms, read, form, |name, stored| {
            let form = common::unpack(name, stored).ok()?;
            Some(self.met.sharing(form))
        })?;
        let notes = one(&self.met.notes, read, notes, |name, stored| {
            common::unpack(name, stored).ok()
        })?;
        let costs = one(&self.met.costs, read, costs, common::costs)?;
        let common = form.zip(notes).zip(costs);
        Ok(common.map(|((form, notes), costs)| Common { form, notes, costs }))
    }
}

/// The order in which places are looked up: that in which they are stored.
fn in_order(places: &[Place]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|at| match places[*at] {
        Place::At(number) => Some(number),
        Place::Nowhere | Place::Lost => None,
    });
    order
}

/// The table of points, asked for one number after the other.
type Points = ReadOnlyTable<u64, &'static [u8]>;

/// Goes through the table where what is asked for next lies near: points of a study lie by configuration, and are asked for by operating point.
struct Scan<'t> {
    table: &'t Points,
    /// What is behind the last one, and its number.
    rest: Option<(Range<'t, u64, &'static [u8]>, u64)>,
}

/// Points that are gone through to the next one; for one that is farther on the table is asked anew.
const NEAR: u64 = 8;

impl<'t> Scan<'t> {
    fn of(table: &'t Points) -> Self {
        Self { table, rest: None }
    }

    /// What is stored under a number; numbers go up.
    fn get(&mut self, number: u64) -> Result<Option<AccessGuard<'t, &'static [u8]>>, StorageError> {
        let near = |(_, next): &(_, u64)| (*next..*next + NEAR).contains(&number);
        let (mut rest, _) = match self.rest.take().filter(near) {
            Some(rest) => rest,
            None => (self.table.range(number..)?, number),
        };
        for entry in rest.by_ref() {
            let (found, stored) = entry?;
            let found = found.value();
            if found >= number {
                self.rest = Some((rest, found + 1));
                return Ok((found == number).then_some(stored));
            }
        }
        Ok(None)
    }
}

/// What points have in common under this name; nothing if it is not there as it was written.
fn one<T>(
    met: &Read<T>,
    read: &ReadTransaction,
    name: &Name,
    open: impl FnOnce(&Name, &[u8]) -> Option<T>,
) -> Result<Option<Arc<T>>, redb::Error> {
    if let Some(met) = met.get(name) {
        return Ok(Some(met));
    }
    let table = match read.open_table(COMMON) {
        Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
        table => table?,
    };
    let stored = table.get(name)?;
    let common = stored.and_then(|stored| open(name, stored.value()));
    Ok(common.map(|common| met.keep(*name, common)))
}
