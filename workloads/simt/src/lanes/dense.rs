//! Products of rows of small matrices whose elements are decoded once: sums in double precision in the order of the inner dimension.

use warpwatt_ptx::program::{HalfFormat, MatrixElement, SmallFormat};

/// The element in the lowest bits, of those that a single holds exactly.
#[inline]
pub fn small_float(element: MatrixElement, bits: u32) -> f64 {
    match element {
        MatrixElement::Half(HalfFormat::F16) => f64::from(half(bits)),
        MatrixElement::Half(HalfFormat::Bf16) => f64::from(f32::from_bits(bits << 16)),
        // The lower bits of a TF32 are not read.
        MatrixElement::Half(HalfFormat::Tf32) => f64::from(f32::from_bits(bits & !0x1fff)),
        MatrixElement::Small(SmallFormat::E5m2) => f64::from(half(bits << 8 & 0xff00)),
        MatrixElement::Small(SmallFormat::E4m3) => f64::from(e4m3(bits)),
        MatrixElement::S8 => f64::from(bits as u8 as i8),
        MatrixElement::U8 => f64::from(bits as u8),
        _ => f64::from(f32::from_bits(bits)),
    }
}

/// An `f16`: its exponent is moved by a product, which is exact, subnormal numbers among them.
fn half(bits: u32) -> f32 {
    let magnitude = bits & 0x7fff;
    let value = if magnitude >= 0x7c00 {
        f32::from_bits(0x7f80_0000 | magnitude << 13)
    } else {
        f32::from_bits(magnitude << 13) * f32::from_bits((127 + 112) << 23)
    };
    f32::from_bits(value.to_bits() | (bits & 0x8000) << 16)
}

fn e4m3(bits: u32) -> f32 {
    let magnitude = bits & 0x7f;
    let value = if magnitude == 0x7f {
        f32::NAN
    } else {
        f32::from_bits(magnitude << 20) * f32::from_bits((127 + 120) << 23)
    };
    f32::from_bits(value.to_bits() | (bits & 0x80) << 24)
}

/// Adds to `sums` the products of a row of A with the rows of B, which lie one behind the other.
pub fn add_row(row: &[f64], right: &[f64], sums: &mut [f64]) {
    let columns = sums.len();
    for (&left, right) in row.iter().zip(right.chunks_exact(columns)) {
        for (sum, &right) in sums.iter_mut().zip(right) {
            *sum += left * right;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{decode_half, decode_small};
    use super::*;

    #[test]
    fn every_narrow_float_is_what_the_slow_way_says() {
        for bits in 0..=u32::from(u16::MAX) {
            let (fast, slow) = (f64::from(half(bits)), decode_half(bits as u16));
            assert!(fast.to_bits() == slow.to_bits() || fast.is_nan() && slow.is_nan());
        }
        for format in [SmallFormat::E4m3, SmallFormat::E5m2] {
            for bits in 0..256 {
                let fast = small_float(MatrixElement::Small(format), bits);
                let slow = decode_small(format, bits);
                let same = fast.to_bits() == slow.to_bits() || fast.is_nan() && slow.is_nan();
                assert!(same, "{format:?} {bits:#x}: {fast} {slow}");
            }
        }
    }
}
