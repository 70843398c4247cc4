//! Double-precision arithmetic with explicit rounding. `mul_add` is rounded once on every host (IEEE 754-2019, section 5.4.1), with an instruction where there is one.

use warpwatt_ptx::program::Rounding;

use super::round::{direct64, two_sum};

/// `direct64`, with an overflow treated as a result beyond the largest double.
fn direct(nearest: f64, excess: f64, rounding: Rounding, exact_is_finite: bool) -> f64 {
    if nearest.is_infinite() && exact_is_finite {
        return direct64(nearest, -nearest.signum(), rounding);
    }
    if nearest.is_finite() {
        direct64(nearest, excess, rounding)
    } else {
        nearest
    }
}

/// Below, what rounding loses may lie below the least double; `UP` brings it back.
const SMALL: f64 = f64::from_bits((1023 - 900) << 52);
const UP: f64 = f64::from_bits((1023 + 600) << 52);

/// A NaN as arithmetic passes it on: quiet, with its sign and payload.
#[inline(always)]
pub fn quiet(a: f64) -> u64 {
    let bits = a.to_bits();
    if a.is_nan() { bits | 1 << 51 } else { bits }
}

/// The sign of `a * b - product`, of a product rounded to the nearest.
fn product_error(a: f64, b: f64, product: f64) -> f64 {
    if product.abs() >= SMALL {
        return a.mul_add(b, -product);
    }
    let (small, large) = if a.abs() < b.abs() { (a, b) } else { (b, a) };
    if large.abs() < 1.0 {
        (small * UP).mul_add(large * UP, -(product * UP * UP))
    } else {
        (small * UP).mul_add(large, -(product * UP))
    }
}

pub fn sub(a: f64, b: f64, rounding: Rounding) -> f64 {
    // The sign of a NaN stays.
    if rounding == Rounding::Nearest || b.is_nan() {
        return a - b;
    }
    add(a, -b, rounding)
}

pub fn add(a: f64, b: f64, rounding: Rounding) -> f64 {
    if rounding == Rounding::Nearest {
        return a + b;
    }
    let (sum, error) = two_sum(a, b);
    if sum == 0.0 && rounding == Rounding::Down && a.is_sign_negative() != b.is_sign_negative() {
        return -0.0;
    }
    direct(sum, error, rounding, a.is_finite() && b.is_finite())
}

pub fn mul(a: f64, b: f64, rounding: Rounding) -> f64 {
    let product = a * b;
    if rounding == Rounding::Nearest {
        return product;
    }
    let error = product_error(a, b, product);
    direct(product, error, rounding, a.is_finite() && b.is_finite())
}

pub fn div(a: f64, b: f64, rounding: Rounding) -> f64 {
    let quotient = a / b;
    if rounding == Rounding::Nearest || b == 0.0 {
        return quotient;
    }
    let up = if a.abs() < SMALL { UP } else { 1.0 };
    let remainder = (-quotient * up).mul_add(b, a * up);
    let finite = a.is_finite() && b.is_finite();
    direct(quotient, remainder * b.signum(), rounding, finite)
}

pub fn sqrt(a: f64, rounding: Rounding) -> f64 {
    let root = a.sqrt();
    if rounding == Rounding::Nearest {
        return root;
    }
    let (scaled, up) = if a < SMALL {
        (root * UP, UP)
    } else {
        (root, 1.0)
    };
    let remainder = (-scaled).mul_add(scaled, a * up * up);
    direct(root, remainder, rounding, a.is_finite())
}

#[inline(always)]
pub fn fma(a: f64, b: f64, c: f64, rounding: Rounding) -> f64 {
    let sum = a.mul_add(b, c);
    if rounding == Rounding::Nearest && !sum.is_nan() {
        return sum;
    }
    fma_in_full([a, b, c], sum, rounding)
}

