//! Half precision: decoded to double precision, computed exactly, rounded once.

use warpwatt_ptx::program::{Comparison, Half, HalfCompare, HalfFormat, HalfOp, Narrow, Rounding};

use super::round::{to_odd, two_sum};
use crate::trace::LaneMask;

/// Fields of a binary format whose lowest bit is bit 0.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// Bits of the fraction.
    fraction: u32,
    /// Bias of the exponent, which is also the largest exponent.
    bias: i32,
}

impl Layout {
    /// Eight bits, of which three are fraction.
    pub const E4M3: Self = Self {
        fraction: 3,
        bias: 7,
    };

    /// Eight bits, of which two are fraction.
    pub const E5M2: Self = Self {
        fraction: 2,
        bias: 15,
    };

    /// Sixteen bits, of which ten are fraction.
    const F16: Self = Self {
        fraction: 10,
        bias: 15,
    };

    /// Sixteen bits, of which seven are fraction.
    const BF16: Self = Self {
        fraction: 7,
        bias: 127,
    };

    fn of(format: HalfFormat) -> Self {
        match format {
            HalfFormat::F16 => Self::F16,
            HalfFormat::Bf16 => Self::BF16,
            HalfFormat::Tf32 => Layout {
                fraction: 10,
                bias: 127,
            },
        }
    }

    /// The exponent field of infinities and NaN, in place.
    fn infinity(self) -> u32 {
        (2 * self.bias as u32 + 1) << self.fraction
    }

    fn sign(self) -> u32 {
        self.infinity() + (1 << self.fraction)
    }

    /// The one NaN that arithmetic makes.
    fn nan(self) -> u32 {
        self.sign() - 1
    }

    /// A number of a format that has no infinities, without its sign.
    #[inline(always)]
    pub fn decode_finite(self, bits: u32) -> f64 {
        // The fields of a double that is too small by the difference of the biases, subnormal where the number is.
        let small = f64::from_bits(u64::from(bits) << (52 - self.fraction));
        small * power_of_two(1023 - self.bias)
    }

    /// A number that is not negative and not beyond the largest finite one, which `round` cannot pass.
    pub fn encode_finite(self, value: f64, round: impl Fn(f64) -> f64) -> u32 {
        if value == 0.0 {
            return 0;
        }
        let exponent = exponent_of(value).max(1 - self.bias);
        let steps = round(value * power_of_two(self.fraction as i32 - exponent));
        // A carry out of the fraction moves the exponent by itself: the fields are adjacent.
        (((exponent + self.bias - 1) as u32) << self.fraction) + steps as u32
    }

    #[inline(always)]
    pub fn decode(self, bits: u32) -> f64 {
        let exponent = ((bits & !self.sign()) >> self.fraction) as i32 & (2 * self.bias + 1);
        let magnitude = if exponent == 2 * self.bias + 1 {
            match bits & ((1 << self.fraction) - 1) {
                0 => f64::INFINITY,
                _ => f64::NAN,
            }
        } else {
            self.decode_finite(bits & (self.sign() - 1))
        };
        if bits & self.sign() == 0 {
            magnitude
        } else {
            -magnitude
        }
    }

    /// The nearest number of the format, of ties the one with an even fraction.
    #[inline(always)]
    fn nearest(self, value: f64) -> u32 {
        let bits = value.to_bits();
        let sign = if value.is_sign_negative() {
            self.sign()
        } else {
            0
        };
        let magnitude = bits & (u64::MAX >> 1);
        let field = |exponent: i32| ((1023 + exponent) as u64) << 52;
        if magnitude >= field(self.bias + 1) {
            return match value.is_nan() {
                true => self.nan(),
                false => sign | self.infinity(),
            };
        }
        if magnitude < field(1 - self.bias) {
            // A sum whose last place is the least subnormal number rounds to it.
            let shift = power_of_two(52 + 1 - self.bias - self.fraction as i32);
            let sum = f64::from_bits(magnitude) + shift;
            return sign | (sum.to_bits() - shift.to_bits()) as u32;
        }
        let dropped = 52 - self.fraction;
        let odd = magnitude >> dropped & 1;
        // A carry out of the fraction moves the exponent by itself: the fields are adjacent.
        let rounded =
            magnitude - (field(0) - ((self.bias as u64) << 52)) + (1 << (dropped - 1)) - 1;
        sign | ((rounded + odd) >> dropped) as u32
    }

