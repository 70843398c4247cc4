//! Sums of products as tensor cores form them. PTX leaves open how they are rounded and in which order; this is what an NVIDIA H100 does in every case that
//! was measured (`tests/silicon`).
//!
//! Products are exact. They and what is added to are aligned to the largest exponent among them, cut towards zero some bits below it, and summed exactly: all
//! that an instruction sums are one such sum. Its result is cut to single precision, or rounded to a half. The exponent of a product is the sum of its
//! factors' exponents, also where their significands multiply to two or more, and that of a subnormal number is the least of its format.

mod doubles;
mod singles;
mod steps;
#[cfg(target_arch = "x86_64")]
pub(super) mod wide;

use warpwatt_ptx::program::{HalfFormat, MatrixElement, SmallFormat};

pub(super) use steps::{Steps, plain};

/// Where terms are cut, and what becomes of their sum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alignment {
    /// Bits that are kept below the largest power of two.
    kept: i32,
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

    /// Sums as their instruction leaves them, `cut` to single precision. Halves are rounded later, but never to a negative zero.
    #[inline(always)]
    fn finish(&self, exact: &[f64], sums: &mut [f32], cut: impl Fn(f64) -> f64) {
        const TINY: f64 = 1.0 / (1u64 << 25) as f64;
        let sums = sums.iter_mut().zip(exact);
        if self.result != MatrixElement::F32 {
            for (to, &sum) in sums {
                *to = if sum.abs() <= TINY { 0.0 } else { odd(sum) };
            }
            return;
        }
        let kept = u32::MAX << self.lost;
        for (to, &sum) in sums {
            *to = f32::from_bits((cut(sum) as f32).to_bits() & kept);
        }
    }
}

/// Bits of a double that single precision does not have.
const LOST: u64 = (1 << 29) - 1;

/// In single precision, with a last bit that is set where bits are lost: it is rounded again to what the sum itself would be.
#[inline(always)]
fn odd(sum: f64) -> f32 {
    let cut = cut_normal(sum) as f32;
    let is_lost = u32::from(sum.to_bits() & LOST != 0);
    f32::from_bits(cut.to_bits() | is_lost)
}

/// Towards zero, to a number that single precision has and that is not subnormal there, or beyond its range.
#[inline(always)]
fn cut_normal(sum: f64) -> f64 {
    f64::from_bits(sum.to_bits() & !LOST)
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

/// The exponent of a number of single precision, whose format has none below the least.
#[inline(always)]
fn exponent(value: f32, least: i32) -> i32 {
    let magnitude = value.to_bits() & 0x7fff_ffff;
    let exponent = ((magnitude >> 23) as i32 - 127).max(least);
    if magnitude == 0 { ZERO } else { exponent }
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
pub(super) type Factors<'a, T = f32> = ((&'a [T], usize), (&'a [T], Partners<'a>));

/// Room for what sums need beside their matrices.
#[derive(Clone, Debug, Default)]
pub(super) struct Room {
    singles: singles::Room,
    doubles: doubles::Room,
}

