//! Allocation.

use super::{Extent, Pitched, entries, nothing_to_do};
use crate::error::Outcome;
use crate::foreign::Out;
use crate::gpu::Gpu;
use crate::graph::Op;
use crate::memory::{Kind, PITCH};

/// `cudaPointerAttributes`, as far as all versions have it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PointerAttributes {
    kind: i32,
    device: i32,
    on_device: u64,
    on_host: u64,
}

/// Memory with rows that begin at multiples of [`PITCH`]: its address and its pitch.
fn pitched(gpu: &mut Gpu, [width, height, depth]: [u64; 3]) -> Outcome<(u64, u64)> {
    let pitch = width.checked_next_multiple_of(PITCH);
    let bytes = pitch.and_then(|pitch| pitch.checked_mul(height)?.checked_mul(depth));
    let bytes = bytes.ok_or(crate::error::Code::MEMORY_ALLOCATION)?;
    Ok((gpu.memory.allocate(bytes)?, pitch.unwrap_or(0)))
}

fn allocate(gpu: &mut Gpu, to: Out<u64>, bytes: u64) -> Outcome {
    if to.is_null() {
        return Err(crate::error::Code::INVALID_VALUE);
    }
    to.put(gpu.memory.allocate(bytes)?)
}

fn on_host(gpu: &mut Gpu, to: Out<u64>, bytes: u64, kind: Kind) -> Outcome {
    if to.is_null() {
        return Err(crate::error::Code::INVALID_VALUE);
    }
    to.put(gpu.memory.allocate_shared(bytes, kind)?)
}

/// What a stream allocates; for the graph if it is captured.
pub(super) fn in_order(gpu: &mut Gpu, to: Out<u64>, bytes: u64, stream: u64) -> Outcome {
    gpu.check_stream(stream)?;
    match gpu.is_captured(stream) {
        true if !to.is_null() => to.put(gpu.memory.allocate_for_graph(bytes)?),
        _ => allocate(gpu, to, bytes),
    }
}

entries! {
    cudaMalloc: (to: Out<u64>, bytes: u64) |gpu| allocate(gpu, to, bytes);
    cudaMallocAsync | cudaMallocAsync_ptsz: (to: Out<u64>, bytes: u64, stream: u64) |gpu| in_order(gpu, to, bytes, stream);
    cudaMallocFromPoolAsync: (to: Out<u64>, bytes: u64, _pool: u64, stream: u64) |gpu| in_order(gpu, to, bytes, stream);
    cudaMallocPitch: (to: Out<u64>, pitch: Out<u64>, width: u64, height: u64) |gpu| {
        let (address, bytes) = pitched(gpu, [width, height, 1])?;
        pitch.put(bytes)?;
        to.put(address)
    };
    cudaMalloc3D: (to: Out<Pitched>, extent: Extent) |gpu| {
        let [width, height, _] = extent.0;
        let (address, pitch) = pitched(gpu, extent.0)?;
        to.put(Pitched { address, pitch, width, height })
    };
    cudaMallocHost: (to: Out<u64>, bytes: u64) |gpu| on_host(gpu, to, bytes, Kind::Host);
    cudaHostAlloc: (to: Out<u64>, bytes: u64, _flags: u32) |gpu| on_host(gpu, to, bytes, Kind::Host);
    cudaMallocManaged: (to: Out<u64>, bytes: u64, _flags: u32) |gpu| on_host(gpu, to, bytes, Kind::Managed);
    cudaFree: (address: u64) |gpu| gpu.memory.free(address);
    cudaFreeAsync | cudaFreeAsync_ptsz: (address: u64, stream: u64) |gpu| gpu.submit(stream, Op::Free(address));
    cudaFreeHost: (address: u64) |gpu| gpu.memory.free_shared(address);
    cudaHostRegister: (address: u64, bytes: u64, _flags: u32) |gpu| gpu.memory.register(address, bytes);
    cudaHostUnregister: (address: u64) |gpu| gpu.memory.unregister(address);
    cudaHostGetDevicePointer: (to: Out<u64>, address: u64, _flags: u32) |gpu| match gpu.memory.kind(address) {
        Kind::Host | Kind::Managed => to.put(address),
        _ => Err(crate::error::Code::INVALID_VALUE),
    };
    cudaHostGetFlags: (to: Out<u32>, address: u64) |gpu| match gpu.memory.kind(address) {
        // cudaHostAllocMapped
        Kind::Host => to.put(2),
        _ => Err(crate::error::Code::INVALID_VALUE),
    };
    cudaMemGetInfo: (free: Out<u64>, total: Out<u64>) |gpu| {
        let (left, all) = gpu.memory.room();
        free.put(left)?;
        total.put(all)
    };
    cudaPointerGetAttributes: (to: Out<PointerAttributes>, address: u64) |gpu| {
        let kind = gpu.memory.kind(address);
        let (number, on_device, on_host) = match kind {
            Kind::Unregistered => (0, 0, address),
            Kind::Host => (1, address, address),
            Kind::Device => (2, address, 0),
            Kind::Managed => (3, address, address),
        };
        let device = if kind == Kind::Unregistered { -2 } else { 0 };
        to.put(PointerAttributes { kind: number, device, on_device, on_host })
    };
}

nothing_to_do! {
    cudaMemAdvise cudaMemAdvise_v2 cudaMemPrefetchAsync cudaMemPrefetchAsync_v2 cudaMemPrefetchAsync_ptsz cudaStreamAttachMemAsync
    cudaStreamAttachMemAsync_ptsz cudaCtxResetPersistingL2Cache
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    #[test]
    fn null_huge_and_freed_arguments_are_answered() {
        let none = || Out::at_address(0);
        assert_eq!(Code(cudaMalloc(none(), 8)), Code::INVALID_VALUE);
        let mut address = 0u64;
        let to = Out::at_address(&raw mut address as u64);
        assert_eq!(Code(cudaMalloc(to, u64::MAX)), Code::MEMORY_ALLOCATION);
        assert_eq!(
            Code(cudaMallocPitch(to, to, u64::MAX, 2)),
            Code::MEMORY_ALLOCATION
        );
        assert_eq!(Code(cudaMallocHost(to, u64::MAX)), Code::MEMORY_ALLOCATION);
        assert_eq!(cudaMalloc(to, 8), 0);
        assert_eq!(cudaFree(address), 0);
        assert_eq!(Code(cudaFree(address)), Code::INVALID_VALUE);
        assert_eq!(Code(cudaFreeHost(address)), Code::INVALID_VALUE);
        assert_eq!(cudaFree(0), 0);
    }
}
