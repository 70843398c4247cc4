//! Elements of matrices one by one, from bits and to bits: those of `wgmma` and `tcgen05`, and the sums of `mma`.

use warpwatt_ptx::program::{MatrixElement, Rounding};

use crate::lanes::{decode_half, encode_half, small_float};

/// What a NaN becomes.
pub(super) const NAN: u32 = 0x7fff_ffff;

/// The bits of a sum.
#[inline(always)]
pub(super) fn encode(element: MatrixElement, value: f64, saturate: bool) -> u32 {
    match element {
        MatrixElement::F32 if value.is_nan() => NAN,
        MatrixElement::F32 => (value as f32).to_bits(),
        MatrixElement::S32 if saturate => value as i32 as u32,
        // Sums of integers are exact in double precision.
        MatrixElement::S32 => value as i64 as u32,
        _ => u32::from(encode_half(value, Rounding::Nearest)),
    }
}

/// A sum.
pub(super) fn decode(element: MatrixElement, bits: u32) -> f64 {
    match element {
        MatrixElement::F32 => f64::from(f32::from_bits(bits)),
        MatrixElement::S32 => f64::from(bits as i32),
        _ => decode_half(bits as u16),
    }
}

/// Factors that lie one behind the other.
#[inline(always)]
pub(super) fn numbers(element: MatrixElement, bytes: &[u8], negated: bool) -> Vec<f64> {
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
