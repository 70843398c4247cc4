//! LU decomposition without pivoting, in place, a column after the other.

use super::{Inputs, Outputs};

pub(crate) fn lu_decomposition(inputs: &Inputs<'_>) -> Outputs {
    let size = inputs.size("size");
    let mut matrix = inputs.f32s("matrix");
    for pivot in 0..size {
        let (above, below) = matrix.split_at_mut((pivot + 1) * size);
        let pivot_row = &above[pivot * size..];
        for row in below.chunks_mut(size) {
            row[pivot] /= pivot_row[pivot];
            let factor = -row[pivot];
            for (value, upper) in row.iter_mut().zip(pivot_row).skip(pivot + 1) {
                *value = factor.mul_add(*upper, *value);
            }
        }
    }
    Outputs::default().f32s("matrix", &matrix)
}
