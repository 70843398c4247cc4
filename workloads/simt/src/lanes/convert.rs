//! `cvt`: any integer or float to any other (PTX ISA 8.x, section 9.7.9.21).

use warpwatt_ptx::program::{Convert, Rounding};
use warpwatt_ptx::types::Type;

use super::float32::flushed;
use super::half::{decode_bf16, decode_half, encode_bf16, encode_half, round_integral};
use super::map1;
use super::round::{direct32, direct64, to_odd, to_single};

/// Converts the lower bits of each lane; results narrower than 64 bits are sign- or zero-extended by their type.
#[inline]
pub fn convert<const W: usize>(how: &Convert, source: &[u64; W]) -> [u64; W] {
    let narrow = |element: Type| element.is_float() && element.bytes() < 4;
    if moves(how) {
        return map1(source, |bits| convert_one(how, bits));
    }
    if how.saturate || how.flush || narrow(how.from) || narrow(how.to) {
        return map1(source, |bits| convert_one(how, bits));
    }
    match (how.from.is_float(), how.to.is_float()) {
        (false, false) => resize(how, source),
        (false, true) if how.rounding == Rounding::Nearest => to_float(how, source),
        (true, false) if how.rounding == Rounding::Zero => truncate(how, source),
        _ => map1(source, |bits| convert_one(how, bits)),
    }
}

/// Integers to integers: the lower bits, extended by the source's type, then by the destination's.
fn resize<const W: usize>(how: &Convert, source: &[u64; W]) -> [u64; W] {
    let extended = extend(how.from, source);
    match how.to.bytes() {
        8 => extended,
        _ => extend(how.to, &extended),
    }
}

/// The lower bits of each lane, extended to 64.
#[inline(always)]
fn extend<const W: usize>(element: Type, source: &[u64; W]) -> [u64; W] {
    match (element.bytes(), element.is_signed()) {
        (1, false) => map1(source, |bits| bits & 0xff),
        (2, false) => map1(source, |bits| bits & 0xffff),
        (4, false) => map1(source, |bits| bits & 0xffff_ffff),
        (1, true) => map1(source, |bits| bits as i8 as u64),
        (2, true) => map1(source, |bits| bits as i16 as u64),
        (4, true) => map1(source, |bits| bits as i32 as u64),
        _ => *source,
    }
}

/// Integers to the nearest floats.
fn to_float<const W: usize>(how: &Convert, source: &[u64; W]) -> [u64; W] {
    let extended = extend(how.from, source);
    let single = how.to == Type::F32;
    match (how.from, single) {
        (Type::U64 | Type::B64, true) => map1(&extended, |a| u64::from((a as f32).to_bits())),
        (Type::U64 | Type::B64, false) => map1(&extended, |a| (a as f64).to_bits()),
        (_, true) => map1(&extended, |a| u64::from((a as i64 as f32).to_bits())),
        (_, false) => map1(&extended, |a| (a as i64 as f64).to_bits()),
    }
}

/// Singles to integers, towards zero; the language's conversion clamps and makes NaN zero, as PTX asks.
fn truncate<const W: usize>(how: &Convert, source: &[u64; W]) -> [u64; W] {
    let single = how.from == Type::F32;
    match (how.to, single) {
        (Type::S32, true) => map1(source, |a| f32::from_bits(a as u32) as i32 as u64),
        (Type::U32 | Type::B32, true) => {
            map1(source, |a| u64::from(f32::from_bits(a as u32) as u32))
        }
        _ => map1(source, |bits| convert_one(how, bits)),
    }
}

/// Whether nothing is done to a number, so that a NaN stays what it is.
fn moves(how: &Convert) -> bool {
    let wide = matches!(how.from, Type::F32 | Type::F64);
    wide && how.from == how.to && !(how.integral || how.flush || how.saturate)
}

fn convert_one(how: &Convert, bits: u64) -> u64 {
    if moves(how) {
        return bits & u64::MAX >> (64 - 8 * how.to.bytes());
    }
    if how.from.is_float() {
        let value = flush(how, decode(how.from, bits));
        if how.to.is_float() {
            match value.is_nan() && !how.saturate {
                true => nan(how, bits),
                false => float_to_float(how, value),
            }
        } else {
            float_to_integer(how, value)
        }
    } else {
        let value = integer(how.from, bits);
        if how.to.is_float() {
            integer_to_float(how, value)
        } else {
            integer_to_integer(how, value)
        }
    }
}

