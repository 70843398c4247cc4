//! Comparisons and float tests: operands to one bit a lane.

use warpwatt_ptx::program::{Compare, Comparison, FloatTest};
use warpwatt_ptx::types::Type;

use super::float32::flushed;

/// One bit a lane where `f` holds.
#[inline(always)]
fn bits<A: Copy, const W: usize>(a: &[A; W], b: &[A; W], f: impl Fn(A, A) -> bool) -> u64 {
    let holds: [u8; W] = std::array::from_fn(|lane| u8::from(f(a[lane], b[lane])));
    gathered(&holds)
}

/// Bytes that are zero or one, as bits.
#[inline(always)]
pub fn gathered<const W: usize>(bytes: &[u8; W]) -> u64 {
    let (eights, rest) = bytes.as_chunks();
    let mask = eights
        .iter()
        .rev()
        .fold(0, |mask, eight| mask << 8 | gather(*eight));
    let lowest = W - rest.len();
    rest.iter().enumerate().fold(mask, |mask, (at, bit)| {
        mask | u64::from(*bit) << (lowest + at)
    })
}

/// The factor moves each byte's bit into the upper byte, to a place of its own.
#[inline(always)]
fn gather(bytes: [u8; 8]) -> u64 {
    u64::from_le_bytes(bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

#[inline(always)]
fn ordered<A: Copy + PartialOrd, const W: usize>(how: Comparison, a: &[A; W], b: &[A; W]) -> u64 {
    let nan = |a: A, b: A| a.partial_cmp(&b).is_none();
    match how {
        Comparison::Eq => bits(a, b, |a, b| a == b),
        Comparison::Ne => bits(a, b, |a, b| a != b && !nan(a, b)),
        Comparison::Lt => bits(a, b, |a, b| a < b),
        Comparison::Le => bits(a, b, |a, b| a <= b),
        Comparison::Gt => bits(a, b, |a, b| a > b),
        Comparison::Ge => bits(a, b, |a, b| a >= b),
        Comparison::Equ => bits(a, b, |a, b| a == b || nan(a, b)),
        Comparison::Neu => bits(a, b, |a, b| a != b),
        Comparison::Ltu => bits(a, b, |a, b| a < b || nan(a, b)),
        Comparison::Leu => bits(a, b, |a, b| a <= b || nan(a, b)),
        Comparison::Gtu => bits(a, b, |a, b| a > b || nan(a, b)),
        Comparison::Geu => bits(a, b, |a, b| a >= b || nan(a, b)),
        Comparison::Num => bits(a, b, |a, b| !nan(a, b)),
        Comparison::Nan => bits(a, b, nan),
    }
}

/// Compares words by the comparison's element type.
pub fn compare_word<const W: usize>(compare: &Compare, a: &[u32; W], b: &[u32; W]) -> u64 {
    let how = compare.how;
    match compare.element {
        Type::F32 => {
            let float = |bits: u32| flushed(f32::from_bits(bits), compare.flush);
            ordered(how, &a.map(float), &b.map(float))
        }
        Type::S32 => ordered(how, &a.map(|a| a as i32), &b.map(|b| b as i32)),
        Type::S16 => ordered(how, &a.map(|a| a as i16), &b.map(|b| b as i16)),
        Type::U16 | Type::B16 => ordered(how, &a.map(|a| a as u16), &b.map(|b| b as u16)),
        _ => ordered(how, a, b),
    }
}

/// Compares doubles by the comparison's element type.
pub fn compare_double<const W: usize>(compare: &Compare, a: &[u64; W], b: &[u64; W]) -> u64 {
    let how = compare.how;
    match compare.element {
        Type::F64 => ordered(how, &a.map(f64::from_bits), &b.map(f64::from_bits)),
        Type::S64 => ordered(how, &a.map(|a| a as i64), &b.map(|b| b as i64)),
        _ => ordered(how, a, b),
    }
}

/// `testp.f32`.
pub fn test_word<const W: usize>(test: FloatTest, a: &[u32; W]) -> u64 {
    let classify = |a: u32| holds(test, f32::from_bits(a).classify());
    bits(a, a, |a, _| classify(a))
}

/// `testp.f64`.
pub fn test_double<const W: usize>(test: FloatTest, a: &[u64; W]) -> u64 {
    bits(a, a, |a, _| holds(test, f64::from_bits(a).classify()))
}

/// PTX ISA 8.x, section 9.7.3.1: plus and minus zero are normal.
fn holds(test: FloatTest, class: std::num::FpCategory) -> bool {
    use std::num::FpCategory::*;
    match test {
        FloatTest::Finite => !matches!(class, Nan | Infinite),
        FloatTest::Infinite => class == Infinite,
        FloatTest::Number => class != Nan,
        FloatTest::NotANumber => class == Nan,
        FloatTest::Normal => matches!(class, Normal | Zero),
        FloatTest::Subnormal => class == Subnormal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(how: Comparison, a: f32, b: f32) -> bool {
        let compare = Compare {
            how,
            element: Type::F32,
            flush: false,
            combine: None,
        };
        compare_word(&compare, &[a.to_bits()], &[b.to_bits()]) == 1
    }

    #[test]
    fn unordered_comparisons_hold_on_nan_and_ordered_ones_do_not() {
        let nan = f32::NAN;
        assert!(!floats(Comparison::Ne, nan, 1.0));
        assert!(floats(Comparison::Neu, nan, 1.0));
        assert!(!floats(Comparison::Lt, nan, 1.0));
        assert!(floats(Comparison::Ltu, nan, 1.0));
        assert!(floats(Comparison::Nan, nan, 1.0));
        assert!(floats(Comparison::Num, 2.0, 1.0));
        assert!(floats(Comparison::Eq, 0.0, -0.0));
    }
}
