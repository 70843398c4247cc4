//! Products of the matrices that a warp's lanes hold: `mma`, `wmma.mma`.
//!
//! Products are exact, sums in double precision along the inner dimension, one after the other, rounded once at the end: at least as exact as
//! hardware, whose sums PTX leaves open. Registers are brought into the order of their matrix word by word, words are decoded side by side, and eight columns are
//! summed side by side, so that compilers turn both into vector code; which word lies where is worked out once for a kind of instruction.

use std::sync::Arc;

use warpwatt_ptx::program::{Matrix, MatrixElement, MultiplyAdd, Product, Slot};

use super::Warp;
use super::matrix::{GROUP, Parts};
use super::packed::{SIDE, WORDS, decode, encode};
use super::sparse;
use crate::trace::LaneMask;

/// Rows and columns that are summed side by side: each matrix has a multiple of so many.
const ROWS: usize = 4;
const COLUMNS: usize = 8;

/// Where the registers of a matrix lie in it.
#[derive(Debug)]
struct Places {
    /// Of each register, lane by lane, its number among the words of the matrix.
    words: Vec<u8>,
    /// How far the elements of a word lie apart in the matrix, row by row: 1, or a row.
    apart: usize,
    /// Elements of the matrix.
    elements: usize,
}

impl Places {
    fn of(how: &MultiplyAdd, part: usize, registers: usize) -> Self {
        let per_word = how.elements[part].per_register();
        let [rows, columns] = how.size_of(part);
        let mut firsts = vec![0; GROUP * registers];
        let mut apart = 1;
        for (lane, at, [row, column]) in how.places(part, registers) {
            let element = row * columns + column;
            let first = &mut firsts[at / per_word * GROUP + lane];
            match at % per_word {
                0 => *first = element,
                1 => apart = element - *first,
                _ => {}
            }
        }
        let number = |first: usize| first / (apart * per_word) * apart + first % apart;
        debug_assert!(apart == 1 || apart == SIDE && columns == SIDE);
        debug_assert!(rows * columns <= WORDS * per_word);
        Self {
            words: firsts
                .into_iter()
                .map(|first| number(first) as u8)
                .collect(),
            apart,
            elements: rows * columns,
        }
    }

    /// Of a register, lane by lane.
    fn of_registers(&self) -> impl Iterator<Item = &[u8; GROUP]> {
        self.words.as_chunks().0.iter()
    }
}

/// What the kinds of instructions that were met look like, of A, B, C and D, and room for A, B and C.
#[derive(Clone, Debug, Default)]
pub(super) struct Multiplier {
    known: Vec<(MultiplyAdd, Arc<[Places; 4]>)>,
    room: [Vec<f64>; 3],
}

impl Multiplier {
    fn places(&mut self, how: &MultiplyAdd, results: usize) -> Arc<[Places; 4]> {
        if let Some((_, places)) = self.known.iter().find(|(known, _)| known == how) {
            return Arc::clone(places);
        }
        let [a, b, c] = how.registers.map(usize::from);
        let mut part = 0;
        let places = [a, b, c, results].map(|registers| {
            part += 1;
            Places::of(how, part - 1, registers)
        });
        let places = Arc::new(places);
        self.known.push((*how, Arc::clone(&places)));
        places
    }
}

impl<const W: usize> Warp<W> {
    /// What it calls is inlined as well, to be compiled for the machine of its caller.
    #[inline(always)]
    pub(super) fn multiply_add_here(
        &mut self,
        how: &MultiplyAdd,
        matrix: &Matrix,
        executed: LaneMask,
    ) {
        let places = self.multiplier.places(how, matrix.dst.len());
        let mut room = std::mem::take(&mut self.multiplier.room);
        let mut words = [0; WORDS];
        let [of_a, of_b, of_c] = how.registers.map(usize::from);
        let (first, rest) = matrix.src.split_at(of_a);
        let (second, rest) = rest.split_at(of_b);
        let (third, metadata) = rest.split_at(of_c);
        for group in 0..W / GROUP {
            for (part, slots) in [first, second, third].into_iter().enumerate() {
                let element = how.elements[part];
                let to = (&mut words, &mut room[part]);
                self.gather(element, slots, group, &places[part], to);
            }
            let [a, b, d] = &mut room;
            match (how.sparse, metadata) {
                (Some(sparse), [metadata]) => {
                    let words = self.registers.word_part::<GROUP>(*metadata, group);
                    let [_, stored] = how.size_of(0);
                    let columns = sparse::columns(words, sparse, how.elements[0], stored);
                    sparse::multiply(&columns, a, b, d, usize::from(how.shape[1]));
                }
                _ => multiply(how, a, b, d),
            }
            self.scatter(how, (&matrix.dst, executed), group, &places[3], d);
        }
        self.multiplier.room = room;
    }

