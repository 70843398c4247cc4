//! Operations on 32-bit words, and on 16-bit values held in them.

use warpwatt_ptx::program::{Float, PermuteMode, ShortOp, Word1, Word2, Word3, Word4};

use super::float32 as f;
use super::{map1, map2, map3};

type Words<const W: usize> = [u32; W];

/// One operand as a float.
#[inline(always)]
fn float1<const W: usize>(a: &Words<W>, op: impl Fn(f32) -> f32) -> Words<W> {
    map1(a, |a| op(f32::from_bits(a)).to_bits())
}

/// Two operands as floats.
#[inline(always)]
fn float2<const W: usize>(a: &Words<W>, b: &Words<W>, op: impl Fn(f32, f32) -> f32) -> Words<W> {
    map2(a, b, |a, b| {
        op(f32::from_bits(a), f32::from_bits(b)).to_bits()
    })
}

/// One word to a word.
pub fn word1<const W: usize>(op: Word1, a: &Words<W>) -> Words<W> {
    match op {
        Word1::Copy => *a,
        Word1::Not => map1(a, |a| !a),
        Word1::Neg => map1(a, u32::wrapping_neg),
        Word1::Abs => map1(a, |a| (a as i32).wrapping_abs() as u32),
        Word1::Popc => map1(a, u32::count_ones),
        Word1::Clz => map1(a, u32::leading_zeros),
        Word1::Brev => map1(a, u32::reverse_bits),
        Word1::Bfind { signed, shift } => map1(a, |a| find_bit(u64::from(a), 32, signed, shift)),
        Word1::FNeg { flush } => float1(a, |a| f::canonical(-f::flushed(a, flush))),
        Word1::FAbs { flush } => float1(a, |a| f::canonical(f::flushed(a, flush).abs())),
        Word1::FSqrt(Float::PLAIN) => float1(a, |a| f::sqrt(a, Float::PLAIN)),
        Word1::FSqrt(float) => float1(a, |a| f::sqrt(a, float)),
        Word1::FRcp(float) => float1(a, |a| f::div(1.0, a, float)),
        Word1::SqrtApprox { flush } => float1(a, |a| f::approximate(a, flush, f64::sqrt)),
        Word1::RcpApprox { flush } => float1(a, |a| f::approximate(a, flush, f64::recip)),
        Word1::RsqrtApprox { flush } => {
            float1(a, |a| f::approximate(a, flush, |a| a.sqrt().recip()))
        }
        Word1::Ex2Approx { flush } => float1(a, |a| f::approximate(a, flush, libm::exp2)),
        Word1::Lg2Approx { flush } => float1(a, |a| f::approximate(a, flush, libm::log2)),
        Word1::SinApprox { flush } => float1(a, |a| f::of_turns(a, flush, libm::sin)),
        Word1::CosApprox { flush } => float1(a, |a| f::of_turns(a, flush, libm::cos)),
        Word1::TanhApprox => float1(a, |a| f::approximate(a, false, libm::tanh)),
    }
}

/// `bfind`: the highest bit that differs from the sign, or 0xffffffff.
pub fn find_bit(value: u64, width: u32, signed: bool, shift: bool) -> u32 {
    let unused = 64 - width;
    let extended = (value << unused) as i64 >> unused;
    let magnitude = if signed && extended < 0 {
        !extended as u64
    } else {
        value
    };
    if magnitude == 0 {
        return u32::MAX;
    }
    let bit = 63 - magnitude.leading_zeros();
    if shift { width - 1 - bit } else { bit }
}

