//! Convolution with a separable kernel: along rows, then along columns; outside the image is zero.

use super::{Inputs, Outputs};

pub(crate) fn convolution(inputs: &Inputs<'_>) -> Outputs {
    let (width, height) = (inputs.size("width"), inputs.size("height"));
    let taps = inputs.f32s("taps");
    let image = inputs.f32s("image");
    let rows = along(&image, &taps, (width, 1), |cell| cell % width);
    let both = along(&rows, &taps, (height, width), |cell| cell / width);
    Outputs::default().f32s("rows", &rows).f32s("out", &both)
}

/// Convolves along an axis of `extent` cells that are `stride` apart; `position` is a cell's place on it.
fn along(
    image: &[f32],
    taps: &[f32],
    (extent, stride): (usize, usize),
    position: impl Fn(usize) -> usize,
) -> Vec<f32> {
    let radius = taps.len() / 2;
    let cells = (0..image.len()).map(|cell| {
        let here = position(cell);
        let mut sum = 0.0f32;
        for (k, tap) in taps.iter().enumerate() {
            let value = match (here + k).checked_sub(radius) {
                Some(there) if there < extent => image[cell - here * stride + there * stride],
                _ => 0.0,
            };
            sum = tap.mul_add(value, sum);
        }
        sum
    });
    cells.collect()
}
