//! Arrays.

use super::{Extent, entries};
use crate::foreign::{In, Out};
use crate::memory::Format;

/// `cudaCreateChannelDesc`.
#[doc(hidden)]
#[unsafe(no_mangle)]
pub extern "C" fn cudaCreateChannelDesc(x: i32, y: i32, z: i32, w: i32, kind: i32) -> Format {
    let bits = [x, y, z, w];
    Format { bits, kind }
}

entries! {
    cudaMallocArray: (to: Out<u64>, format: In<Format>, width: u64, height: u64, flags: u32) |gpu| {
        let handle = gpu.memory.make_array(format.get()?, [width, height, 0], flags)?;
        to.put(handle)
    };
    cudaMalloc3DArray: (to: Out<u64>, format: In<Format>, extent: Extent, flags: u32) |gpu| {
        let handle = gpu.memory.make_array(format.get()?, extent.0, flags)?;
        to.put(handle)
    };
    cudaFreeArray: (array: u64) |gpu| gpu.memory.free_array(array);
    cudaGetChannelDesc: (to: Out<Format>, array: u64) |gpu| to.put(gpu.memory.array(array)?.format);
    cudaArrayGetInfo: (format: Out<Format>, extent: Out<[u64; 3]>, flags: Out<u32>, array: u64) |gpu| {
        let array = gpu.memory.array(array)?;
        format.put_if(array.format);
        extent.put_if(array.asked);
        flags.put_if(array.flags);
        Ok(())
    };
}
