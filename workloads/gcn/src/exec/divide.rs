//! The steps of a division: scaling, the last multiply-add, and what becomes of special numbers.

use crate::decode::{Inst, Place};
use crate::exec::float::SIGN;
use crate::wave::{LANES, Wave};

/// Quotient, denominator, numerator: special cases take the place of the quotient.
fn fix_up(quotient: f32, denominator: f32, numerator: f32) -> f32 {
    let fixed = special(f64::from(denominator), f64::from(numerator));
    let sign = if denominator.is_sign_negative() != numerator.is_sign_negative() {
        -1.0
    } else {
        1.0
    };
    match fixed {
        Some(value) => value as f32,
        None if exponent(numerator) - exponent(denominator) < -150 => sign * 0.0,
        None => quotient.copysign(sign),
    }
}

pub(crate) fn fix_up_double(quotient: f64, denominator: f64, numerator: f64) -> f64 {
    let sign = if denominator.is_sign_negative() != numerator.is_sign_negative() {
        -1.0
    } else {
        1.0
    };
    match special(denominator, numerator) {
        Some(value) => value,
        None if exponent_double(numerator) - exponent_double(denominator) < -1075 => sign * 0.0,
        None => quotient.copysign(sign),
    }
}

fn special(denominator: f64, numerator: f64) -> Option<f64> {
    let sign = if denominator.is_sign_negative() != numerator.is_sign_negative() {
        -1.0
    } else {
        1.0
    };
    let (zero, infinite) = (|value: f64| value == 0.0, |value: f64| value.is_infinite());
    if numerator.is_nan() {
        Some(numerator)
    } else if denominator.is_nan() {
        Some(denominator)
    } else if zero(denominator) && zero(numerator) || infinite(denominator) && infinite(numerator) {
        Some(f64::NAN)
    } else if zero(denominator) || infinite(numerator) {
        Some(sign * f64::INFINITY)
    } else if infinite(denominator) || zero(numerator) {
        Some(sign * 0.0)
    } else {
        None
    }
}

fn exponent(value: f32) -> i32 {
    (value.to_bits() >> 23 & 0xff) as i32
}

fn exponent_double(value: f64) -> i32 {
    (value.to_bits() >> 52 & 0x7ff) as i32
}

/// What a part of a division is scaled by, as a power of two, and whether the quotient must be scaled back.
struct Scaling {
    power: i32,
    back: bool,
}

/// Limits of a precision: distance of exponents that is too far, smallest normal number, its number of places.
struct Limits {
    far: i32,
    least: f64,
    small: i32,
    power: i32,
}

/// Which of the two is scaled: `of_denominator`.
fn scaling(
    (denominator, numerator): (f64, f64),
    exponents: (i32, i32),
    limits: &Limits,
    of_denominator: bool,
) -> Scaling {
    let denormal = |value: f64| value != 0.0 && value.abs() < limits.least;
    let at_denominator = |back| Scaling {
        power: if of_denominator { limits.power } else { 0 },
        back,
    };
    let reciprocal = 1.0 / denominator;
    let quotient = numerator / denominator;
    if exponents.1 - exponents.0 >= limits.far {
        at_denominator(true)
    } else if denormal(denominator) {
        Scaling {
            power: limits.power,
            back: false,
        }
    } else if denormal(reciprocal) && denormal(quotient) {
        at_denominator(true)
    } else if denormal(reciprocal) {
        Scaling {
            power: -limits.power,
            back: false,
        }
    } else if denormal(quotient) {
        Scaling {
            power: if of_denominator { 0 } else { limits.power },
            back: true,
        }
    } else if exponents.1 <= limits.small {
        Scaling {
            power: limits.power,
            back: false,
        }
    } else {
        Scaling {
            power: 0,
            back: false,
        }
    }
}

const SINGLE: Limits = Limits {
    far: 96,
    least: f32::MIN_POSITIVE as f64,
    small: 23,
    power: 64,
};
const DOUBLE: Limits = Limits {
    far: 768,
    least: f64::MIN_POSITIVE,
    small: 53,
    power: 128,
};

/// Whether a predicate holds of all pairs of exponents, each with its bias. It looks at all of them, which needs no branches.
#[inline(always)]
fn all_exponents(
    denominators: &[f32; LANES],
    numerators: &[f32; LANES],
    f: impl Fn(i32, i32) -> bool,
) -> bool {
    let pairs = denominators.iter().zip(numerators);
    pairs.fold(true, |all, (d, n)| all & f(exponent(*d), exponent(*n)))
}

/// Whether a division needs no scaling: both are normal, and so are the reciprocal and the quotient. Every case of [`scaling`] but the last is outside.
fn is_plain(denominator: i32, numerator: i32) -> bool {
    let apart = numerator - denominator;
    (1..=252).contains(&denominator)
        & (numerator > SINGLE.small)
        & (numerator <= 254)
        & (apart < SINGLE.far)
        & (apart > -126)
}

/// Whether only the sign of a quotient is set: both are normal, and it is not so small that it is zero.
fn is_finite_quotient(denominator: i32, numerator: i32) -> bool {
    let is_normal = |exponent: i32| (1..=254).contains(&exponent);
    is_normal(denominator) & is_normal(numerator) & (numerator - denominator >= -150)
}

