//! Products of the matrices that a warp's lanes hold: `mma`, `wmma.mma`.
//!
//! Sums of floats are those of tensor cores ([`aligned`]), of integers exact, of doubles chains of fused multiply-adds. Registers are brought into the order of
//! their matrix word by word, words are decoded side by side, and eight columns are summed side by side, so that compilers turn both into vector code; which word
//! lies where is worked out once for a kind of instruction.

use std::sync::Arc;

use warpwatt_ptx::program::{HalfFormat, Matrix, MatrixElement, MultiplyAdd, Product, Slot};

use super::Warp;
use super::aligned::{self, Alignment, Partners};
use super::elements;
use super::matrix::{GROUP, Parts};
use super::packed::{SIDE, WORDS, decode, encode};
use super::sparse;
use super::vectors::{self, Work};
use crate::lanes::fused_double;
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
    of_floats: FloatRoom,
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

/// An instruction that a warp executes.
struct Executed<'a, const W: usize> {
    warp: &'a mut Warp<W>,
    how: &'a MultiplyAdd,
    matrix: &'a Matrix,
    executed: LaneMask,
}

impl<const W: usize> Work for Executed<'_, W> {
    type Result = ();

    #[inline(always)]
    fn done(self) {
        self.warp
            .multiply_add_here(self.how, self.matrix, self.executed);
    }
}

impl<const W: usize> Warp<W> {
    pub(super) fn multiply_add(&mut self, how: &MultiplyAdd, matrix: &Matrix, executed: LaneMask) {
        vectors::done(Executed {
            warp: self,
            how,
            matrix,
            executed,
        });
    }

    #[inline(always)]
    fn multiply_add_here(&mut self, how: &MultiplyAdd, matrix: &Matrix, executed: LaneMask) {
        let places = self.multiplier.places(how, matrix.dst.len());
        let mut room = std::mem::take(&mut self.multiplier.room);
        let mut float_room = std::mem::take(&mut self.multiplier.of_floats);
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
                    if how.elements[3] == MatrixElement::S32 {
                        sparse::multiply(&columns, a, b, d, usize::from(how.shape[1]));
                    } else {
                        of_floats(how, (a, b), Some(&columns), d, &mut float_room);
                    }
                }
                _ => multiply(how, a, b, d, &mut float_room),
            }
            self.scatter(how, (&matrix.dst, executed), group, &places[3], d);
        }
        self.multiplier.room = room;
        self.multiplier.of_floats = float_room;
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
fn multiply(how: &MultiplyAdd, a: &[f64], b: &[f64], d: &mut [f64], room: &mut FloatRoom) {
    match (how.elements[0], how.product) {
        (MatrixElement::F64, _) => fused(how, a, b, d),
        _ if how.elements[3] != MatrixElement::S32 => of_floats(how, (a, b), None, d, room),
        (_, Product::Xor) => summed(how, a, b, d, |a, b| (a - b).abs()),
        _ => summed(how, a, b, d, |a, b| a * b),
    }
}

/// Room for sums of floats.
#[derive(Clone, Debug, Default)]
struct FloatRoom {
    sums: aligned::Room,
    /// Which columns of A are summed at a time, they, and which rows of B they meet where A is sparse.
    chosen: Vec<usize>,
    left: Vec<f64>,
    partners: Vec<usize>,
}

/// Sums of floats; `columns` says which row of B each stored element of a sparse A meets.
#[inline(always)]
fn of_floats(
    how: &MultiplyAdd,
    (a, b): (&[f64], &[f64]),
    columns: Option<&[usize]>,
    d: &mut [f64],
    room: &mut FloatRoom,
) {
    let [factor, _, addend, result] = how.elements;
    let [m, n, _] = how.shape.map(usize::from);
    let stored = a.len() / m;
    let of_bytes = matches!(factor, MatrixElement::Small(_));
    let alignment = match () {
        () if of_bytes => Alignment::of(MatrixElement::Half(HalfFormat::F16), result),
        // A single that is added to leaves a single, which becomes a half later.
        () if addend == MatrixElement::F32 => Alignment::of(factor, addend),
        () => Alignment::of(factor, result),
    };
    if of_bytes {
        // Machines make halves of them, sum the first two of each four and then the others, and add that to what was there.
        let mut sums = vec![0.0; d.len()];
        for part in 0..2 {
            room.choose((a, columns), stored, |at| at / 2 % 2 == part);
            room.add_chosen(&alignment, b, columns, (&mut sums, n));
            for sum in &mut sums {
                *sum = elements::decode(result, elements::encode(result, *sum, false));
            }
        }
        for (sum, part) in d.iter_mut().zip(sums) {
            *sum += part;
        }
    } else if factor == MatrixElement::Half(HalfFormat::Tf32) && !how.fixed_layout {
        // `wmma` takes four TF32 at a time.
        for part in 0..stored / 4 {
            room.choose((a, columns), stored, |at| at / 4 == part);
            room.add_chosen(&alignment, b, columns, (d, n));
        }
    } else {
        room.chosen.clear();
        room.chosen.extend(0..stored);
        let partners = match columns {
            Some(columns) => Partners::Each(columns),
            None => Partners::Alike(&room.chosen),
        };
        let factors = ((a, stored), (b, partners));
        aligned::add_products(&alignment, factors, (d, n), &mut room.sums);
    }
}

