//! Outcomes as a file of their own, for whoever computes points and leaves it to others to put them into a store.

use crate::outcome::Outcome;
use crate::{PointKey, point, seal};

/// What the bytes begin with. Raise the number when what follows changes its meaning.
const MAGIC: &[u8] = b"warpwatt outcomes 1\n";
/// The table that checksums name.
const TABLE: &str = "bundled points";
/// Bytes in front of a point: its key, and how long what follows is.
const KEY: usize = 32;

/// The points as bytes, each under its key and behind its checksum, and their number at the end.
///
/// # Errors
/// An outcome cannot be written.
pub fn bundle(points: &[(PointKey, &Outcome)]) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = MAGIC.to_vec();
    for (key, outcome) in points {
        let value = point::encode(outcome)?;
        bytes.extend(key.0);
        bytes.extend((value.len() as u64).to_le_bytes());
        bytes.extend(seal::checksum(TABLE, &key.0, &value));
        bytes.extend(value);
    }
    let end = points.len().to_string();
    bytes.extend([0; KEY]);
    bytes.extend((end.len() as u64).to_le_bytes());
    bytes.extend(seal::checksum(TABLE, &[0; KEY], end.as_bytes()));
    bytes.extend(end.as_bytes());
    Ok(bytes)
}

/// The points of such bytes, in their order; `None` if they are not exactly what was written.
pub fn unbundle(bytes: &[u8]) -> Option<Vec<(PointKey, Outcome)>> {
    let mut left = bytes.strip_prefix(MAGIC)?;
    let mut points = Vec::new();
    loop {
        let (key, value, rest) = next(left)?;
        left = rest;
        if key == [0; KEY] {
            let whole = left.is_empty() && value == points.len().to_string().as_bytes();
            return whole.then_some(points);
        }
        let (outcome, _) = point::decode(value).ok()?;
        points.push((PointKey(key), outcome));
    }
}

/// The first entry, and what is behind it.
fn next(bytes: &[u8]) -> Option<([u8; KEY], &[u8], &[u8])> {
    let (key, bytes) = bytes.split_first_chunk::<KEY>()?;
    let (length, bytes) = bytes.split_first_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (sealed, rest) = bytes.split_at_checked(seal::BYTES.checked_add(length)?)?;
    Some((*key, seal::open(TABLE, key, sealed)?, rest))
}
