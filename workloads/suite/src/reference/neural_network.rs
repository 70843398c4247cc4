//! Two convolutional and two fully connected layers with tanh, in double precision.

use super::{Inputs, Outputs};

const WINDOW: usize = 5;

pub(crate) fn neural_network(inputs: &Inputs<'_>) -> Outputs {
    let numbers = |name: &str| {
        inputs
            .f32s(name)
            .into_iter()
            .map(f64::from)
            .collect::<Vec<_>>()
    };
    let weights = [1, 2, 3, 4].map(|layer| numbers(&format!("weights{layer}")));
    let mut layers = [const { Vec::new() }; 4];
    for image in numbers("images").chunks(29 * 29) {
        let first = convolve(image, 29, &weights[0]);
        let second = convolve(&first, 13, &weights[1]);
        let third = connect(&second, &weights[2]);
        let fourth = connect(&third, &weights[3]);
        for (layer, values) in layers.iter_mut().zip([first, second, third, fourth]) {
            layer.extend(values.into_iter().map(|value| value as f32));
        }
    }
    let [first, second, third, fourth] = &layers;
    Outputs::default()
        .f32s("first", first)
        .f32s("second", second)
        .f32s("third", third)
        .f32s("digits", fourth)
}

fn squash(sum: f64) -> f64 {
    1.7159 * (sum * 2.0 / 3.0).tanh()
}

/// Every second window of 5 x 5, over all maps of `side` x `side`.
fn convolve(maps: &[f64], side: usize, weights: &[f64]) -> Vec<f64> {
    let inputs = maps.len() / (side * side);
    let outer = (side - WINDOW) / 2 + 1;
    let mut out = Vec::new();
    for own in weights.chunks(inputs * WINDOW * WINDOW + 1) {
        for place in 0..outer * outer {
            let (x, y) = (2 * (place % outer), 2 * (place / outer));
            let mut sum = own[0];
            for (tap, weight) in own[1..].iter().enumerate() {
                let (map, within) = (tap / (WINDOW * WINDOW), tap % (WINDOW * WINDOW));
                let (row, column) = (y + within / WINDOW, x + within % WINDOW);
                sum += weight * maps[(map * side + row) * side + column];
            }
            out.push(squash(sum));
        }
    }
    out
}

fn connect(values: &[f64], weights: &[f64]) -> Vec<f64> {
    let neurons = weights.chunks(values.len() + 1).map(|own| {
        let products = own[1..]
            .iter()
            .zip(values)
            .map(|(weight, value)| weight * value);
        squash(own[0] + products.sum::<f64>())
    });
    neurons.collect()
}
