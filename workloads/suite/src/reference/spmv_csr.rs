//! A sparse matrix in compressed rows times a vector; sums run along the row, fused.

use super::{Inputs, Outputs};

pub(crate) fn spmv_csr(inputs: &Inputs<'_>) -> Outputs {
    let (columns, values) = (inputs.i32s("column"), inputs.f32s("value"));
    let x = inputs.f32s("x");
    let products: Vec<_> = inputs
        .i32s("row_start")
        .windows(2)
        .map(|ends| {
            let row = ends[0] as usize..ends[1] as usize;
            let entries = columns[row.clone()].iter().zip(&values[row]);
            entries.fold(0.0f32, |sum, (column, value)| {
                value.mul_add(x[*column as usize], sum)
            })
        })
        .collect();
    Outputs::default().f32s("y", &products)
}
