//! What a GPU with a configuration is built of.

use warpwatt_gpu::GpuSpec;
use warpwatt_structures::{Structure, inventory};
use warpwatt_techniques::Stack;

use crate::pricing::{CostTable, NodeCircuits, PricingError, laid_out};

/// Everything that is priced of a GPU with a configuration, but what the study describes itself.
pub fn built(spec: &GpuSpec, stack: &Stack) -> Vec<Structure> {
    let mut structures = inventory(spec);
    stack.build(spec, &mut structures);
    structures
}

/// Prices in a technology what techniques add to a GPU or change of it: tables that are too small or too large for their circuits are found before anything runs.
/// The rest of a chip takes longer, and is no question of theirs.
///
/// # Errors
/// A structure cannot be built.
pub fn try_to_build(
    spec: &GpuSpec,
    stack: &Stack,
    circuits: &NodeCircuits,
) -> Result<(), PricingError> {
    let plain = inventory(spec);
    let mut changed = built(spec, stack);
    changed.retain(|structure| structure.span.is_none() && !plain.contains(structure));
    let sms = spec.sm.count;
    let changed = laid_out(&changed, sms, circuits)?;
    CostTable::of_laid_out(&changed, sms, circuits).map(|_| ())
}
