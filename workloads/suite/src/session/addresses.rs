//! Addresses and numbers that a host writes into memory.

use warpwatt_simt::TensorMap;

use crate::launch::{Field, FieldContent};

/// Writes fields, where addresses have `width` bytes; they lie within the bytes, which was checked beside the module.
pub(super) fn write_fields(
    bytes: &mut [u8],
    fields: &[Field],
    width: u64,
    address: &dyn Fn(usize, u64) -> u64,
) {
    for field in fields {
        let (at, wide) = (field.offset as usize, field.bytes(width) as usize);
        let Some(place) = bytes.get_mut(at..at + wide) else {
            continue;
        };
        let bits = match &field.content {
            FieldContent::Address { buffer, plus } => address(*buffer, *plus),
            FieldContent::Value(value) => value.bits,
            FieldContent::TensorMap { buffer, plus, map } => {
                let address = address(*buffer, *plus);
                let map = TensorMap {
                    address,
                    ..TensorMap::clone(map)
                };
                place.copy_from_slice(&map.to_bytes());
                continue;
            }
        };
        place.copy_from_slice(&bits.to_le_bytes()[..wide]);
    }
}
