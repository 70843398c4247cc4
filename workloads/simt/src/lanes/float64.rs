//! Double-precision arithmetic with explicit rounding.

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
    let error = libm::fma(a, b, -product);
    direct(product, error, rounding, a.is_finite() && b.is_finite())
}

pub fn div(a: f64, b: f64, rounding: Rounding) -> f64 {
    let quotient = a / b;
    if rounding == Rounding::Nearest || b == 0.0 {
        return quotient;
    }
    let remainder = libm::fma(-quotient, b, a);
    let finite = a.is_finite() && b.is_finite();
    direct(quotient, remainder * b.signum(), rounding, finite)
}

pub fn sqrt(a: f64, rounding: Rounding) -> f64 {
    let root = a.sqrt();
    if rounding == Rounding::Nearest {
        return root;
    }
    direct(root, libm::fma(-root, root, a), rounding, a.is_finite())
}

pub fn fma(a: f64, b: f64, c: f64, rounding: Rounding) -> f64 {
    let sum = libm::fma(a, b, c);
    if rounding == Rounding::Nearest {
        return sum;
    }
    let product = a * b;
    if sum == 0.0
        && rounding == Rounding::Down
        && product.is_sign_negative() != c.is_sign_negative()
    {
        return -0.0;
    }
    // exact - sum, summed from the large parts to the small ones.
    let error = libm::fma(a, b, -product);
    let (high, low) = two_sum(product, c);
    let excess = (high - sum) + low + error;
    let finite = a.is_finite() && b.is_finite() && c.is_finite();
    direct(sum, excess, rounding, finite)
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
