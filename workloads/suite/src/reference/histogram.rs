//! Histograms of bytes, one for each block: block `b` takes chunks `b`, `b + blocks`, `b + 2 blocks` ... of 256 words.

use super::{Inputs, Outputs};

pub(crate) fn histogram(inputs: &Inputs<'_>) -> Outputs {
    let mut counts = vec![0u32; inputs.blocks() * 256];
    for (chunk, bytes) in inputs.bytes("words").chunks(4 * 256).enumerate() {
        let bins = &mut counts[chunk % inputs.blocks() * 256..][..256];
        for byte in bytes {
            bins[usize::from(*byte)] += 1;
        }
    }
    Outputs::default().u32s("counts", &counts)
}