    /// The number of the format in a direction.
    #[inline(always)]
    fn encode_towards(self, value: f64, rounding: Rounding) -> u32 {
        match rounding {
            Rounding::Nearest => self.nearest(value),
            rounding => self.encode(value, |value| round_integral(value, rounding)),
        }
    }

    /// Rounds to the format's significant bits, fewer below its normal range. `round` rounds to an integral value.
    #[inline(always)]
    fn encode(self, value: f64, round: impl Fn(f64) -> f64) -> u32 {
        if value.is_nan() {
            return self.nan();
        }
        let sign = if value.is_sign_negative() {
            self.sign()
        } else {
            0
        };
        if value == 0.0 || value.is_infinite() {
            return sign | if value == 0.0 { 0 } else { self.infinity() };
        }
        let exponent = exponent_of(value).clamp(1 - self.bias, self.bias + 1);
        let unit = exponent - self.fraction as i32;
        let steps = round(value * power_of_two(-unit)).abs();
        let largest = power_of_two(self.bias + 1) - power_of_two(self.bias - self.fraction as i32);
        if steps * power_of_two(unit) > largest {
            // A rounding that drops what lies beyond a value stops at the largest finite one.
            let stops = round(0.75f64.copysign(value)) == 0.0;
            return sign
                | if stops {
                    self.infinity() - 1
                } else {
                    self.infinity()
                };
        }
        // A carry out of the fraction moves the exponent by itself: the fields are adjacent.
        sign | ((((exponent + self.bias - 1) as u32) << self.fraction) + steps as u32)
    }

    #[inline(always)]
    fn flushed(self, value: f64, flush: bool) -> f64 {
        let subnormal = value.abs() < power_of_two(1 - self.bias);
        if flush && subnormal {
            0.0f64.copysign(value)
        } else {
            value
        }
    }
}

/// Two to a power that a normal double has; a product with it is exact where it is normal itself.
#[inline(always)]
fn power_of_two(power: i32) -> f64 {
    f64::from_bits(((power + 1023) as u64) << 52)
}

/// The exponent of a double that is not zero; of a subnormal one, which lies below every format here, that of the greatest of them.
#[inline(always)]
fn exponent_of(value: f64) -> i32 {
    (value.to_bits() >> 52 & 0x7ff) as i32 - 1023
}

pub(super) fn round_integral(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Nearest => value.round_ties_even(),
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
    }
}

/// An `f16` as a double.
pub fn decode_half(bits: u16) -> f64 {
    Layout::of(HalfFormat::F16).decode(u32::from(bits))
}

/// A double as an `f16`.
pub fn encode_half(value: f64, rounding: Rounding) -> u16 {
    Layout::of(HalfFormat::F16).encode_towards(value, rounding) as u16
}

/// A `bf16` as a double.
pub fn decode_bf16(bits: u16) -> f64 {
    Layout::of(HalfFormat::Bf16).decode(u32::from(bits))
}

/// A double as a `bf16`.
pub fn encode_bf16(value: f64, rounding: Rounding) -> u16 {
    Layout::of(HalfFormat::Bf16).encode_towards(value, rounding) as u16
}

/// What fills a tile out of bounds, of both formats and either sign (measured on an H100).
const OUT_OF_BOUNDS: u32 = 0x7ff7;

/// Words whose elements, one or two, are what `element` says of a lane and of the shift of their lowest bits.
#[inline(always)]
fn elements<const W: usize>(packed: bool, element: impl Fn(usize, u32) -> u32) -> [u32; W] {
    if packed {
        std::array::from_fn(|lane| element(lane, 0) | element(lane, 16) << 16)
    } else {
        std::array::from_fn(|lane| element(lane, 0))
    }
}

/// Arithmetic on one or both halves of each word.
pub fn half<const W: usize>(how: &Half, sources: &[&[u32; W]]) -> [u32; W] {
    let plain = match (how.flush || how.saturate || how.relu, how.format) {
        (false, HalfFormat::F16) => plain(Layout::F16, how, sources),
        (false, HalfFormat::Bf16) => plain(Layout::BF16, how, sources),
        _ => None,
    };
    if let Some(words) = plain {
        return words;
    }
    elements(how.packed, |lane, shift| {
        let bits = |at: usize| {
            sources
                .get(at)
                .map_or(0, |source| source[lane] >> shift & 0xffff)
        };
        half_one(how, [bits(0), bits(1), bits(2)])
    })
}

