//! Scalar products of pairs of vectors: every 1024th product goes into the same sum, and the 1024 sums are added half to half.

use super::{Inputs, Outputs};

const SUMS: usize = 1024;

pub(crate) fn scalar_product(inputs: &Inputs<'_>) -> Outputs {
    let length = inputs.size("length");
    let (a, b) = (inputs.f32s("a"), inputs.f32s("b"));
    let pairs = a.chunks(length).zip(b.chunks(length));
    let products = pairs.map(|(a, b)| {
        let mut sums = vec![0.0f32; SUMS];
        for (position, (a, b)) in a.iter().zip(b).enumerate() {
            let sum = &mut sums[position % SUMS];
            *sum = a.mul_add(*b, *sum);
        }
        while sums.len() > 1 {
            let upper = sums.split_off(sums.len() / 2);
            for (sum, other) in sums.iter_mut().zip(upper) {
                *sum += other;
            }
        }
        sums[0]
    });
    Outputs::default().f32s("out", &products.collect::<Vec<_>>())
}
