//! Matrices that products read from shared memory: where a descriptor says that their pieces of sixteen bytes lie (PTX ISA 8.7, sections 9.7.15.5.1.2 and
//! 9.7.16.10.6).

use std::ops::Range;

use warpwatt_ptx::types::Space;

use crate::error::Cause;
use crate::memory::Memories;

/// Bytes that are read at once: a row of a core matrix, which has eight of them.
pub(super) const CHUNK: usize = 16;
/// Rows of a core matrix.
pub(super) const CORE: usize = 8;

/// Where the pieces of a matrix lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    start: u64,
    /// Between columns of pieces, or beyond those that change places, and between groups of rows.
    lead: u64,
    stride: u64,
    /// Where the pattern of changed places begins.
    base: u64,
    /// Bytes of a row within which pieces change places.
    pitch: u64,
    /// Bytes that change places together.
    atom: u64,
}

impl Layout {
    /// As the descriptors of `wgmma` have it.
    pub fn of_warpgroup(descriptor: u64) -> Self {
        let pitch = [CHUNK as u64, 128, 64, 32][(descriptor >> 62) as usize];
        Self::with(descriptor, pitch, CHUNK as u64)
    }

    /// As the descriptors of `tcgen05` have it; what none of them has is named.
    pub fn of_tensor(descriptor: u64) -> Result<Self, String> {
        if descriptor >> 52 & 1 != 0 {
            return Err("a descriptor with an absolute address is of sm_103".to_owned());
        }
        let (pitch, atom) = match descriptor >> 61 {
            0 => (16, 16),
            1 => (128, 32),
            2 => (128, 16),
            4 => (64, 16),
            6 => (32, 16),
            mode => return Err(format!("there is no swizzling mode {mode}")),
        };
        Ok(Self::with(descriptor, pitch, atom))
    }

    fn with(descriptor: u64, pitch: u64, atom: u64) -> Self {
        let field = |shift: u32| (descriptor >> shift & 0x3fff) << 4;
        Self {
            start: field(0),
            lead: field(16),
            stride: field(32),
            base: descriptor >> 49 & 7,
            pitch,
            atom,
        }
    }

    /// Whether pieces of thirty-two bytes change places.
    pub fn is_coarse(self) -> bool {
        self.atom != CHUNK as u64
    }

    /// Where the bytes at a distance from the start lie.
    fn address(self, distance: u64) -> u64 {
        let linear = self.start + distance;
        let row = (linear >> 7).wrapping_sub(self.base) & (self.pitch / self.atom - 1);
        linear ^ (row * self.atom)
    }

    /// How far from the start a row's piece lies whose neighbours lie along the inner dimension.
    fn along_depth(self, row: usize, piece: usize) -> u64 {
        let lead = match self.pitch == CHUNK as u64 {
            true => self.lead,
            false => CHUNK as u64,
        };
        (row % CORE) as u64 * self.pitch + (row / CORE) as u64 * self.stride + piece as u64 * lead
    }

    /// How far from the start the `piece`-th piece of rows lies whose neighbours lie along the rows.
    fn along_rows(self, piece: usize, at: usize) -> u64 {
        let (piece, pieces) = (piece as u64, self.pitch / CHUNK as u64);
        // As many of the inner dimension as the pattern has rows.
        let group = if self.is_coarse() { CORE / 2 } else { CORE };
        let (within, beyond) = ((at % group) as u64, (at / group) as u64);
        if pieces == 1 {
            return piece * self.stride + within * self.pitch + beyond * self.lead;
        }
        piece % pieces * CHUNK as u64
            + piece / pieces * self.lead
            + within * self.pitch
            + beyond * self.stride
    }
}

/// A matrix in shared memory; rows are those of A and the columns of B.
#[derive(Clone, Copy)]
pub(super) struct SharedMatrix {
    pub layout: Layout,
    /// Bytes of an element.
    pub size: usize,
    /// Bytes of a row.
    pub row_bytes: usize,
    /// Neighbours lie along the rows, not along the inner dimension.
    pub transposed: bool,
    /// Elements have so many bits and lie without gaps at the beginning of each piece, which has room for sixteen; they get a byte each.
    pub packed: Option<u32>,
}

impl SharedMatrix {
    /// Some rows as bytes, one behind the other, each with all of the inner dimension, from the shared memory of the CTA of a rank. Transposed, they are whole pieces.
    pub fn rows(
        self,
        rows: Range<usize>,
        rank: usize,
        memories: &Memories<'_>,
    ) -> Result<Vec<u8>, Cause> {
        let shared = memories.shared_of(rank);
        let piece = |distance: u64| self.piece(distance, shared, memories);
        let mut bytes = vec![0; rows.len() * self.row_bytes];
        let first = rows.start;
        if self.transposed {
            let of_piece = CHUNK / self.size;
            for rows in rows.step_by(of_piece) {
                for at in 0..self.row_bytes / self.size {
                    let place = self.layout.along_rows(rows / of_piece, at);
                    let piece = piece(place)?;
                    for (row, element) in piece.chunks_exact(self.size).enumerate() {
                        let to = (rows - first + row) * self.row_bytes + at * self.size;
                        bytes[to..to + self.size].copy_from_slice(element);
                    }
                }
            }
        } else {
            for row in rows {
                for at in 0..self.row_bytes / CHUNK {
                    let piece = piece(self.layout.along_depth(row, at))?;
                    let to = (row - first) * self.row_bytes + at * CHUNK;
                    bytes[to..to + CHUNK].copy_from_slice(&piece);
                }
            }
        }
        Ok(bytes)
    }

    #[inline]
    fn piece(
        self,
        distance: u64,
        shared: &[u8],
        memories: &Memories<'_>,
    ) -> Result<[u8; CHUNK], Cause> {
        let address = self.layout.address(distance);
        let start = usize::try_from(address).unwrap_or(usize::MAX);
        let bytes = shared.get(start..);
        let piece = bytes.and_then(<[u8]>::first_chunk);
        // Explained only where it is needed: the text costs more than the piece.
        let piece = piece.ok_or_else(|| memories.explain(Space::Shared, address, CHUNK as u32))?;
        Ok(match self.packed {
            None => *piece,
            Some(bits) => {
                let all = u128::from_le_bytes(*piece);
                std::array::from_fn(|at| (all >> (at as u32 * bits)) as u8 & ((1 << bits) - 1))
            }
        })
    }
}
