//! Transpose of a matrix.

use super::{Inputs, Outputs};

pub(crate) fn transpose_naive(inputs: &Inputs<'_>) -> Outputs {
    let matrix = inputs.f32s("in");
    let (width, height) = (inputs.size("width"), inputs.size("height"));
    let column = |x| (0..height).map(move |y| (y, x));
    let transposed: Vec<_> = (0..width)
        .flat_map(column)
        .map(|(y, x)| matrix[y * width + x])
        .collect();
    Outputs::default().f32s("out", &transposed)
}
