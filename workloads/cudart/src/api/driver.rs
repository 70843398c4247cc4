//! The functions of the driver below the runtime (`libcuda.so.1`), for programs that load their modules themselves. Codes are the runtime's.

use super::kernels::{function_attribute, occupancy, parameters};
use super::registration::any_image;
use super::{driver_entries, nothing_to_do};
use crate::error::{Code, Outcome};
use crate::fatbin::container_bytes;
use crate::foreign::{Arguments, In, Out, Text, kept};
use crate::gpu::Gpu;
use crate::graph::{Copying, Filling, Op, Side};
use crate::memory::Kind;
use crate::registry::Image;
use crate::request::Request;

/// The handle of every context.
pub(super) const CONTEXT: u64 = 0xc00;
/// What `cuLaunchKernel` is passed in its last argument: a block of parameters, its size, the end.
const BLOCK: u64 = 1;
const BLOCK_BYTES: u64 = 2;

fn only(device: i32) -> Outcome {
    (device == 0).then_some(()).ok_or(Code::INVALID_DEVICE)
}

pub(super) fn load(gpu: &mut Gpu, to: Out<u64>, image: Image) -> Outcome {
    let unit = gpu.registry.add(image);
    gpu.load(unit)?;
    to.put(unit)
}

/// A block of parameters that is passed whole.
fn block(gpu: &mut Gpu, kernel: u64, extra: In<u64>) -> Outcome<Vec<u8>> {
    let (mut address, mut bytes) = (0, 0);
    for at in (0..8).step_by(2) {
        match extra.get_at(at)? {
            BLOCK => address = extra.get_at(at + 1)?,
            BLOCK_BYTES => bytes = In::<u64>::at_address(extra.get_at(at + 1)?).get()?,
            _ => break,
        }
    }
    let mut block = In::<u8>::at_address(address).list(bytes as usize)?;
    let kernel = gpu.registry.kernel(kernel)?;
    let module = gpu.registry.read(kernel.unit)?;
    let entry = module.entry(&kernel.name).ok_or(Code::INVALID_FUNCTION)?;
    block.resize(entry.param_bytes() as usize, 0);
    Ok(block)
}

fn launch(
    gpu: &mut Gpu,
    kernel: u64,
    shape: ([u32; 3], [u32; 3], u32),
    stream: u64,
    passed: (Arguments, In<u64>),
    cooperative: bool,
) -> Outcome {
    let (grid, block_shape, shared) = shape;
    let (arguments, extra) = passed;
    let params = match extra.address() {
        0 => parameters(gpu, kernel, arguments)?,
        _ => block(gpu, kernel, extra)?,
    };
    let request = Request {
        kernel,
        grid,
        block: block_shape,
        cluster: None,
        shared: u64::from(shared),
        cooperative,
        params,
    };
    gpu.submit(stream, Op::Launch(request))
}

fn fill(gpu: &mut Gpu, to: u64, value: u32, size: u32, count: u64, stream: u64) -> Outcome {
    let bytes = count.checked_mul(u64::from(size));
    let filling = Filling {
        to: Side::plain(to),
        extent: [bytes.ok_or(Code::INVALID_VALUE)?, 1, 1],
        value,
        size,
    };
    gpu.submit(stream, Op::Fill(filling))
}

fn text(to: Out<u8>, bytes: i32, text: &str) -> Outcome {
    let room = usize::try_from(bytes).unwrap_or(0).saturating_sub(1);
    let text = text.bytes().take(room).chain([0]).enumerate();
    text.into_iter()
        .try_for_each(|(at, byte)| to.put_at(at, byte))
}

