//! Sum of two vectors.

use super::{Inputs, Outputs};

pub(crate) fn vector_add(inputs: &Inputs<'_>) -> Outputs {
    let (a, b) = (inputs.f32s("a"), inputs.f32s("b"));
    let sums: Vec<_> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    Outputs::default().f32s("c", &sums)
}
