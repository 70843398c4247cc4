//! The functions of the driver for memory pools, for what is known of pointers and streams, and for what the host does in a stream.

use super::driver_entries;
use super::pools::{POOL, attribute};
use super::streams::{make, status};
use crate::error::{Code, Outcome};
use crate::foreign::{Callback, In, Out};
use crate::gpu::{Gpu, Stream};
use crate::graph::Op;
use crate::memory::Kind;

/// Handle of every context, as `driver` has it.
const CONTEXT: u64 = super::driver::CONTEXT;

/// What is known of an address (`CUpointer_attribute`); words and addresses are written as what they are.
fn of_pointer(gpu: &mut Gpu, to: Out<u64>, what: i32, address: u64) -> Outcome {
    /// `CU_MEMORYTYPE_HOST` and `_DEVICE`.
    const HOST: u32 = 1;
    const DEVICE: u32 = 2;
    let kind = gpu.memory.kind(address);
    if kind == Kind::Unregistered {
        return Err(Code::INVALID_VALUE);
    }
    let word = |value: u32| Out::<u32>::at_address(to.address()).put(value);
    match what {
        1 => to.put(CONTEXT),
        2 => word(if kind == Kind::Host { HOST } else { DEVICE }),
        3 => to.put(address),
        4 if kind == Kind::Device => Err(Code::INVALID_VALUE),
        4 => to.put(address),
        // A byte.
        8 => Out::<u8>::at_address(to.address()).put(u8::from(kind == Kind::Managed)),
        // The device's number.
        9 => word(0),
        11 | 12 => {
            let (start, bytes) = gpu.memory.allocation(address).ok_or(Code::INVALID_VALUE)?;
            to.put(if what == 11 { start } else { bytes })
        }
        _ => Err(Code::NOT_SUPPORTED),
    }
}

driver_entries! {
    cuDeviceGetDefaultMemPool | cuDeviceGetMemPool: (to: Out<u64>, _device: i32) |_| to.put(POOL);
    cuMemPoolCreate: (to: Out<u64>, _how: u64) |_| to.put(POOL);
    cuMemPoolGetAttribute: (_pool: u64, what: i32, to: Out<u64>) |gpu| attribute(gpu, what, to);
    cuMemPoolGetAccess: (to: Out<i32>, _pool: u64, _where: u64) |_| to.put(3);
    cuDeviceSetMemPool: (_device: i32, _pool: u64) |_| Ok(());
    cuMemPoolDestroy: (_pool: u64) |_| Ok(());
    cuMemPoolSetAttribute: (_pool: u64, _what: i32, _value: u64) |_| Ok(());
    cuMemPoolSetAccess: (_pool: u64, _list: u64, _count: u64) |_| Ok(());
    cuMemPoolTrimTo: (_pool: u64, _bytes: u64) |_| Ok(());
    cuMemAllocFromPoolAsync: (to: Out<u64>, bytes: u64, _pool: u64, stream: u64) |gpu| {
        gpu.check_stream(stream)?;
        to.put(gpu.memory.allocate(bytes)?)
    };
    cuMemPrefetchAsync | cuMemPrefetchAsync_v2: (_address: u64, _bytes: u64) |_| Ok(());
    cuMemAdvise | cuMemAdvise_v2: (_address: u64, _bytes: u64) |_| Ok(());
    cuPointerGetAttribute: (to: Out<u64>, what: i32, address: u64) |gpu| of_pointer(gpu, to, what, address);
    cuPointerGetAttributes: (count: u32, what: In<i32>, to: In<u64>, address: u64) |gpu| {
        for at in 0..count as usize {
            let _ = of_pointer(gpu, Out::at_address(to.get_at(at)?), what.get_at(at)?, address);
        }
        Ok(())
    };
    cuMemGetAddressRange_v2: (base: Out<u64>, bytes: Out<u64>, address: u64) |gpu| {
        let (start, size) = gpu.memory.allocation(address).ok_or(Code::INVALID_VALUE)?;
        base.put_if(start);
        bytes.put_if(size);
        Ok(())
    };
    cuStreamCreateWithPriority: (to: Out<u64>, flags: u32, priority: i32) |gpu| make(gpu, to, Stream { flags, priority });
    cuCtxGetStreamPriorityRange: (least: Out<i32>, greatest: Out<i32>) |_| {
        least.put_if(0);
        greatest.put_if(0);
        Ok(())
    };
    cuStreamGetCtx: (stream: u64, to: Out<u64>) |gpu| gpu.check_stream(stream).and_then(|()| to.put(CONTEXT));
    cuStreamGetFlags: (stream: u64, to: Out<u32>) |gpu| {
        gpu.check_stream(stream)?;
        let flags = gpu.streams.get(&stream).map_or(0, |stream| stream.flags);
        to.put(flags)
    };
    cuStreamGetPriority: (stream: u64, to: Out<i32>) |gpu| {
        gpu.check_stream(stream)?;
        let priority = gpu.streams.get(&stream).map_or(0, |stream| stream.priority);
        to.put(priority)
    };
    cuStreamIsCapturing: (stream: u64, to: Out<i32>) |gpu| {
        gpu.check_stream(stream)?;
        to.put(status(gpu, stream))
    };
    cuLaunchHostFunc: (stream: u64, function: Option<extern "C" fn(u64)>, data: u64) |gpu| {
        let function = function.ok_or(Code::INVALID_VALUE)?;
        gpu.submit(stream, Op::Call(Callback::Plain(function, data)))
    };
    cuStreamAddCallback: (stream: u64, function: Option<extern "C" fn(u64, i32, u64)>, data: u64, _flags: u32) |gpu| {
        let function = function.ok_or(Code::INVALID_VALUE)?;
        gpu.submit(stream, Op::Call(Callback::Stream(function, stream, data)))
    };
}
