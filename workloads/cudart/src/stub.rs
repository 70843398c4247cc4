//! Shared objects that hold nothing but a name, a version of it, and the name of the library that has the functions.
//!
//! A program that is linked with CUDA's runtime asks for `libcudart.so.13` and for that version of every function. The linker finds the version here and the
//! functions, which have none, in the library behind it.

/// Sections of the dynamic table.
const NEEDED: u64 = 1;
const HASH: u64 = 4;
const STRINGS: u64 = 5;
const SYMBOLS: u64 = 6;
const STRING_BYTES: u64 = 10;
const SYMBOL_BYTES: u64 = 11;
const NAME: u64 = 14;
const VERSION_OF_SYMBOLS: u64 = 0x6fff_fff0;
const VERSIONS: u64 = 0x6fff_fffc;
const VERSION_COUNT: u64 = 0x6fff_fffd;

/// Bytes of the dynamic table.
const TABLE_BYTES: u64 = 12 * 16;

/// Bytes of the header of a file, of a segment, of a symbol.
const FILE_HEADER: u64 = 64;
const SEGMENT: u64 = 56;
const SYMBOL: u64 = 24;

/// The bytes of a shared object of 64 bits, for the machine that this was compiled for, with a soname that is its version too, which needs the library at a path.
pub fn shared_object(soname: &str, library: &str) -> Vec<u8> {
    let mut strings = vec![0];
    let mut text = |text: &str| {
        let at = strings.len() as u64;
        strings.extend(text.as_bytes());
        strings.push(0);
        at
    };
    let (soname_at, library_at) = (text(soname), text(library));
    let symbols = (FILE_HEADER + 2 * SEGMENT).next_multiple_of(8);
    let hash = symbols + SYMBOL;
    // One bucket, one chain: the symbol that is none.
    let of_symbols = hash + 16;
    let versions = (of_symbols + 2).next_multiple_of(8);
    let dynamic = versions + 56;
    let table = [
        (NEEDED, library_at),
        (NAME, soname_at),
        (HASH, hash),
        (STRINGS, dynamic + TABLE_BYTES),
        (SYMBOLS, symbols),
        (STRING_BYTES, strings.len() as u64),
        (SYMBOL_BYTES, SYMBOL),
        (VERSION_OF_SYMBOLS, of_symbols),
        (VERSIONS, versions),
        (VERSION_COUNT, 2),
        (0, 0),
        (0, 0),
    ];
    let total = dynamic + TABLE_BYTES + strings.len() as u64;
    let mut bytes = file_header();
    bytes.extend(segment(1, 0, total));
    bytes.extend(segment(2, dynamic, TABLE_BYTES));
    bytes.resize(symbols as usize + SYMBOL as usize, 0);
    words(&mut bytes, &[1, 1, 0, 0]);
    bytes.resize(versions as usize, 0);
    version(&mut bytes, (1, 1), soname, soname_at, 28);
    version(&mut bytes, (0, 2), soname, soname_at, 0);
    for (tag, value) in table {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(value.to_le_bytes());
    }
    bytes.extend(strings);
    bytes
}

fn words(bytes: &mut Vec<u8>, words: &[u32]) {
    for word in words {
        bytes.extend(word.to_le_bytes());
    }
}

/// A version with its only name; `next` bytes on there is another one.
fn version(bytes: &mut Vec<u8>, (flags, index): (u16, u16), name: &str, name_at: u64, next: u32) {
    for half in [1, flags, index, 1] {
        bytes.extend(half.to_le_bytes());
    }
    words(bytes, &[hash_of(name), 20, next, name_at as u32, 0]);
}

/// The hash of the System V ABI.
fn hash_of(name: &str) -> u32 {
    name.bytes().fold(0u32, |hash, byte| {
        let hash = (hash << 4).wrapping_add(u32::from(byte));
        let high = hash & 0xf000_0000;
        (hash ^ high >> 24) & !high
    })
}

fn file_header() -> Vec<u8> {
    let machine: u16 = if cfg!(target_arch = "aarch64") {
        183
    } else {
        62
    };
    let mut bytes = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    bytes.extend(3u16.to_le_bytes()); // a shared object
    bytes.extend(machine.to_le_bytes());
    bytes.extend(1u32.to_le_bytes());
    for offset in [0, FILE_HEADER, 0] {
        bytes.extend(offset.to_le_bytes());
    }
    bytes.extend(0u32.to_le_bytes());
    for half in [FILE_HEADER as u16, SEGMENT as u16, 2, 64, 0, 0] {
        bytes.extend(half.to_le_bytes());
    }
    bytes
}

/// A segment that lies in memory as in the file.
fn segment(kind: u32, start: u64, bytes: u64) -> Vec<u8> {
    let mut segment = Vec::new();
    words(&mut segment, &[kind, 6]); // to be read and written: the linker relocates the table in place
    for number in [start, start, start, bytes, bytes, 4096] {
        segment.extend(number.to_le_bytes());
    }
    segment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hash_as_the_abi_says() {
        assert_eq!(hash_of("printf"), 0x0779_05a6);
        assert_eq!(hash_of("exit"), 0x0006_cf04);
    }

    #[test]
    fn the_table_is_where_the_header_says() {
        let bytes = shared_object("libcudart.so.13", "/lib/libreal.so");
        let long = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().unwrap());
        let dynamic = long(64 + 56 + 8) as usize;
        let strings = (0..12).map(|row| dynamic + 16 * row);
        let strings = strings.clone().find(|&at| long(at) == STRINGS).unwrap();
        let strings = &bytes[long(strings + 8) as usize..];
        let name = &strings[long(dynamic + 16 + 8) as usize..];
        assert!(name.starts_with(b"libcudart.so.13\0"));
        assert_eq!(long(64 + 32), bytes.len() as u64);
    }
}
