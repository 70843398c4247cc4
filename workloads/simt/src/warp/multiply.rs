//! Products of the matrices that a warp's lanes hold: `mma`, `wmma.mma`.
//!
//! Products are exact, sums in double precision along the inner dimension, one after the other, rounded once at the end: at least as exact as
//! hardware, whose sums PTX leaves open. Elements are decoded a register of all lanes at a time, and eight columns are summed side by side, so that
//! compilers turn both into vector code; which element lies where is worked out once for a kind of instruction.

use std::sync::Arc;

use warpwatt_ptx::program::{
    HalfFormat, Matrix, MatrixElement, MultiplyAdd, Product, Rounding, Slot, SlotKind, SmallFormat,
};

use super::Warp;
use super::matrix::{GROUP, Parts};
use super::sparse;
use crate::lanes::encode_half;
use crate::trace::LaneMask;

/// Columns that are summed side by side: each matrix has a multiple of so many, and of two rows.
const COLUMNS: usize = 8;

/// Where the elements of A, B, C and D lie that the lanes hold: of each register's parts in turn, lane by lane.
type Places = [Vec<u16>; 4];

/// What the kinds of instructions that were met look like, and room for their matrices.
#[derive(Clone, Debug, Default)]
pub(super) struct Multiplier {
    known: Vec<(MultiplyAdd, Arc<Places>)>,
    room: [Vec<f64>; 3],
}

impl Multiplier {
    fn places(&mut self, how: &MultiplyAdd, results: usize) -> Arc<Places> {
        if let Some((_, places)) = self.known.iter().find(|(known, _)| known == how) {
            return Arc::clone(places);
        }
        let [a, b, c] = how.registers.map(usize::from);
        let mut part = 0;
        let places = [a, b, c, results].map(|registers| {
            part += 1;
            by_register(how, part - 1, registers)
        });
        let places = Arc::new(places);
        self.known.push((*how, Arc::clone(&places)));
        places
    }
}

/// The places of a matrix's elements, register by register instead of lane by lane.
fn by_register(how: &MultiplyAdd, part: usize, registers: usize) -> Vec<u16> {
    let each = registers * how.elements[part].per_register();
    let [_, columns] = how.size_of(part);
    let mut places = vec![0; GROUP * each];
    for (lane, at, [row, column]) in how.places(part, registers) {
        places[at * GROUP + lane] = (row * columns + column) as u16;
    }
    places
}

impl<const W: usize> Warp<W> {
    pub(super) fn multiply_add(&mut self, how: &MultiplyAdd, matrix: &Matrix, executed: LaneMask) {
        let places = self.multiplier.places(how, matrix.dst.len());
        let [mut a, mut b, mut d] = std::mem::take(&mut self.multiplier.room);
        let [of_a, of_b, of_c] = how.registers.map(usize::from);
        let (first, rest) = matrix.src.split_at(of_a);
        let (second, rest) = rest.split_at(of_b);
        let (third, metadata) = rest.split_at(of_c);
        for group in 0..W / GROUP {
            for (part, (slots, values)) in [(first, &mut a), (second, &mut b), (third, &mut d)]
                .into_iter()
                .enumerate()
            {
                let [rows, columns] = how.size_of(part);
                // The lanes hold every element.
                values.resize(rows * columns, 0.0);
                self.gather(how.elements[part], slots, group, &places[part], values);
            }
            match (how.sparse, metadata) {
                (Some(sparse), [metadata]) => {
                    let words = self.registers.word_part::<GROUP>(*metadata, group);
                    let [_, stored] = how.size_of(0);
                    let columns = sparse::columns(words, sparse, how.elements[0], stored);
                    sparse::multiply(&columns, &a, &b, &mut d, usize::from(how.shape[1]));
                }
                _ => multiply(how, &a, &b, &mut d),
            }
            self.scatter(how, (&matrix.dst, executed), group, &places[3], &d);
        }
        self.multiplier.room = [a, b, d];
    }

    /// A matrix that a group of lanes holds, row by row.
    fn gather(
        &self,
        element: MatrixElement,
        slots: &[Slot],
        group: usize,
        places: &[u16],
        values: &mut [f64],
    ) {
        let mut decoded = [0.0; GROUP];
        let mut places = places.as_chunks::<GROUP>().0.iter();
        for &slot in slots {
            for part in 0..element.per_register() {
                if slot.kind == SlotKind::Double {
                    let doubles = &self.registers.double(slot)[group * GROUP..];
                    fill(&mut decoded, doubles, f64::from_bits);
                } else {
                    let words = self.registers.word_part::<GROUP>(slot, group);
                    decode(element, part as u32 * element.bits(), words, &mut decoded);
                }
                let Some(places) = places.next() else {
                    return;
                };
                for (&place, &value) in places.iter().zip(&decoded) {
                    values[usize::from(place)] = value;
                }
            }
        }
    }

