//! A point as bytes: the names of its form, of its notes and of its costs, and the figures that are its own.

use sha2::{Digest, Sha256};

use super::common::{Name, Parts};

/// The bytes of a point.
pub(super) fn encode(parts: &Parts) -> Vec<u8> {
    let names = [parts.form.name, parts.notes.name, parts.costs.name];
    [names.as_flattened(), &parts.figures].concat()
}

/// A point's bytes taken apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split<'b> {
    /// The name of its form.
    pub form: &'b Name,
    /// The name of its notes.
    pub notes: &'b Name,
    /// The name of its costs.
    pub costs: &'b Name,
    /// Its figures, eight bytes each.
    pub figures: &'b [u8],
}

/// What the bytes of a point are.
pub(super) fn split(value: &[u8]) -> Option<Split<'_>> {
    let (form, rest) = value.split_first_chunk()?;
    let (notes, rest) = rest.split_first_chunk()?;
    let (costs, figures) = rest.split_first_chunk()?;
    Some(Split {
        form,
        notes,
        costs,
        figures,
    })
}

/// What a point is known by: SHA-256 of its bytes, in which form, notes and costs are named by their content.
pub(super) fn digest(value: &[u8]) -> [u8; 32] {
    Sha256::digest(value).into()
}