/// What most kernels compute, without questions in the loop over lanes. A double holds the product of two halves exactly, and of a sum so many bits that rounding it
/// again does not matter (Figueroa, "When is double rounding innocuous?", 1995); the third operand needs more.
#[inline(always)]
fn plain<const W: usize>(layout: Layout, how: &Half, sources: &[&[u32; W]]) -> Option<[u32; W]> {
    match (&how.op, sources) {
        (HalfOp::Add, &[a, b]) => Some(each(layout, how.packed, [a, b], |[a, b]| a + b)),
        (HalfOp::Sub, &[a, b]) => Some(each(layout, how.packed, [a, b], |[a, b]| a - b)),
        (HalfOp::Mul, &[a, b]) => Some(each(layout, how.packed, [a, b], |[a, b]| a * b)),
        (HalfOp::Fma { oob: false }, &[a, b, c]) => {
            Some(each(layout, how.packed, [a, b, c], |[a, b, c]| {
                sum(a * b, c)
            }))
        }
        _ => None,
    }
}

#[inline(always)]
fn each<const W: usize, const N: usize>(
    layout: Layout,
    packed: bool,
    sources: [&[u32; W]; N],
    compute: impl Fn([f64; N]) -> f64,
) -> [u32; W] {
    elements(packed, |lane, shift| {
        let operands = sources.map(|source| layout.decode(source[lane] >> shift & 0xffff));
        layout.nearest(compute(operands))
    })
}

fn half_one(how: &Half, bits: [u32; 3]) -> u32 {
    let layout = Layout::of(how.format);
    let [magnitude, sign] = [bits[0] & !layout.sign(), bits[0] & layout.sign()];
    match how.op {
        HalfOp::Neg | HalfOp::Abs if magnitude > layout.infinity() => return layout.nan(),
        HalfOp::Neg => return flush_bits(layout, magnitude | sign ^ layout.sign(), how.flush),
        HalfOp::Abs => return flush_bits(layout, magnitude, how.flush),
        _ => {}
    }
    let [a, b, c] = bits.map(|bits| layout.flushed(layout.decode(bits), how.flush));
    let value = match how.op {
        HalfOp::Ex2Approx => libm::exp2(a),
        HalfOp::TanhApprox => libm::tanh(a),
        HalfOp::Add => sum(a, b),
        HalfOp::Sub => sum(a, -b),
        HalfOp::Mul => a * b,
        HalfOp::Fma { oob: true }
            if bits[..2].iter().any(|&bits| bits & 0x7fff == OUT_OF_BOUNDS) =>
        {
            0.0
        }
        HalfOp::Fma { .. } => sum(a * b, c),
        HalfOp::Min { nan } => extreme(a, b, nan, |a, b| a < b || (a == b && a.is_sign_negative())),
        HalfOp::Max { nan } => extreme(a, b, nan, |a, b| a > b || (a == b && a.is_sign_positive())),
        HalfOp::Neg | HalfOp::Abs => a,
    };
    let value = match (how.saturate, how.relu) {
        // NaN becomes zero, as every comparison with it is false.
        (true, _) => {
            if value > 0.0 {
                value.min(1.0)
            } else {
                0.0
            }
        }
        // NaN stays.
        (_, true) => {
            if value <= 0.0 {
                0.0
            } else {
                value
            }
        }
        _ => value,
    };
    // Whether a result is subnormal is asked before it is rounded.
    let value = layout.flushed(value, how.flush);
    flush_bits(layout, layout.nearest(value), how.flush)
}

fn flush_bits(layout: Layout, bits: u32, flush: bool) -> u32 {
    let magnitude = bits & !layout.sign();
    if flush && magnitude < 1 << layout.fraction {
        bits & layout.sign()
    } else {
        bits
    }
}

/// The sum of two doubles, such that rounding it again to a half rounds the exact sum.
fn sum(a: f64, b: f64) -> f64 {
    let (high, low) = two_sum(a, b);
    if high.is_finite() {
        to_odd(high, low)
    } else {
        high
    }
}

fn extreme(a: f64, b: f64, nan: bool, first: impl Fn(f64, f64) -> bool) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => f64::NAN,
        (true, false) | (false, true) if nan => f64::NAN,
        (true, false) => b,
        (false, true) => a,
        _ => {
            if first(a, b) {
                a
            } else {
                b
            }
        }
    }
}

