//! Matrix products of a warpgroup. Each warp computes the sixteen rows that it holds when it comes to the instruction; that all four have come is waited for with
//! the groups.

use warpwatt_ptx::program::{
    Adds, GROUP_ROWS, GroupMultiplyAdd, Inst, Matrix, MatrixElement, Product, Rounding, Slot,
    WARPGROUP,
};
use warpwatt_ptx::types::Space;

use super::{Warp, sparse};
use crate::error::Cause;
use crate::lanes::{add_row, decode_half, encode_half, small_float};
use crate::memory::{BadAccess, Memories};
use crate::registers::full;
use crate::trace::LaneMask;

/// Lanes that hold a matrix together.
const GROUP: usize = 32;
/// Rows that each warp of a warpgroup has.
const ROWS: usize = GROUP_ROWS as usize / WARPGROUP as usize;
/// Bytes that are read at once: a row of a core matrix, which has eight of them.
const CHUNK: usize = 16;
const CORE: usize = 8;
/// What a NaN becomes.
const NAN: u32 = 0x7fff_ffff;

impl<const W: usize> Warp<W> {
    /// Performs the product; the addresses that it reads first are no more than a hint to the trace, so that none are given.
    pub(super) fn group_multiply_add(
        &mut self,
        how: &GroupMultiplyAdd,
        matrix: &Matrix,
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<(), BadAccess> {
        if executed == 0 {
            return Ok(());
        }
        let first = executed.trailing_zeros();
        if executed != full::<W>() {
            return Err(BadAccess {
                lane: first,
                cause: Cause::PartialWarp,
            });
        }
        let (sums, left) = matrix.src.split_at(usize::from(how.sums));
        let (left, metadata) = left.split_at(usize::from(how.left));
        let sources = inst.src.as_slice();
        let right = sources[0];
        for group in 0..W / GROUP {
            let lane = group * GROUP;
            let fault = |cause| BadAccess {
                lane: lane as u32,
                cause,
            };
            let row = (self.place.warp as usize * (W / GROUP) + group) % WARPGROUP as usize * ROWS;
            let place = |which: usize, slot: Slot| Operand {
                descriptor: Descriptor(self.registers.double(slot)[lane]),
                element: how.elements[which],
                depth: match which {
                    0 => usize::from(how.depth) / how.left_parts() as usize,
                    _ => usize::from(how.depth),
                },
                transposed: how.transposed[which],
            };
            let columns = 0..usize::from(how.columns);
            let right = place(1, right).rows(columns, memories).map_err(fault)?;
            let left = match left {
                [] => place(0, sources[1]).rows(row..row + ROWS, memories),
                _ => Ok(self.rows_held(left, group)),
            };
            let left = left.map_err(fault)?;
            let adds = match (how.adds, sources.last()) {
                (Adds::If { negated }, Some(&condition)) => {
                    (self.registers.predicate(condition) >> lane & 1 != 0) != negated
                }
                (adds, _) => adds == Adds::Always(true),
            };
            let before = adds.then(|| self.sums_held(how, sums, group));
            let after = match (how.sparse, metadata) {
                (Some(sparse), [metadata]) => {
                    let words = self.registers.word_part::<GROUP>(*metadata, group);
                    let stored = usize::from(how.depth) / 2;
                    let columns = sparse::columns(words, sparse, how.elements[0], stored);
                    how.of_stored(&left, &right, &columns, before)
                }
                _ => how.products(&left, &right, before),
            };
            self.hold_sums(how, &matrix.dst, group, &after);
        }
        Ok(())
    }

    /// The rows of A as bytes, from registers: as `mma` has them.
    fn rows_held(&self, slots: &[Slot], group: usize) -> Vec<u8> {
        let row_bytes = CHUNK * 2;
        let mut bytes = vec![0; ROWS * row_bytes];
        for (register, &slot) in slots.iter().enumerate() {
            let words = self.registers.word(slot);
            for lane in 0..GROUP {
                let row = lane / 4 + register % 2 * CORE;
                let at = row * row_bytes + register / 2 * CHUNK + lane % 4 * 4;
                bytes[at..at + 4].copy_from_slice(&words[group * GROUP + lane].to_le_bytes());
            }
        }
        bytes
    }

    /// D, row by row.
    fn sums_held(&self, how: &GroupMultiplyAdd, slots: &[Slot], group: usize) -> Vec<f64> {
        let columns = usize::from(how.columns);
        let each = how.elements[2].per_register();
        let mut sums = vec![0.0; ROWS * columns];
        for (register, &slot) in slots.iter().enumerate() {
            let words = &self.registers.word(slot)[group * GROUP..][..GROUP];
            for (lane, &word) in words.iter().enumerate() {
                for part in 0..each {
                    let [row, column] = place_of_sum(lane, register * each + part);
                    let bits = word >> (part as u32 * how.elements[2].bits());
                    sums[row * columns + column] = match how.elements[2] {
                        MatrixElement::F32 => f64::from(f32::from_bits(bits)),
                        MatrixElement::S32 => f64::from(bits as i32),
                        _ => decode_half(bits as u16),
                    };
                }
            }
        }
        sums
    }

    fn hold_sums(&mut self, how: &GroupMultiplyAdd, slots: &[Slot], group: usize, sums: &[f64]) {
        let columns = usize::from(how.columns);
        let element = how.elements[2];
        let each = element.per_register();
        let lanes = (u64::from(u32::MAX)) << (group * GROUP);
        for (register, &slot) in slots.iter().enumerate() {
            let mut words = [0; W];
            for lane in 0..GROUP {
                for part in 0..each {
                    let [row, column] = place_of_sum(lane, register * each + part);
                    let bits = encode(element, sums[row * columns + column], how.saturate);
                    words[group * GROUP + lane] |= bits << (part as u32 * element.bits());
                }
            }
            self.registers.set_word(slot, lanes, &words);
        }
    }
}

/// Row and column of a lane's `i`-th element of D.
fn place_of_sum(lane: usize, i: usize) -> [usize; 2] {
    let row = lane / 4 + i / 2 % 2 * CORE;
    [row, i / 4 * CORE + lane % 4 * 2 + i % 2]
}

fn encode(element: MatrixElement, value: f64, saturate: bool) -> u32 {
    match element {
        MatrixElement::F32 if value.is_nan() => NAN,
        MatrixElement::F32 => (value as f32).to_bits(),
        MatrixElement::S32 if saturate => value as i32 as u32,
        // Sums of integers are exact in double precision.
        MatrixElement::S32 => value as i64 as u32,
        _ => u32::from(encode_half(value, Rounding::Nearest)),
    }
}

/// Where a matrix lies in shared memory (section 9.7.15.5.1.2.2).
#[derive(Clone, Copy)]
struct Descriptor(u64);

impl Descriptor {
    fn field(self, shift: u32) -> u64 {
        (self.0 >> shift & 0x3fff) << 4
    }

