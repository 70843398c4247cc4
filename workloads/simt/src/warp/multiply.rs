//! Products of the matrices that a warp's lanes hold: `mma`, `wmma.mma`.
//!
//! Sums of floats are those of tensor cores ([`floats`](super::floats)), of integers exact, of doubles chains of fused multiply-adds. Registers are brought into
//! the order of their matrix, words are decoded side by side, and eight columns are summed side by side, so that compilers turn both into vector code.

use std::sync::Arc;

use warpwatt_ptx::program::{Matrix, MatrixElement, MultiplyAdd, Product, Slot};

use super::Warp;
use super::aligned::Steps;
use super::elements;
use super::floats::{FloatRoom, of_floats};
use super::matrix::{GROUP, Parts};
use super::packed::{self, WORDS, decode};
use super::places::Places;
use super::sparse;
use super::vectors::{self, Work};
use crate::lanes::fused_double;
use crate::trace::LaneMask;

/// Rows and columns that are summed side by side: each matrix has a multiple of so many.
const ROWS: usize = 4;
const COLUMNS: usize = 8;

/// What the kinds of instructions that were met look like, of A, B, C and D.
#[derive(Clone, Debug, Default)]
pub(super) struct Multiplier {
    known: Vec<(MultiplyAdd, Arc<[Places; 4]>)>,
    /// Behind a pointer, to be taken out quickly.
    room: Option<Box<Room>>,
}

/// Room for A, B and C.
#[derive(Clone, Debug, Default)]
struct Room {
    singles: [Vec<f32>; 3],
    doubles: [Vec<f64>; 3],
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

/// What a group of lanes executes.
#[derive(Clone, Copy)]
struct Share<'a> {
    how: &'a MultiplyAdd,
    /// The registers of A, B and C, and of D.
    sources: [&'a [Slot]; 3],
    results: &'a [Slot],
    places: &'a [Places; 4],
    /// Which row of B each stored element of a sparse A meets.
    columns: Option<&'a [usize]>,
    group: usize,
    executed: LaneMask,
}

impl<const W: usize> Work for Executed<'_, W> {
    type Result = ();

