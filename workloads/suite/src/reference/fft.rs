//! The Fourier transform of a complex matrix along rows and columns, by its definition, in double precision.

use std::f64::consts::TAU;

use super::{Inputs, Outputs};

type Complex = [f64; 2];

pub(crate) fn fft(inputs: &Inputs<'_>) -> Outputs {
    let length = 1 << inputs.size("log2_length");
    let numbers: Vec<f64> = inputs.f32s("signal").into_iter().map(f64::from).collect();
    let rows = transform(numbers.as_chunks().0, length);
    let both = transform(&rows, length);
    let flat =
        |matrix: &[Complex]| -> Vec<f32> { matrix.iter().flatten().map(|x| *x as f32).collect() };
    Outputs::default()
        .f32s("between", &flat(&rows))
        .f32s("spectrum", &flat(&both))
}

/// Transforms the rows and transposes.
fn transform(matrix: &[Complex], length: usize) -> Vec<Complex> {
    let roots: Vec<Complex> = (0..length)
        .map(|k| {
            let (sine, cosine) = (-TAU * k as f64 / length as f64).sin_cos();
            [cosine, sine]
        })
        .collect();
    let mut out = Vec::new();
    for frequency in 0..length {
        for row in matrix.chunks(length) {
            let terms = row.iter().enumerate().map(|(k, [re, im])| {
                let [c, s] = roots[frequency * k % length];
                [c * re - s * im, c * im + s * re]
            });
            out.push(terms.fold([0.0; 2], |sum, term| [sum[0] + term[0], sum[1] + term[1]]));
        }
    }
    out
}