    /// Bytes of a row within which pieces of sixteen are exchanged.
    fn swizzle(self) -> u64 {
        match self.0 >> 62 {
            0 => CHUNK as u64,
            1 => 128,
            2 => 64,
            _ => 32,
        }
    }

    /// Where the bytes at a distance from the start lie.
    fn address(self, distance: u64) -> u64 {
        let linear = self.field(0) + distance;
        let pieces = self.swizzle() / CHUNK as u64;
        let base = self.0 >> 49 & 7;
        let row = (linear >> 7).wrapping_sub(base) & (pieces - 1);
        linear ^ row << 4
    }
}

/// A matrix in shared memory; rows are those of A and the columns of B.
#[derive(Clone, Copy)]
struct Operand {
    descriptor: Descriptor,
    element: MatrixElement,
    depth: usize,
    transposed: bool,
}

impl Operand {
    /// Some rows as bytes, one behind the other, each with all of the inner dimension.
    fn rows(
        self,
        rows: std::ops::Range<usize>,
        memories: &mut Memories<'_>,
    ) -> Result<Vec<u8>, Cause> {
        let row_bytes = self.depth * self.element.bits() as usize / 8;
        let mut bytes = vec![0; rows.len() * row_bytes];
        let first = rows.start;
        if self.transposed {
            // Elements have two bytes: a piece has eight rows.
            for rows in rows.step_by(CORE) {
                for at in 0..self.depth {
                    let piece = self.piece(self.along_rows(rows, at), memories)?;
                    for (row, element) in piece.as_chunks::<2>().0.iter().enumerate() {
                        let to = (rows - first + row) * row_bytes + at * 2;
                        bytes[to..to + 2].copy_from_slice(element);
                    }
                }
            }
        } else {
            for row in rows {
                for at in 0..row_bytes / CHUNK {
                    let piece = self.piece(self.along_depth(row, at), memories)?;
                    let to = (row - first) * row_bytes + at * CHUNK;
                    bytes[to..to + CHUNK].copy_from_slice(piece);
                }
            }
        }
        Ok(bytes)
    }

    /// How far from the start a row's piece lies whose neighbours lie along the inner dimension.
    fn along_depth(self, row: usize, piece: usize) -> u64 {
        let (lead, stride) = (self.descriptor.field(16), self.descriptor.field(32));
        let pitch = self.descriptor.swizzle();
        let lead = if pitch == CHUNK as u64 {
            lead
        } else {
            CHUNK as u64
        };
        (row % CORE) as u64 * pitch + (row / CORE) as u64 * stride + piece as u64 * lead
    }