impl FloatRoom {
    /// Takes some of A's columns.
    #[inline(always)]
    fn choose(
        &mut self,
        (a, columns): (&[f64], Option<&[usize]>),
        stored: usize,
        is_chosen: impl Fn(usize) -> bool,
    ) {
        self.chosen.clear();
        self.chosen.extend((0..stored).filter(|&at| is_chosen(at)));
        choose(a, stored, &self.chosen, &mut self.left);
        choose(
            columns.unwrap_or_default(),
            stored,
            &self.chosen,
            &mut self.partners,
        );
    }

    #[inline(always)]
    fn add_chosen(
        &mut self,
        how: &Alignment,
        b: &[f64],
        columns: Option<&[usize]>,
        d: (&mut [f64], usize),
    ) {
        let partners = match columns {
            Some(_) => Partners::Each(&self.partners),
            None => Partners::Alike(&self.chosen),
        };
        let left = (&self.left[..], self.chosen.len());
        aligned::add_products(how, (left, (b, partners)), d, &mut self.sums);
    }
}

/// Some columns of a matrix.
fn choose<T: Copy>(matrix: &[T], across: usize, columns: &[usize], to: &mut Vec<T>) {
    to.clear();
    let rows = matrix.chunks_exact(across);
    to.extend(rows.flat_map(|row| columns.iter().map(|&column| row[column])));
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
                *sum = fused_double(one, other, *sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same bits, or NaN both.
    fn same(one: f64, other: f64) -> bool {
        one.to_bits() == other.to_bits() || one.is_nan() && other.is_nan()
    }

    /// Elements that multiply-adds take.
    fn elements() -> impl Strategy<Value = [MatrixElement; 4]> {
        use MatrixElement::{B1, F32, F64, Half, S4, S8, S32, U4, U8};
        let half = Half(HalfFormat::F16);
        prop::sample::select(vec![
            [half, half, F32, F32],
            [half, half, half, half],
            [half, half, half, F32],
            [Half(HalfFormat::Bf16), Half(HalfFormat::Bf16), F32, F32],
            [Half(HalfFormat::Tf32), Half(HalfFormat::Tf32), F32, F32],
            [S8, U8, S32, S32],
            [U4, S4, S32, S32],
            [B1, B1, S32, S32],
            [F64, F64, F64, F64],
        ])
    }

    /// The sum of terms cut 25 bits below the largest exponent: exponents are found one by one, and places are whole numbers.
    fn cut_sum(how: &MultiplyAdd, before: f64, pairs: &[(f64, f64)]) -> f64 {
        let plain = pairs.iter().fold(before, |sum, (a, b)| sum + a * b);
        if !plain.is_finite() {
            return plain;
        }
        let least = |element| match element {
            MatrixElement::Half(HalfFormat::F16) => -14,
            _ => -126,
        };
        let exponent = |value: f64, element| libm::ilogb(value).max(least(element));
        let of_factors = pairs.iter().filter(|(a, b)| a * b != 0.0);
        let exponents = of_factors
            .map(|&(a, b)| exponent(a, how.elements[0]) + exponent(b, how.elements[1]))
            .chain((before != 0.0).then(|| exponent(before, how.elements[3])));
        let Some(last) = exponents.max().map(|largest| largest - 25) else {
            return 0.0;
        };
        let places = |term: f64| libm::ldexp(term, -last).trunc() as i64;
        let terms = pairs.iter().map(|(a, b)| places(a * b));
        let sum = libm::ldexp((places(before) + terms.sum::<i64>()) as f64, last);
        if how.elements[2] != MatrixElement::F32 && how.elements[3] != MatrixElement::F32 {
            return 0.0
                + crate::lanes::decode_half(crate::lanes::encode_half(
                    sum,
                    warpwatt_ptx::program::Rounding::Nearest,
                ));
        }
        let nearest = sum as f32;
        let single = if f64::from(nearest).abs() > sum.abs() && nearest.is_finite() {
            f32::from_bits(nearest.to_bits() - 1)
        } else if nearest.is_infinite() && sum.abs() < libm::ldexp(1.0, 128) {
            f32::MAX.copysign(nearest)
        } else {
            nearest
        };
        f64::from(single)
    }

    /// One sum as it is documented, with numbers of its own.
    fn sum(how: &MultiplyAdd, before: f64, pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
        if matches!(how.elements[0], MatrixElement::Half(_)) {
            return cut_sum(how, before, &pairs.collect::<Vec<_>>());
        }
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
            multiply(&how, &a, &b, &mut d, &mut FloatRoom::default());
            for row in 0..m {
                for column in 0..n {
                    let pairs = (0..k).map(|at| (a[row * k + at], b[at * n + column]));
                    let want = sum(&how, c[row * n + column], pairs);
                    let found = match how.elements[3] {
                        // Rounded when they are encoded.
                        result @ MatrixElement::Half(_) => elements::decode(result, elements::encode(result, d[row * n + column], false)),
                        _ => d[row * n + column],
                    };
                    prop_assert!(same(found, want), "{} {}: {} {}", row, column, found, want);
                }
            }
        }
    }
}
