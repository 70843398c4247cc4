//! Rounding an exact value, given as an unevaluated sum, in any direction.
//!
//! Sums and products of floats are exact as a pair (rounded value, error): Dekker, "A Floating-Point Technique for Extending the
//! Available Precision" (1971); Knuth, TAOCP volume 2, section 4.2.2, theorem B. Directed rounding then needs the sign of
//! the error only.

use warpwatt_ptx::program::Rounding;

/// `a + b` and what rounding lost (TwoSum). The error of an overflowed or undefined sum is zero.
#[inline(always)]
pub fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    (sum, if error.is_finite() { error } else { 0.0 })
}

/// Which way a directed rounding goes for a value of this sign.
fn upwards(rounding: Rounding, negative: bool) -> Option<bool> {
    match rounding {
        Rounding::Nearest => None,
        Rounding::Zero => Some(negative),
        Rounding::Down => Some(false),
        Rounding::Up => Some(true),
    }
}

/// Moves a nearest value to its neighbour if the exact value lies beyond it.
macro_rules! direct {
    ($name:ident, $float:ty) => {
        /// The rounded value: `excess` has the sign of exact - nearest.
        pub fn $name(nearest: $float, excess: f64, rounding: Rounding) -> $float {
            let negative = if nearest == 0.0 {
                excess < 0.0
            } else {
                nearest < 0.0
            };
            match upwards(rounding, negative) {
                Some(true) if excess > 0.0 => nearest.next_up(),
                Some(false) if excess < 0.0 => nearest.next_down(),
                _ => nearest,
            }
        }
    };
}

direct!(direct32, f32);
direct!(direct64, f64);

/// Rounds the exact `high + low` to single precision; `low` is below half a unit of `high`.
pub fn to_single(high: f64, low: f64, rounding: Rounding) -> f32 {
    if !high.is_finite() {
        return high as f32;
    }
    let nearest = nearest_single(high, low);
    let excess = if nearest.is_infinite() {
        -f64::from(nearest).signum()
    } else {
        let gap = high - f64::from(nearest);
        if gap == 0.0 { low } else { gap }
    };
    direct32(nearest, excess, rounding)
}

/// Nearest single, ties to even, of `high + low`: a tie of `high` alone is decided by `low`.
pub fn nearest_single(high: f64, low: f64) -> f32 {
    to_odd(high, low) as f32
}

/// `high + low` rounded to odd, for a second rounding to a narrower format.
pub fn to_odd(high: f64, low: f64) -> f64 {
    // Round to odd first (Boldo, Melquiond, "Emulation of FMA and correctly rounded sums", 2008): an inexact sum gets an
    // odd last bit, so that the second rounding cannot mistake it for a tie.
    let inexact = low != 0.0;
    let bits = high.to_bits();
    let odd = if inexact && bits & 1 == 0 {
        let towards_zero = (low > 0.0) != (high > 0.0);
        if towards_zero { bits - 1 } else { bits | 1 }
    } else {
        bits
    };
    f64::from_bits(odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tie_is_decided_by_what_lies_below_it() {
        let tie = 1.0 + f64::from(f32::EPSILON) / 2.0;
        assert_eq!(nearest_single(tie, 0.0), 1.0, "ties go to even");
        assert_eq!(nearest_single(tie, 1e-30), 1.0f32.next_up());
        assert_eq!(nearest_single(tie, -1e-30), 1.0);
    }

    #[test]
    fn directed_rounding_brackets_the_exact_value() {
        for (high, low) in [
            (0.1, 1e-20),
            (-0.1, 1e-20),
            (1.0, -1e-20),
            (1e-46, 0.0),
            (-1e300, 0.0),
        ] {
            let down = to_single(high, low, Rounding::Down);
            let up = to_single(high, low, Rounding::Up);
            assert_eq!(down.next_up(), up, "{high} {low}");
            let zero = to_single(high, low, Rounding::Zero);
            assert_eq!(zero, if high > 0.0 { down } else { up });
        }
        assert_eq!(to_single(0.5, 0.0, Rounding::Up), 0.5, "exact stays");
    }
}