driver_entries! {
    cuInit: (_flags: u32) |_| Ok(());
    cuDriverGetVersion: (to: Out<i32>) |_| to.put(super::device::VERSION);
    cuDeviceGet: (to: Out<i32>, device: i32) |_| only(device).and_then(|()| to.put(0));
    cuDeviceGetCount: (to: Out<i32>) |_| to.put(1);
    cuDeviceGetName: (to: Out<u8>, bytes: i32, device: i32) |gpu| {
        only(device)?;
        text(to, bytes, &gpu.setup.device.name)
    };
    cuDeviceGetUuid | cuDeviceGetUuid_v2: (to: Out<[u8; 16]>, device: i32) |_| only(device).and_then(|()| to.put([0; 16]));
    cuDeviceGetPCIBusId: (to: Out<u8>, bytes: i32, device: i32) |_| only(device).and_then(|()| text(to, bytes, "0000:01:00.0"));
    cuDeviceTotalMem_v2: (to: Out<u64>, device: i32) |gpu| only(device).and_then(|()| to.put(gpu.memory.room().1));
    cuDeviceGetAttribute: (to: Out<i32>, what: i32, device: i32) |gpu| {
        only(device)?;
        to.put(gpu.setup.device.attribute(what).ok_or(Code::INVALID_VALUE)?)
    };
    cuDeviceComputeCapability: (major: Out<i32>, minor: Out<i32>, device: i32) |gpu| {
        only(device)?;
        let capability = gpu.setup.device.capability as i32;
        major.put(capability / 10)?;
        minor.put(capability % 10)
    };
    cuDeviceCanAccessPeer: (to: Out<i32>, _device: i32, _other: i32) |_| to.put(0);
    cuDevicePrimaryCtxRetain: (to: Out<u64>, device: i32) |_| only(device).and_then(|()| to.put(CONTEXT));
    cuDevicePrimaryCtxGetState: (device: i32, flags: Out<u32>, active: Out<i32>) |_| {
        only(device)?;
        flags.put(0)?;
        active.put(1)
    };
    cuCtxCreate_v2: (to: Out<u64>, _flags: u32, device: i32) |_| only(device).and_then(|()| to.put(CONTEXT));
    cuCtxPopCurrent_v2: (to: Out<u64>) |_| {
        to.put_if(CONTEXT);
        Ok(())
    };
    cuCtxGetCurrent: (to: Out<u64>) |_| to.put(CONTEXT);
    cuCtxGetDevice: (to: Out<i32>) |_| to.put(0);
    cuCtxGetApiVersion: (_context: u64, to: Out<u32>) |_| to.put(3020);
    cuModuleLoadData: (to: Out<u64>, image: In<u8>) |gpu| load(gpu, to, any_image(image.address())?);
    cuModuleLoadDataEx: (to: Out<u64>, image: In<u8>, _count: u32, _options: u64, _values: u64) |gpu|
        load(gpu, to, any_image(image.address())?);
    cuModuleLoadFatBinary: (to: Out<u64>, image: In<u8>) |gpu| load(gpu, to, any_image(image.address())?);
    cuModuleLoad: (to: Out<u64>, file: Text) |gpu| {
        let bytes = std::fs::read(file.get()?).map_err(|_| Code::FILE_NOT_FOUND)?;
        let image = match container_bytes(&bytes) {
            // It stays as long as the program runs.
            Some(_) => Image::Containers(vec![Vec::leak(bytes)]),
            None => Image::Text(String::from_utf8(bytes).map_err(|_| Code::INVALID_IMAGE)?),
        };
        load(gpu, to, image)
    };
    cuModuleUnload | cuLibraryUnload: (unit: u64) |gpu| {
        gpu.registry.remove(unit);
        Ok(())
    };
    cuModuleGetFunction | cuLibraryGetKernel: (to: Out<u64>, unit: u64, name: Text) |gpu| {
        let kernel = gpu.registry.kernel_named(unit, &name.get()?)?;
        to.put(kernel)
    };
    cuModuleGetGlobal_v2 | cuLibraryGetGlobal: (to: Out<u64>, bytes: Out<u64>, unit: u64, name: Text) |gpu| {
        let place = gpu.registry.variable_named(unit, &name.get()?, &mut gpu.memory);
        let place = place.map_err(|_| Code::SYMBOL_NOT_FOUND)?;
        bytes.put_if(place.bytes);
        to.put(place.device.ok_or(Code::NOT_SUPPORTED)?)
    };
    cuMemAlloc_v2: (to: Out<u64>, bytes: u64) |gpu| match bytes {
        0 => Err(Code::INVALID_VALUE),
        _ => to.put(gpu.memory.allocate(bytes)?),
    };
    cuMemAllocAsync: (to: Out<u64>, bytes: u64, _stream: u64) |gpu| to.put(gpu.memory.allocate(bytes)?);
    cuMemFree_v2: (address: u64) |gpu| gpu.memory.free(address);
    cuMemFreeAsync: (address: u64, stream: u64) |gpu| gpu.submit(stream, Op::Free(address));
    cuMemAllocHost_v2: (to: Out<u64>, bytes: u64) |gpu| to.put(gpu.memory.allocate_shared(bytes, Kind::Host)?);
    cuMemHostAlloc: (to: Out<u64>, bytes: u64, _flags: u32) |gpu| to.put(gpu.memory.allocate_shared(bytes, Kind::Host)?);
    cuMemAllocManaged: (to: Out<u64>, bytes: u64, _flags: u32) |gpu| to.put(gpu.memory.allocate_shared(bytes, Kind::Managed)?);
    cuMemFreeHost: (address: u64) |gpu| gpu.memory.free_shared(address);
    cuMemHostRegister_v2: (address: u64, bytes: u64, _flags: u32) |gpu| gpu.memory.register(address, bytes);
    cuMemHostUnregister: (address: u64) |gpu| gpu.memory.unregister(address);
    cuMemHostGetDevicePointer_v2: (to: Out<u64>, address: u64, _flags: u32) |gpu| match gpu.memory.kind(address) {
        Kind::Host | Kind::Managed => to.put(address),
        _ => Err(Code::INVALID_VALUE),
    };
    cuMemGetInfo_v2: (free: Out<u64>, total: Out<u64>) |gpu| {
        let (left, all) = gpu.memory.room();
        free.put(left)?;
        total.put(all)
    };
    cuMemcpy: (to: u64, from: u64, bytes: u64) |gpu| gpu.submit(0, Op::Copy(Copying::plain(to, from, bytes, 4)));
    cuMemcpyAsync: (to: u64, from: u64, bytes: u64, stream: u64) |gpu| gpu.submit(stream, Op::Copy(Copying::plain(to, from, bytes, 4)));
    cuMemcpyHtoD_v2: (to: u64, from: u64, bytes: u64) |gpu| gpu.submit(0, Op::Copy(Copying::plain(to, from, bytes, 1)));
    cuMemcpyHtoDAsync_v2: (to: u64, from: u64, bytes: u64, stream: u64) |gpu| gpu.submit(stream, Op::Copy(Copying::plain(to, from, bytes, 1)));
    cuMemcpyDtoH_v2: (to: u64, from: u64, bytes: u64) |gpu| gpu.submit(0, Op::Copy(Copying::plain(to, from, bytes, 2)));
    cuMemcpyDtoHAsync_v2: (to: u64, from: u64, bytes: u64, stream: u64) |gpu| gpu.submit(stream, Op::Copy(Copying::plain(to, from, bytes, 2)));
    cuMemcpyDtoD_v2: (to: u64, from: u64, bytes: u64) |gpu| gpu.submit(0, Op::Copy(Copying::plain(to, from, bytes, 3)));
    cuMemcpyDtoDAsync_v2: (to: u64, from: u64, bytes: u64, stream: u64) |gpu| gpu.submit(stream, Op::Copy(Copying::plain(to, from, bytes, 3)));
    cuMemsetD8_v2: (to: u64, value: u8, count: u64) |gpu| fill(gpu, to, u32::from(value), 1, count, 0);
    cuMemsetD16_v2: (to: u64, value: u16, count: u64) |gpu| fill(gpu, to, u32::from(value), 2, count, 0);
    cuMemsetD32_v2: (to: u64, value: u32, count: u64) |gpu| fill(gpu, to, value, 4, count, 0);
    cuMemsetD8Async: (to: u64, value: u8, count: u64, stream: u64) |gpu| fill(gpu, to, u32::from(value), 1, count, stream);
    cuMemsetD32Async: (to: u64, value: u32, count: u64, stream: u64) |gpu| fill(gpu, to, value, 4, count, stream);
    cuLaunchKernel: (kernel: u64, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32, stream: u64, arguments: Arguments, extra: In<u64>) |gpu|
        launch(gpu, kernel, ([gx, gy, gz], [bx, by, bz], shared), stream, (arguments, extra), false);
    cuLaunchCooperativeKernel: (kernel: u64, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32, stream: u64, arguments: Arguments) |gpu|
        launch(gpu, kernel, ([gx, gy, gz], [bx, by, bz], shared), stream, (arguments, In::at_address(0)), true);
    cuFuncGetAttribute: (to: Out<i32>, what: i32, kernel: u64) |gpu| {
        let value = function_attribute(gpu, kernel, what)?;
        to.put(value)
    };
    cuOccupancyMaxActiveBlocksPerMultiprocessor: (to: Out<i32>, kernel: u64, threads: i32, shared: u64) |gpu|
        occupancy(gpu, to, kernel, threads, shared);
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags: (to: Out<i32>, kernel: u64, threads: i32, shared: u64, _flags: u32) |gpu|
        occupancy(gpu, to, kernel, threads, shared);
    cuStreamCreate: (to: Out<u64>, flags: u32) |gpu| super::streams::make(gpu, to, crate::gpu::Stream { flags, priority: 0 });
    cuStreamDestroy_v2: (stream: u64) |gpu| gpu.streams.remove(&stream).map(drop).ok_or(Code::INVALID_HANDLE);
    cuStreamSynchronize | cuStreamQuery: (stream: u64) |gpu| {
        gpu.flush();
        gpu.check_stream(stream)
    };
    cuCtxSynchronize: () |gpu| {
        gpu.flush();
        Ok(())
    };
    cuStreamWaitEvent: (stream: u64, event: u64, _flags: u32) |gpu| super::streams::wait(gpu, stream, event);
    cuEventCreate: (to: Out<u64>, flags: u32) |gpu| super::events::make(gpu, to, flags);
    cuEventDestroy_v2: (event: u64) |gpu| gpu.events.remove(&event).map(drop).ok_or(Code::INVALID_HANDLE);
    cuEventRecord: (event: u64, stream: u64) |gpu| super::events::record(gpu, event, stream);
    cuEventQuery | cuEventSynchronize: (event: u64) |gpu| {
        gpu.flush();
        super::events::known(gpu, event).map(drop)
    };
    cuEventElapsedTime: (to: Out<f32>, from: u64, until: u64) |gpu| super::events::elapsed(gpu, to, from, until);
    cuGetProcAddress_v2: (name: Text, to: Out<u64>, _version: i32, _flags: u64, found: Out<i32>) |_| named(name, to, found);
    // Tables without names, of NVIDIA's own libraries.
    cuGetExportTable: (_to: Out<u64>, _which: u64) |_| Err(Code::SYMBOL_NOT_FOUND);
    cuGetErrorName: (code: i32, to: Out<u64>) |_| to.put(kept(&driver_name(code)));
    cuGetErrorString: (code: i32, to: Out<u64>) |_| to.put(Code(code).text().as_ptr() as u64);
}