/// In which lanes a comparison holds, of the lower and the upper elements.
pub fn compare_halves<const W: usize>(
    how: &HalfCompare,
    a: &[u32; W],
    b: &[u32; W],
) -> [LaneMask; 2] {
    let layout = Layout::of(how.format);
    let value =
        |word: u32, shift: u32| layout.flushed(layout.decode(word >> shift & 0xffff), how.flush);
    [0, 16].map(|shift| {
        let lanes =
            (0..W).filter(|&lane| holds(how.how, value(a[lane], shift), value(b[lane], shift)));
        lanes.fold(0, |mask, lane| mask | 1 << lane)
    })
}

fn holds(how: Comparison, a: f64, b: f64) -> bool {
    let unordered = a.is_nan() || b.is_nan();
    match how {
        Comparison::Eq => a == b,
        Comparison::Ne => !unordered && a != b,
        Comparison::Lt => a < b,
        Comparison::Le => a <= b,
        Comparison::Gt => a > b,
        Comparison::Ge => a >= b,
        Comparison::Equ => unordered || a == b,
        Comparison::Neu => a != b,
        Comparison::Ltu => unordered || a < b,
        Comparison::Leu => unordered || a <= b,
        Comparison::Gtu => unordered || a > b,
        Comparison::Geu => unordered || a >= b,
        Comparison::Num => !unordered,
        Comparison::Nan => unordered,
    }
}

/// Singles to a narrower format; of two, the first goes into the upper half.
pub fn narrow<const W: usize>(how: &Narrow, sources: &[&[u32; W]]) -> [u32; W] {
    std::array::from_fn(|lane| match *sources {
        [high, low] => narrow_one(how, high[lane]) << 16 | narrow_one(how, low[lane]),
        [single] => narrow_one(how, single[lane]),
        _ => 0,
    })
}

fn narrow_one(how: &Narrow, bits: u32) -> u32 {
    let layout = Layout::of(how.format);
    let value = f64::from(f32::from_bits(bits));
    let value = if how.relu && value <= 0.0 { 0.0 } else { value };
    if how.format == HalfFormat::Tf32 && how.rounding.is_none() {
        return to_tf32(bits, how.finite);
    }
    let narrow = match how.rounding {
        Some(rounding) => layout.encode_towards(value, rounding),
        None => layout.encode(value, f64::round),
    };
    let infinite = narrow & !layout.sign() == layout.infinity();
    let narrow = if how.finite && infinite {
        narrow - 1
    } else {
        narrow
    };
    // TF32 has the sign and exponent of a single and stands where they do.
    if how.format == HalfFormat::Tf32 {
        narrow << 13
    } else {
        narrow
    }
}