/// What becomes of a NaN: doubles keep its sign and payload and get them from other formats, unless single precision comes first; else there is one.
fn nan(how: &Convert, bits: u64) -> u64 {
    const QUIET: u64 = 1 << 51;
    // As a double.
    let wide = match how.from {
        Type::F16 => (bits >> 15 & 1) << 63 | 0x7ff << 52 | (bits & 0x3ff) << 42,
        Type::Bf16 => (bits >> 15 & 1) << 63 | 0x7ff << 52 | (bits & 0x7f) << 45,
        Type::F32 if how.flush => 0x7fff_ffff_e000_0000,
        Type::F32 => (bits >> 31 & 1) << 63 | 0x7ff << 52 | (bits & 0x7f_ffff) << 29,
        _ => bits,
    } | QUIET;
    let kept = how.from == Type::F64;
    let sign = wide >> 63;
    match how.to {
        Type::F64 => wide,
        Type::F32 if kept => sign << 31 | wide << 1 >> 30 & 0x7fff_ffff,
        Type::F16 if kept => sign << 15 | 0x7c00 | wide >> 42 & 0x3ff,
        Type::Bf16 if kept => sign << 15 | 0x7f80 | wide >> 45 & 0x7f,
        Type::F32 => 0x7fff_ffff,
        _ => 0x7fff,
    }
}

/// `.ftz` concerns singles that are converted to wide formats and to integers; on its way to halves hardware does not flush (measured on an H100).
fn flush(how: &Convert, value: f64) -> f64 {
    if how.flush && how.from == Type::F32 && how.to != Type::F16 {
        f64::from(flushed(value as f32, true))
    } else {
        value
    }
}

