//! Outcomes as a file of their own, for whoever computes points and leaves it to others to put them into a store.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::batch::{Batch, POINTS_SEAL};
use crate::common::{self, Met, Name};
use crate::outcome::{Form, Outcome};
use crate::{PointKey, point, seal};

/// What the bytes begin with. Raise the number when what follows changes its meaning.
const MAGIC: &[u8] = b"warpwatt outcomes 3\n";
/// The table that checksums of numbers name.
const COUNT: &str = "bundled";
/// Bytes in front of a value: its key, and how long what follows is.
const KEY: usize = 32;

/// The points as bytes, behind what they have in common: each under its key and behind its checksum, and how many there are of each kind at its end.
///
/// # Errors
/// An outcome cannot be written.
pub fn bundle(points: Vec<(PointKey, Outcome)>) -> Result<Vec<u8>, serde_json::Error> {
    let batch = Batch::of(points, &Met::default())?;
    let mut bytes = MAGIC.to_vec();
    let mut section = |values: &[(&[u8; KEY], &[u8])]| {
        let count = values.len().to_string();
        let count = seal::sealed(COUNT, &[0; KEY], count.as_bytes());
        for (key, sealed) in values.iter().chain(&[(&[0; KEY], &count[..])]) {
            bytes.extend(*key);
            bytes.extend((sealed.len() as u64).to_le_bytes());
            bytes.extend(*sealed);
        }
    };
    let common = batch.common.iter();
    section(
        &common
            .map(|(name, one)| (name, &one[..]))
            .collect::<Vec<_>>(),
    );
    let points = batch.points.iter();
    section(
        &points
            .map(|(key, point)| (&key.0, &point[..]))
            .collect::<Vec<_>>(),
    );
    Ok(bytes)
}

/// The points of such bytes, in their order; `None` if they are not exactly what was written.
pub fn unbundle(bytes: &[u8]) -> Option<Vec<(PointKey, Outcome)>> {
    let (common, left) = section(bytes.strip_prefix(MAGIC)?)?;
    let common: BTreeMap<Name, &[u8]> = common.into_iter().collect();
    let mut forms: BTreeMap<Name, Form> = BTreeMap::new();
    let (points, left) = section(left)?;
    let points = points.into_iter().map(|(key, sealed)| {
        let parts = point::split(seal::open(POINTS_SEAL, &key, sealed)?)?;
        if !forms.contains_key(parts.form) {
            let form = common::unpack(parts.form, common.get(parts.form)?).ok()?;
            forms.insert(*parts.form, form);
        }
        let notes = common::unpack(parts.notes, common.get(parts.notes)?).ok()?;
        let costs = common::costs(parts.costs, common.get(parts.costs)?)?;
        let outcome = forms
            .get(parts.form)?
            .filled(Arc::new(notes), &costs, parts.figures)?;
        Some((PointKey(key), outcome))
    });
    let points: Vec<(PointKey, Outcome)> = points.collect::<Option<_>>()?;
    left.is_empty().then_some(points)
}

/// Values with their keys.
type Values<'b> = Vec<([u8; KEY], &'b [u8])>;

/// The values of a section, behind their checksums, and what is behind it.
fn section(mut left: &[u8]) -> Option<(Values<'_>, &[u8])> {
    let mut values = Vec::new();
    loop {
        let (key, sealed, rest) = next(left)?;
        left = rest;
        if key == [0; KEY] {
            let count = seal::open(COUNT, &key, sealed)?;
            return (*count == *values.len().to_string().as_bytes()).then_some((values, left));
        }
        values.push((key, sealed));
    }
}

/// The first entry, and what is behind it.
fn next(bytes: &[u8]) -> Option<([u8; KEY], &[u8], &[u8])> {
    let (key, bytes) = bytes.split_first_chunk::<KEY>()?;
    let (length, bytes) = bytes.split_first_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (sealed, rest) = bytes.split_at_checked(length)?;
    Some((*key, sealed, rest))
}