    /// How far from the start the piece of eight rows lies whose neighbours lie along the rows.
    fn along_rows(self, row: usize, at: usize) -> u64 {
        let (lead, stride) = (self.descriptor.field(16), self.descriptor.field(32));
        let pitch = self.descriptor.swizzle();
        let (piece, pieces) = ((row / CORE) as u64, pitch / CHUNK as u64);
        let (within, beyond) = ((at % CORE) as u64, (at / CORE) as u64);
        if pieces == 1 {
            return piece * stride + within * pitch + beyond * lead;
        }
        piece % pieces * CHUNK as u64 + piece / pieces * lead + within * pitch + beyond * stride
    }

    fn piece<'m>(
        self,
        distance: u64,
        memories: &'m mut Memories<'_>,
    ) -> Result<&'m [u8; CHUNK], Cause> {
        let address = self.descriptor.address(distance);
        let outside = memories.explain(Space::Shared, address, CHUNK as u32);
        let start = usize::try_from(address).unwrap_or(usize::MAX);
        let bytes = memories.shared.get(start..);
        bytes.and_then(<[u8]>::first_chunk).ok_or(outside)
    }
}

/// The arithmetic of [`GroupMultiplyAdd`].
trait Products {
    /// The rows' new sums, from the bytes of A's rows and B's columns.
    fn products(&self, left: &[u8], right: &[u8], before: Option<Vec<f64>>) -> Vec<f64>;
}

impl Products for GroupMultiplyAdd {
    fn products(&self, left: &[u8], right: &[u8], before: Option<Vec<f64>>) -> Vec<f64> {
        let columns = usize::from(self.columns);
        let mut products = if self.product == Product::Times {
            self.of_numbers(left, right)
        } else {
            of_bits(left, right, columns)
        };
        if let Some(before) = before {
            for (sum, before) in products.iter_mut().zip(before) {
                *sum += before;
            }
        }
        products
    }
}

/// Products with what is stored of a sparse A.
trait OfStored {
    fn of_stored(
        &self,
        left: &[u8],
        right: &[u8],
        columns: &[usize],
        before: Option<Vec<f64>>,
    ) -> Vec<f64>;
}

impl OfStored for GroupMultiplyAdd {
    fn of_stored(
        &self,
        left: &[u8],
        right: &[u8],
        columns: &[usize],
        before: Option<Vec<f64>>,
    ) -> Vec<f64> {
        let across = usize::from(self.columns);
        let left = numbers(self.elements[0], left, self.negated[0]);
        let right = self.by_depth(right);
        let mut sums = before.unwrap_or_else(|| vec![-0.0; ROWS * across]);
        sparse::multiply(columns, &left, &right, &mut sums, across);
        sums
    }
}

/// Sums of products of numbers.
trait OfNumbers {
    /// B, row by row.
    fn by_depth(&self, right: &[u8]) -> Vec<f64>;
    fn of_numbers(&self, left: &[u8], right: &[u8]) -> Vec<f64>;
}

impl OfNumbers for GroupMultiplyAdd {
    fn by_depth(&self, right: &[u8]) -> Vec<f64> {
        let (columns, depth) = (usize::from(self.columns), usize::from(self.depth));
        let by_column = numbers(self.elements[1], right, self.negated[1]);
        let mut right = vec![0.0; depth * columns];
        for (column, values) in by_column.chunks_exact(depth).enumerate() {
            for (at, &value) in values.iter().enumerate() {
                right[at * columns + column] = value;
            }
        }
        right
    }

    fn of_numbers(&self, left: &[u8], right: &[u8]) -> Vec<f64> {
        let (columns, depth) = (usize::from(self.columns), usize::from(self.depth));
        let left = numbers(self.elements[0], left, self.negated[0]);
        let right = self.by_depth(right);
        let mut sums = vec![-0.0; ROWS * columns];
        for (row, sums) in left.chunks_exact(depth).zip(sums.chunks_exact_mut(columns)) {
            add_row(row, &right, sums);
        }
        sums
    }
}

fn numbers(element: MatrixElement, bytes: &[u8], negated: bool) -> Vec<f64> {
    let sign = if negated { -1.0 } else { 1.0 };
    let decode = |bits: u32| sign * small_float(element, bits);
    match element.bits() {
        8 => bytes.iter().map(|&byte| decode(u32::from(byte))).collect(),
        16 => {
            let halves = bytes.as_chunks().0.iter();
            halves
                .map(|half| decode(u32::from(u16::from_le_bytes(*half))))
                .collect()
        }
        _ => {
            let words = bytes.as_chunks().0.iter();
            words
                .map(|word| decode(u32::from_le_bytes(*word)))
                .collect()
        }
    }
}

/// How many bits are set in both.
fn of_bits(left: &[u8], right: &[u8], columns: usize) -> Vec<f64> {
    let row_bytes = right.len() / columns;
    let pairs = left.chunks_exact(row_bytes).flat_map(|row| {
        right.chunks_exact(row_bytes).map(move |column| {
            let both = row.iter().zip(column).map(|(a, b)| (a & b).count_ones());
            f64::from(both.sum::<u32>())
        })
    });
    pairs.collect()
}