/// Two words to a word.
pub fn word2<const W: usize>(op: Word2, a: &Words<W>, b: &Words<W>) -> Words<W> {
    match op {
        Word2::Add => map2(a, b, u32::wrapping_add),
        Word2::AddSaturate => map2(a, b, |a, b| (a as i32).saturating_add(b as i32) as u32),
        Word2::Sub => map2(a, b, u32::wrapping_sub),
        Word2::SubSaturate => map2(a, b, |a, b| (a as i32).saturating_sub(b as i32) as u32),
        Word2::Mul => map2(a, b, u32::wrapping_mul),
        Word2::MulHi { signed: false } => {
            map2(a, b, |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32)
        }
        Word2::MulHi { signed: true } => map2(a, b, |a, b| (wide(a, b) >> 32) as u32),
        Word2::Mul24 { signed, high } => map2(a, b, |a, b| mul24(a, b, signed, high)),
        Word2::Div { signed: false } => map2(a, b, |a, b| a.checked_div(b).unwrap_or(u32::MAX)),
        Word2::Div { signed: true } => map2(a, b, divide_signed),
        Word2::Rem { signed: false } => map2(a, b, |a, b| a.checked_rem(b).unwrap_or(u32::MAX)),
        Word2::Rem { signed: true } => map2(a, b, remainder_signed),
        Word2::Min { signed: false } => map2(a, b, u32::min),
        Word2::Min { signed: true } => map2(a, b, |a, b| (a as i32).min(b as i32) as u32),
        Word2::Max { signed: false } => map2(a, b, u32::max),
        Word2::Max { signed: true } => map2(a, b, |a, b| (a as i32).max(b as i32) as u32),
        Word2::And => map2(a, b, |a, b| a & b),
        Word2::Or => map2(a, b, |a, b| a | b),
        Word2::Xor => map2(a, b, |a, b| a ^ b),
        Word2::Shl => map2(a, b, |a, b| a.checked_shl(b).unwrap_or(0)),
        Word2::Shr { signed: false } => map2(a, b, |a, b| a.checked_shr(b).unwrap_or(0)),
        Word2::Shr { signed: true } => map2(a, b, |a, b| (a as i32 >> b.min(31)) as u32),
        Word2::Bmsk { clamp } => map2(a, b, |a, b| mask(a, b, clamp)),
        Word2::FAdd(Float::PLAIN) => float2(a, b, |a, b| f::add(a, b, Float::PLAIN)),
        Word2::FAdd(float) => float2(a, b, |a, b| f::add(a, b, float)),
        Word2::FSub(Float::PLAIN) => float2(a, b, |a, b| f::add(a, -b, Float::PLAIN)),
        Word2::FSub(float) => float2(a, b, |a, b| f::add(a, -b, float)),
        Word2::FMul(Float::PLAIN) => float2(a, b, |a, b| f::mul(a, b, Float::PLAIN)),
        Word2::FMul(float) => float2(a, b, |a, b| f::mul(a, b, float)),
        Word2::FDiv(Float::PLAIN) => float2(a, b, |a, b| f::div(a, b, Float::PLAIN)),
        Word2::FDiv(float) => float2(a, b, |a, b| f::div(a, b, float)),
        // Both approximate divisions are given the exact quotient, which is inside their bounds of 2 ulp.
        Word2::FDivApprox { flush, full } => float2(a, b, |a, b| f::div_approx(a, b, flush, full)),
        Word2::FMin { flush, nan } => float2(a, b, |a, b| f::min(a, b, flush, nan)),
        Word2::FMax { flush, nan } => float2(a, b, |a, b| f::max(a, b, flush, nan)),
        // PTX: the sign of the first operand, the magnitude of the second.
        Word2::CopySign => float2(a, b, |a, b| b.copysign(a)),
    }
}

fn wide(a: u32, b: u32) -> u64 {
    (i64::from(a as i32) * i64::from(b as i32)) as u64
}

/// Division by zero has no defined result in PTX; hardware gives all ones.
fn divide_signed(a: u32, b: u32) -> u32 {
    if b == 0 {
        return u32::MAX;
    }
    (a as i32).wrapping_div(b as i32) as u32
}

fn remainder_signed(a: u32, b: u32) -> u32 {
    if b == 0 {
        return u32::MAX;
    }
    (a as i32).wrapping_rem(b as i32) as u32
}

/// The product of the lower 24 bits: bits 0 to 31, or 16 to 47.
fn mul24(a: u32, b: u32, signed: bool, high: bool) -> u32 {
    let part = |value: u32| {
        if signed {
            i64::from((value << 8) as i32 >> 8)
        } else {
            i64::from(value & 0xff_ffff)
        }
    };
    let product = part(a) * part(b);
    if high {
        (product >> 16) as u32
    } else {
        product as u32
    }
}