    fn scatter(
        &mut self,
        how: &MultiplyAdd,
        (slots, executed): (&[Slot], LaneMask),
        group: usize,
        places: &[u16],
        values: &[f64],
    ) {
        let element = how.elements[3];
        let mut own = [0.0; GROUP];
        let mut places = places.as_chunks::<GROUP>().0.iter();
        for &slot in slots {
            let mut bits = [0u64; W];
            for part in 0..element.per_register() {
                let Some(places) = places.next() else {
                    return;
                };
                for (own, &place) in own.iter_mut().zip(places) {
                    *own = values[usize::from(place)];
                }
                let shift = part as u32 * element.bits();
                encode(
                    element,
                    how.saturate,
                    &own,
                    shift,
                    &mut bits[group * GROUP..],
                );
            }
            let lanes = LaneMask::from(u32::MAX) << (group * GROUP);
            self.registers.set_extended(slot, executed & lanes, &bits);
        }
    }
}

/// D = A B + D.
fn multiply(how: &MultiplyAdd, a: &[f64], b: &[f64], d: &mut [f64]) {
    match (how.elements[0], how.product) {
        (MatrixElement::F64, _) => fused(how, a, b, d),
        (_, Product::Xor) => summed(how, a, b, d, |a, b| (a - b).abs()),
        _ => summed(how, a, b, d, |a, b| a * b),
    }
}

