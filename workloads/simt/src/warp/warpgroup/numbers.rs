//! Sums of whole numbers of a warp's rows, in double precision, which has them all.

use warpwatt_ptx::program::{GroupMultiplyAdd, Product};

use super::{Factors, ROWS, by_depth};
use crate::lanes::add_row;
use crate::warp::elements::numbers;
use crate::warp::sparse;

/// The rows' new sums.
pub(super) fn sums(
    how: &GroupMultiplyAdd,
    factors: &Factors,
    before: Option<Vec<f64>>,
) -> Vec<f64> {
    let columns = usize::from(how.columns);
    let mut sums = match &factors.columns {
        Some(meets) => {
            let (left, right) = decoded(how, factors);
            let mut sums = vec![-0.0; ROWS * columns];
            sparse::multiply(meets, &left, &right, &mut sums, columns);
            sums
        }
        None if how.product == Product::Times => of_numbers(how, factors),
        None => of_bits(factors, columns),
    };
    for (sum, before) in sums.iter_mut().zip(before.into_iter().flatten()) {
        *sum += before;
    }
    sums
}

/// A, and B row by row.
fn decoded(how: &GroupMultiplyAdd, factors: &Factors) -> (Vec<f64>, Vec<f64>) {
    let left = numbers(how.elements[0], &factors.left, how.negated[0]);
    let right = numbers(how.elements[1], &factors.right, how.negated[1]);
    (left, by_depth(&right, how.columns.into()))
}

fn of_numbers(how: &GroupMultiplyAdd, factors: &Factors) -> Vec<f64> {
    let (columns, depth) = (usize::from(how.columns), usize::from(how.depth));
    let (left, right) = decoded(how, factors);
    let mut sums = vec![-0.0; ROWS * columns];
    for (row, sums) in left.chunks_exact(depth).zip(sums.chunks_exact_mut(columns)) {
        add_row(row, &right, sums);
    }
    sums
}

/// How many bits are set in both.
fn of_bits(factors: &Factors, columns: usize) -> Vec<f64> {
    let row_bytes = factors.right.len() / columns;
    let pairs = factors.left.chunks_exact(row_bytes).flat_map(|row| {
        factors.right.chunks_exact(row_bytes).map(move |column| {
            let both = row.iter().zip(column).map(|(a, b)| (a & b).count_ones());
            f64::from(both.sum::<u32>())
        })
    });
    pairs.collect()
}
