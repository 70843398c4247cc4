//! Dyadic convolution by Walsh-Hadamard transforms, in stages of two elements from the largest distance to the smallest.

use super::{Inputs, Outputs};

pub(crate) fn walsh(inputs: &Inputs<'_>) -> Outputs {
    let scale = inputs.f32("scale");
    let signal = transform(inputs.f32s("signal"));
    let filter = transform(inputs.f32s("filter"));
    let products = signal
        .iter()
        .zip(&filter)
        .map(|(one, other)| one * (other * scale));
    let convolution = transform(products.collect());
    Outputs::default()
        .f32s("signal", &convolution)
        .f32s("filter", &filter)
}

fn transform(mut data: Vec<f32>) -> Vec<f32> {
    let mut distance = data.len() / 2;
    while distance > 0 {
        for pair in data.chunks_mut(2 * distance) {
            let (low, high) = pair.split_at_mut(distance);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        distance /= 2;
    }
    data
}
