//! Sums of integers, one for each block: block `b` takes chunks `b`, `b + blocks`, `b + 2 blocks` ... of 256 elements.

use super::{Inputs, Outputs};

pub(crate) fn reduction(inputs: &Inputs<'_>) -> Outputs {
    let mut sums = vec![0i32; inputs.blocks()];
    for (chunk, elements) in inputs.i32s("in").chunks(256).enumerate() {
        let sum = &mut sums[chunk % inputs.blocks()];
        *sum = elements
            .iter()
            .fold(*sum, |sum, element| sum.wrapping_add(*element));
    }
    Outputs::default().i32s("partial", &sums)
}
