//! What the driver knows of addresses and of contexts.

use super::driver::CONTEXT;
use super::driver_entries;
use crate::error::{Code, Outcome};
use crate::foreign::{In, Out};
use crate::gpu::Gpu;
use crate::memory::Kind;

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
    cuCtxGetStreamPriorityRange: (least: Out<i32>, greatest: Out<i32>) |_| {
        least.put_if(0);
        greatest.put_if(0);
        Ok(())
    };
    cuStreamGetCtx: (stream: u64, to: Out<u64>) |gpu| gpu.check_stream(stream).and_then(|()| to.put(CONTEXT));
}