impl Wave {
    /// Puts special cases in the place of quotients.
    pub(super) fn divide_fix_up(&mut self, inst: &Inst) {
        let [quotients, denominators, numerators] = [0, 1, 2].map(|at| self.floats(inst, at));
        let plain = all_exponents(&denominators, &numerators, is_finite_quotient);
        let values = std::array::from_fn(|lane| {
            let (d, n) = (denominators[lane], numerators[lane]);
            if plain {
                let sign = (d.to_bits() ^ n.to_bits()) & SIGN;
                f32::from_bits(quotients[lane].to_bits() & !SIGN | sign)
            } else {
                fix_up(quotients[lane], d, n)
            }
        });
        self.write_floats(inst, &values);
    }

    /// Scales the first source, which is the second (denominator) or the third (numerator).
    pub(super) fn divide_scale(&mut self, inst: &Inst) {
        let [value, denominator, numerator] = [0, 1, 2].map(|at| self.floats(inst, at));
        if all_exponents(&denominator, &numerator, is_plain) {
            self.write_floats(inst, &value);
            self.set_pair(inst.carry.0, 0);
            return;
        }
        let mut back = 0;
        let values = std::array::from_fn(|lane| {
            let (d, n) = (denominator[lane], numerator[lane]);
            if d == 0.0 || n == 0.0 {
                return f32::NAN;
            }
            let of_denominator = value[lane].to_bits() == d.to_bits();
            let both = (f64::from(d), f64::from(n));
            let scaling = scaling(both, (exponent(d), exponent(n)), &SINGLE, of_denominator);
            back |= u64::from(scaling.back) << lane;
            libm::ldexpf(value[lane], scaling.power)
        });
        let exec = self.exec();
        self.write_floats(inst, &values);
        self.set_pair(inst.carry.0, back & exec);
    }

    pub(super) fn divide_scale_double(&mut self, inst: &Inst) {
        let [value, denominator, numerator] = [0, 1, 2].map(|at| self.doubles(inst, at));
        let mut back = 0;
        let values = std::array::from_fn(|lane| {
            let (d, n) = (denominator[lane], numerator[lane]);
            if d == 0.0 || n == 0.0 {
                return f64::NAN;
            }
            let of_denominator = value[lane].to_bits() == d.to_bits();
            let exponents = (exponent_double(d), exponent_double(n));
            let scaling = scaling((d, n), exponents, &DOUBLE, of_denominator);
            back |= u64::from(scaling.back) << lane;
            libm::ldexp(value[lane], scaling.power)
        });
        let exec = self.exec();
        self.write_doubles(inst, &values);
        self.set_pair(inst.carry.0, back & exec);
    }

    /// Fused multiply-add, scaled back where the condition code says so.
    pub(super) fn divide_fma(&mut self, inst: &Inst) {
        let mut values = self.fused(inst);
        let added = self.floats(inst, 2);
        for lane in warpwatt_simt::trace::lanes(self.pair(Place::VCC.0)) {
            let lane = lane as usize;
            let power = if exponent(added[lane]) > 127 { 64 } else { -64 };
            values[lane] = libm::ldexpf(values[lane], power);
        }
        self.write_floats(inst, &values);
    }

    pub(super) fn divide_fma_double(&mut self, inst: &Inst) {
        let [a, b, c] = [0, 1, 2].map(|at| self.doubles(inst, at));
        let back = self.pair(Place::VCC.0);
        let values: [f64; LANES] = std::array::from_fn(|lane| {
            let value = libm::fma(a[lane], b[lane], c[lane]);
            let power = if exponent_double(c[lane]) > 1023 {
                128
            } else {
                -128
            };
            if back >> lane & 1 != 0 {
                libm::ldexp(value, power)
            } else {
                value
            }
        });
        self.write_doubles(inst, &values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Singles with these exponents, of the least and the greatest magnitude.
    fn ends(exponent: i32) -> [f32; 2] {
        [0, 0x7f_ffff].map(|places| f32::from_bits((exponent as u32) << 23 | places))
    }

    fn every_pair(mut check: impl FnMut((i32, f32), (i32, f32))) {
        for denominator in 0..=255 {
            for numerator in 0..=255 {
                for d in ends(denominator) {
                    for n in ends(numerator) {
                        check((denominator, d), (numerator, -n));
                    }
                }
            }
        }
    }

    #[test]
    fn plain_divisions_need_no_scaling() {
        let mut plain = 0;
        every_pair(|(denominator, d), (numerator, n)| {
            if is_plain(denominator, numerator) {
                plain += 1;
                for of_denominator in [false, true] {
                    let both = (f64::from(d), f64::from(n));
                    let found = scaling(both, (denominator, numerator), &SINGLE, of_denominator);
                    assert_eq!((found.power, found.back), (0, false), "{n} / {d}");
                }
            }
        });
        assert!(plain > 100_000, "{plain} of 262,144");
    }

    #[test]
    fn quotients_of_finite_numbers_keep_all_but_their_sign() {
        every_pair(|(denominator, d), (numerator, n)| {
            if is_finite_quotient(denominator, numerator) {
                assert_eq!(
                    fix_up(0.75, d, n).to_bits(),
                    (-0.75f32).to_bits(),
                    "{n} / {d}"
                );
                assert_eq!(
                    fix_up(0.75, -d, n).to_bits(),
                    0.75f32.to_bits(),
                    "{n} / {d}"
                );
            }
        });
    }
}
