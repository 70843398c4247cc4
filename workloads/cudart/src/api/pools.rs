//! Memory pools: all of them are the same memory.

use super::{entries, nothing_to_do};
use crate::error::Outcome;
use crate::foreign::Out;
use crate::gpu::Gpu;

/// The handle of every pool.
pub(super) const POOL: u64 = 0x900;

/// What is known of a pool, by its number.
pub(super) fn attribute(gpu: &mut Gpu, what: i32, to: Out<u64>) -> Outcome {
    let (free, all) = gpu.memory.room();
    match what {
        // Whether memory is used again: words, not numbers of bytes.
        1..=3 => Out::at_address(to.address()).put(1u32),
        4 => to.put(0),
        _ => to.put(all - free),
    }
}

entries! {
    cudaDeviceGetDefaultMemPool | cudaDeviceGetMemPool: (to: Out<u64>, _device: i32) |_| to.put(POOL);
    cudaMemPoolCreate: (to: Out<u64>, _how: u64) |_| to.put(POOL);
    cudaMemPoolGetAttribute: (_pool: u64, what: i32, to: Out<u64>) |gpu| attribute(gpu, what, to);
    cudaMemPoolGetAccess: (to: Out<i32>, _pool: u64, _where: u64) |_| to.put(3);
}

nothing_to_do! {
    cudaDeviceSetMemPool cudaMemPoolDestroy cudaMemPoolSetAttribute cudaMemPoolTrimTo cudaMemPoolSetAccess
}
