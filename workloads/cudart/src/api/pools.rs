//! Memory pools: all of them are the same memory.

use super::{driver_entries, nothing_to_do};
use crate::foreign::Out;

/// The handle of every pool.
const POOL: u64 = 0x900;

driver_entries! {
    cudaDeviceGetDefaultMemPool | cudaDeviceGetMemPool | cuDeviceGetDefaultMemPool | cuDeviceGetMemPool: (to: Out<u64>, _device: i32) |_| to.put(POOL);
    cudaMemPoolCreate | cuMemPoolCreate: (to: Out<u64>, _how: u64) |_| to.put(POOL);
    cudaMemPoolGetAttribute | cuMemPoolGetAttribute: (_pool: u64, what: i32, to: Out<u64>) |gpu| {
        let (free, all) = gpu.memory.room();
        match what {
            // Whether memory is used again: words, not numbers of bytes.
            1..=3 => Out::at_address(to.address()).put(1u32),
            4 => to.put(0),
            _ => to.put(all - free),
        }
    };
    cuMemAllocFromPoolAsync: (to: Out<u64>, bytes: u64, _pool: u64, stream: u64) |gpu| super::memory::in_order(gpu, to, bytes, stream);
    cudaMemPoolGetAccess | cuMemPoolGetAccess: (to: Out<i32>, _pool: u64, _where: u64) |_| to.put(3);
}

nothing_to_do! {
    cudaDeviceSetMemPool cudaMemPoolDestroy cudaMemPoolSetAttribute cudaMemPoolTrimTo cudaMemPoolSetAccess
}
