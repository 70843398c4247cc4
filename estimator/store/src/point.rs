//! A point as bytes: the names of its form and of its notes, and the figures in which it differs from others of that form.

use sha2::{Digest, Sha256};

use super::common::{NAME, Name, Parts};

/// The bytes of a point.
pub(super) fn encode(parts: &Parts) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(2 * NAME + size_of_val(&*parts.figures));
    bytes.extend(parts.form.name);
    bytes.extend(parts.notes.name);
    for figure in &parts.figures {
        bytes.extend(figure.to_le_bytes());
    }
    bytes
}

/// A point's bytes taken apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split<'b> {
    /// The name of its form.
    pub form: &'b Name,
    /// The name of its notes.
    pub notes: &'b Name,
    /// Its figures, eight bytes each.
    pub figures: &'b [u8],
}

/// What the bytes of a point are.
pub(super) fn split(value: &[u8]) -> Option<Split<'_>> {
    let (form, rest) = value.split_first_chunk()?;
    let (notes, figures) = rest.split_first_chunk()?;
    Some(Split {
        form,
        notes,
        figures,
    })
}

/// What a point is known by: SHA-256 of its bytes, in which form and notes are named by their content.
pub(super) fn digest(value: &[u8]) -> [u8; 32] {
    Sha256::digest(value).into()
}
