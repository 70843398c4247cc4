//! Elements of matrices that the words of lanes hold packed, as numbers and back, many words at a time.

use warpwatt_ptx::program::{HalfFormat, MatrixElement, Rounding, SmallFormat};

use super::elements::NAN;
use crate::lanes::encode_half;

/// Words of the largest matrix of a warp.
pub(super) const WORDS: usize = 256;
/// Words that are decoded side by side: each matrix has a multiple of so many.
const BLOCK: usize = 32;
/// Columns of a matrix whose words hold parts of a column.
pub(super) const SIDE: usize = 8;

/// The elements of words, each word's `apart` from each other: 1, or [`SIDE`] where a word holds a part of a column.
#[inline(always)]
pub(super) fn decode<T: From<f32>>(
    element: MatrixElement,
    words: &[u32],
    apart: usize,
    values: &mut [T],
) {
    let to = (apart, values);
    match element {
        MatrixElement::Half(HalfFormat::F16) => spread::<T, 2>(words, to, half),
        MatrixElement::Half(HalfFormat::Bf16) => {
            spread::<T, 2>(words, to, |bits| f32::from_bits(bits << 16));
        }
        // The lower bits of a TF32 are not read.
        MatrixElement::Half(HalfFormat::Tf32) => {
            spread::<T, 1>(words, to, |bits| f32::from_bits(bits & !0x1fff));
        }
        MatrixElement::F32 => spread::<T, 1>(words, to, f32::from_bits),
        MatrixElement::S8 => spread::<T, 4>(words, to, |bits| f32::from(bits as i8)),
        MatrixElement::U8 => spread::<T, 4>(words, to, |bits| f32::from(bits as u8)),
        // The upper byte of a half.
        MatrixElement::Small(SmallFormat::E5m2) => {
            spread::<T, 4>(words, to, |bits| half(bits << 8))
        }
        MatrixElement::Small(SmallFormat::E4m3) => spread::<T, 4>(words, to, e4m3),
        MatrixElement::S4 => spread::<T, 8>(words, to, |bits| f32::from((bits as i8) << 4 >> 4)),
        MatrixElement::U4 => spread::<T, 8>(words, to, |bits| f32::from((bits & 0xf) as u8)),
        MatrixElement::B1 => spread::<T, 32>(words, to, |bits| f32::from((bits & 1) as u8)),
        // Too large for single precision.
        MatrixElement::S32 | MatrixElement::F64 => {}
    }
}

/// Takes `N` elements out of each word; those of lower bits come first. `each` sees its element in the lowest bits, and others above it.
#[inline(always)]
fn spread<T: From<f32>, const N: usize>(
    words: &[u32],
    (apart, values): (usize, &mut [T]),
    each: impl Fn(u32) -> f32,
) {
    let blocks = words.as_chunks::<BLOCK>().0;
    for (words, values) in blocks.iter().zip(values.chunks_exact_mut(BLOCK * N)) {
        for part in 0..N {
            // A loop of its own over numbers of one size, which compilers turn into vector code.
            let mut decoded = [0.0; BLOCK];
            for (to, word) in decoded.iter_mut().zip(words) {
                *to = each(word >> (part * 32 / N));
            }
            if apart == SIDE {
                let rows = values.as_chunks_mut::<SIDE>().0.iter_mut();
                let decoded = decoded.as_chunks::<SIDE>().0;
                for (row, decoded) in rows.skip(part).step_by(N).zip(decoded) {
                    for (to, &value) in row.iter_mut().zip(decoded) {
                        *to = value.into();
                    }
                }
            } else {
                for (word, &value) in values.as_chunks_mut::<N>().0.iter_mut().zip(&decoded) {
                    word[part] = value.into();
                }
            }
        }
    }
}

/// A half: its fields are put where a single-precision number has them, and its exponent is made up for.
#[inline(always)]
fn half(bits: u32) -> f32 {
    signed(widened((bits & 0x7fff) << 13, 127 - 15), bits >> 15)
}

/// An `e4m3`, likewise. It has no infinities and one NaN.
#[inline(always)]
fn e4m3(bits: u32) -> f32 {
    let magnitude = bits & 0x7f;
    let finite = widened(magnitude << 20, 127 - 7);
    let value = if magnitude == 0x7f { NAN } else { finite };
    signed(value, bits >> 7)
}

/// The bits of a single-precision number whose exponent is too small by `up`, without arithmetic on subnormal numbers, which is slow. An exponent as large as
/// halves have none but for infinities and NaN becomes the largest.
#[inline(always)]
fn widened(bits: u32, up: u32) -> u32 {
    const EXPONENT: u32 = 1 << 23;
    let up = up * EXPONENT;
    // What is subnormal becomes what lies as far above the least normal number, which is taken away again.
    let is_subnormal = bits < EXPONENT;
    let (more, least) = if is_subnormal {
        (EXPONENT, up + EXPONENT)
    } else {
        (0, 0)
    };
    let value = (f32::from_bits(bits + up + more) - f32::from_bits(least)).to_bits();
    let beyond = if bits >= 31 * EXPONENT {
        0xff * EXPONENT
    } else {
        0
    };
    value | beyond
}

/// A value of these bits with its sign in the lowest bit of `sign`.
#[inline(always)]
fn signed(value: u32, sign: u32) -> f32 {
    f32::from_bits(value | sign << 31)
}

/// The words of floats whose neighbours share words.
#[inline(always)]
pub(super) fn encode(element: MatrixElement, values: &[f32], words: &mut [u32]) {
    if element == MatrixElement::F32 {
        for (word, &value) in words.iter_mut().zip(values) {
            *word = if value.is_nan() { NAN } else { value.to_bits() };
        }
    } else {
        for (word, halves) in words.iter_mut().zip(values.as_chunks::<2>().0) {
            let [low, high] = halves.map(|value| u32::from(to_half(value.into())));
            *word = low | high << 16;
        }
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
            assert!(
                same(half(bits.into()).into(), decode_half(bits)),
                "{bits:#x}"
            );
        }
        for bits in 0..=0xff {
            let [five, four] =
                [SmallFormat::E5m2, SmallFormat::E4m3].map(|format| decode_small(format, bits));
            assert!(
                same(half(bits << 8).into(), five) && same(e4m3(bits).into(), four),
                "{bits:#x}"
            );
        }
    }

    proptest! {
        #[test]
        fn halves_are_rounded_as_everywhere_else(value in prop_oneof![any::<f64>(), -70000.0..70000.0, -1e-4..1e-4, any::<u16>().prop_map(|bits| decode_half(bits) * (1.0 + 1.0 / 2048.0))]) {
            prop_assert_eq!(to_half(value), encode_half(value, Rounding::Nearest), "{}", value);
        }
    }
}
