//! Matrix products of a warpgroup. Each warp computes the sixteen rows that it holds when it comes to the instruction; that all four have come is waited for with
//! the groups.

mod floats;
mod numbers;

use super::Warp;
use super::elements::{decode, encode};
use super::shared_matrix::{CHUNK, CORE, Layout, SharedMatrix};
use super::{sparse, vectors};
use crate::error::Cause;
use crate::memory::{BadAccess, Memories};
use crate::registers::full;
use crate::trace::LaneMask;
use floats::FloatSums;
use warpwatt_ptx::program::{
    Adds, GROUP_ROWS, GroupMultiplyAdd, Inst, Matrix, MatrixElement, Slot, WARPGROUP,
};

/// Lanes that hold a matrix together.
const GROUP: usize = 32;
/// Rows that each warp of a warpgroup has.
const ROWS: usize = GROUP_ROWS as usize / WARPGROUP as usize;

/// What a warp's rows are multiplied from.
#[derive(Clone, Debug)]
struct Factors {
    /// Rows of A and columns of B, byte by byte.
    left: Vec<u8>,
    right: Vec<u8>,
    /// Which row of B each stored element of a sparse A meets.
    columns: Option<Vec<usize>>,
}

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
        let sources = inst.src.as_slice();
        let (sums, factors) = matrix.src.split_at(how.sums_read());
        for group in 0..W / GROUP {
            let lane = group * GROUP;
            let fault = |cause| BadAccess {
                lane: lane as u32,
                cause,
            };
            let factors = self
                .factors(how, (factors, sources), group, memories)
                .map_err(fault)?;
            let adds = match (how.adds, sources.last()) {
                (Adds::If { negated }, Some(&condition)) => {
                    (self.registers.predicate(condition) >> lane & 1 != 0) != negated
                }
                (adds, _) => adds == Adds::Always(true),
            };
            let sums = adds.then_some(sums);
            self.add_products(how, (sums, &matrix.dst), group, &factors);
        }
        Ok(())
    }

    /// The rows of A that a warp has and all columns of B: A in registers, or both in shared memory where two of the sources say.
    fn factors(
        &self,
        how: &GroupMultiplyAdd,
        (slots, sources): (&[Slot], &[Slot]),
        group: usize,
        memories: &mut Memories<'_>,
    ) -> Result<Factors, Cause> {
        let row = (self.place.warp as usize * (W / GROUP) + group) % WARPGROUP as usize * ROWS;
        let place = |which: usize, slot: Slot| {
            let parts = if which == 0 { how.left_parts() } else { 1 };
            let bits = u32::from(how.depth) / parts * how.elements[which].bits();
            SharedMatrix {
                layout: Layout::of_warpgroup(self.registers.double(slot)[group * GROUP]),
                size: how.elements[which].bits().div_ceil(8) as usize,
                row_bytes: bits as usize / 8,
                transposed: how.transposed[which],
                packed: None,
            }
        };
        let (held, metadata) = slots.split_at(usize::from(how.left));
        let rank = memories.peers.rank();
        let right = place(1, sources[0]).rows(0..usize::from(how.columns), rank, memories)?;
        let left = match held {
            [] => place(0, sources[1]).rows(row..row + ROWS, rank, memories)?,
            _ => self.rows_held(held, group),
        };
        let columns = how.sparse.zip(metadata.first()).map(|(sparse, &metadata)| {
            let words = self.registers.word_part::<GROUP>(metadata, group);
            let stored = usize::from(how.depth) / 2;
            sparse::columns(words, sparse, how.elements[0], stored)
        });
        Ok(Factors {
            left,
            right,
            columns,
        })
    }

    /// D = A B + D, or without D where no slots of it are read.
    fn add_products(
        &mut self,
        how: &GroupMultiplyAdd,
        (before, after): (Option<&[Slot]>, &[Slot]),
        group: usize,
        factors: &Factors,
    ) {
        let element = how.elements[2];
        let held = (how, group);
        if element == MatrixElement::S32 {
            let number = |bits| decode(element, bits);
            let before = before.map(|slots| self.sums_held(held, slots, number));
            let sums = numbers::sums(how, factors, before);
            return self.hold_sums(held, after, &sums, |sum| encode(element, sum, how.saturate));
        }
        let before = before.map(|slots| match element {
            MatrixElement::F32 => self.sums_held(held, slots, f32::from_bits),
            _ => self.sums_held(held, slots, |bits| decode(element, bits) as f32),
        });
        let sums = vectors::done(FloatSums::new(how, factors, before));
        self.hold_sums(held, after, &sums, |sum| encode(element, sum.into(), false));
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
    fn sums_held<T: Copy + Default>(
        &self,
        (how, group): (&GroupMultiplyAdd, usize),
        slots: &[Slot],
        decode: impl Fn(u32) -> T,
    ) -> Vec<T> {
        let columns = usize::from(how.columns);
        let (each, bits) = (how.elements[2].per_register(), how.elements[2].bits());
        let mut sums = vec![T::default(); ROWS * columns];
        for (register, &slot) in slots.iter().enumerate() {
            let words = self.registers.word_part::<GROUP>(slot, group);
            for part in 0..each {
                let place = places_of_sums(register * each + part, columns);
                for (lane, &word) in words.iter().enumerate() {
                    sums[place(lane)] = decode(word >> (part as u32 * bits));
                }
            }
        }
        sums
    }

    fn hold_sums<T: Copy>(
        &mut self,
        (how, group): (&GroupMultiplyAdd, usize),
        slots: &[Slot],
        sums: &[T],
        encode: impl Fn(T) -> u32,
    ) {
        let columns = usize::from(how.columns);
        let (each, bits) = (how.elements[2].per_register(), how.elements[2].bits());
        for (register, &slot) in slots.iter().enumerate() {
            let mut words = [0; GROUP];
            for part in 0..each {
                let place = places_of_sums(register * each + part, columns);
                for (lane, word) in words.iter_mut().enumerate() {
                    *word |= encode(sums[place(lane)]) << (part as u32 * bits);
                }
            }
            *self.registers.word_part_mut::<GROUP>(slot, group) = words;
        }
    }
}

/// Where in a matrix of so many columns, row by row, the `i`-th element of D lies that a lane holds.
#[inline]
fn places_of_sums(i: usize, columns: usize) -> impl Fn(usize) -> usize {
    let first = i / 2 % 2 * CORE * columns + i / 4 * CORE + i % 2;
    move |lane| first + lane / 4 * columns + lane % 4 * 2
}

/// B row by row, from its columns.
#[inline(always)]
fn by_depth<T: Copy + Default>(by_column: &[T], columns: usize) -> Vec<T> {
    let depth = by_column.len() / columns;
    let mut right = vec![T::default(); by_column.len()];
    for (column, values) in by_column.chunks_exact(depth).enumerate() {
        for (row, &value) in right.chunks_exact_mut(columns).zip(values) {
            row[column] = value;
        }
    }
    right
}
