//! Operations on 64-bit values.

use warpwatt_ptx::program::{Long1, Long2, Long3, LongShift, LongToWord, PairOp};

use super::float32 as single;
use super::float64 as f;
use super::word::find_bit;
use super::{map1, map2, map3};

type Doubles<const W: usize> = [u64; W];

#[inline(always)]
fn float2<const W: usize>(
    a: &Doubles<W>,
    b: &Doubles<W>,
    op: impl Fn(f64, f64) -> f64,
) -> Doubles<W> {
    map2(a, b, |a, b| {
        op(f64::from_bits(a), f64::from_bits(b)).to_bits()
    })
}

#[inline(always)]
fn float1<const W: usize>(a: &Doubles<W>, op: impl Fn(f64) -> f64) -> Doubles<W> {
    map1(a, |a| op(f64::from_bits(a)).to_bits())
}

/// One double to a double.
pub fn long1<const W: usize>(op: Long1, a: &Doubles<W>) -> Doubles<W> {
    match op {
        Long1::Copy => *a,
        Long1::Not => map1(a, |a| !a),
        Long1::Neg => map1(a, u64::wrapping_neg),
        Long1::Abs => map1(a, |a| (a as i64).wrapping_abs() as u64),
        Long1::Brev => map1(a, u64::reverse_bits),
        Long1::FNeg => map1(a, |a| signed(a, |bits| bits ^ 1 << 63)),
        Long1::FAbs => map1(a, |a| signed(a, |bits| bits & !(1 << 63))),
        Long1::FSqrt(rounding) => float1(a, |a| f::sqrt(a, rounding)),
        Long1::FRcp(rounding) => float1(a, |a| f::div(1.0, a, rounding)),
        Long1::RcpGross => map1(a, |a| gross(gross_value(a).recip())),
        Long1::RsqrtApprox => float1(a, |a| a.sqrt().recip()),
        Long1::RsqrtGross => map1(a, |a| gross(gross_value(a).sqrt().recip())),
    }
}

/// The sign of a number is changed, that of a NaN is kept.
#[inline(always)]
fn signed(bits: u64, change: impl Fn(u64) -> u64) -> u64 {
    match f64::from_bits(bits).is_nan() {
        true => f::quiet(f64::from_bits(bits)),
        false => change(bits),
    }
}

/// What gross approximations keep of a double, before and after: its upper word, without subnormal numbers (PTX ISA,
/// "rcp.approx.ftz.f64").
fn gross(a: f64) -> u64 {
    if a.is_nan() {
        return 0x7fff_ffff << 32;
    }
    let kept = f64::from_bits(a.to_bits() >> 32 << 32);
    if kept.is_subnormal() {
        0f64.copysign(a).to_bits()
    } else {
        kept.to_bits()
    }
}

/// A NaN whose payload is in the lower word only is an infinity to them.
fn gross_value(bits: u64) -> f64 {
    f64::from_bits(gross(f64::from_bits(bits >> 32 << 32)))
}