/// Sums of products on top of what was there, two rows at a time.
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
    for (left, sums) in a.chunks_exact(2 * k).zip(d.chunks_exact_mut(2 * n)) {
        let (first, second) = left.split_at(k);
        let sums = sums.as_chunks_mut::<COLUMNS>().0;
        for column in 0..across {
            let right = b[column..].iter().step_by(across);
            // Zero that leaves the sign of what is added.
            let mut above = [-0.0; COLUMNS];
            let mut below = [-0.0; COLUMNS];
            for ((row, &one), &other) in right.zip(first).zip(second) {
                for at in 0..COLUMNS {
                    above[at] += product(one, row[at]);
                    below[at] += product(other, row[at]);
                }
            }
            for at in 0..COLUMNS {
                sums[column][at] += above[at];
                sums[across + column][at] += below[at];
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

/// Puts into a row what becomes of each of some numbers.
#[inline(always)]
fn fill<T: Copy, U>(to: &mut [U; GROUP], from: &[T], each: impl Fn(T) -> U) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = each(from);
    }
}

/// The elements of all lanes that begin at a bit of their words.
fn decode(element: MatrixElement, shift: u32, words: &[u32; GROUP], to: &mut [f64; GROUP]) {
    match element {
        MatrixElement::Half(HalfFormat::F16) => fill(to, words, |word| half(word >> shift)),
        MatrixElement::Half(HalfFormat::Bf16) => {
            fill(to, words, |word| single(word >> shift << 16))
        }
        // The lower bits of a TF32 are not read.
        MatrixElement::Half(HalfFormat::Tf32) => fill(to, words, |word| single(word & !0x1fff)),
        MatrixElement::F32 => fill(to, words, single),
        MatrixElement::S8 => fill(to, words, |word| f64::from((word >> shift) as i8)),
        MatrixElement::U8 => fill(to, words, |word| f64::from((word >> shift) as u8)),
        MatrixElement::S4 => fill(to, words, |word| {
            f64::from(((word >> shift) as i8) << 4 >> 4)
        }),
        MatrixElement::U4 => fill(to, words, |word| f64::from(word >> shift & 0xf)),
        MatrixElement::B1 => fill(to, words, |word| f64::from(word >> shift & 1)),
        MatrixElement::S32 => fill(to, words, |word| f64::from(word as i32)),
        // The upper byte of a half.
        MatrixElement::Small(SmallFormat::E5m2) => fill(to, words, |word| half(word >> shift << 8)),
        MatrixElement::Small(SmallFormat::E4m3) => fill(to, words, |word| e4m3(word >> shift)),
        // In registers of 64 bits.
        MatrixElement::F64 => {}
    }
}

#[inline(always)]
fn single(bits: u32) -> f64 {
    f64::from(f32::from_bits(bits))
}

/// A half as a double: its fields are put where a single-precision number has them, whose exponent then is too small by 112, which a multiplication
/// makes up for exactly, also for subnormal numbers.
#[inline(always)]
fn half(bits: u32) -> f64 {
    const UP: f32 = f32::from_bits((127 + 112) << 23);
    let magnitude = bits & 0x7fff;
    let finite = f32::from_bits(magnitude << 13) * UP;
    let value = match magnitude {
        0x7c00 => f32::INFINITY,
        0x7c01.. => f32::NAN,
        _ => finite,
    };
    signed(value, bits >> 15)
}

/// An `e4m3`, likewise. It has no infinities and one NaN.
#[inline(always)]
fn e4m3(bits: u32) -> f64 {
    const UP: f32 = f32::from_bits((127 + 120) << 23);
    let magnitude = bits & 0x7f;
    let finite = f32::from_bits(magnitude << 20) * UP;
    let value = if magnitude == 0x7f { f32::NAN } else { finite };
    signed(value, bits >> 7)
}

/// A value with its sign in the lowest bit of `sign`.
#[inline(always)]
fn signed(value: f32, sign: u32) -> f64 {
    f64::from(f32::from_bits(value.to_bits() | sign << 31))
}

/// Puts results into the lanes' bits, from a bit on.
fn encode(
    element: MatrixElement,
    saturate: bool,
    values: &[f64; GROUP],
    shift: u32,
    bits: &mut [u64],
) {
    let mut own = [0u64; GROUP];
    match element {
        MatrixElement::F64 => fill(&mut own, values, f64::to_bits),
        MatrixElement::Half(_) => fill(&mut own, values, |value| u64::from(to_half(value))),
        MatrixElement::S32 if saturate => {
            fill(&mut own, values, |value| u64::from(value as i32 as u32))
        }
        MatrixElement::F32 => fill(&mut own, values, |value| {
            u64::from((value as f32).to_bits())
        }),
        // Sums of integers are exact in double precision.
        _ => fill(&mut own, values, |value| u64::from(value as i64 as u32)),
    }
    for (bits, own) in bits.iter_mut().zip(own) {
        *bits |= own << shift;
    }
}

/// The half nearest to a value, ties to even.
fn to_half(value: f64) -> u16 {
    /// The least normal half, and the least value that is rounded to infinity.
    const NORMAL: f64 = 1.0 / 16384.0;
    const BEYOND: f64 = 65520.0;
    let magnitude = value.abs();
    if !(NORMAL..BEYOND).contains(&magnitude) {
        return encode_half(value, Rounding::Nearest);
    }
    // Half of the last place that stays, less where that is even; a carry moves the exponent.
    let bits = magnitude.to_bits();
    let rounded = bits + (1 << 41) - 1 + (bits >> 42 & 1);
    let sign = (value.to_bits() >> 63) as u16;
    sign << 15 | ((rounded >> 42) - ((1023 - 15) << 10)) as u16
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lanes::{decode_half, decode_small};

    /// The same bits, or NaN both.
    fn same(one: f64, other: f64) -> bool {
        one.to_bits() == other.to_bits() || one.is_nan() && other.is_nan()
    }

    #[test]
    fn every_half_and_every_byte_is_what_its_format_says() {
        for bits in 0..=u16::MAX {
            assert!(same(half(bits.into()), decode_half(bits)), "{bits:#x}");
        }
        for bits in 0..=0xff {
            let [five, four] =
                [SmallFormat::E5m2, SmallFormat::E4m3].map(|format| decode_small(format, bits));
            assert!(
                same(half(bits << 8), five) && same(e4m3(bits), four),
                "{bits:#x}"
            );
        }
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
                let mut decoded = [f64::from_bits(bits[at]); GROUP];
                decode(elements[part], 0, &[bits[at] as u32; GROUP], &mut decoded);
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

        #[test]
        fn halves_are_rounded_as_everywhere_else(value in prop_oneof![any::<f64>(), -70000.0..70000.0, -1e-4..1e-4, any::<u16>().prop_map(|bits| half(bits.into()) * (1.0 + 1.0 / 2048.0))]) {
            prop_assert_eq!(to_half(value), encode_half(value, Rounding::Nearest), "{}", value);
        }
    }
}
