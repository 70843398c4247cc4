//! What decides an execution.

use sha2::{Digest, Sha256};
use warpwatt_simt::trace::file::{FORMAT, Key};
use warpwatt_suite::RunOptions;

use crate::kernel::LoadedKernel;

/// A hash of the sources that execute kernels and of the libraries that they use; `build.rs` makes it.
const EXECUTION: &str = env!("WARPWATT_EXECUTION");

/// The hash of everything that a kernel's trace, and whether the kernel passes, depend on: PTX, launch file, case and inputs, the expected contents of its
/// buffers, the options, the code that executes, the format of traces.
pub fn key(kernel: &LoadedKernel, options: RunOptions) -> Key {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(b"warpwatt trace");
    part(&FORMAT.to_le_bytes());
    part(env!("CARGO_PKG_VERSION").as_bytes());
    part(EXECUTION.as_bytes());
    part(kernel.hash.as_bytes());
    for entry in &kernel.module.entries {
        // How a program was lowered may depend on more than its text.
        let lowered = [
            entry.code.len(),
            entry.registers as usize,
            entry.local_bytes as usize,
            entry.allocation.limit as usize,
        ];
        part(format!("{} {lowered:?}", entry.name).as_bytes());
    }
    for buffer in kernel.prepared.buffers.iter().flatten() {
        part(format!("{:?}", buffer.tolerance).as_bytes());
        match &buffer.expected {
            None => part(b"unknown"),
            Some(expected) => {
                part(b"known");
                part(expected);
            }
        }
    }
    // How many mismatches are listed decides nothing: only what has none is kept. Nor do threads, memory, or what may end it.
    let options = RunOptions {
        listed: 0,
        threads: 1,
        trace_memory: 0,
        interrupt: None,
        ..options
    };
    part(format!("{options:?}").as_bytes());
    hash.finalize().into()
}