/// D = A B + D; B and D have `n` columns.
#[inline(always)]
pub(super) fn add_products(
    how: &Alignment,
    factors: Factors<'_>,
    (sums, n): (&mut [f32], usize),
    room: &mut Room,
    steps: impl Steps,
) {
    if room.singles.take(how, factors, (sums, n)) {
        room.singles.add_products(how, factors.0, sums, steps);
    } else {
        doubles::add_products(how, factors, (sums, n), &mut room.doubles);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::steps::{COLUMNS, STEP};
    use super::*;
    use crate::lanes::small_float;
    use crate::warp::vectors::{self, Work};

    const F16: MatrixElement = MatrixElement::Half(HalfFormat::F16);
    const BF16: MatrixElement = MatrixElement::Half(HalfFormat::Bf16);
    const TF32: MatrixElement = MatrixElement::Half(HalfFormat::Tf32);
    const E4M3: MatrixElement = MatrixElement::Small(SmallFormat::E4m3);
    const E5M2: MatrixElement = MatrixElement::Small(SmallFormat::E5m2);

    fn dot(how: &Alignment, a: &[f64], b: &[f64], before: f64) -> f64 {
        let [a, b] =
            [a, b].map(|values| values.iter().map(|&value| value as f32).collect::<Vec<_>>());
        let mut d = [before as f32; COLUMNS];
        let right: Vec<f32> = b.iter().flat_map(|&value| [value; COLUMNS]).collect();
        let rows: Vec<usize> = (0..a.len()).collect();
        let factors = ((&a[..], a.len()), (&right[..], Partners::Alike(&rows)));
        add_products(how, factors, (&mut d, COLUMNS), &mut Room::default(), plain);
        d[0].into()
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

    /// Sums on this machine.
    struct Sums<'a>(&'a Alignment, Factors<'a>, &'a [f32], usize);

    impl Work for Sums<'_> {
        type Result = Option<Vec<f32>>;

        fn done(self, steps: impl Steps) -> Option<Vec<f32>> {
            let Self(how, factors, before, n) = self;
            let mut room = singles::Room::default();
            room.take(how, factors, (before, n)).then(|| {
                let mut d = before.to_vec();
                room.add_products(how, factors.0, &mut d, steps);
                d
            })
        }
    }

    /// Numbers of a format from random bits: any, or those that are neither tiny nor huge.
    fn number(element: MatrixElement, bits: u32, near: bool) -> f32 {
        let bits = match element {
            MatrixElement::Half(HalfFormat::F16) if near => bits & 0xbfff,
            MatrixElement::Small(_) if near => bits & 0xbf,
            MatrixElement::Half(HalfFormat::F16) | MatrixElement::Small(_) => bits,
            _ if near => bits & 0x83ff_ffff | 0x3c00_0000,
            _ => bits,
        };
        match element {
            MatrixElement::F32 => f32::from_bits(bits),
            MatrixElement::Half(HalfFormat::Bf16) => f32::from_bits(bits & 0xffff_0000),
            MatrixElement::Half(HalfFormat::Tf32) => f32::from_bits(bits & !0x1fff),
            _ => small_float(element, bits & (u32::MAX >> (32 - element.bits()))) as f32,
        }
    }

    proptest! {
        /// In single precision sums are those in double precision, on this machine and on any.
        #[test]
        fn both_roads_lead_to_the_same_sums(
            factor in prop::sample::select(vec![F16, BF16, TF32, E4M3, E5M2]),
            halves: bool, of_bytes: bool, near: [bool; 3], zeros in 0u32..4,
            (steps, across) in (1usize..5, 1usize..4),
            bits in prop::collection::vec(any::<u32>(), 4 * 32 + 32 * 24 + 4 * 24),
        ) {
            let result = if halves { F16 } else { MatrixElement::F32 };
            let how = match of_bytes {
                true => Alignment::of_bytes(factor, factor, result),
                false => Alignment::of(factor, result),
            };
            let (depth, n) = (steps * STEP, across * COLUMNS);
            let is_zero = |bits: u32| bits.count_ones() % 4 < zeros && bits.is_multiple_of(3);
            let take = |from: usize, count: usize, element, near| -> Vec<f32> {
                let bits = bits[from..][..count].iter();
                bits.map(|&bits| if is_zero(bits) { 0.0 } else { number(element, bits, near) }).collect()
            };
            let a = take(0, 4 * depth, factor, near[0]);
            let b = take(4 * 32, depth * n, factor, near[1]);
            let before = take(4 * 32 + 32 * 24, 4 * n, result, near[2]);
            let rows: Vec<usize> = (0..depth).rev().collect();
            let factors = ((&a[..], depth), (&b[..], Partners::Alike(&rows)));
            let mut want = before.clone();
            doubles::add_products(&how, factors, (&mut want, n), &mut doubles::Room::default());
            let all = [vectors::done(Sums(&how, factors, &before, n)), Sums(&how, factors, &before, n).done(plain)];
            let fits = (depth as u64) << how.kept <= 1 << 29;
            if fits && near == [true; 3] {
                prop_assert!(all.iter().all(Option::is_some));
            }
            for found in all.into_iter().flatten() {
                for (&found, &want) in found.iter().zip(&want) {
                    prop_assert_eq!(found.to_bits(), want.to_bits(), "{} {}", found, want);
                }
            }
        }
    }
}
