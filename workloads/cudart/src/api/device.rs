//! The one device.

use super::{entries, nothing_to_do};
use crate::error::{Code, Outcome};
use crate::foreign::{Out, Text};
use crate::gpu::{Gpu, answer_even_if_broken};

/// The version of the runtime and of the driver: 13.0.
pub(super) const VERSION: i32 = 13000;

/// Whether a number is that of the device.
fn only(device: i32) -> Outcome {
    (device == 0).then_some(()).ok_or(Code::INVALID_DEVICE)
}

fn properties(gpu: &mut Gpu, to: Out<u8>, device: i32, version: u32) -> Outcome {
    only(device)?;
    let bytes = gpu.setup.device.properties(version);
    let bytes = bytes.into_iter().enumerate();
    bytes
        .into_iter()
        .try_for_each(|(at, byte)| to.put_at(at, byte))
}

/// `cudaLimitPrintfFifoSize`.
const PRINTF: i32 = 1;

/// Limits as they are before the program sets them (`cudaLimit`): stack, FIFO of printf, heap, depth and number of launches by kernels.
fn default_limit(what: i32) -> Option<u64> {
    [1024, 1 << 20, 8 << 20, 2, 2048, 128, 0]
        .get(usize::try_from(what).ok()?)
        .copied()
}

entries! {
    cudaGetDevice: (to: Out<i32>) |_| to.put(0);
    cudaGetDeviceCount: (to: Out<i32>) |_| to.put(1);
    cudaSetDevice: (device: i32) |_| only(device);
    cudaInitDevice: (device: i32, _flags: u32, _other: u32) |_| only(device);
    cudaChooseDevice: (to: Out<i32>, _wanted: u64) |_| to.put(0);
    cudaDeviceSynchronize | cudaThreadSynchronize: () |gpu| {
        gpu.flush();
        Ok(())
    };
    cudaGetDeviceProperties: (to: Out<u8>, device: i32) |gpu| {
        let version = gpu.version();
        // Since 12 that function has another name, until 13 gave the new structure the old one.
        properties(gpu, to, device, if version >= 13 { 13 } else { 11 })
    };
    cudaGetDeviceProperties_v2: (to: Out<u8>, device: i32) |gpu| properties(gpu, to, device, 12);
    cudaDeviceGetAttribute: (to: Out<i32>, what: i32, device: i32) |gpu| {
        only(device)?;
        to.put(gpu.setup.device.attribute(what).ok_or(Code::INVALID_VALUE)?)
    };
    cudaDeviceGetLimit: (to: Out<u64>, what: i32) |gpu| {
        let set = gpu.limits.get(&what).copied().or_else(|| default_limit(what));
        to.put(set.ok_or(Code(215))?)
    };
    cudaDeviceSetLimit: (what: i32, value: u64) |gpu| {
        default_limit(what).ok_or(Code(215))?;
        if what == PRINTF {
            gpu.memory.device.set_printed_room(value as usize);
        }
        gpu.limits.insert(what, value);
        Ok(())
    };
    cudaDeviceGetCacheConfig: (to: Out<i32>) |_| to.put(0);
    cudaDeviceGetSharedMemConfig: (to: Out<i32>) |_| to.put(1);
    cudaDeviceGetStreamPriorityRange: (least: Out<i32>, greatest: Out<i32>) |_| {
        least.put_if(0);
        greatest.put_if(-5);
        Ok(())
    };
    cudaGetDeviceFlags: (to: Out<u32>) |_| to.put(8);
    cudaDeviceCanAccessPeer: (to: Out<i32>, device: i32, other: i32) |_| {
        only(device).and(only(other))?;
        to.put(0)
    };
    cudaDeviceEnablePeerAccess: (peer: i32, _flags: u32) |_| only(peer).and(Err(Code::INVALID_DEVICE));
    cudaDeviceDisablePeerAccess: (peer: i32) |_| only(peer).and(Err(Code(705)));
    cudaDeviceGetP2PAttribute: (to: Out<i32>, _what: i32, device: i32, other: i32) |_| {
        only(device).and(only(other))?;
        to.put(0)?;
        Err(Code::INVALID_DEVICE)
    };
    cudaDeviceGetPCIBusId: (to: Out<u8>, bytes: i32, device: i32) |_| {
        only(device)?;
        let text = b"0000:01:00.0\0";
        if (bytes as usize) < text.len() {
            return Err(Code::INVALID_VALUE);
        }
        text.iter().enumerate().try_for_each(|(at, &byte)| to.put_at(at, byte))
    };
    cudaDeviceGetByPCIBusId: (to: Out<i32>, name: Text) |_| match name.get()?.ends_with("01:00.0") {
        true => to.put(0),
        false => Err(Code::INVALID_DEVICE),
    };
    cudaDriverGetVersion | cudaRuntimeGetVersion: (to: Out<i32>) |_| to.put(VERSION);
    cudaGetDriverEntryPoint: (name: Text, to: Out<u64>, _flags: u64, found: Out<i32>) |_| super::driver::named(name, to, found);
    cudaGetDriverEntryPointByVersion: (name: Text, to: Out<u64>, _version: u32, _flags: u64, found: Out<i32>) |_|
        super::driver::named(name, to, found);
}

/// `cudaDeviceReset`: a kernel's fault is forgotten. Memory stays where it is, as programs free it afterwards.
#[doc(hidden)]
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceReset() -> i32 {
    answer_even_if_broken(|gpu| {
        gpu.reset();
        Ok(())
    })
}

/// `cudaThreadExit`: as [`cudaDeviceReset`].
#[doc(hidden)]
#[unsafe(no_mangle)]
pub extern "C" fn cudaThreadExit() -> i32 {
    cudaDeviceReset()
}

nothing_to_do! {
    cudaDeviceSetCacheConfig cudaDeviceSetSharedMemConfig cudaSetDeviceFlags cudaSetValidDevices cudaProfilerStart cudaProfilerStop
    cudaDeviceFlushGPUDirectRDMAWrites
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_device() {
        assert_eq!(
            [0, 1, -1].map(|device| cudaSetDevice(device)),
            [0, 101, 101]
        );
        let mut bytes = vec![0xffu8; 1032];
        let to = Out::at_address(bytes.as_mut_ptr() as u64);
        assert_eq!(cudaGetDeviceProperties(to, 0), 0);
        // No more than the structure is written.
        assert_eq!(bytes[1008..], [0xff; 24]);
        assert_eq!(cudaGetDeviceProperties(to, 1), 101);
        assert_eq!(cudaGetDeviceProperties(Out::at_address(0), 0), 1);
    }
}
