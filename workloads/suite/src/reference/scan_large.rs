//! Exclusive prefix sums of a long array, and of the sums of its pieces of 128.

use super::{Inputs, Outputs};

pub(crate) fn scan_large(inputs: &Inputs<'_>) -> Outputs {
    let mut sum = 0i32;
    let before: Vec<i32> = inputs
        .i32s("in")
        .into_iter()
        .map(|value| {
            let before = sum;
            sum = sum.wrapping_add(value);
            before
        })
        .collect();
    let pieces: Vec<i32> = before.iter().step_by(128).copied().collect();
    Outputs::default()
        .i32s("out", &before)
        .i32s("sums", &pieces)
}