/// Where a function of the driver is, for who asks by its name; `cudaDriverEntryPointSymbolNotFound` and null where there is none.
pub(super) fn named(name: Text, to: Out<u64>, found: Out<i32>) -> Outcome {
    let name = name.get()?;
    let address = address_of(&name)
        .or_else(|| idle_address_of(&name))
        .or_else(|| super::linking::address_of(&name))
        .or_else(|| super::pools::address_of(&name))
        .or_else(|| super::pointers::address_of(&name))
        .or_else(|| super::streams::address_of(&name))
        .or_else(|| super::tensor_maps::address_of(&name));
    to.put(address.unwrap_or(0))?;
    found.put_if(i32::from(address.is_none()));
    address.map(drop).ok_or(Code::SYMBOL_NOT_FOUND)
}

/// The driver's names of codes are the runtime's in another way of writing, but for these (CUDA Driver API, `CUresult`).
const OWN_NAMES: [(i32, &str); 9] = [
    (0, "CUDA_SUCCESS"),
    (2, "CUDA_ERROR_OUT_OF_MEMORY"),
    (3, "CUDA_ERROR_NOT_INITIALIZED"),
    (4, "CUDA_ERROR_DEINITIALIZED"),
    (200, "CUDA_ERROR_INVALID_IMAGE"),
    (209, "CUDA_ERROR_NO_BINARY_FOR_GPU"),
    (400, "CUDA_ERROR_INVALID_HANDLE"),
    (500, "CUDA_ERROR_NOT_FOUND"),
    (719, "CUDA_ERROR_LAUNCH_FAILED"),
];

