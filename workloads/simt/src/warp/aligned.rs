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
    /// Bits that are kept below the largest power of two.
    kept: i64,
    /// The least exponents of numbers of A and B and of what is added to.
    least: [i32; 3],
    result: MatrixElement,
    /// Bits of a single that its fraction loses.
    lost: u32,
}

impl Alignment {
    /// Of `mma` and of `wgmma`, but for that with factors of eight bits.
    pub fn of(factor: MatrixElement, result: MatrixElement) -> Self {
        Self {
            kept: 25,
            least: [least(factor), least(factor), least(result)],
            result,
            lost: 0,
        }
    }

    /// Of `wgmma` with factors of eight bits: thirteen bits, also of the result.
    pub fn of_bytes(a: MatrixElement, b: MatrixElement, result: MatrixElement) -> Self {
        Self {
            kept: 13,
            least: [least(a), least(b), least(result)],
            result,
            lost: 10,
        }
    }

    /// Sums as their instruction leaves them. Halves are rounded later, but never to a negative zero.
    #[inline(always)]
    fn finish(&self, exact: &[f64], sums: &mut [f64]) {
        const TINY: f64 = 1.0 / (1u64 << 25) as f64;
        let sums = sums.iter_mut().zip(exact);
        if self.result != MatrixElement::F32 {
            for (to, &sum) in sums {
                *to = if sum.abs() <= TINY { 0.0 } else { sum };
            }
            return;
        }
        let kept = u32::MAX << self.lost;
        for (to, &sum) in sums {
            *to = f64::from(f32::from_bits((cut(sum) as f32).to_bits() & kept));
        }
    }
}

/// Towards zero, to a number that single precision has, or beyond its range.
#[inline(always)]
fn cut(sum: f64) -> f64 {
    const LOST: u64 = (1 << 29) - 1;
    const NORMAL: f64 = f32::MIN_POSITIVE as f64;
    const LEAST: f64 = f32::from_bits(1) as f64;
    let steps = (sum * (1.0 / LEAST)).trunc() * LEAST;
    let cut = f64::from_bits(sum.to_bits() & !LOST);
    if sum.abs() < NORMAL { steps } else { cut }
}

/// The least exponent of a format's normal numbers.
fn least(element: MatrixElement) -> i32 {
    match element {
        MatrixElement::Half(HalfFormat::F16) | MatrixElement::Small(SmallFormat::E5m2) => -14,
        MatrixElement::Small(SmallFormat::E4m3) => -6,
        _ => -126,
    }
}

/// The exponent of zero, below all others.
const ZERO: i32 = -8192;
/// Below the exponents of all products but of those that are zero.
const BELOW: i16 = -400;

/// The exponents of numbers that single precision has.
#[inline(always)]
fn exponents_of(values: &[f64], least: i32, exponents: &mut Vec<i16>) {
    exponents.resize(values.len(), 0);
    for (to, &value) in exponents.iter_mut().zip(values) {
        let magnitude = (value as f32).to_bits() & 0x7fff_ffff;
        let exponent = ((magnitude >> 23) as i32 - 127).max(least);
        *to = (if magnitude == 0 { ZERO } else { exponent }) as i16;
    }
}

/// Two to the power of an exponent.
#[inline(always)]
fn power(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The rows of B that the elements of A's rows are multiplied with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Partners<'a> {
    /// The same for each row of A.
    Alike(&'a [usize]),
    /// Row by row.
    Each(&'a [usize]),
}

impl Partners<'_> {
    #[inline(always)]
    fn of(&self, row: usize, depth: usize) -> &[usize] {
        match self {
            Self::Alike(rows) => rows,
            Self::Each(rows) => &rows[row * depth..][..depth],
        }
    }
}

/// A with its columns, and B.
pub(super) type Factors<'a> = ((&'a [f64], usize), (&'a [f64], Partners<'a>));

/// Room for what sums need beside their matrices.
#[derive(Clone, Debug, Default)]
pub(super) struct Room {
    /// The exponents of A and B.
    factors: [Vec<i16>; 2],
    /// The largest of each sum.
    largest: Vec<i16>,
    /// What brings the last place that each sum keeps to one, and that place.
    scales: [Vec<f64>; 2],
    sums: Vec<f64>,
}