/// `cvt.rna.tf32`: half of the last place is added to the bits. What is not finite is cut, and under `.satfinite` loses one more (measured on an H100, and
/// right for infinities).
fn to_tf32(bits: u32, finite: bool) -> u32 {
    const EXPONENT: u32 = 0x7f80_0000;
    let unbounded = |bits: u32| bits & EXPONENT == EXPONENT;
    let half = if unbounded(bits) { 0 } else { 0x1000 };
    let cut = bits.wrapping_add(half) & !0x1fff;
    if finite && unbounded(cut) {
        cut - 0x2000
    } else {
        cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const F16: Layout = Layout::F16;
    const BF16: Layout = Layout::BF16;

    fn op(op: HalfOp, format: HalfFormat, packed: bool) -> Half {
        Half {
            op,
            format,
            packed,
            flush: false,
            saturate: false,
            relu: false,
        }
    }

    fn run(how: Half, words: [u32; 3]) -> u32 {
        half(&how, &[&[words[0]], &[words[1]], &[words[2]]])[0]
    }

    #[test]
    fn every_finite_bf16_is_the_upper_half_of_a_single() {
        for bits in 0..=u32::from(u16::MAX) {
            let single = f32::from_bits(bits << 16);
            if !single.is_nan() {
                assert_eq!(BF16.decode(bits), f64::from(single));
                assert_eq!(BF16.encode(f64::from(single), f64::round_ties_even), bits);
            }
        }
    }

    #[test]
    fn every_number_is_what_its_fields_say() {
        for bits in 0..0x7c00u32 {
            let (exponent, fraction) = ((bits >> 10) as i32, f64::from(bits & 0x3ff));
            let hidden = if exponent == 0 { 0.0 } else { 1024.0 };
            let value = (hidden + fraction) * 2f64.powi(exponent.max(1) - 25);
            assert_eq!(F16.decode(bits), value);
            assert_eq!(F16.decode(bits | 0x8000), -value);
            assert_eq!(F16.nearest(value), bits);
        }
    }

    #[test]
    fn pairs_are_computed_apart() {
        // 1.5 and 2.0 plus 0.5 and -2.0.
        assert_eq!(
            run(
                op(HalfOp::Add, HalfFormat::F16, true),
                [0x3e00_4000, 0x3800_c000, 0]
            ),
            0x4000_0000
        );
    }

    #[test]
    fn a_fused_product_is_rounded_once() {
        // (1 + 3 * 2^-10)^2 - 1 is 6 * 2^-10 + 9 * 2^-20 exactly; a rounded product would leave 6 * 2^-10 only.
        let fma = op(HalfOp::Fma { oob: false }, HalfFormat::F16, false);
        let fused = run(fma, [0x3c03, 0x3c03, 0xbc00]);
        assert_eq!(F16.decode(fused), 6.0 / 1024.0 + libm::ldexp(1.0, -17));
    }

    #[test]
    fn singles_become_narrower_in_the_named_direction() {
        let cvt = |format, rounding| {
            narrow_one(
                &Narrow {
                    format,
                    packed: false,
                    rounding,
                    relu: false,
                    finite: false,
                },
                0x3f80_1000,
            )
        };
        assert_eq!(
            cvt(HalfFormat::Tf32, None),
            0x3f80_2000,
            "a tie goes away from zero"
        );
        assert_eq!(
            cvt(HalfFormat::Tf32, Some(Rounding::Nearest)),
            0x3f80_0000,
            "a tie goes to even"
        );
        assert_eq!(cvt(HalfFormat::Bf16, Some(Rounding::Nearest)), 0x3f80);
    }

    proptest! {
        /// The nearest is that of counting steps of the last place.
        #[test]
        fn the_nearest_is_found_by_its_fields(bits in any::<u64>(), exponent in 850u64..1200) {
            let near = f64::from_bits(bits & !(0x7ff << 52) | exponent << 52);
            let ties = f64::from_bits(near.to_bits() >> 41 << 41);
            for value in [f64::from_bits(bits), near, ties] {
                for layout in [F16, BF16] {
                    prop_assert_eq!(layout.nearest(value), layout.encode(value, f64::round_ties_even), "{}", value);
                }
            }
        }

        /// The short way is the long one.
        #[test]
        fn what_is_plain_is_what_the_rest_computes(words in any::<[u32; 3]>(), bf16 in any::<bool>()) {
            let format = if bf16 { HalfFormat::Bf16 } else { HalfFormat::F16 };
            let of = |shift: u32| words.map(|word| word >> shift & 0xffff);
            for (name, operands) in [
                (HalfOp::Add, 2),
                (HalfOp::Sub, 2),
                (HalfOp::Mul, 2),
                (HalfOp::Fma { oob: false }, 3),
            ] {
                let how = op(name, format, true);
                let sources: Vec<[u32; 1]> = words[..operands].iter().map(|&word| [word]).collect();
                let sources: Vec<&[u32; 1]> = sources.iter().collect();
                let long = half_one(&how, of(0)) | half_one(&how, of(16)) << 16;
                prop_assert_eq!(half(&how, &sources)[0], long);
            }
        }

        /// Single precision holds the sum and the product of two halves, so that one more rounding is the only one.
        #[test]
        fn sums_and_products_are_those_of_singles_rounded(a in any::<u16>(), b in any::<u16>()) {
            let (x, y) = (decode_half(a), decode_half(b));
            prop_assume!(x.is_finite() && y.is_finite());
            let words = [u32::from(a), u32::from(b), 0];
            prop_assert_eq!(run(op(HalfOp::Add, HalfFormat::F16, false), words), u32::from(encode_half(x + y, Rounding::Nearest)));
            prop_assert_eq!(run(op(HalfOp::Mul, HalfFormat::F16, false), words), u32::from(encode_half(x * y, Rounding::Nearest)));
        }
    }
}