/// `bmsk`: `length` ones from bit `position` on.
fn mask(position: u32, length: u32, clamp: bool) -> u32 {
    let (position, length) = if clamp {
        (position.min(32), length.min(32))
    } else {
        (position & 31, length & 31)
    };
    let ones = 1u64
        .checked_shl(length)
        .map_or(0, |bit| bit.wrapping_sub(1));
    (ones << position) as u32
}

/// Three words to a word.
pub fn word3<const W: usize>(op: Word3, a: &Words<W>, b: &Words<W>, c: &Words<W>) -> Words<W> {
    match op {
        Word3::Mad => map3(a, b, c, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        Word3::Add3 => map3(a, b, c, |a, b, c| a.wrapping_add(b).wrapping_add(c)),
        Word3::MadHi { signed: false } => map3(a, b, c, |a, b, c| {
            (((u64::from(a) * u64::from(b)) >> 32) as u32).wrapping_add(c)
        }),
        Word3::MadHi { signed: true } => map3(a, b, c, |a, b, c| {
            ((wide(a, b) >> 32) as u32).wrapping_add(c)
        }),
        Word3::Mad24 { signed, high } => {
            map3(a, b, c, |a, b, c| mul24(a, b, signed, high).wrapping_add(c))
        }
        Word3::Sad { signed: false } => map3(a, b, c, |a, b, c| a.abs_diff(b).wrapping_add(c)),
        Word3::Sad { signed: true } => map3(a, b, c, |a, b, c| {
            (a as i32).abs_diff(b as i32).wrapping_add(c)
        }),
        Word3::Fma(Float::PLAIN) => fused_single(a, b, c),
        Word3::Fma(float) => map3(a, b, c, |a, b, c| {
            f::fma(
                f32::from_bits(a),
                f32::from_bits(b),
                f32::from_bits(c),
                float,
            )
            .to_bits()
        }),
        Word3::FExtreme(how) => map3(a, b, c, |a, b, c| f::extreme(f::extreme(a, b, how), c, how)),
        Word3::Lop3(table) => map3(a, b, c, |a, b, c| lop3(a, b, c, table)),
        Word3::Prmt(mode) => map3(a, b, c, |a, b, c| permute(a, b, c, mode)),
        Word3::FunnelShift { right, clamp } => {
            map3(a, b, c, |a, b, c| funnel_shift(a, b, c, right, clamp))
        }
        Word3::Bfe { signed } => map3(a, b, c, |a, b, c| {
            super::double::extract_bits(u64::from(a), b, c, 32, signed) as u32
        }),
        Word3::Dp4a { signed } => map3(a, b, c, |a, b, c| dot4(a, b, c, signed)),
        Word3::Dp2a { signed, high } => map3(a, b, c, |a, b, c| dot2(a, b, c, signed, high)),
    }
}

/// Products plus a third operand, of single precision, rounded once. All lanes at once, as if none needed the exact path, which the few that do then take.
pub fn fused_single<const W: usize>(a: &Words<W>, b: &Words<W>, c: &Words<W>) -> Words<W> {
    let sums: [f64; W] = map3(a, b, c, |a, b, c| {
        f64::from(f32::from_bits(a)) * f64::from(f32::from_bits(b)) + f64::from(f32::from_bits(c))
    });
    let mut result: Words<W> = map1(&sums, |sum| (sum as f32).to_bits());
    // Not `any`: looking at all of them needs no branches.
    let doubtful = sums
        .iter()
        .fold(false, |doubtful, &sum| doubtful | !f::rounds_once(sum));
    if doubtful {
        for lane in 0..W {
            if !f::rounds_once(sums[lane]) {
                let exact = f::fma(
                    f32::from_bits(a[lane]),
                    f32::from_bits(b[lane]),
                    f32::from_bits(c[lane]),
                    Float::PLAIN,
                );
                result[lane] = exact.to_bits();
            }
        }
    }
    result
}

fn lop3(a: u32, b: u32, c: u32, table: u8) -> u32 {
    (0..8u8)
        .filter(|bit| table >> bit & 1 == 1)
        .fold(0, |result, bit| {
            let a = if bit & 4 == 0 { !a } else { a };
            let b = if bit & 2 == 0 { !b } else { b };
            let c = if bit & 1 == 0 { !c } else { c };
            result | a & b & c
        })
}

fn permute(a: u32, b: u32, control: u32, mode: PermuteMode) -> u32 {
    let bytes = (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
    let at = control & 3;
    let chosen: [u32; 4] = std::array::from_fn(|byte| {
        let byte = byte as u32;
        match mode {
            PermuteMode::Generic => control >> (4 * byte) & 15,
            PermuteMode::F4e => at + byte,
            PermuteMode::B4e => (at + 8 - byte) & 7,
            PermuteMode::Rc8 => at,
            PermuteMode::Ecl => at.max(byte),
            PermuteMode::Ecr => at.min(byte),
            PermuteMode::Rc16 => (at & 1) * 2 + (byte & 1),
        }
    });
    u32::from_le_bytes(chosen.map(|selector| {
        let byte = bytes[(selector & 7) as usize];
        let replicate_sign = selector & 8 != 0;
        if replicate_sign {
            ((byte as i8) >> 7) as u8
        } else {
            byte
        }
    }))
}

/// `shf`: a is the lower word.
fn funnel_shift(a: u32, b: u32, amount: u32, right: bool, clamp: bool) -> u32 {
    let amount = if clamp { amount.min(32) } else { amount & 31 };
    let both = u64::from(b) << 32 | u64::from(a);
    if right {
        (both >> amount) as u32
    } else {
        (both << amount >> 32) as u32
    }
}

fn byte_of(word: u32, at: u32, signed: bool) -> i32 {
    let byte = (word >> (8 * at)) as u8;
    if signed {
        i32::from(byte as i8)
    } else {
        i32::from(byte)
    }
}

fn dot4(a: u32, b: u32, c: u32, signed: [bool; 2]) -> u32 {
    (0..4).fold(c, |sum, at| {
        let product = byte_of(a, at, signed[0]) * byte_of(b, at, signed[1]);
        sum.wrapping_add(product as u32)
    })
}

fn dot2(a: u32, b: u32, c: u32, signed: [bool; 2], high: bool) -> u32 {
    (0..2).fold(c, |sum, at| {
        let half = (a >> (16 * at)) as u16;
        let half = if signed[0] {
            i32::from(half as i16)
        } else {
            i32::from(half)
        };
        let byte = byte_of(b, at + if high { 2 } else { 0 }, signed[1]);
        sum.wrapping_add((half * byte) as u32)
    })
}

/// Four words to a word.
pub fn word4<const W: usize>(
    op: Word4,
    a: &Words<W>,
    b: &Words<W>,
    c: &Words<W>,
    d: &Words<W>,
) -> Words<W> {
    match op {
        Word4::Bfi => std::array::from_fn(|lane| {
            let (field, base) = (u64::from(a[lane]), u64::from(b[lane]));
            super::double::insert_bits(field, base, c[lane], d[lane], 32) as u32
        }),
    }
}

/// A word operation on 16-bit operands: extended first, so that the lower half of the result is right.
pub fn short<const W: usize>(op: ShortOp, signed: bool, operands: &[&Words<W>]) -> Words<W> {
    let extend = |a: &Words<W>| {
        map1(a, |a| {
            if signed {
                i32::from(a as i16) as u32
            } else {
                a & 0xffff
            }
        })
    };
    match (op, operands) {
        (ShortOp::One(op), [a]) => word1(op, &extend(a)),
        // Shift counts are words of their own.
        (ShortOp::Two(op @ (Word2::Shl | Word2::Shr { .. })), [a, b]) => word2(op, &extend(a), b),
        (ShortOp::Two(op), [a, b]) => word2(op, &extend(a), &extend(b)),
        (ShortOp::MulHi, [a, b]) => map1(&word2(Word2::Mul, &extend(a), &extend(b)), |product| {
            product >> 16
        }),
        (ShortOp::Three(op), [a, b, c]) => word3(op, &extend(a), &extend(b), &extend(c)),
        _ => unreachable!("lowering checked the number of operands"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(op: Word1, a: u32) -> u32 {
        word1(op, &[a])[0]
    }

    fn two(op: Word2, a: u32, b: u32) -> u32 {
        word2(op, &[a], &[b])[0]
    }

    fn three(op: Word3, a: u32, b: u32, c: u32) -> u32 {
        word3(op, &[a], &[b], &[c])[0]
    }

    #[test]
    fn shifts_beyond_the_width_shift_everything_out() {
        assert_eq!(two(Word2::Shl, 1, 32), 0);
        assert_eq!(two(Word2::Shr { signed: false }, u32::MAX, 40), 0);
        assert_eq!(two(Word2::Shr { signed: true }, 0x8000_0000, 40), u32::MAX);
    }

    #[test]
    fn bit_finding() {
        assert_eq!(
            one(
                Word1::Bfind {
                    signed: false,
                    shift: false
                },
                0
            ),
            u32::MAX
        );
        assert_eq!(
            one(
                Word1::Bfind {
                    signed: false,
                    shift: false
                },
                0x10
            ),
            4
        );
        assert_eq!(
            one(
                Word1::Bfind {
                    signed: false,
                    shift: true
                },
                0x10
            ),
            27
        );
        assert_eq!(
            one(
                Word1::Bfind {
                    signed: true,
                    shift: false
                },
                (-2i32) as u32
            ),
            0
        );
        assert_eq!(
            one(
                Word1::Bfind {
                    signed: true,
                    shift: false
                },
                u32::MAX
            ),
            u32::MAX
        );
    }

    #[test]
    fn lop3_is_its_truth_table() {
        let (a, b, c) = (0xf0, 0xcc, 0xaa);
        assert_eq!(three(Word3::Lop3(0xf0 & 0xcc), a, b, c), a & b);
        assert_eq!(three(Word3::Lop3(0xf0 ^ 0xcc ^ 0xaa), a, b, c), a ^ b ^ c);
    }

    #[test]
    fn permutation_selects_bytes_and_signs() {
        let (a, b) = (0x8322_1100, 0x7766_5544);
        assert_eq!(
            three(Word3::Prmt(PermuteMode::Generic), a, b, 0x7410),
            0x7744_1100
        );
        assert_eq!(
            three(Word3::Prmt(PermuteMode::Generic), a, b, 0x000b),
            0x0000_00ff
        );
        assert_eq!(three(Word3::Prmt(PermuteMode::Rc16), a, b, 1), 0x8322_8322);
    }

    #[test]
    fn fields_and_funnels() {
        assert_eq!(three(Word3::Bfe { signed: true }, 0xf0, 4, 4), u32::MAX);
        assert_eq!(three(Word3::Bfe { signed: false }, 0xf0, 4, 4), 0xf);
        assert_eq!(
            word4(Word4::Bfi, &[0xab], &[0xffff_0000], &[8], &[8])[0],
            0xffff_ab00
        );
        let shift = Word3::FunnelShift {
            right: true,
            clamp: false,
        };
        assert_eq!(three(shift, 0x1, 0x2, 1), 0);
        assert_eq!(three(shift, 0x3, 0x1, 1), 0x8000_0001);
    }

    #[test]
    fn sixteen_bits_wrap_at_sixteen() {
        let add = short(ShortOp::Two(Word2::Add), true, &[&[0xffff], &[1]]);
        assert_eq!(add[0] & 0xffff, 0);
        let min = short(
            ShortOp::Two(Word2::Min { signed: true }),
            true,
            &[&[0x1_ffff], &[1]],
        );
        assert_eq!(min[0] & 0xffff, 0xffff);
        let high = short::<1>(ShortOp::MulHi, false, &[&[0x8000], &[4]]);
        assert_eq!(high[0], 2);
    }

    #[test]
    fn dot_products_extend_each_byte_as_asked() {
        let signed = Word3::Dp4a {
            signed: [true, true],
        };
        assert_eq!(three(signed, 0xff01_0203, 0x0101_0101, 10), 15);
        let unsigned = Word3::Dp4a {
            signed: [false, false],
        };
        assert_eq!(three(unsigned, 0xff00_0000, 0x0200_0000, 0), 510);
    }
}
