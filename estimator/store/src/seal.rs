//! What a stored value carries so that damage is seen: a checksum over its table, its key and itself.
//!
//! The database has checksums of its own, of whole pages, and looks at them only after a kill. A value that is another's, or one whose digit has
//! changed, would be read as if it had been written so.

use crate::digest::digest;

/// Bytes in front of a value. Damage is chance, not malice: half of SHA-256 is far more than it gets past.
pub(super) const BYTES: usize = 16;

/// The checksum of a value under its key.
pub(super) fn checksum(table: &str, key: &[u8], value: &[u8]) -> [u8; BYTES] {
    let whole = digest([table.as_bytes(), key, value]);
    std::array::from_fn(|byte| whole[byte])
}

/// The value behind its checksum.
pub(super) fn sealed(table: &str, key: &[u8], value: &[u8]) -> Vec<u8> {
    [&checksum(table, key, value)[..], value].concat()
}

/// The value behind its checksum, if it is the one that was written under this key.
pub(super) fn open<'b>(table: &str, key: &[u8], sealed: &'b [u8]) -> Option<&'b [u8]> {
    let (found, value) = sealed.split_first_chunk::<BYTES>()?;
    (*found == checksum(table, key, value)).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_belongs_to_its_table_and_key() {
        let value = sealed("points", b"a", b"value");
        assert_eq!(open("points", b"a", &value), Some(&b"value"[..]));
        assert_eq!(open("points", b"b", &value), None);
        assert_eq!(open("texts", b"a", &value), None);
        // Where a key ends is part of it.
        assert_eq!(open("points", b"av", &sealed("points", b"a", b"v")), None);
    }

    #[test]
    fn every_bit_counts() {
        let value = sealed("points", b"key", b"a value");
        for bit in 0..8 * value.len() {
            let mut other = value.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(open("points", b"key", &other), None, "bit {bit}");
        }
        for short in 0..value.len() {
            assert_eq!(open("points", b"key", &value[..short]), None, "{short}");
        }
    }
}
