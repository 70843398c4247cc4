//! Exclusive prefix sums of rows of 1024 integers.

use super::{Inputs, Outputs};

pub(crate) fn scan(inputs: &Inputs<'_>) -> Outputs {
    let mut sums = Vec::new();
    for row in inputs.i32s("in").chunks(1024) {
        let mut sum = 0i32;
        for element in row {
            sums.push(sum);
            sum = sum.wrapping_add(*element);
        }
    }
    Outputs::default().i32s("out", &sums)
}