/// What the driver calls a code: `cudaErrorIllegalAddress` is `CUDA_ERROR_ILLEGAL_ADDRESS` there.
fn driver_name(code: i32) -> String {
    if let Some((_, name)) = OWN_NAMES.iter().find(|(known, _)| *known == code) {
        return (*name).to_owned();
    }
    let mut written = String::new();
    for letter in Code(code).name().to_string_lossy().chars() {
        if letter.is_ascii_uppercase() {
            written.push('_');
        }
        written.push(letter.to_ascii_uppercase());
    }
    written
}

/// Functions of the driver that have nothing to do here, and where each is.
macro_rules! idle {
    ($($name:ident)*) => {
        nothing_to_do! { $($name)* }

        fn idle_address_of(name: &str) -> Option<u64> {
            let all = [$((stringify!($name), $name as *const () as u64)),*];
            super::address_in(&all, name)
        }
    };
}

idle! {
    cuCtxDestroy_v2 cuCtxPushCurrent_v2 cuCtxSetCurrent cuCtxSetCacheConfig cuCtxSetLimit cuCtxSetSharedMemConfig
    cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxReset_v2 cuDevicePrimaryCtxSetFlags_v2 cuFuncSetAttribute cuFuncSetCacheConfig
    cuProfilerStart cuProfilerStop cuDeviceSetMemPool cuMemPoolDestroy cuMemPoolSetAttribute cuMemPoolSetAccess cuMemPoolTrimTo
    cuMemPrefetchAsync cuMemPrefetchAsync_v2 cuMemAdvise cuMemAdvise_v2
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &std::ffi::CStr = c".version 8.0\n.target sm_80\n.address_size 64\n\
        .visible .entry store(.param .u64 p, .param .u32 v)\n{\n .reg .b64 %rd1;\n .reg .b32 %r1;\n ld.param.u64 %rd1, [p];\n\
        ld.param.u32 %r1, [v];\n st.global.u32 [%rd1], %r1;\n ret;\n}\n";

    fn at<T>(value: &mut T) -> Out<T> {
        Out::at_address(value as *mut T as u64)
    }

    #[test]
    fn functions_are_found_by_their_names() {
        let ask = |name: &std::ffi::CStr| {
            let (mut place, mut found) = (1u64, 7i32);
            let name = Text::at_address(name.as_ptr() as u64);
            let code = cuGetProcAddress_v2(name, at(&mut place), 12_000, 0, at(&mut found));
            (Code(code), place, found)
        };
        assert_eq!(ask(c"cuInit"), (Code(0), cuInit as *const () as u64, 0));
        assert_eq!(
            ask(c"cuMemAlloc"),
            (Code(0), cuMemAlloc_v2 as *const () as u64, 0)
        );
        assert_eq!(ask(c"cuTensorMapEncodeTiled").0, Code(0));
        assert_eq!(ask(c"cuNothing"), (Code::SYMBOL_NOT_FOUND, 0, 1));
    }

    #[test]
    fn codes_have_the_names_of_the_driver() {
        let names = [1, 2, 700, 719, 801].map(driver_name);
        let expected = [
            "INVALID_VALUE",
            "OUT_OF_MEMORY",
            "ILLEGAL_ADDRESS",
            "LAUNCH_FAILED",
            "NOT_SUPPORTED",
        ];
        assert_eq!(names, expected.map(|name| format!("CUDA_ERROR_{name}")));
    }

    #[test]
    fn a_module_is_loaded_and_its_kernel_launched() {
        let (mut unit, mut kernel, mut memory) = (0u64, 0u64, 0u64);
        let image = In::at_address(PTX.as_ptr() as u64);
        assert_eq!(cuModuleLoadData(at(&mut unit), image), 0);
        let name = |name: &std::ffi::CStr| Text::at_address(name.as_ptr() as u64);
        assert_eq!(
            Code(cuModuleGetFunction(at(&mut kernel), unit, name(c"none"))),
            Code::SYMBOL_NOT_FOUND
        );
        assert_eq!(
            cuModuleGetFunction(at(&mut kernel), unit, name(c"store")),
            0
        );
        assert_eq!(cuMemAlloc_v2(at(&mut memory), 4), 0);
        let (mut value, mut back) = (41u32, 0u32);
        let list = [&raw mut memory as u64, &raw mut value as u64];
        let arguments = Arguments::at_address(list.as_ptr() as u64);
        let none = In::at_address(0);
        let launched = cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, arguments, none);
        assert_eq!(launched, 0);
        assert_eq!(cuMemcpyDtoH_v2(&raw mut back as u64, memory, 4), 0);
        assert_eq!(back, 41);
        // The same with a block of parameters.
        let mut block = [0u32; 3];
        block[..2].copy_from_slice(&[memory as u32, (memory >> 32) as u32]);
        block[2] = 42;
        let size = 12u64;
        let extra = [
            BLOCK,
            block.as_ptr() as u64,
            BLOCK_BYTES,
            &raw const size as u64,
            0,
        ];
        let extra = In::at_address(extra.as_ptr() as u64);
        let nothing = Arguments::at_address(0);
        assert_eq!(
            cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, nothing, extra),
            0
        );
        assert_eq!(cuMemcpyDtoH_v2(&raw mut back as u64, memory, 4), 0);
        assert_eq!(back, 42);
        let refused = cuLaunchKernel(kernel, 1, 1, 1, 2048, 1, 1, 0, 0, nothing, extra);
        assert_eq!(Code(refused), Code::INVALID_CONFIGURATION);
        assert_eq!((cuMemFree_v2(memory), cuModuleUnload(unit)), (0, 0));
        assert_eq!(
            Code(cuModuleLoad(at(&mut unit), name(c"none.ptx"))),
            Code::FILE_NOT_FOUND
        );
    }
}
