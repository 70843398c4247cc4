//! Conversions of one value.

use crate::op::Op;

/// Single precision to a word.
pub(crate) fn of_float(op: Op) -> Option<fn(f32) -> u32> {
    Some(match op {
        Op::VCvtI32F32 => |a| a as i32 as u32,
        Op::VCvtU32F32 => |a| a as u32,
        Op::VCvtRpiI32F32 => |a| libm::floorf(a + 0.5) as i32 as u32,
        Op::VCvtFlrI32F32 => |a| libm::floorf(a) as i32 as u32,
        Op::VCvtF16F32 => |a| u32::from(single_to_half(a, false)),
        Op::VFrexpExpI32F32 => |a| {
            if a.is_finite() {
                libm::frexpf(a).1 as u32
            } else {
                0
            }
        },
        _ => return None,
    })
}

/// Double precision to a word.
pub(crate) fn of_double(op: Op) -> fn(f64) -> u32 {
    match op {
        Op::VCvtI32F64 => |a| a as i32 as u32,
        Op::VCvtU32F64 => |a| a as u32,
        _ => |a| {
            if a.is_finite() {
                libm::frexp(a).1 as u32
            } else {
                0
            }
        },
    }
}

/// Two numbers to the halves of a word.
pub(crate) fn of_floats(op: Op) -> Option<fn(f32, f32) -> u32> {
    Some(match op {
        Op::VCvtPkrtzF16F32 => |a, b| halves(single_to_half(a, true), single_to_half(b, true)),
        Op::VCvtPknormI16F32 => |a, b| halves(signed_fraction(a), signed_fraction(b)),
        Op::VCvtPknormU16F32 => |a, b| halves(fraction(a), fraction(b)),
        _ => return None,
    })
}

/// Two words to the halves of a word, saturating.
pub(crate) fn of_words(op: Op) -> Option<fn(u32, u32) -> u32> {
    Some(match op {
        Op::VCvtPkU16U32 => |a, b| halves(a.min(0xffff) as u16, b.min(0xffff) as u16),
        Op::VCvtPkI16I32 => |a, b| {
            let [a, b] = [a, b].map(|word| (word as i32).clamp(-0x8000, 0x7fff) as u16);
            halves(a, b)
        },
        _ => return None,
    })
}

fn halves(low: u16, high: u16) -> u32 {
    u32::from(high) << 16 | u32::from(low)
}

fn fraction(value: f32) -> u16 {
    (value.clamp(0.0, 1.0) * 65535.0).round_ties_even() as u16
}

fn signed_fraction(value: f32) -> u16 {
    (value.clamp(-1.0, 1.0) * 32767.0).round_ties_even() as i16 as u16
}

/// Puts a number as a byte into one of the four of `into`.
pub(crate) fn into_byte(value: f32, place: u32, into: u32) -> u32 {
    let shift = 8 * (place & 3);
    let byte = value.round_ties_even() as u8;
    into & !(0xff << shift) | u32::from(byte) << shift
}

/// Which of the ten classes a number is in, as the one bit of it.
pub(crate) fn class(bits: u32) -> u32 {
    let value = f32::from_bits(bits);
    classified(
        value.classify(),
        value.is_sign_negative(),
        bits >> 22 & 1 != 0,
    )
}

pub(crate) fn class_double(value: f64) -> u32 {
    classified(
        value.classify(),
        value.is_sign_negative(),
        value.to_bits() >> 51 & 1 != 0,
    )
}

fn classified(category: std::num::FpCategory, negative: bool, quiet: bool) -> u32 {
    use std::num::FpCategory::{Infinite, Nan, Normal, Subnormal, Zero};
    let side = |minus: u32, plus: u32| 1 << if negative { minus } else { plus };
    match category {
        Nan => 1 << u32::from(quiet),
        Infinite => side(2, 9),
        Normal => side(3, 8),
        Subnormal => side(4, 7),
        Zero => side(5, 6),
    }
}

pub(crate) fn half_to_single(half: u16) -> f32 {
    let sign = if half >> 15 != 0 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(half >> 10 & 0x1f), half & 0x3ff);
    match (exponent, fraction) {
        (31, 0) => sign * f32::INFINITY,
        (31, _) => f32::NAN,
        (0, _) => sign * f32::from(fraction) * 2f32.powi(-24),
        _ => sign * f32::from(fraction + 0x400) * 2f32.powi(exponent - 25),
    }
}

/// To the nearest even, or towards zero.
pub(crate) fn single_to_half(value: f32, towards_zero: bool) -> u16 {
    let sign = (value.to_bits() >> 16 & 0x8000) as u16;
    let magnitude = f64::from(value.abs());
    if value.is_nan() {
        return sign | 0x7e00;
    }
    if value.is_infinite() {
        return sign | 0x7c00;
    }
    let exponent = if magnitude == 0.0 {
        -14
    } else {
        (libm::frexp(magnitude).1 - 1).max(-14)
    };
    let steps = libm::ldexp(magnitude, 10 - exponent);
    let steps = if towards_zero {
        steps.trunc()
    } else {
        steps.round_ties_even()
    };
    // A carry out of the fraction raises the exponent by itself.
    let bits = libm::ldexp(f64::from(exponent + 14), 10) + steps;
    let most = if towards_zero { 0x7bff } else { 0x7c00 };
    sign | (bits.min(f64::from(most)) as u16)
}
