//! Sums of products as tensor cores form them. PTX leaves open how they are rounded and in which order; this is what an NVIDIA H100 does in every case that
//! was measured (`tests/silicon`).
//!
//! Products are exact. They and what is added to are aligned to the largest exponent among them, cut towards zero some bits below it, and summed exactly: all
//! that an instruction sums are one such sum. Its result is cut to single precision, or rounded to a half. The exponent of a product is the sum of its
//! factors' exponents, also where their significands multiply to two or more, and that of a subnormal number is the least of its format.

use warpwatt_ptx::program::{HalfFormat, MatrixElement, SmallFormat};

/// Columns that are summed side by side: each matrix has a multiple of so many.
const COLUMNS: usize = 8;

/// Where terms are cut, and what becomes of their sum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alignment {
    /// The last place, as a share of the largest power of two.
    last: f64,
    /// The least exponents of numbers of A and B and of what is added to.
    least: [i16; 3],
    result: MatrixElement,
    /// Bits of a single that its fraction loses.
    lost: u32,
}

impl Alignment {
    /// Of `mma` and of `wgmma`, but for that with factors of eight bits.
    pub fn of(factor: MatrixElement, result: MatrixElement) -> Self {
        Self {
            last: libm::ldexp(1.0, -25),
            least: [least(factor), least(factor), least(result)],
            result,
            lost: 0,
        }
    }

    /// Of `wgmma` with factors of eight bits: thirteen bits, also of the result.
    pub fn of_bytes(a: MatrixElement, b: MatrixElement, result: MatrixElement) -> Self {
        Self {
            last: libm::ldexp(1.0, -13),
            least: [least(a), least(b), least(result)],
            result,
            lost: 10,
        }
    }

    /// Halves are rounded later, but never to a negative zero.
    #[inline(always)]
    fn finished(&self, sum: f64) -> f64 {
        const TINY: f64 = 1.0 / (1u64 << 25) as f64;
        if self.result != MatrixElement::F32 {
            return if sum.abs() <= TINY { 0.0 } else { sum };
        }
        let single = cut(sum) as f32;
        if self.lost == 0 || single.is_infinite() {
            return f64::from(single);
        }
        f64::from(f32::from_bits(single.to_bits() >> self.lost << self.lost))
    }
}

/// Towards zero, to a number that single precision has, or beyond its range.
#[inline(always)]
fn cut(sum: f64) -> f64 {
    const LOST: u64 = (1 << 29) - 1;
    const NORMAL: f64 = f32::MIN_POSITIVE as f64;
    let cut = f64::from_bits(sum.to_bits() & !LOST);
    if cut.abs() >= NORMAL || sum == 0.0 || sum.is_nan() {
        return cut;
    }
    let steps = libm::ldexp(sum, 149).trunc();
    libm::ldexp(steps, -149)
}

/// The least exponent of a format's normal numbers.
fn least(element: MatrixElement) -> i16 {
    match element {
        MatrixElement::Half(HalfFormat::F16) | MatrixElement::Small(SmallFormat::E5m2) => -14,
        MatrixElement::Small(SmallFormat::E4m3) => -6,
        _ => -126,
    }
}

/// The exponent of zero, below all others.
const ZERO: i16 = -8192;
/// Beyond the exponents of products.
const BEYOND: i16 = 512;

#[inline(always)]
fn exponent(value: f64, least: i16) -> i16 {
    let exponent = (value.to_bits() >> 52 & 0x7ff) as i16 - 1023;
    if value == 0.0 {
        ZERO
    } else {
        exponent.max(least)
    }
}

/// Two to the power of an exponent; zero of one of zero, infinite of one that no finite number has.
#[inline(always)]
fn power(exponent: i16) -> f64 {
    let within = exponent.clamp(-BEYOND, BEYOND);
    let power = f64::from_bits(((i64::from(within) + 1023) as u64) << 52);
    let power = if within == -BEYOND { 0.0 } else { power };
    if within == BEYOND {
        f64::INFINITY
    } else {
        power
    }
}

