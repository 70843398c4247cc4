//! Aligned sums of numbers that are neither tiny nor huge, as those of most matrices. Single precision holds their products, and integers of 32 bits hold sums
//! of what is left of these: eight terms are cut side by side where doubles would be four.

use super::steps::{Block, COLUMNS, STEP, Steps, Terms};
use super::{Alignment, Factors, Partners, cut_normal, exponent};

/// The exponents of factors whose products, also when they are scaled, single precision holds, and of what such products may be added to. Zero is always there.
const FACTORS: [i32; 2] = [-50, 60];
const ADDENDS: [i32; 2] = [2 * FACTORS[0], 127];

/// What sums need beside A and D.
#[derive(Clone, Debug, Default)]
pub(super) struct Room {
    /// Exponents of A, row by row.
    of_left: Vec<[i32; STEP]>,
    /// B and its exponents, column by column.
    right: Vec<Block<f32>>,
    of_right: Vec<Block<i32>>,
    /// Exponents of what is added to, row by row.
    of_before: Vec<[i32; COLUMNS]>,
    exact: Vec<[f64; COLUMNS]>,
}

impl Room {
    /// Makes ready for these matrices, if they are such.
    #[inline(always)]
    pub fn take(
        &mut self,
        how: &Alignment,
        ((a, depth), (b, partners)): Factors<'_>,
        (d, n): (&[f32], usize),
    ) -> bool {
        let Partners::Alike(rows) = partners else {
            return false;
        };
        // A product is less than four times the power of two of its exponent.
        if !depth.is_multiple_of(STEP) || (depth as u64) << (how.kept + 2) > 1 << 31 {
            return false;
        }
        self.take_right((b, n), rows);
        self.of_left.resize(a.len() / STEP, [0; STEP]);
        self.of_before.resize(d.len() / COLUMNS, [0; COLUMNS]);
        let right = self.right.as_flattened().as_flattened();
        let of_right = self.of_right.as_flattened_mut();
        exponents_of(a, how.least[0], FACTORS, &mut self.of_left)
            && exponents_of(right, how.least[1], FACTORS, of_right)
            && exponents_of(d, how.least[2], ADDENDS, &mut self.of_before)
    }

    /// Some rows of B.
    #[inline(always)]
    fn take_right(&mut self, (b, n): (&[f32], usize), rows: &[usize]) {
        let (across, along) = (n / COLUMNS, rows.len() / STEP);
        self.right.resize(across * along, Block::default());
        self.of_right.resize(across * along, Block::default());
        let b = b.as_chunks::<COLUMNS>().0;
        for (at, block) in self.right.iter_mut().enumerate() {
            let rows = &rows[at % along * STEP..][..STEP];
            for (to, row) in block.iter_mut().zip(rows) {
                *to = b[row * across + at / along];
            }
        }
    }

    /// D = A B + D, of the matrices that were taken.
    #[inline(always)]
    pub fn add_products(
        &mut self,
        how: &Alignment,
        (a, depth): (&[f32], usize),
        d: &mut [f32],
        steps: impl Steps,
    ) {
        let before = d.as_chunks::<COLUMNS>().0;
        self.exact.resize(before.len(), [0.0; COLUMNS]);
        let terms = Terms {
            left: (a.as_chunks::<STEP>().0, &self.of_left),
            right: (&self.right, &self.of_right),
            before: (before, &self.of_before),
            along: depth / STEP,
            kept: how.kept,
            least: ADDENDS[0],
        };
        steps(&terms, &mut self.exact);
        // The last place that a sum keeps is no subnormal number.
        how.finish(self.exact.as_flattened(), d, cut_normal);
    }
}

/// The exponents of a matrix, row by row, and whether all are among these.
#[inline(always)]
fn exponents_of<const N: usize>(
    values: &[f32],
    least: i32,
    [first, last]: [i32; 2],
    exponents: &mut [[i32; N]],
) -> bool {
    // Bits of magnitudes are in the order of these. Less one, zero is above all.
    let mut smallest = u32::MAX;
    let mut largest = 0;
    for (to, &value) in exponents.as_flattened_mut().iter_mut().zip(values) {
        *to = exponent(value, least);
        let magnitude = value.to_bits() & 0x7fff_ffff;
        smallest = smallest.min(magnitude.wrapping_sub(1));
        largest = largest.max(magnitude);
    }
    let bits = |exponent: i32| ((exponent + 127) as u32) << 23;
    smallest >= bits(first) - 1 && largest < bits(last + 1)
}
