//! Gaussian elimination without pivoting: one step, or all of them where the pivot follows a loop.

use super::{Inputs, Outputs};

pub(crate) fn gaussian_step(inputs: &Inputs<'_>) -> Outputs {
    let n = inputs.size("n");
    let mut matrix = inputs.f32s("a");
    if let Some(pivot) = inputs.constant("pivot") {
        eliminate(&mut matrix, n, pivot as usize);
        return Outputs::default().f32s("next", &matrix);
    }
    // The last step has no row below its pivot, so both buffers end with the same matrix.
    for pivot in 0..n {
        eliminate(&mut matrix, n, pivot);
    }
    Outputs::default().f32s("a", &matrix).f32s("next", &matrix)
}

fn eliminate(matrix: &mut [f32], n: usize, pivot: usize) {
    let pivot_row = matrix[pivot * n..][..n].to_vec();
    for row in matrix.chunks_mut(n).skip(pivot + 1) {
        let factor = -(row[pivot] / pivot_row[pivot]);
        for (value, above) in row.iter_mut().zip(&pivot_row).skip(pivot) {
            *value = factor.mul_add(*above, *value);
        }
    }
}
