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

/// Builds and prices it in a technology: tables that are too small or too large for their circuits are found before anything runs.
///
/// # Errors
/// A structure cannot be built.
pub fn try_to_build(
    spec: &GpuSpec,
    stack: &Stack,
    circuits: &NodeCircuits,
) -> Result<(), PricingError> {
    let sms = spec.sm.count;
    let structures = laid_out(&built(spec, stack), sms, circuits)?;
    CostTable::of_laid_out(&structures, sms, circuits).map(|_| ())
}