/// Two doubles to a double.
pub fn long2<const W: usize>(op: Long2, a: &Doubles<W>, b: &Doubles<W>) -> Doubles<W> {
    match op {
        Long2::Add => map2(a, b, u64::wrapping_add),
        Long2::Sub => map2(a, b, u64::wrapping_sub),
        Long2::Mul => map2(a, b, u64::wrapping_mul),
        Long2::MulHi { signed: false } => {
            map2(a, b, |a, b| ((u128::from(a) * u128::from(b)) >> 64) as u64)
        }
        Long2::MulHi { signed: true } => map2(a, b, |a, b| {
            ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
        }),
        Long2::Div { signed: false } => map2(a, b, |a, b| a.checked_div(b).unwrap_or(u64::MAX)),
        Long2::Div { signed: true } => map2(a, b, |a, b| match b {
            0 => u64::MAX,
            _ => (a as i64).wrapping_div(b as i64) as u64,
        }),
        Long2::Rem { signed: false } => map2(a, b, |a, b| a.checked_rem(b).unwrap_or(u64::MAX)),
        Long2::Rem { signed: true } => map2(a, b, |a, b| match b {
            0 => u64::MAX,
            _ => (a as i64).wrapping_rem(b as i64) as u64,
        }),
        Long2::Min { signed: false } => map2(a, b, u64::min),
        Long2::Min { signed: true } => map2(a, b, |a, b| (a as i64).min(b as i64) as u64),
        Long2::Max { signed: false } => map2(a, b, u64::max),
        Long2::Max { signed: true } => map2(a, b, |a, b| (a as i64).max(b as i64) as u64),
        Long2::And => map2(a, b, |a, b| a & b),
        Long2::Or => map2(a, b, |a, b| a | b),
        Long2::Xor => map2(a, b, |a, b| a ^ b),
        Long2::FAdd(rounding) => float2(a, b, |a, b| f::add(a, b, rounding)),
        Long2::FSub(rounding) => float2(a, b, |a, b| f::sub(a, b, rounding)),
        Long2::FMul(rounding) => float2(a, b, |a, b| f::mul(a, b, rounding)),
        Long2::FDiv(rounding) => float2(a, b, |a, b| f::div(a, b, rounding)),
        Long2::FMin => float2(a, b, f::min),
        Long2::FMax => float2(a, b, f::max),
        Long2::Pair(op, float) => map2(a, b, |a, b| {
            pairwise([a, b], |[a, b]| match op {
                PairOp::Add => single::add(a, b, float),
                PairOp::Sub => single::add(a, -b, float),
                PairOp::Mul => single::mul(a, b, float),
            })
        }),
        Long2::CopySign => float2(a, b, |a, b| b.copysign(a)),
    }
}

