//! Single-precision arithmetic, as PTX defines it: IEEE 754 with explicit rounding, flushing and saturation.

use warpwatt_ptx::program::{Extreme, Float, Rounding};

use super::round::{direct32, to_single, two_sum};

/// Zero of the value's sign, if it is subnormal and `flush` is set.
#[inline(always)]
pub fn flushed(value: f32, flush: bool) -> f32 {
    if flush && value.is_subnormal() {
        0.0f32.copysign(value)
    } else {
        value
    }
}

/// The one NaN that arithmetic makes (PTX ISA 8.x, section 9.7.3: NaN payloads are not kept).
const NAN: f32 = f32::from_bits(0x7fff_ffff);

/// By its bits, since compilers take one NaN for another.
#[inline(always)]
pub fn canonical(value: f32) -> f32 {
    let bits = value.to_bits();
    f32::from_bits(if bits << 1 > 0xff00_0000 {
        NAN.to_bits()
    } else {
        bits
    })
}

#[inline(always)]
fn finish(value: f32, float: Float) -> f32 {
    let value = flushed(value, float.flush);
    if float.saturate {
        // NaN becomes zero.
        if value > 0.0 { value.min(1.0) } else { 0.0 }
    } else {
        canonical(value)
    }
}

/// The sum.
#[inline(always)]
pub fn add(a: f32, b: f32, float: Float) -> f32 {
    let (a, b) = (flushed(a, float.flush), flushed(b, float.flush));
    let sum = match float.rounding {
        Rounding::Nearest => a + b,
        rounding => {
            let (high, low) = two_sum(f64::from(a), f64::from(b));
            let sum = to_single(high, low, rounding);
            // IEEE 754, section 6.3: opposite numbers sum to -0 when rounding down.
            if sum == 0.0
                && rounding == Rounding::Down
                && (a.is_sign_negative() != b.is_sign_negative())
            {
                -0.0
            } else {
                sum
            }
        }
    };
    finish(sum, float)
}

/// The product.
#[inline(always)]
pub fn mul(a: f32, b: f32, float: Float) -> f32 {
    let (a, b) = (flushed(a, float.flush), flushed(b, float.flush));
    let product = match float.rounding {
        Rounding::Nearest => a * b,
        // The product of two singles is exact in double precision.
        rounding => to_single(f64::from(a) * f64::from(b), 0.0, rounding),
    };
    finish(product, float)
}

/// The quotient.
#[inline(always)]
pub fn div(a: f32, b: f32, float: Float) -> f32 {
    let (a, b) = (flushed(a, float.flush), flushed(b, float.flush));
    let quotient = a / b;
    let directed = match float.rounding {
        Rounding::Nearest => quotient,
        _ if b == 0.0 || !a.is_finite() || !b.is_finite() => quotient,
        rounding => {
            let nearest = if quotient.is_infinite() {
                f64::from(quotient).signum() * f64::MAX
            } else {
                f64::from(quotient)
            };
            // Exact: the remainder of a division fits the precision of its operands, doubled here.
            let remainder = f64::from(a) - nearest * f64::from(b);
            let excess = remainder * f64::from(b).signum();
            direct32(quotient, excess, rounding)
        }
    };
    finish(directed, float)
}

/// The quotient, but by less than the full range of divisors if it is not `full`: a quotient by one beyond 2^126, whose reciprocal is subnormal, is zero (PTX
/// ISA 8.x, section 9.7.3, "div").
#[inline(always)]
pub fn div_approx(a: f32, b: f32, flush: bool, full: bool) -> f32 {
    const BEYOND: f32 = f32::from_bits((127 + 126) << 23);
    let beyond = !full && b.is_finite() && b.abs() > BEYOND;
    let divisor = if beyond { f32::INFINITY.copysign(b) } else { b };
    let float = Float {
        flush,
        ..Float::PLAIN
    };
    div(a, divisor, float)
}

