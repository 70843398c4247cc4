//! Sums of floats of a warp's rows, in single precision, which has all factors.

use warpwatt_ptx::program::{GroupMultiplyAdd, MatrixElement};

use super::{Factors, ROWS, by_depth};
use crate::warp::aligned::{self, Alignment, Partners, Steps};
use crate::warp::packed;
use crate::warp::vectors::Work;

/// D = A B + D.
pub(super) struct FloatSums<'a> {
    how: &'a GroupMultiplyAdd,
    factors: &'a Factors,
    sums: Vec<f32>,
}

impl<'a> FloatSums<'a> {
    pub fn new(how: &'a GroupMultiplyAdd, factors: &'a Factors, before: Option<Vec<f32>>) -> Self {
        let sums = before.unwrap_or_else(|| vec![0.0; ROWS * usize::from(how.columns)]);
        Self { how, factors, sums }
    }
}

impl Work for FloatSums<'_> {
    type Result = Vec<f32>;

    #[inline(always)]
    fn done(self, steps: impl Steps) -> Vec<f32> {
        let Self {
            how,
            factors,
            mut sums,
        } = self;
        let columns = usize::from(how.columns);
        let [a, b, d] = how.elements;
        let alignment = match a {
            MatrixElement::Small(_) => Alignment::of_bytes(a, b, d),
            _ => Alignment::of(a, d),
        };
        let left = values(a, &factors.left, how.negated[0]);
        let right = by_depth(&values(b, &factors.right, how.negated[1]), columns);
        let stored = left.len() / ROWS;
        let all: Vec<usize> = (0..stored).collect();
        let partners = match &factors.columns {
            Some(columns) => Partners::Each(columns),
            None => Partners::Alike(&all),
        };
        aligned::add_products(
            &alignment,
            ((&left, stored), (&right, partners)),
            (&mut sums, columns),
            &mut aligned::Room::default(),
            steps,
        );
        sums
    }
}

/// Factors that lie one behind the other.
#[inline(always)]
fn values(element: MatrixElement, bytes: &[u8], negated: bool) -> Vec<f32> {
    let words = bytes.as_chunks().0.iter();
    let words: Vec<u32> = words.map(|word| u32::from_le_bytes(*word)).collect();
    let mut values = vec![0.0; words.len() * 32 / element.bits() as usize];
    packed::decode(element, &words, 1, &mut values);
    if negated {
        for value in &mut values {
            *value = -*value;
        }
    }
    values
}
