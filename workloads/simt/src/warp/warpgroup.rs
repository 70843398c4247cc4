//! Matrix products of a warpgroup. Each warp computes the sixteen rows that it holds when it comes to the instruction; that all four have come is waited for with
//! the groups.

use super::aligned::{self, Alignment, Partners, Steps};
use super::elements::{decode, encode, numbers};
use super::shared_matrix::{CHUNK, CORE, Layout, SharedMatrix};
use super::vectors::{self, Work};
use super::{Warp, sparse};
use crate::error::Cause;
use crate::lanes::add_row;
use crate::memory::{BadAccess, Memories};
use crate::registers::full;
use crate::trace::LaneMask;
use warpwatt_ptx::program::{
    Adds, GROUP_ROWS, GroupMultiplyAdd, Inst, Matrix, MatrixElement, Product, Slot, WARPGROUP,
};

/// Lanes that hold a matrix together.
const GROUP: usize = 32;
/// Rows that each warp of a warpgroup has.
const ROWS: usize = GROUP_ROWS as usize / WARPGROUP as usize;

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
        let (sums, left) = matrix.src.split_at(how.sums_read());
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
            let place = |which: usize, slot: Slot| {
                let parts = if which == 0 { how.left_parts() } else { 1 };
                let bits = u32::from(how.depth) / parts * how.elements[which].bits();
                SharedMatrix {
                    layout: Layout::of_warpgroup(self.registers.double(slot)[lane]),
                    size: how.elements[which].bits().div_ceil(8) as usize,
                    row_bytes: bits as usize / 8,
                    transposed: how.transposed[which],
                    packed: None,
                }
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
                    sums[row * columns + column] = decode(how.elements[2], bits);
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

/// The arithmetic of [`GroupMultiplyAdd`].
trait Products {
    /// The rows' new sums, from the bytes of A's rows and B's columns.
    fn products(&self, left: &[u8], right: &[u8], before: Option<Vec<f64>>) -> Vec<f64>;
}

impl Products for GroupMultiplyAdd {
    fn products(&self, left: &[u8], right: &[u8], before: Option<Vec<f64>>) -> Vec<f64> {
        let columns = usize::from(self.columns);
        if self.elements[2] != MatrixElement::S32 {
            return self.of_floats(left, right, None, before);
        }
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
        if self.elements[2] != MatrixElement::S32 {
            return self.of_floats(left, right, Some(columns), before);
        }
        let left = numbers(self.elements[0], left, self.negated[0]);
        let right = self.by_depth(right);
        let mut sums = before.unwrap_or_else(|| vec![-0.0; ROWS * across]);
        sparse::multiply(columns, &left, &right, &mut sums, across);
        sums
    }
}

/// Sums of products of floats.
trait OfFloats {
    /// `columns` says which row of B a stored element of a sparse A meets.
    fn of_floats(
        &self,
        left: &[u8],
        right: &[u8],
        columns: Option<&[usize]>,
        before: Option<Vec<f64>>,
    ) -> Vec<f64>;
}

impl OfFloats for GroupMultiplyAdd {
    fn of_floats(
        &self,
        left: &[u8],
        right: &[u8],
        columns: Option<&[usize]>,
        before: Option<Vec<f64>>,
    ) -> Vec<f64> {
        let across = usize::from(self.columns);
        vectors::done(FloatSums {
            how: self,
            left,
            right,
            columns,
            sums: before.unwrap_or_else(|| vec![0.0; ROWS * across]),
        })
    }
}

/// Sums of floats of a warp's rows.
struct FloatSums<'a> {
    how: &'a GroupMultiplyAdd,
    left: &'a [u8],
    right: &'a [u8],
    columns: Option<&'a [usize]>,
    sums: Vec<f64>,
}

impl Work for FloatSums<'_> {
    type Result = Vec<f64>;

    #[inline(always)]
    fn done(self, steps: impl Steps) -> Vec<f64> {
        let Self { how, sums, .. } = self;
        // Single precision has them all.
        let singles = |values: Vec<f64>| -> Vec<f32> {
            values.into_iter().map(|value| value as f32).collect()
        };
        let [a, b, d] = how.elements;
        let alignment = match a {
            MatrixElement::Small(_) => Alignment::of_bytes(a, b, d),
            _ => Alignment::of(a, d),
        };
        let left = singles(numbers(a, self.left, how.negated[0]));
        let right = singles(how.by_depth(self.right));
        let mut sums = singles(sums);
        let stored = left.len() / ROWS;
        let all: Vec<usize> = (0..stored).collect();
        let partners = match self.columns {
            Some(columns) => Partners::Each(columns),
            None => Partners::Alike(&all),
        };
        aligned::add_products(
            &alignment,
            ((&left, stored), (&right, partners)),
            (&mut sums, how.columns.into()),
            &mut aligned::Room::default(),
            steps,
        );
        sums.into_iter().map(f64::from).collect()
    }
}

/// Sums of products of numbers.
trait OfNumbers {
    /// B, row by row.
    fn by_depth(&self, right: &[u8]) -> Vec<f64>;
    fn of_numbers(&self, left: &[u8], right: &[u8]) -> Vec<f64>;
}

impl OfNumbers for GroupMultiplyAdd {
    #[inline(always)]
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