/// The square root.
#[inline(always)]
pub fn sqrt(a: f32, float: Float) -> f32 {
    let a = flushed(a, float.flush);
    let root = a.sqrt();
    let directed = if float.rounding != Rounding::Nearest && root.is_finite() {
        let excess = f64::from(a) - f64::from(root) * f64::from(root);
        direct32(root, excess, float.rounding)
    } else {
        root
    };
    finish(directed, float)
}

/// The product plus a third operand, rounded once.
pub fn fma(a: f32, b: f32, c: f32, float: Float) -> f32 {
    let (a, b, c) = (
        flushed(a, float.flush),
        flushed(b, float.flush),
        flushed(c, float.flush),
    );
    let sum = match float.rounding {
        Rounding::Nearest => fma_nearest(a, b, c),
        rounding => {
            let product = f64::from(a) * f64::from(b);
            let (high, low) = two_sum(product, f64::from(c));
            let sum = to_single(high, low, rounding);
            let opposite = (product.is_sign_negative()) != c.is_sign_negative();
            if sum == 0.0 && high == 0.0 && rounding == Rounding::Down && opposite {
                -0.0
            } else {
                sum
            }
        }
    };
    finish(sum, float)
}

/// A fused multiply-add without the hardware's: the product is exact in double precision, and only a sum that looks like a tie
/// or falls below the normal range could be rounded twice.
#[inline(always)]
pub fn fma_nearest(a: f32, b: f32, c: f32) -> f32 {
    let sum = f64::from(a) * f64::from(b) + f64::from(c);
    if rounds_once(sum) {
        sum as f32
    } else {
        fma_exact(a, b, c)
    }
}

/// Whether rounding an already rounded double to single gives what one rounding would.
#[inline(always)]
pub fn rounds_once(sum: f64) -> bool {
    const TIE: u64 = 0x1000_0000;
    const BELOW_SINGLE: u64 = 0x1fff_ffff;
    let is_tie = sum.to_bits() & BELOW_SINGLE == TIE;
    // A zero sum is exact: no product of two singles underflows in double precision.
    !is_tie & ((sum.abs() >= f64::from(f32::MIN_POSITIVE) * 2.0) | (sum == 0.0))
}

#[cold]
#[inline(never)]
pub fn fma_exact(a: f32, b: f32, c: f32) -> f32 {
    libm::fmaf(a, b, c)
}

/// `min`: a number wins over NaN unless `nan` is set; -0 is less than +0.
#[inline(always)]
pub fn min(a: f32, b: f32, flush: bool, nan: bool) -> f32 {
    let (a, b) = (flushed(a, flush), flushed(b, flush));
    pick(a, b, nan, |a, b| a < b || (a == b && a.is_sign_negative()))
}

/// `max`, likewise.
#[inline(always)]
pub fn max(a: f32, b: f32, flush: bool, nan: bool) -> f32 {
    let (a, b) = (flushed(a, flush), flushed(b, flush));
    pick(a, b, nan, |a, b| a > b || (a == b && a.is_sign_positive()))
}

/// The bits of the smaller or the larger of two.
pub fn extreme(a: u32, b: u32, how: Extreme) -> u32 {
    let [a, b] = [a, b].map(|bits| match how.magnitudes {
        true => f32::from_bits(bits).abs(),
        false => f32::from_bits(bits),
    });
    let found = match how.largest {
        true => max(a, b, how.flush, how.nan),
        false => min(a, b, how.flush, how.nan),
    };
    found.to_bits()
}

#[inline(always)]
fn pick(a: f32, b: f32, nan: bool, first: impl Fn(f32, f32) -> bool) -> f32 {
    if a.is_nan() || b.is_nan() {
        return if nan || (a.is_nan() && b.is_nan()) {
            NAN
        } else if a.is_nan() {
            b
        } else {
            a
        };
    }
    if first(a, b) { a } else { b }
}

/// An approximate function: evaluated in double precision and rounded, well inside PTX's error bounds and the same on any host.
#[inline(always)]
pub fn approximate(a: f32, flush: bool, f: impl Fn(f64) -> f64) -> f32 {
    let result = f(f64::from(flushed(a, flush))) as f32;
    canonical(flushed(result, flush))
}

