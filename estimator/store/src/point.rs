//! A point as bytes: JSON, compressed, since names and sources repeat within it.

use std::error::Error;

use lz4_flex::block::{compress_prepend_size, decompress_size_prepended};

use sha2::{Digest, Sha256};

use crate::outcome::Outcome;

/// More than any outcome takes; a size beyond it is no size.
const MOST_BYTES: usize = 64 << 20;

pub(super) fn encode(outcome: &Outcome) -> Result<Vec<u8>, serde_json::Error> {
    Ok(compress_prepend_size(&serde_json::to_vec(outcome)?))
}

/// The outcome, and SHA-256 of its JSON.
pub(super) fn decode(bytes: &[u8]) -> Result<(Outcome, [u8; 32]), Box<dyn Error + Send + Sync>> {
    let size = bytes
        .first_chunk()
        .map(|size| u32::from_le_bytes(*size) as usize);
    if size.is_none_or(|size| size > MOST_BYTES) {
        return Err("not the size of an outcome".into());
    }
    let text = decompress_size_prepended(bytes)?;
    Ok((serde_json::from_slice(&text)?, Sha256::digest(&text).into()))
}
