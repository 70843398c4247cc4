//! Which memory an instruction accesses.

use warpwatt_simt::trace::{Addresses, LaneMask, MemoryOp, Space};

/// The space that lanes access, by the address of the first of them where the instruction does not say it.
pub(crate) fn space_of(op: MemoryOp, addresses: &Addresses, executed: LaneMask) -> Space {
    if op.space != Space::Generic {
        return op.space;
    }
    let mut first = None;
    addresses.for_each(executed & executed.wrapping_neg(), |_, address| {
        first = Some(address);
    });
    first.map_or(Space::Global, Space::of)
}