/// A function of an angle, which is first brought to turns, rounded towards zero, as machine code of an H100 does: large angles lose their places so.
#[inline(always)]
pub fn of_turns(a: f32, flush: bool, f: impl Fn(f64) -> f64) -> f32 {
    const PER_RADIAN: f32 = 0.159_154_94;
    let exact = f64::from(flushed(a, flush)) * f64::from(PER_RADIAN);
    let turns = f64::from(flushed(to_single(exact, 0.0, Rounding::Zero), true));
    let part = (turns - turns.trunc()).copysign(turns);
    let result = f(part * std::f64::consts::TAU) as f32;
    canonical(flushed(result, flush))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn directed(rounding: Rounding) -> Float {
        Float {
            rounding,
            ..Float::PLAIN
        }
    }

    #[test]
    fn subnormals_flush_only_when_asked() {
        let tiny = f32::from_bits(1);
        assert_eq!(add(tiny, 0.0, Float::PLAIN), tiny);
        let flush = Float {
            flush: true,
            ..Float::PLAIN
        };
        assert_eq!(add(-tiny, -0.0, flush).to_bits(), (-0.0f32).to_bits());
    }

    #[test]
    fn saturation_makes_nan_zero() {
        let saturate = Float {
            saturate: true,
            ..Float::PLAIN
        };
        assert_eq!(add(f32::NAN, 1.0, saturate), 0.0);
        assert_eq!(add(2.0, 1.0, saturate), 1.0);
        assert_eq!(add(-2.0, 1.0, saturate), 0.0);
    }

    #[test]
    fn opposite_numbers_sum_to_minus_zero_when_rounding_down() {
        let down = directed(Rounding::Down);
        assert!(add(1.0, -1.0, down).is_sign_negative());
        assert!(add(0.0, 0.0, down).is_sign_positive());
        assert!(fma(1.0, 1.0, -1.0, down).is_sign_negative());
    }

    proptest! {
        #[test]
        fn fused_is_rounded_once(a in any::<f32>(), b in any::<f32>(), c in any::<f32>()) {
            let want = libm::fmaf(a, b, c);
            let got = fma_nearest(a, b, c);
            prop_assert!(got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan()));
        }

        #[test]
        fn fused_is_rounded_once_near_ties(a in 0u32..1 << 24, b in 0u32..1 << 24, c in any::<u32>()) {
            let (a, b) = (a as f32, b as f32);
            let c = c as f32 * f32::EPSILON;
            prop_assert_eq!(fma_nearest(a, b, c).to_bits(), libm::fmaf(a, b, c).to_bits());
        }

        #[test]
        fn directed_results_bracket_the_nearest(a in any::<f32>(), b in any::<f32>(), c in any::<f32>()) {
            type Binary = fn(f32, f32, f32, Float) -> f32;
            let functions: [Binary; 5] = [
                |a, b, _, float| add(a, b, float),
                |a, b, _, float| mul(a, b, float),
                |a, b, _, float| div(a, b, float),
                |a, _, _, float| sqrt(a, float),
                fma,
            ];
            for f in functions {
                let nearest = f(a, b, c, Float::PLAIN);
                let down = f(a, b, c, directed(Rounding::Down));
                let up = f(a, b, c, directed(Rounding::Up));
                let zero = f(a, b, c, directed(Rounding::Zero));
                if nearest.is_nan() {
                    prop_assert!(down.is_nan() && up.is_nan() && zero.is_nan());
                } else {
                    prop_assert!(down <= nearest && nearest <= up, "{} {} {}", down, nearest, up);
                    prop_assert!(up == down || down.next_up() == up, "{} {}", down, up);
                    prop_assert_eq!(zero, if nearest > 0.0 || (nearest == 0.0 && up > 0.0) { down } else { up });
                }
            }
        }
    }
}
