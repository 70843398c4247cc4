//! What a GPU is made of: structures that circuit models price, and those that every GPU has before any technique.

mod banks;
pub mod chip;
pub mod compute_unit;
pub mod plain;
mod structure;

pub use structure::{Charge, Count, Gates, Group, Region, Span, Stage, Structure};

use warpwatt_gpu::{GpuSpec, Inventory};

/// Cycles in which an SM holds a warp.
pub const ACTIVE: [&str; 8] = [
    "issue_cycles",
    "stall_unit",
    "stall_memory",
    "stall_dependence",
    "stall_icache",
    "stall_fetch",
    "stall_barrier",
    "stall_drain",
];

/// Everything that is priced of `gpu` before any technique: its [inventory](GpuSpec).
pub fn inventory(gpu: &GpuSpec) -> Vec<Structure> {
    match gpu.chip.inventory {
        Inventory::Table1 => {
            let mut structures = plain::structures(gpu);
            structures.extend(plain::lanes(gpu));
            structures
        }
        Inventory::Chip => chip::structures(gpu),
        Inventory::ComputeUnit => compute_unit::structures(gpu),
    }
}
