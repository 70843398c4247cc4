//! One layer of a neural network: weighted sums of its inputs, in groups of 16, and the step of its weights along the gradient.

use super::{Inputs, Outputs};

const UNITS: usize = 16;
const GROUP: usize = 16;

pub(crate) fn back_propagation(inputs: &Inputs<'_>) -> Outputs {
    let (input, delta) = (inputs.f32s("input"), inputs.f32s("delta"));
    let (rate, momentum) = (inputs.f32("rate"), inputs.f32("momentum"));
    let mut weights = inputs.f32s("weights");
    let mut change = inputs.f32s("change");
    let mut partial = Vec::new();
    for (nodes, weights) in input.chunks(GROUP).zip(weights.chunks(GROUP * UNITS)) {
        for unit in 0..UNITS {
            let products = nodes
                .iter()
                .zip(weights.chunks(UNITS))
                .map(|(node, row)| node * row[unit]);
            partial.push(pairwise(&products.collect::<Vec<_>>()));
        }
    }
    for (position, (weight, change)) in weights.iter_mut().zip(&mut change).enumerate() {
        let (row, unit) = (position / UNITS, position % UNITS);
        *change = (rate * delta[unit]).mul_add(input[row], momentum * *change);
        *weight += *change;
    }
    Outputs::default()
        .f32s("partial", &partial)
        .f32s("weights", &weights)
        .f32s("change", &change)
}

/// A sum of sums of halves.
fn pairwise(terms: &[f32]) -> f32 {
    match terms {
        [] => 0.0,
        [term] => *term,
        _ => {
            let (low, high) = terms.split_at(terms.len() / 2);
            pairwise(low) + pairwise(high)
        }
    }
}