/// [`fma`], whose sum to the nearest is known, with a direction or a NaN.
#[cold]
#[inline(never)]
fn fma_in_full([a, b, c]: [f64; 3], sum: f64, rounding: Rounding) -> f64 {
    // Of several NaNs the second operand's comes first, then the third's (measured on an H100).
    if let Some(nan) = [b, c, a].into_iter().find(|value| value.is_nan()) {
        return f64::from_bits(quiet(nan));
    }
    if rounding == Rounding::Nearest {
        return sum;
    }
    let product = a * b;
    let finite = a.is_finite() && b.is_finite() && c.is_finite();
    let excess = if finite && product.abs() < SMALL {
        small_excess([a, b, c], product, sum)
    } else {
        // exact - sum, summed from the large parts to the small ones.
        let error = a.mul_add(b, -product);
        let (high, low) = two_sum(product, c);
        (high - sum) + low + error
    };
    let opposite = product.is_sign_negative() != c.is_sign_negative();
    if sum == 0.0 && excess == 0.0 && rounding == Rounding::Down && opposite {
        return -0.0;
    }
    direct(sum, excess, rounding, finite)
}

/// `a * b + c - sum` of a small product.
#[cold]
fn small_excess([a, b, c]: [f64; 3], product: f64, sum: f64) -> f64 {
    if c == 0.0 {
        return product_error(a, b, product);
    }
    let (small, large) = if a.abs() < b.abs() { (a, b) } else { (b, a) };
    let product = small * UP * large;
    // Of a product far below the last place of the third operand only the sign matters.
    if c.abs() >= SMALL.sqrt() || product.abs() < SMALL {
        return match a == 0.0 || b == 0.0 {
            true => 0.0,
            false => a.signum() * b.signum(),
        };
    }
    let error = (small * UP).mul_add(large, -product);
    let (high, low) = two_sum(product, c * UP);
    (high - sum * UP) + low + error
}

/// [`fma`] to the nearest.
pub fn fused(a: f64, b: f64, c: f64) -> f64 {
    fma(a, b, c, Rounding::Nearest)
}

/// `min`: a number wins over NaN; -0 is less than +0.
#[inline(always)]
pub fn min(a: f64, b: f64) -> f64 {
    pick(a, b, |a, b| a < b || (a == b && a.is_sign_negative()))
}

/// `max`, likewise.
#[inline(always)]
pub fn max(a: f64, b: f64) -> f64 {
    pick(a, b, |a, b| a > b || (a == b && a.is_sign_positive()))
}

#[inline(always)]
fn pick(a: f64, b: f64, first: impl Fn(f64, f64) -> bool) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => f64::from_bits(quiet(b)),
        (true, _) => b,
        (_, true) => a,
        _ if first(a, b) => a,
        _ => b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_third_lies_between_its_neighbours() {
        let down = div(1.0, 3.0, Rounding::Down);
        assert_eq!(div(1.0, 3.0, Rounding::Up), down.next_up());
        assert_eq!(div(-1.0, 3.0, Rounding::Zero), -down);
    }

    /// What rounding loses lies below the least double.
    #[test]
    fn small_results_are_rounded_in_the_named_direction() {
        let bits = f64::from_bits;
        let (zero, up) = (Rounding::Zero, Rounding::Up);
        let small = bits(0x8010_0000_0000_0001);
        let exact = [
            mul(small, bits(0xbfff_0000_0000_0000), zero),
            div(small, bits(0xbfe0_8421_0842_1084), zero),
        ];
        assert_eq!(
            exact.map(f64::to_bits),
            [0x1f_0000_0000_0001, 0x1f_0000_0000_0002]
        );
        let least = bits(1);
        assert_eq!(mul(least, least, up), least);
        assert_eq!(mul(least, -least, up).to_bits(), 1 << 63);
        assert_eq!(fma(least, 0.5, 1.0, up), 1.0f64.next_up());
        assert_eq!(fma(least, 0.75, least, zero), least);
        assert_eq!(fma(least, 0.25, least, up), bits(2));
        let root = sqrt(bits(3), zero);
        assert!(root < sqrt(bits(3), up) && root.next_up() == sqrt(bits(3), up));
    }

    #[test]
    fn overflow_stops_at_the_largest_double_when_rounding_towards_zero() {
        assert_eq!(mul(1e200, 1e200, Rounding::Zero), f64::MAX);
        assert_eq!(mul(1e200, 1e200, Rounding::Up), f64::INFINITY);
    }

    proptest! {
        #[test]
        fn directed_sums_bracket_the_nearest(a in any::<f64>(), b in any::<f64>()) {
            let nearest = add(a, b, Rounding::Nearest);
            let (down, up) = (add(a, b, Rounding::Down), add(a, b, Rounding::Up));
            if !nearest.is_nan() {
                prop_assert!(down <= nearest && nearest <= up);
                prop_assert!(up == down || down.next_up() == up);
            }
        }
    }
}
