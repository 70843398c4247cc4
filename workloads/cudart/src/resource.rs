//! What textures and surfaces are made of.

use crate::memory::Format;

/// `cudaResourceDesc`, as far as it is read: what kind it is, and 128 bytes that depend on that.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
pub struct Resource {
    /// Array (0), mipmapped array (1), linear (2), pitched (3).
    pub kind: i32,
    pad: i32,
    /// Its address, or the handle of an array.
    pub first: u64,
    /// The texel.
    pub format: Format,
    pad_behind: i32,
    /// Bytes of linear memory; of pitched memory width and height in texels, and bytes of a row.
    pub sizes: [u64; 3],
    rest: [u64; 10],
}
