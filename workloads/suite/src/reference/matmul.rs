//! Product of two matrices; sums run from the first to the last element of a row, fused.

use super::{Inputs, Outputs};

pub(crate) fn matmul_tiled(inputs: &Inputs<'_>) -> Outputs {
    let n = inputs.size("n");
    Outputs::default().f32s("c", &product(&inputs.f32s("a"), &inputs.f32s("b"), n, n))
}

pub(crate) fn matrix_mul(inputs: &Inputs<'_>) -> Outputs {
    let (depth, columns) = (inputs.size("depth"), inputs.size("columns"));
    let (a, b) = (inputs.f32s("a"), inputs.f32s("b"));
    Outputs::default().f32s("c", &product(&a, &b, depth, columns))
}

fn product(a: &[f32], b: &[f32], depth: usize, columns: usize) -> Vec<f32> {
    let mut c = Vec::new();
    for row in a.chunks(depth) {
        let mut sums = vec![0.0f32; columns];
        for (factor, others) in row.iter().zip(b.chunks(columns)) {
            for (sum, other) in sums.iter_mut().zip(others) {
                *sum = factor.mul_add(*other, *sum);
            }
        }
        c.extend(sums);
    }
    c
}
