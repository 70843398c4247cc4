//! One compare-exchange step of a bitonic sort.

use super::{Inputs, Outputs};

pub(crate) fn bitonic_step(inputs: &Inputs<'_>) -> Outputs {
    let (span, distance) = (inputs.size("span"), inputs.size("distance"));
    let mut keys = inputs.u32s("in");
    for low in 0..keys.len() {
        let high = low ^ distance;
        if high < low {
            continue;
        }
        let ascending = low & span == 0;
        if (keys[low] > keys[high]) == ascending {
            keys.swap(low, high);
        }
    }
    Outputs::default().u32s("out", &keys)
}
