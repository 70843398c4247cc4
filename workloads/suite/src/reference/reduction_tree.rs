//! Sums of integers, one a block.

use super::{Inputs, Outputs};

pub(crate) fn reduction_tree(inputs: &Inputs<'_>) -> Outputs {
    let numbers = inputs.i32s("in");
    let sums = numbers.chunks(numbers.len() / inputs.blocks());
    let sums = sums.map(|numbers| {
        numbers
            .iter()
            .fold(0i32, |sum, number| sum.wrapping_add(*number))
    });
    Outputs::default().i32s("out", &sums.collect::<Vec<_>>())
}