/// Three doubles to a double.
pub fn long3<const W: usize>(
    op: Long3,
    a: &Doubles<W>,
    b: &Doubles<W>,
    c: &Doubles<W>,
) -> Doubles<W> {
    match op {
        Long3::Mad => map3(a, b, c, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        Long3::Sad { signed: false } => map3(a, b, c, |a, b, c| a.abs_diff(b).wrapping_add(c)),
        Long3::Sad { signed: true } => map3(a, b, c, |a, b, c| {
            (a as i64).abs_diff(b as i64).wrapping_add(c)
        }),
        Long3::FmaPair(float) => map3(a, b, c, |a, b, c| {
            pairwise([a, b, c], |[a, b, c]| single::fma(a, b, c, float))
        }),
        Long3::Fma(rounding) => map3(a, b, c, |a, b, c| {
            f::fma(
                f64::from_bits(a),
                f64::from_bits(b),
                f64::from_bits(c),
                rounding,
            )
            .to_bits()
        }),
    }
}

/// Computes the lower and the upper halves, as singles.
fn pairwise<const N: usize>(operands: [u64; N], compute: impl Fn([f32; N]) -> f32) -> u64 {
    let half = |shift: u32| {
        let halves = operands.map(|bits| f32::from_bits((bits >> shift) as u32));
        u64::from(compute(halves).to_bits()) << shift
    };
    half(32) | half(0)
}

/// A double shifted by a word.
pub fn long_shift<const W: usize>(op: LongShift, a: &Doubles<W>, b: &[u32; W]) -> Doubles<W> {
    match op {
        LongShift::Shl => map2(a, b, |a, b| a.checked_shl(b).unwrap_or(0)),
        LongShift::Shr { signed: false } => map2(a, b, |a, b| a.checked_shr(b).unwrap_or(0)),
        LongShift::Shr { signed: true } => map2(a, b, |a, b| (a as i64 >> b.min(63)) as u64),
    }
}

/// A double to a word.
pub fn long_to_word<const W: usize>(op: LongToWord, a: &Doubles<W>) -> [u32; W] {
    match op {
        LongToWord::Popc => map1(a, u64::count_ones),
        LongToWord::Clz => map1(a, u64::leading_zeros),
        LongToWord::PendingCount => map1(a, crate::barrier_word::BarrierWord::pending),
        LongToWord::Bfind { signed, shift } => map1(a, |a| find_bit(a, 64, signed, shift)),
    }
}

/// `bfe` on doubles.
pub fn extract<const W: usize>(
    signed: bool,
    a: &Doubles<W>,
    position: &[u32; W],
    length: &[u32; W],
) -> Doubles<W> {
    map3(a, position, length, |a, position, length| {
        extract_bits(a, position, length, 64, signed)
    })
}

/// `bfi` on doubles.
pub fn insert<const W: usize>(
    a: &Doubles<W>,
    b: &Doubles<W>,
    position: &[u32; W],
    length: &[u32; W],
) -> Doubles<W> {
    std::array::from_fn(|lane| insert_bits(a[lane], b[lane], position[lane], length[lane], 64))
}

/// Position and length of a field: of a word they are taken modulo 256 (PTX ISA 8.x, section 9.7.1), of a double they are not (measured on an
/// H100).
fn field_of(position: u32, length: u32, width: u32) -> (u32, u32) {
    match width {
        64 => (position.min(0xff), length.min(0xff)),
        _ => (position & 0xff, length & 0xff),
    }
}

/// `bfe`: the sign bit is the field's highest bit, or the value's if the field reaches beyond it.
pub fn extract_bits(value: u64, position: u32, length: u32, width: u32, signed: bool) -> u64 {
    let (position, length) = field_of(position, length, width);
    if length == 0 {
        return 0;
    }
    let sign_at = (position + length - 1).min(width - 1);
    let negative = signed && value >> sign_at & 1 == 1;
    let shifted = value.checked_shr(position).unwrap_or(0);
    let kept = length.min(width.saturating_sub(position));
    let field = if kept >= 64 {
        u64::MAX
    } else {
        (1 << kept) - 1
    };
    let fill = if negative { !field } else { 0 };
    shifted & field | fill
}

/// `bfi`: `length` bits of `field` replace those of `base` from `position` on.
pub fn insert_bits(field: u64, base: u64, position: u32, length: u32, width: u32) -> u64 {
    let (position, length) = field_of(position, length, width);
    if position >= width || length == 0 {
        return base;
    }
    let kept = length.min(width - position);
    let ones = if kept >= 64 {
        u64::MAX
    } else {
        (1 << kept) - 1
    };
    let mask = ones << position;
    base & !mask | field << position & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_at_the_edges() {
        assert_eq!(extract_bits(u64::MAX, 0, 64, 64, false), u64::MAX);
        assert_eq!(
            extract_bits(0x8000_0000, 28, 8, 32, true),
            u64::MAX << 3 | 0x8
        );
        assert_eq!(extract_bits(7, 64, 4, 64, false), 0);
        assert_eq!(extract_bits(7, 0, 0, 64, true), 0);
        assert_eq!(insert_bits(u64::MAX, 0, 60, 10, 64), 0xf << 60);
        assert_eq!(insert_bits(u64::MAX, 5, 64, 4, 64), 5);
    }

    #[test]
    fn gross_reciprocals_have_twenty_bits() {
        let rcp = |a: f64| f64::from_bits(long1(Long1::RcpGross, &[a.to_bits()])[0]);
        let third = rcp(3.0);
        assert!((third * 3.0 - 1.0).abs() < 2f64.powi(-19));
        assert_eq!(third.to_bits() as u32, 0);
        assert_eq!(rcp(-0.0), f64::NEG_INFINITY);
        assert_eq!(rcp(f64::MAX), 0.0); // its reciprocal is subnormal
        assert_eq!(rcp(f64::MIN_POSITIVE / 4.0), f64::INFINITY);
        assert!(rcp(f64::NAN).is_nan());
    }

    #[test]
    fn division_by_zero_has_a_result() {
        assert_eq!(long2(Long2::Div { signed: true }, &[5], &[0]), [u64::MAX]);
        assert_eq!(long2(Long2::Rem { signed: false }, &[5], &[0]), [u64::MAX]);
        let lowest = i64::MIN as u64;
        assert_eq!(
            long2(Long2::Div { signed: true }, &[lowest], &[u64::MAX]),
            [lowest]
        );
    }
}
