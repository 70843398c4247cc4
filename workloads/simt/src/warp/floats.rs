//! Products of matrices of floats, as sums that tensor cores form ([`aligned`]).

use warpwatt_ptx::program::{HalfFormat, MatrixElement, MultiplyAdd};

use super::aligned::{self, Alignment, Partners, Steps};
use super::elements;

/// Room for sums of floats.
#[derive(Clone, Debug, Default)]
pub(super) struct FloatRoom {
    sums: aligned::Room,
    /// Which columns of A are summed at a time, they, and which rows of B they meet where A is sparse.
    chosen: Vec<usize>,
    left: Vec<f32>,
    partners: Vec<usize>,
}

/// Sums of floats. `order` says which rows of B the columns of A meet, or `columns` which one each stored element of a sparse A meets.
#[inline(always)]
pub(super) fn of_floats(
    how: &MultiplyAdd,
    (a, b): (&[f32], &[f32]),
    (order, columns): (&[usize], Option<&[usize]>),
    d: &mut [f32],
    (room, steps): (&mut FloatRoom, impl Steps),
) {
    let [factor, _, addend, result] = how.elements;
    let [m, n, _] = how.shape.map(usize::from);
    let stored = a.len() / m;
    let of_bytes = matches!(factor, MatrixElement::Small(_));
    let alignment = match () {
        () if of_bytes => Alignment::of(MatrixElement::Half(HalfFormat::F16), result),
        // A single that is added to leaves a single, which becomes a half later.
        () if addend == MatrixElement::F32 => Alignment::of(factor, addend),
        () => Alignment::of(factor, result),
    };
    if of_bytes {
        // Machines make halves of them, sum the first two of each four and then the others, and add that to what was there.
        let mut sums = vec![0.0; d.len()];
        for part in 0..2 {
            room.choose((a, columns), stored, |at| at / 2 % 2 == part);
            room.add_chosen(&alignment, (b, columns), (&mut sums, n), steps);
            for sum in &mut sums {
                let rounded = elements::encode(result, f64::from(*sum), false);
                *sum = elements::decode(result, rounded) as f32;
            }
        }
        for (sum, part) in d.iter_mut().zip(sums) {
            *sum += part;
        }
    } else if factor == MatrixElement::Half(HalfFormat::Tf32) && !how.fixed_layout {
        // `wmma` takes four TF32 at a time.
        for part in 0..stored / 4 {
            room.choose((a, columns), stored, |at| at / 4 == part);
            room.add_chosen(&alignment, (b, columns), (d, n), steps);
        }
    } else {
        let partners = columns.map_or(Partners::Alike(order), Partners::Each);
        let factors = ((a, stored), (b, partners));
        aligned::add_products(&alignment, factors, (d, n), &mut room.sums, steps);
    }
}

impl FloatRoom {
    /// Takes some of A's columns.
    #[inline(always)]
    fn choose(
        &mut self,
        (a, columns): (&[f32], Option<&[usize]>),
        stored: usize,
        is_chosen: impl Fn(usize) -> bool,
    ) {
        self.chosen.clear();
        self.chosen.extend((0..stored).filter(|&at| is_chosen(at)));
        choose(a, stored, &self.chosen, &mut self.left);
        choose(
            columns.unwrap_or_default(),
            stored,
            &self.chosen,
            &mut self.partners,
        );
    }

    #[inline(always)]
    fn add_chosen(
        &mut self,
        how: &Alignment,
        (b, columns): (&[f32], Option<&[usize]>),
        d: (&mut [f32], usize),
        steps: impl Steps,
    ) {
        let partners = match columns {
            Some(_) => Partners::Each(&self.partners),
            None => Partners::Alike(&self.chosen),
        };
        let left = (&self.left[..], self.chosen.len());
        aligned::add_products(how, (left, (b, partners)), d, &mut self.sums, steps);
    }
}

/// Some columns of a matrix.
fn choose<T: Copy>(matrix: &[T], across: usize, columns: &[usize], to: &mut Vec<T>) {
    to.clear();
    let rows = matrix.chunks_exact(across);
    to.extend(rows.flat_map(|row| columns.iter().map(|&column| row[column])));
}
