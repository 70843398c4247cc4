//! Where the registers of a matrix that a warp holds lie in it, which is worked out once for a kind of instruction.

use warpwatt_ptx::program::MultiplyAdd;

use super::matrix::{GROUP, Parts};
use super::packed::{SIDE, WORDS};

/// Lanes whose words are often neighbours.
const RUN: usize = 4;

/// Where the registers of a matrix lie in it.
#[derive(Debug)]
pub(super) struct Places {
    /// Of each register, lane by lane, its number among the words of the matrix.
    words: Vec<u8>,
    /// Whether each four lanes have four words one after the other.
    in_runs: bool,
    /// How far the elements of a word lie apart in the matrix, row by row: 1, or [`SIDE`].
    pub apart: usize,
    /// Elements of the matrix.
    pub elements: usize,
    /// The numbers of the columns in the order in which they lie.
    pub columns: Vec<usize>,
}

impl Places {
    pub fn of(how: &MultiplyAdd, part: usize, registers: usize) -> Self {
        let per_word = how.elements[part].per_register();
        let [rows, columns] = how.size_of(part);
        let mut firsts = vec![0; GROUP * registers];
        let mut apart = 1;
        for (lane, at, [row, column]) in how.places(part, registers) {
            let element = row * columns + column_of(how, part, column);
            let first = &mut firsts[at / per_word * GROUP + lane];
            match at % per_word {
                0 => *first = element,
                1 => apart = element - *first,
                _ => {}
            }
        }
        let number = |first: usize| first / (apart * per_word) * apart + first % apart;
        debug_assert!(apart == 1 || apart == SIDE && columns.is_multiple_of(SIDE));
        debug_assert!(rows * columns <= WORDS * per_word);
        let mut order = vec![0; columns];
        for column in 0..columns {
            order[column_of(how, part, column)] = column;
        }
        let words: Vec<u8> = firsts
            .into_iter()
            .map(|first| number(first) as u8)
            .collect();
        Self {
            in_runs: words.as_chunks::<RUN>().0.iter().all(is_run),
            words,
            apart,
            elements: rows * columns,
            columns: order,
        }
    }

    /// Of a register, lane by lane.
    pub fn of_registers(&self) -> impl Iterator<Item = &[u8; GROUP]> {
        self.words.as_chunks().0.iter()
    }

    /// Puts the registers' words where they lie in the matrix.
    #[inline(always)]
    pub fn gather<'a>(
        &self,
        registers: impl Iterator<Item = &'a [u32; GROUP]>,
        words: &mut [u32; WORDS],
    ) {
        for (own, places) in registers.zip(self.of_registers()) {
            if self.in_runs {
                let own = own.as_chunks::<RUN>().0;
                let words = words.as_chunks_mut::<RUN>().0;
                for (own, places) in own.iter().zip(places.as_chunks::<RUN>().0) {
                    words[usize::from(places[0]) / RUN] = *own;
                }
            } else {
                for (&own, &place) in own.iter().zip(places) {
                    words[usize::from(place)] = own;
                }
            }
        }
    }

    /// The word that each lane has in a register with these places.
    #[inline(always)]
    pub fn scatter(&self, words: &[u32; WORDS], places: &[u8; GROUP], own: &mut [u32; GROUP]) {
        if self.in_runs {
            let words = words.as_chunks::<RUN>().0;
            let own = own.as_chunks_mut::<RUN>().0.iter_mut();
            for (own, places) in own.zip(places.as_chunks::<RUN>().0) {
                *own = words[usize::from(places[0]) / RUN];
            }
        } else {
            for (own, &place) in own.iter_mut().zip(places) {
                *own = words[usize::from(place)];
            }
        }
    }
}

/// Whether words lie one after the other, the first as chunks do.
fn is_run(places: &[u8; RUN]) -> bool {
    let first = usize::from(places[0]);
    first.is_multiple_of(RUN) && (0..RUN).all(|lane| usize::from(places[lane]) == first + lane)
}

/// Where a column lies: in which order the columns of B, C and D are makes no difference to products, nor does that of A's columns if B's rows are as ordered.
fn column_of(how: &MultiplyAdd, part: usize, column: usize) -> usize {
    let sums = [2, 3].map(|part| how.elements[part].per_register());
    if part == 0 && has_parts_apart(how) {
        return column / (2 * SIDE) * 2 * SIDE + column % 2 * SIDE + column / 2 % SIDE;
    }
    // Where four lanes have every other column of eight, in two registers, those of a register come first.
    if part != 0 && how.fixed_layout && sums == [1, 1] {
        return column / SIDE * SIDE + column % 2 * RUN + column / 2 % RUN;
    }
    column
}

/// Whether of each sixteen columns of A those that lie in the lower halves of words come first.
fn has_parts_apart(how: &MultiplyAdd) -> bool {
    let [_, columns] = how.size_of(0);
    let is_half = how.elements[0].per_register() == 2;
    is_half && how.fixed_layout && how.sparse.is_none() && columns.is_multiple_of(2 * SIDE)
}