    #[inline(always)]
    fn done(self, steps: impl Steps) {
        self.warp
            .multiply_add_here((self.how, self.matrix), self.executed, steps);
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
    fn multiply_add_here(
        &mut self,
        (how, matrix): (&MultiplyAdd, &Matrix),
        executed: LaneMask,
        steps: impl Steps,
    ) {
        let places = self.multiplier.places(how, matrix.dst.len());
        let mut room = self.multiplier.room.take().unwrap_or_default();
        let [of_a, of_b, of_c] = how.registers.map(usize::from);
        let (first, rest) = matrix.src.split_at(of_a);
        let (second, rest) = rest.split_at(of_b);
        let (third, metadata) = rest.split_at(of_c);
        for group in 0..W / GROUP {
            let columns = how.sparse.zip(metadata.first()).map(|(sparse, &metadata)| {
                let words = self.registers.word_part::<GROUP>(metadata, group);
                let [_, stored] = how.size_of(0);
                sparse::columns(words, sparse, how.elements[0], stored)
            });
            let share = Share {
                how,
                sources: [first, second, third],
                results: &matrix.dst,
                places: &places,
                columns: columns.as_deref(),
                group,
                executed: executed & LaneMask::from(u32::MAX) << (group * GROUP),
            };
            match (how.elements[0], how.elements[3]) {
                (MatrixElement::F64, _) => self.multiply_doubles(share, &mut room.doubles),
                (_, MatrixElement::S32) => self.multiply_integers(share, &mut room.doubles),
                _ => self.multiply_floats(share, &mut room, steps),
            }
        }
        self.multiplier.room = Some(room);
    }

    #[inline(always)]
    fn multiply_floats(&mut self, share: Share<'_>, room: &mut Room, steps: impl Steps) {
        let mut words = [0; WORDS];
        for (part, values) in room.singles.iter_mut().enumerate() {
            self.gather(share, part, &mut words);
            share.decode(part, &words, values);
        }
        let [a, b, d] = &mut room.singles;
        let with = (&mut room.of_floats, steps);
        let meets = (&share.places[0].columns[..], share.columns);
        of_floats(share.how, (a, b), meets, d, with);
        packed::encode(share.how.elements[3], d, &mut words);
        self.scatter(share, &words);
    }

    #[inline(always)]
    fn multiply_integers(&mut self, share: Share<'_>, room: &mut [Vec<f64>; 3]) {
        let how = share.how;
        let mut words = [0; WORDS];
        let [a, b, d] = room;
        for (part, values) in [&mut *a, &mut *b].into_iter().enumerate() {
            self.gather(share, part, &mut words);
            share.decode(part, &words, values);
        }
        self.gather(share, 2, &mut words);
        d.resize(share.places[2].elements, 0.0);
        for (sum, &word) in d.iter_mut().zip(&words) {
            *sum = f64::from(word as i32);
        }
        match (share.columns, how.product) {
            (Some(columns), _) => sparse::multiply(columns, a, b, d, usize::from(how.shape[1])),
            (_, Product::Xor) => summed(how, a, b, d, |a, b| (a - b).abs()),
            _ => summed(how, a, b, d, |a, b| a * b),
        }
        // Whether it saturates stands before the loops, so that they become vector code.
        for saturate in [false, true] {
            if how.saturate == saturate {
                for (word, &sum) in words.iter_mut().zip(&*d) {
                    *word = elements::encode(MatrixElement::S32, sum, saturate);
                }
            }
        }
        self.scatter(share, &words);
    }

    /// In registers of 64 bits.
    #[inline(always)]
    fn multiply_doubles(&mut self, share: Share<'_>, room: &mut [Vec<f64>; 3]) {
        for (part, values) in room.iter_mut().enumerate() {
            // The lanes hold every element.
            values.resize(share.places[part].elements, 0.0);
            let places = share.places[part].of_registers();
            for (&slot, places) in share.sources[part].iter().zip(places) {
                let doubles = self.registers.double_part::<GROUP>(slot, share.group);
                for (&place, &bits) in places.iter().zip(doubles) {
                    values[usize::from(place)] = f64::from_bits(bits);
                }
            }
        }
        let [a, b, d] = room;
        fused(share.how, a, b, d);
        let places = share.places[3].of_registers();
        for (&slot, places) in share.results.iter().zip(places) {
            let mut own = [0; W];
            for (own, &place) in own[share.group * GROUP..].iter_mut().zip(places) {
                *own = d[usize::from(place)].to_bits();
            }
            self.registers.set_double(slot, share.executed, &own);
        }
    }

    /// The words of a matrix that a group of lanes holds, row by row. The lanes hold every element.
    #[inline(always)]
    fn gather(&self, share: Share<'_>, part: usize, words: &mut [u32; WORDS]) {
        let slots = share.sources[part].iter();
        let registers = slots.map(|&slot| self.registers.word_part::<GROUP>(slot, share.group));
        share.places[part].gather(registers, words);
    }

    #[inline(always)]
    fn scatter(&mut self, share: Share<'_>, words: &[u32; WORDS]) {
        let places = &share.places[3];
        for (&slot, of_register) in share.results.iter().zip(places.of_registers()) {
            let own = self.registers.word_part_mut::<GROUP>(slot, share.group);
            let before = *own;
            places.scatter(words, of_register, own);
            let executed = (share.executed >> (share.group * GROUP)) as u32;
            if executed != u32::MAX {
                let lanes = own.iter_mut().zip(before).enumerate();
                for (_, (own, before)) in lanes.filter(|(lane, _)| executed >> lane & 1 == 0) {
                    *own = before;
                }
            }
        }
    }
}

impl Share<'_> {
    /// The elements of a matrix.
    #[inline(always)]
    fn decode<T: From<f32> + Copy>(self, part: usize, words: &[u32; WORDS], values: &mut Vec<T>) {
        let places = &self.places[part];
        values.resize(places.elements, 0.0.into());
        decode(self.how.elements[part], words, places.apart, values);
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
                *sum = fused_double(one, other, *sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::warp::aligned::plain;
    use warpwatt_ptx::program::HalfFormat;

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

    fn products(how: &MultiplyAdd, a: &[f64], b: &[f64], c: &[f64]) -> Vec<f64> {
        let mut d = c.to_vec();
        match (how.elements[0], how.product) {
            (MatrixElement::F64, _) => fused(how, a, b, &mut d),
            (MatrixElement::Half(_), _) => {
                let [a, b, mut d] = [a, b, c]
                    .map(|values| values.iter().map(|&value| value as f32).collect::<Vec<_>>());
                let order: Vec<usize> = (0..usize::from(how.shape[2])).collect();
                let with = (&mut FloatRoom::default(), plain);
                of_floats(how, (&a, &b), (&order, None), &mut d, with);
                return d.into_iter().map(f64::from).collect();
            }
            (_, Product::Xor) => summed(how, a, b, &mut d, |a, b| (a - b).abs()),
            _ => summed(how, a, b, &mut d, |a, b| a * b),
        }
        d
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
            let d = products(&how, &a, &b, &c);
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
