//! Addresses and numbers that a host writes into memory.

use crate::launch::{Field, FieldContent};

/// Writes fields, where addresses have `width` bytes; they lie within the bytes, which was checked beside the module.
pub(super) fn write_fields(
    bytes: &mut [u8],
    fields: &[Field],
    width: u64,
    address: &dyn Fn(usize, u64) -> u64,
) {
    for field in fields {
        let bits = match field.content {
            FieldContent::Address { buffer, plus } => address(buffer, plus),
            FieldContent::Value(value) => value.bits,
        };
        let (at, wide) = (field.offset as usize, field.bytes(width) as usize);
        if let Some(place) = bytes.get_mut(at..at + wide) {
            place.copy_from_slice(&bits.to_le_bytes()[..wide]);
        }
    }
}