/// The exponents of a matrix.
#[inline(always)]
fn exponents_of(values: &[f64], least: i16, exponents: &mut Vec<i16>) {
    exponents.resize(values.len(), 0);
    for (to, &value) in exponents.iter_mut().zip(values) {
        *to = exponent(value, least);
    }
}

/// Room for the exponents of two matrices.
pub(super) type Exponents = [Vec<i16>; 2];

/// D = A B + D of what lies `at` certain places of A's rows; `column` says which row of B the product is with. B and D have `n` columns.
#[inline(always)]
pub(super) fn add_products(
    how: &Alignment,
    (a, b): (&[f64], &[f64]),
    (at, column): (
        impl Iterator<Item = usize> + Clone,
        impl Fn(usize, usize) -> usize,
    ),
    (d, n): (&mut [f64], usize),
    [of_a, of_b]: &mut Exponents,
) {
    let stored = a.len() / (d.len() / n);
    let across = n / COLUMNS;
    exponents_of(a, how.least[0], of_a);
    exponents_of(b, how.least[1], of_b);
    let (b, of_b) = (b.as_chunks::<COLUMNS>().0, of_b.as_chunks::<COLUMNS>().0);
    for (row, sums) in d
        .as_chunks_mut::<COLUMNS>()
        .0
        .chunks_exact_mut(across)
        .enumerate()
    {
        let (a, of_a) = (
            &a[row * stored..][..stored],
            &of_a[row * stored..][..stored],
        );
        for (chunk, sums) in sums.iter_mut().enumerate() {
            // Without checks for overflow, which are in the innermost loop's way.
            let place = |at: usize| column(row, at).wrapping_mul(across).wrapping_add(chunk);
            let places = at.clone().map(|at| (at, place(at)));
            let mut largest = [0; COLUMNS];
            for (largest, &value) in largest.iter_mut().zip(&*sums) {
                *largest = exponent(value, how.least[2]);
            }
            for (at, place) in places.clone() {
                raise(&mut largest, of_a[at], &of_b[place]);
            }
            let mut terms = Terms::of(&largest, how.last);
            terms.add(sums, 1.0);
            for (at, place) in places.clone() {
                terms.add(&b[place], a[at]);
            }
            let (before, cut) = (*sums, terms.sums());
            let mut finite = true;
            for (sum, &cut) in sums.iter_mut().zip(&cut) {
                *sum = how.finished(cut);
                finite &= cut.is_finite();
            }
            if !finite {
                let products = places.map(|(at, place)| (a[at], &b[place]));
                uncut(sums, &cut, before, products);
            }
        }
    }
}

#[inline(always)]
fn raise(largest: &mut [i16; COLUMNS], left: i16, right: &[i16; COLUMNS]) {
    for (largest, right) in largest.iter_mut().zip(right) {
        *largest = left.wrapping_add(*right).max(*largest);
    }
}

/// With infinities and NaNs nothing is cut.
#[cold]
fn uncut<'a>(
    sums: &mut [f64; COLUMNS],
    cut: &[f64; COLUMNS],
    before: [f64; COLUMNS],
    products: impl Iterator<Item = (f64, &'a [f64; COLUMNS])>,
) {
    let mut plain = before;
    for (left, right) in products {
        for (plain, right) in plain.iter_mut().zip(right) {
            *plain += left * right;
        }
    }
    for ((sum, cut), plain) in sums.iter_mut().zip(cut).zip(plain) {
        if !cut.is_finite() {
            *sum = plain;
        }
    }
}

/// Sums of terms that are cut.
struct Terms {
    /// Nearly half of the last place that is kept, so that rounding to the nearest becomes rounding towards zero: no term has more than 24 bits.
    half: [f64; COLUMNS],
    /// What brings that place to the last of a double, where sums begin.
    shift: [f64; COLUMNS],
    sums: [f64; COLUMNS],
}