fn decode(element: Type, bits: u64) -> f64 {
    match element {
        Type::F16 => decode_half(bits as u16),
        Type::Bf16 => decode_bf16(bits as u16),
        Type::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

fn integer(element: Type, bits: u64) -> i128 {
    let unused = 64 - 8 * element.bytes();
    if element.is_signed() {
        i128::from((bits << unused) as i64 >> unused)
    } else {
        i128::from(bits << unused >> unused)
    }
}

fn limits(element: Type) -> (i128, i128) {
    let width = 8 * element.bytes();
    if element.is_signed() {
        (-(1 << (width - 1)), (1 << (width - 1)) - 1)
    } else {
        (0, (1 << width) - 1)
    }
}

fn integer_to_integer(how: &Convert, value: i128) -> u64 {
    let (low, high) = limits(how.to);
    let value = if how.saturate {
        value.clamp(low, high)
    } else {
        value
    };
    integer(how.to, value as u64) as u64
}

/// Values out of range become the nearest limit. NaN becomes zero, or, of a double or to 64 bits, the highest bit (PTX ISA 8.x, section 9.7.9.21).
fn float_to_integer(how: &Convert, value: f64) -> u64 {
    let whole = round_integral(value, how.rounding);
    let (low, high) = limits(how.to);
    let value = match whole.is_nan() {
        true if how.from == Type::F64 || how.to.bytes() == 8 => {
            return integer(how.to, 1 << (8 * how.to.bytes() - 1)) as u64;
        }
        true => 0,
        false => (whole as i128).clamp(low, high),
    };
    value as u64
}

fn float_to_float(how: &Convert, value: f64) -> u64 {
    let value = if how.integral {
        round_integral(value, how.rounding)
    } else {
        value
    };
    encode(how, value)
}

fn encode(how: &Convert, value: f64) -> u64 {
    // NaN becomes zero under `.sat`, as every comparison with it is false.
    let value = match how.saturate {
        true if value > 0.0 => value.min(1.0),
        true => 0.0,
        false => value,
    };
    match how.to {
        Type::F16 => u64::from(encode_half(value, how.rounding)),
        Type::Bf16 => u64::from(encode_bf16(value, how.rounding)),
        Type::F32 => {
            let single = if value.is_nan() {
                f32::from_bits(0x7fff_ffff)
            } else {
                to_single(value, 0.0, how.rounding)
            };
            u64::from(flushed(single, how.flush).to_bits())
        }
        _ => value.to_bits(),
    }
}

fn integer_to_float(how: &Convert, value: i128) -> u64 {
    match how.to {
        Type::F32 => {
            let nearest = value as f32;
            let excess = (value - nearest as i128) as f64;
            let single = direct32(nearest, excess, how.rounding);
            let saturated = if how.saturate {
                single.clamp(0.0, 1.0)
            } else {
                single
            };
            u64::from(saturated.to_bits())
        }
        Type::F64 => {
            let nearest = value as f64;
            let excess = (value - nearest as i128) as f64;
            let double = direct64(nearest, excess, how.rounding);
            match how.saturate {
                true => double.clamp(0.0, 1.0).to_bits(),
                false => double.to_bits(),
            }
        }
        _ => {
            let nearest = value as f64;
            let excess = (value - nearest as i128) as f64;
            encode(how, to_odd(nearest, excess))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cvt(from: Type, to: Type, rounding: Rounding, bits: u64) -> u64 {
        let how = Convert {
            from,
            to,
            rounding,
            integral: false,
            flush: false,
            saturate: false,
        };
        convert(&how, &[bits])[0]
    }

    fn single(value: f32) -> u64 {
        u64::from(value.to_bits())
    }

    #[test]
    fn floats_to_integers_clamp_and_nan_is_zero() {
        let zero = Rounding::Zero;
        assert_eq!(cvt(Type::F32, Type::S32, zero, single(-1.9)) as i64, -1);
        assert_eq!(cvt(Type::F32, Type::U32, zero, single(-1.9)), 0);
        assert_eq!(
            cvt(Type::F32, Type::S32, zero, single(3e9)),
            i32::MAX as u64
        );
        assert_eq!(cvt(Type::F32, Type::U8, zero, single(300.0)), 255);
        assert_eq!(cvt(Type::F32, Type::S32, zero, single(f32::NAN)), 0);
        assert_eq!(cvt(Type::F32, Type::S32, Rounding::Nearest, single(2.5)), 2);
    }

    #[test]
    fn integers_are_extended_by_their_own_type() {
        let zero = Rounding::Zero;
        assert_eq!(cvt(Type::S32, Type::S64, zero, 0xffff_ffff), u64::MAX);
        assert_eq!(cvt(Type::U32, Type::U64, zero, 0xffff_ffff), 0xffff_ffff);
        assert_eq!(cvt(Type::U32, Type::U8, zero, 0x1ff), 0xff);
        assert_eq!(cvt(Type::U32, Type::S8, zero, 0x1ff), u64::MAX);
    }

    #[test]
    fn every_half_survives_a_round_trip() {
        for bits in 0..=u16::MAX {
            let value = decode_half(bits);
            if !value.is_nan() {
                assert_eq!(encode_half(value, Rounding::Nearest), bits, "{value}");
            }
        }
    }

    #[test]
    fn halves_round_overflow_and_underflow() {
        assert_eq!(encode_half(65519.0, Rounding::Nearest), 0x7bff);
        assert_eq!(encode_half(65520.0, Rounding::Nearest), 0x7c00);
        assert_eq!(encode_half(1e9, Rounding::Zero), 0x7bff);
        assert_eq!(encode_half(1e-10, Rounding::Up), 1);
        assert_eq!(encode_half(1.0 + 1.0 / 2048.0, Rounding::Nearest), 0x3c00);
    }

    proptest! {
        /// Conversions of whole warps agree with those of one value.
        #[test]
        fn short_ways_give_what_the_long_one_gives(bits in any::<u64>(), from in 0usize..14, to in 0usize..14, rounding in 0usize..2) {
            let types = [Type::B8, Type::U8, Type::S8, Type::B16, Type::U16, Type::S16, Type::B32, Type::U32, Type::S32, Type::B64, Type::U64, Type::S64, Type::F32, Type::F64];
            // Small integers, large ones, floats of all sizes.
            for bits in [bits, bits & 0xff, bits >> 40, single(bits as i64 as f32), (bits as i32 as f64 / 16.0).to_bits(), single(bits as i32 as f32 / 65536.0)] {
                let how = Convert { from: types[from], to: types[to], rounding: [Rounding::Nearest, Rounding::Zero][rounding], integral: false, flush: false, saturate: false };
                prop_assert_eq!(convert(&how, &[bits]), [convert_one(&how, bits)], "{:?}", how);
            }
        }

        #[test]
        fn integers_to_singles_bracket(value in any::<i64>()) {
            let to = |rounding| f32::from_bits(cvt(Type::S64, Type::F32, rounding, value as u64) as u32);
            let (down, up) = (to(Rounding::Down), to(Rounding::Up));
            prop_assert!((down as i128) <= i128::from(value) && i128::from(value) <= (up as i128));
            prop_assert!(up == down || down.next_up() == up);
            prop_assert_eq!(to(Rounding::Nearest), value as f32);
        }
    }
}
