//! Programs on fewer registers, where a technique has the compiler make do with them.

use std::collections::BTreeMap;

use warpwatt_gpu::GpuSpec;
use warpwatt_ptx::Entry;
use warpwatt_techniques::Stack;

use super::kernel::LoadedKernel;

/// Entries by name, and the registers that a thread of each may have.
pub type Limits = BTreeMap<String, u32>;

/// The limits of registers a thread that the techniques of `stack` set for the entries of a kernel, on `gpu` as it is without them. An entry that cannot
/// keep its limit gets the lowest that it can keep, and a sentence says so.
pub fn limits(kernel: &LoadedKernel, stack: &Stack, gpu: &GpuSpec) -> (Limits, Vec<String>) {
    let mut limits = Limits::new();
    for (entry, shape) in kernel.case.launch_shapes(&kernel.module, gpu.sm.warp_width) {
        let Some(limit) = stack.thread_registers(gpu, &shape) else {
            continue;
        };
        if limit < shape.registers {
            let known = limits.entry(entry).or_insert(limit);
            *known = (*known).min(limit);
        }
    }
    let mut unmet = Vec::new();
    for (name, limit) in &mut limits {
        let entry = kernel.module.entry(name);
        let least = entry.map_or(0, Entry::least_registers);
        if least > *limit {
            unmet.push(format!(
                "`{name}` keeps {least} registers a thread, its least, where {limit} would keep as many CTAs on an SM"
            ));
            *limit = least;
        }
    }
    (limits, unmet)
}

/// The kernel with these limits kept.
pub fn limited(kernel: &LoadedKernel, limits: &Limits) -> LoadedKernel {
    let mut kernel = kernel.clone();
    for entry in &mut kernel.module.entries {
        let Some(&limit) = limits.get(&entry.name) else {
            continue;
        };
        // Whatever is not below the least is kept.
        if let Ok(limited) = entry.with_registers(limit) {
            *entry = limited;
        }
    }
    kernel
}