/// D = A B + D; B and D have `n` columns.
///
/// Loops over whole matrices alternate with loops over eight columns whose partners are looked up, so that compilers turn each into vector code.
#[inline(always)]
pub(super) fn add_products(
    how: &Alignment,
    ((a, depth), (b, partners)): Factors<'_>,
    (d, n): (&mut [f64], usize),
    room: &mut Room,
) {
    let Room {
        factors: [of_a, of_b],
        largest,
        scales: [scales, places],
        sums,
    } = room;
    exponents_of(a, how.least[0], of_a);
    exponents_of(b, how.least[1], of_b);
    exponents_of(d, how.least[2], largest);
    let across = n / COLUMNS;
    let chunks = b.as_chunks::<COLUMNS>().0;
    let of_chunks = of_b.as_chunks::<COLUMNS>().0;
    for (row, largest) in rows(largest, across) {
        let (left, rows) = (&of_a[row * depth..][..depth], partners.of(row, depth));
        for (chunk, largest) in largest.iter_mut().enumerate() {
            raise(largest, left, of_chunks, (rows, across, chunk));
        }
    }
    scales.resize(d.len(), 0.0);
    places.resize(d.len(), 0.0);
    sums.resize(d.len(), 0.0);
    let to = sums.iter_mut().zip(scales.iter_mut().zip(&mut *places));
    for ((sum, (scale, place)), (&largest, &before)) in to.zip(largest.iter().zip(&*d)) {
        let last = i64::from(largest.max(BELOW)) - how.kept;
        *scale = power(-last);
        *place = power(last);
        // Zero that is positive.
        *sum = 0.0 + (before * *scale).trunc();
    }
    let scales = scales.as_chunks::<COLUMNS>().0;
    for (row, sums) in rows(sums, across) {
        let (left, rows) = (&a[row * depth..][..depth], partners.of(row, depth));
        for (chunk, sums) in sums.iter_mut().enumerate() {
            let scale = &scales[row * across + chunk];
            add_cut(sums, scale, left, chunks, (rows, across, chunk));
        }
    }
    let mut finite = true;
    for (sum, place) in sums.iter_mut().zip(&*places) {
        *sum *= place;
        finite &= sum.is_finite();
    }
    if !finite {
        uncut(sums, ((a, depth), (b, partners)), (d, n));
    }
    how.finish(sums, d);
}

/// The rows of a matrix, some columns each.
#[inline(always)]
fn rows<T>(matrix: &mut [T], across: usize) -> impl Iterator<Item = (usize, &mut [[T; COLUMNS]])> {
    let chunks = matrix.as_chunks_mut::<COLUMNS>().0;
    chunks.chunks_exact_mut(across).enumerate()
}

/// The largest exponents of products and of what they are added to.
#[inline(always)]
fn raise(
    largest: &mut [i16; COLUMNS],
    left: &[i16],
    right: &[[i16; COLUMNS]],
    (rows, across, chunk): (&[usize], usize, usize),
) {
    let mut raised = *largest;
    for (left, row) in left.iter().zip(rows) {
        // Without checks for overflow, which are in the innermost loop's way.
        let right = &right[row.wrapping_mul(across).wrapping_add(chunk)];
        for (largest, right) in raised.iter_mut().zip(right) {
            *largest = left.wrapping_add(*right).max(*largest);
        }
    }
    *largest = raised;
}

/// Adds products, as multiples of the last place that is kept.
#[inline(always)]
fn add_cut(
    sums: &mut [f64; COLUMNS],
    scale: &[f64; COLUMNS],
    left: &[f64],
    right: &[[f64; COLUMNS]],
    (rows, across, chunk): (&[usize], usize, usize),
) {
    let mut added = *sums;
    for (left, row) in left.iter().zip(rows) {
        let right = &right[row.wrapping_mul(across).wrapping_add(chunk)];
        for (sum, (right, scale)) in added.iter_mut().zip(right.iter().zip(scale)) {
            *sum += (left * right * scale).trunc();
        }
    }
    *sums = added;
}

/// With infinities and NaNs nothing is cut.
#[cold]
#[inline(never)]
fn uncut(sums: &mut [f64], ((a, depth), (b, partners)): Factors<'_>, (before, n): (&[f64], usize)) {
    for (at, sum) in sums.iter_mut().enumerate() {
        if !sum.is_finite() {
            let (row, column) = (at / n, at % n);
            let left = a[row * depth..][..depth].iter();
            let right = partners
                .of(row, depth)
                .iter()
                .map(|row| b[row * n + column]);
            *sum = left
                .zip(right)
                .fold(before[at], |sum, (left, right)| sum + left * right);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const F16: MatrixElement = MatrixElement::Half(HalfFormat::F16);

    fn dot(how: &Alignment, a: &[f64], b: &[f64], before: f64) -> f64 {
        let mut d = [before; COLUMNS];
        let right: Vec<f64> = b.iter().flat_map(|&value| [value; COLUMNS]).collect();
        let rows: Vec<usize> = (0..a.len()).collect();
        add_products(
            how,
            ((a, a.len()), (&right, Partners::Alike(&rows))),
            (&mut d, COLUMNS),
            &mut Room::default(),
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