impl Terms {
    #[inline(always)]
    fn of(largest: &[i16; COLUMNS], last: f64) -> Self {
        const SHIFT: f64 = 1.5 * (1u64 << 52) as f64;
        const HALF: f64 = 0.5 - 1.0 / (1u64 << 25) as f64;
        let mut terms = Self {
            half: [0.0; COLUMNS],
            shift: [0.0; COLUMNS],
            sums: [0.0; COLUMNS],
        };
        for at in 0..COLUMNS {
            let largest = power(largest[at]);
            terms.half[at] = largest * (last * HALF);
            terms.shift[at] = largest * (last * SHIFT);
            terms.sums[at] = terms.shift[at];
        }
        terms
    }

    #[inline(always)]
    fn add(&mut self, factors: &[f64; COLUMNS], factor: f64) {
        let sums = self.sums.iter_mut().zip(&self.half);
        for ((sum, half), other) in sums.zip(factors) {
            let term = factor * other;
            *sum += term - half.copysign(term);
        }
    }

    #[inline(always)]
    fn sums(&self) -> [f64; COLUMNS] {
        let mut sums = self.sums;
        for (sum, shift) in sums.iter_mut().zip(&self.shift) {
            *sum -= shift;
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const F16: MatrixElement = MatrixElement::Half(HalfFormat::F16);

    fn dot(how: &Alignment, a: &[f64], b: &[f64], before: f64) -> f64 {
        let mut d = [before; COLUMNS];
        let right: Vec<f64> = b.iter().flat_map(|&value| [value; COLUMNS]).collect();
        let mut exponents = Exponents::default();
        add_products(
            how,
            (a, &right),
            (0..a.len(), |_, at| at),
            (&mut d, COLUMNS),
            &mut exponents,
        );
        d[0]
    }

    #[test]
    fn terms_are_cut_below_the_largest_exponent() {
        let how = Alignment::of(F16, MatrixElement::F32);
        let unit = libm::ldexp(1.0, -25);
        // Three quarters of the last place are lost each, of either sign.
        let small = 0.75 * unit;
        assert_eq!(dot(&how, &[1.0, small, small, -1.0], &[1.0; 4], 0.0), 0.0);
        assert_eq!(dot(&how, &[1.0, -small, -1.0], &[1.0; 3], 0.0), 0.0);
        assert_eq!(dot(&how, &[1.0, 1.75 * unit, -1.0], &[1.0; 3], 0.0), unit);
        // Without the one they are there.
        assert_eq!(dot(&how, &[small, small], &[1.0; 2], 0.0), 1.5 * unit);
        // What is added to counts, and is cut likewise.
        assert_eq!(dot(&how, &[small], &[1.0], 1.0), 1.0);
        assert_eq!(dot(&how, &[1.0, -1.0], &[1.0; 2], small), 0.0);
    }

    #[test]
    fn results_are_cut_too() {
        let how = Alignment::of(F16, MatrixElement::F32);
        let last = f64::from(f32::EPSILON);
        assert_eq!(dot(&how, &[0.75 * last], &[1.0], 1.0), 1.0);
        assert_eq!(dot(&how, &[-0.75 * last], &[1.0], -1.0), -1.0);
        let least = libm::ldexp(1.0, -149);
        let tiny = Alignment::of(MatrixElement::Half(HalfFormat::Bf16), MatrixElement::F32);
        assert_eq!(
            dot(
                &tiny,
                &[libm::ldexp(1.75, -100)],
                &[libm::ldexp(1.0, -49)],
                0.0
            ),
            least
        );
        let bytes = MatrixElement::Small(SmallFormat::E4m3);
        let how = Alignment::of_bytes(bytes, bytes, MatrixElement::F32);
        assert_eq!(
            dot(&how, &[1.0, 1.0], &[1.0, libm::ldexp(1.0, -13)], 1.0),
            2.0
        );
    }

    #[test]
    fn what_is_not_finite_stays() {
        let how = Alignment::of(F16, MatrixElement::F32);
        let infinite = f64::INFINITY;
        assert_eq!(dot(&how, &[infinite, 1.0], &[1.0, 2.0], 3.0), infinite);
        assert_eq!(dot(&how, &[1.0], &[2.0], -infinite), -infinite);
        assert!(dot(&how, &[infinite, infinite], &[1.0, -1.0], 0.0).is_nan());
        assert!(dot(&how, &[infinite], &[0.0], 0.0).is_nan());
    }
}