    /// A matrix that a group of lanes holds, row by row.
    #[inline(always)]
    fn gather(
        &self,
        element: MatrixElement,
        slots: &[Slot],
        group: usize,
        places: &Places,
        (words, values): (&mut [u32; WORDS], &mut Vec<f64>),
    ) {
        // The lanes hold every element.
        values.resize(places.elements, 0.0);
        let registers = slots.iter().zip(places.of_registers());
        if element == MatrixElement::F64 {
            for (&slot, places) in registers {
                let doubles = self.registers.double_part::<GROUP>(slot, group);
                for (&place, &bits) in places.iter().zip(doubles) {
                    values[usize::from(place)] = f64::from_bits(bits);
                }
            }
            return;
        }
        for (&slot, places) in registers {
            let own = self.registers.word_part::<GROUP>(slot, group);
            for (&place, &word) in places.iter().zip(own) {
                words[usize::from(place)] = word;
            }
        }
        decode(element, words, places.apart, values);
    }

    #[inline(always)]
    fn scatter(
        &mut self,
        how: &MultiplyAdd,
        (slots, executed): (&[Slot], LaneMask),
        group: usize,
        places: &Places,
        values: &[f64],
    ) {
        let lanes = executed & LaneMask::from(u32::MAX) << (group * GROUP);
        let registers = slots.iter().zip(places.of_registers());
        if how.elements[3] == MatrixElement::F64 {
            for (&slot, places) in registers {
                let mut own = [0; W];
                for (own, &place) in own[group * GROUP..].iter_mut().zip(places) {
                    *own = values[usize::from(place)].to_bits();
                }
                self.registers.set_double(slot, lanes, &own);
            }
            return;
        }
        let mut words = [0; WORDS];
        encode(how.elements[3], how.saturate, values, &mut words);
        for (&slot, places) in registers {
            let mut own = [0; W];
            for (own, &place) in own[group * GROUP..].iter_mut().zip(places) {
                *own = words[usize::from(place)];
            }
            self.registers.set_word(slot, lanes, &own);
        }
    }
}

/// D = A B + D.
#[inline(always)]
fn multiply(how: &MultiplyAdd, a: &[f64], b: &[f64], d: &mut [f64]) {
    match (how.elements[0], how.product) {
        (MatrixElement::F64, _) => fused(how, a, b, d),
        (_, Product::Xor) => summed(how, a, b, d, |a, b| (a - b).abs()),
        _ => summed(how, a, b, d, |a, b| a * b),
    }
}

/// Sums of products on top of what was there, some rows and columns at a time.
#[inline(always)]
fn summed(
    how: &MultiplyAdd,
    a: &[f64],
    b: &[f64],
    d: &mut [f64],
    product: impl Fn(f64, f64) -> f64,
) {
    let [_, n, k] = how.shape.map(usize::from);
    let across = n / COLUMNS;
    let b = b.as_chunks::<COLUMNS>().0;
    for (left, sums) in a.chunks_exact(ROWS * k).zip(d.chunks_exact_mut(ROWS * n)) {
        let left: [&[f64]; ROWS] = std::array::from_fn(|row| &left[row * k..][..k]);
        let sums = sums.as_chunks_mut::<COLUMNS>().0;
        for column in 0..across {
            // Zero that leaves the sign of what is added.
            let mut products = [[-0.0; COLUMNS]; ROWS];
            for (at, right) in b[column..].iter().step_by(across).take(k).enumerate() {
                for (products, left) in products.iter_mut().zip(left) {
                    for (sum, &right) in products.iter_mut().zip(right) {
                        *sum += product(left[at], right);
                    }
                }
            }
            for (row, products) in products.iter().enumerate() {
                for (sum, product) in sums[row * across + column].iter_mut().zip(products) {
                    *sum += product;
                }
            }
        }
    }
}

