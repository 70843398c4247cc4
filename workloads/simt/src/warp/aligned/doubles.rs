//! Aligned sums of any numbers, in double precision, which has room for what terms of any exponents become when they are cut.

use super::steps::COLUMNS;
use super::{Alignment, Factors, cut_normal, exponent};

/// Below the exponents of all products but of those that are zero.
const BELOW: i16 = -400;

/// Numbers and their exponents.
type Numbers = (Vec<f64>, Vec<i16>);

#[inline(always)]
fn take(from: &[f32], least: i32, (values, exponents): &mut Numbers) {
    values.resize(from.len(), 0.0);
    exponents.resize(from.len(), 0);
    for ((value, power), &from) in values.iter_mut().zip(exponents).zip(from) {
        *value = from.into();
        *power = exponent(from, least) as i16;
    }
}

/// Room for what sums need beside their matrices.
#[derive(Clone, Debug, Default)]
pub(super) struct Room {
    a: Numbers,
    b: Numbers,
    /// D, and the largest exponents of each sum.
    d: Numbers,
    /// What brings the last place that each sum keeps to one, and that place.
    scales: [Vec<f64>; 2],
    sums: Vec<f64>,
}

/// Loops over whole matrices alternate with loops over eight columns whose partners are looked up, so that compilers turn each into vector code.
#[inline(always)]
pub(super) fn add_products(
    how: &Alignment,
    ((a, depth), (b, partners)): Factors<'_>,
    (after, n): (&mut [f32], usize),
    room: &mut Room,
) {
    take(a, how.least[0], &mut room.a);
    take(b, how.least[1], &mut room.b);
    take(after, how.least[2], &mut room.d);
    let Room {
        a: (a, of_a),
        b: (b, of_b),
        d: (d, largest),
        scales: [scales, places],
        sums,
    } = room;
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
        let last = i64::from(i32::from(largest.max(BELOW)) - how.kept);
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
    how.finish(sums, after, cut);
}

/// Towards zero, to a number that single precision has, subnormal ones among them, or beyond its range.
#[inline(always)]
fn cut(sum: f64) -> f64 {
    const NORMAL: f64 = f32::MIN_POSITIVE as f64;
    const LEAST: f64 = f32::from_bits(1) as f64;
    let steps = (sum * (1.0 / LEAST)).trunc() * LEAST;
    if sum.abs() < NORMAL {
        steps
    } else {
        cut_normal(sum)
    }
}

/// Two to the power of an exponent.
#[inline(always)]
fn power(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
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
fn uncut(
    sums: &mut [f64],
    ((a, depth), (b, partners)): Factors<'_, f64>,
    (before, n): (&[f64], usize),
) {
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
