//! Orthonormal cosine transforms (type II) of all blocks of 8 x 8 pixels: along columns, then along rows.

use std::f64::consts::PI;

use super::{Inputs, Outputs};

const SIDE: usize = 8;

pub(crate) fn dct8x8(inputs: &Inputs<'_>) -> Outputs {
    let width = inputs.size("width");
    let image = inputs.f32s("image");
    let cosines = cosines();
    let mut out = vec![0.0f32; image.len()];
    for block in 0..image.len() / (SIDE * SIDE) {
        let across = width / SIDE;
        let corner = block / across * SIDE * width + block % across * SIDE;
        let mut half = [[0.0f32; SIDE]; SIDE];
        for (row, cosines) in half.iter_mut().zip(&cosines) {
            for (x, value) in row.iter_mut().enumerate() {
                let column = cosines.iter().enumerate();
                *value = column.fold(0.0, |sum, (y, cosine)| {
                    cosine.mul_add(image[corner + y * width + x], sum)
                });
            }
        }
        for (y, row) in half.iter().enumerate() {
            for (x, cosines) in cosines.iter().enumerate() {
                let products = row.iter().zip(cosines);
                out[corner + y * width + x] =
                    products.fold(0.0, |sum, (value, cosine)| value.mul_add(*cosine, sum));
            }
        }
    }
    Outputs::default().f32s("coefficients", &out)
}

fn cosines() -> [[f32; SIDE]; SIDE] {
    std::array::from_fn(|frequency| {
        let scale = if frequency == 0 { 0.125f64.sqrt() } else { 0.5 };
        std::array::from_fn(|x| {
            let angle = ((2 * x + 1) * frequency) as f64 * PI / 16.0;
            (scale * angle.cos()) as f32
        })
    })
}
