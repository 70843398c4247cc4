//! Keys in order.

use super::{Inputs, Outputs};

pub(crate) fn bitonic_sort(inputs: &Inputs<'_>) -> Outputs {
    let mut keys = inputs.u32s("keys");
    keys.sort_unstable();
    Outputs::default().u32s("keys", &keys)
}