/// Chains of fused multiply-adds, each rounded.
fn fused(how: &MultiplyAdd, a: &[f64], b: &[f64], d: &mut [f64]) {
    let [_, n, k] = how.shape.map(usize::from);
    for (left, sums) in a.chunks_exact(k).zip(d.chunks_exact_mut(n)) {
        for (&one, row) in left.iter().zip(b.chunks_exact(n)) {
            for (sum, &other) in sums.iter_mut().zip(row) {
                *sum = libm::fma(one, other, *sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use warpwatt_ptx::program::{HalfFormat, SmallFormat};

    use super::*;

    /// The same bits, or NaN both.
    fn same(one: f64, other: f64) -> bool {
        one.to_bits() == other.to_bits() || one.is_nan() && other.is_nan()
    }

    /// Elements that multiply-adds take.
    fn elements() -> impl Strategy<Value = [MatrixElement; 4]> {
        use MatrixElement::{B1, F32, F64, Half, S4, S8, S32, Small, U4, U8};
        let half = Half(HalfFormat::F16);
        prop::sample::select(vec![
            [half, half, F32, F32],
            [half, half, half, half],
            [half, half, half, F32],
            [Half(HalfFormat::Bf16), Half(HalfFormat::Bf16), F32, F32],
            [Half(HalfFormat::Tf32), Half(HalfFormat::Tf32), F32, F32],
            [Small(SmallFormat::E4m3), Small(SmallFormat::E5m2), F32, F32],
            [
                Small(SmallFormat::E5m2),
                Small(SmallFormat::E4m3),
                half,
                half,
            ],
            [S8, U8, S32, S32],
            [U4, S4, S32, S32],
            [B1, B1, S32, S32],
            [F64, F64, F64, F64],
        ])
    }

    /// One sum as it is documented, with numbers of its own.
    fn sum(how: &MultiplyAdd, before: f64, pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
        if how.elements[0] == MatrixElement::F64 {
            return pairs.fold(before, |sum, (a, b)| libm::fma(a, b, sum));
        }
        let products = pairs.map(|(a, b)| match how.product {
            Product::Xor => f64::from(u8::from(a != b)),
            _ => a * b,
        });
        before + products.sum::<f64>()
    }

    proptest! {
        #[test]
        fn sums_are_those_of_one_element_after_the_other(
            elements in elements(), xor: bool, saturate: bool, n in 1u16..5, k in 1u16..9,
            bits in prop::collection::vec(any::<u64>(), 16 * 32 + 32 * 64 + 16 * 32),
        ) {
            let product = if xor && elements[0] == MatrixElement::B1 { Product::Xor } else { Product::Times };
            let (m, n, k) = (16, 8 * n, 4 * k);
            let how = MultiplyAdd { shape: [m, n, k], elements, registers: [0; 3], fixed_layout: true, saturate, product, sparse: None };
            let [m, n, k] = [m, n, k].map(usize::from);
            let value = |part: usize, at: usize| {
                let mut decoded = [f64::from_bits(bits[at]); 32 * 32];
                decode(elements[part], &[bits[at] as u32; WORDS], 1, &mut decoded);
                decoded[0]
            };
            let a: Vec<f64> = (0..m * k).map(|at| value(0, at)).collect();
            let b: Vec<f64> = (0..k * n).map(|at| value(1, at + 100)).collect();
            let c: Vec<f64> = (0..m * n).map(|at| value(2, at + 200)).collect();
            let mut d = c.clone();
            multiply(&how, &a, &b, &mut d);
            for row in 0..m {
                for column in 0..n {
                    let pairs = (0..k).map(|at| (a[row * k + at], b[at * n + column]));
                    let want = sum(&how, c[row * n + column], pairs);
                    let found = d[row * n + column];
                    prop_assert!(same(found, want), "{} {}: {} {}", row, column, found, want);
                }
            }
        }
    }
}
