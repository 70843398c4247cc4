//! Launches, and what is known of kernels.

use super::{Dim3, entries, nothing_to_do};
use crate::error::{Code, Outcome};
use crate::foreign::{Arguments, In, Out};
use crate::gpu::{Configuration, Gpu, pop, push};
use crate::graph::Op;
use crate::request::Request;

/// `cudaLaunchAttributeCooperative`.
const COOPERATIVE: i32 = 2;
/// `cudaLaunchAttributeClusterDimension`.
const CLUSTER: i32 = 4;

/// `cudaLaunchConfig_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LaunchConfig {
    grid: Dim3,
    block: Dim3,
    shared: u64,
    stream: u64,
    attributes: In<Attribute>,
    count: u32,
}

/// `cudaLaunchAttribute`.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    what: i32,
    pad: i32,
    value: [u32; 16],
}

#[cfg(test)]
impl Attribute {
    /// That all CTAs must run at once.
    pub(super) fn cooperative() -> Self {
        let mut value = [0; 16];
        value[0] = 1;
        Self {
            what: COOPERATIVE,
            pad: 0,
            value,
        }
    }
}

/// `cudaFuncAttributes`, as far as all versions have it, and what those since 12 have behind it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct FunctionAttributes {
    shared_bytes: u64,
    constant_bytes: u64,
    local_bytes: u64,
    most_threads: i32,
    registers: i32,
    ptx_version: i32,
    binary_version: i32,
    caches_all: i32,
    dynamic_shared: i32,
    carve_out: i32,
    cluster_required: i32,
}

/// The parameters of a kernel, as it lays them out.
pub(super) fn parameters(gpu: &mut Gpu, kernel: u64, arguments: Arguments) -> Outcome<Vec<u8>> {
    let kernel = gpu.registry.kernel(kernel)?;
    gpu.load(kernel.unit)?;
    let module = gpu.registry.read(kernel.unit)?;
    let entry = module.entry(&kernel.name).ok_or(Code::INVALID_FUNCTION)?;
    let mut block = vec![0; entry.param_bytes() as usize];
    for (at, param) in entry.params.iter().enumerate() {
        let bytes = param.bytes as usize;
        let place = &mut block[param.offset as usize..][..bytes];
        place.copy_from_slice(&arguments.bytes(at, bytes)?);
    }
    Ok(block)
}

/// A launch as `<<<` and `>>>` write it.
pub(super) fn request(
    gpu: &mut Gpu,
    kernel: u64,
    shape: (Dim3, Dim3, u64),
    arguments: Arguments,
) -> Outcome<Request> {
    let (grid, block, shared) = shape;
    Ok(Request {
        kernel,
        grid: grid.into(),
        block: block.into(),
        cluster: None,
        shared,
        cooperative: false,
        params: parameters(gpu, kernel, arguments)?,
    })
}

fn launch(
    gpu: &mut Gpu,
    kernel: u64,
    shape: (Dim3, Dim3, u64),
    arguments: Arguments,
    stream: u64,
    cooperative: bool,
) -> Outcome {
    let request = request(gpu, kernel, shape, arguments)?;
    let request = Request {
        cooperative,
        ..request
    };
    gpu.submit(stream, Op::Launch(request))
}

fn launch_configured(
    gpu: &mut Gpu,
    config: In<LaunchConfig>,
    kernel: u64,
    arguments: Arguments,
) -> Outcome {
    let config = config.get()?;
    let shape = (config.grid, config.block, config.shared);
    let mut request = request(gpu, kernel, shape, arguments)?;
    attributed(&mut request, config.attributes, config.count)?;
    gpu.submit(config.stream, Op::Launch(request))
}

/// What the attributes of a launch say of it, as far as it is of concern.
pub(super) fn attributed(request: &mut Request, list: In<Attribute>, count: u32) -> Outcome {
    for attribute in list.list(count as usize)? {
        let [x, y, z, ..] = attribute.value;
        match attribute.what {
            COOPERATIVE => request.cooperative = x != 0,
            CLUSTER => request.cluster = Some([x, y, z]),
            _ => {}
        }
    }
    Ok(())
}

/// What is known of a kernel: its entry as `told` reads it.
fn of_entry<T>(
    gpu: &mut Gpu,
    kernel: u64,
    told: impl FnOnce(&Gpu, &warpwatt_ptx::Entry) -> T,
) -> Outcome<T> {
    let kernel = gpu.registry.kernel(kernel)?;
    gpu.load(kernel.unit)?;
    let module = gpu.registry.read(kernel.unit)?;
    let entry = module.entry(&kernel.name).ok_or(Code::INVALID_FUNCTION)?;
    Ok(told(gpu, entry))
}

/// What is known of a kernel on this GPU.
fn described(gpu: &mut Gpu, kernel: u64) -> Outcome<FunctionAttributes> {
    let unit = gpu.registry.kernel(kernel)?.unit;
    of_entry(gpu, kernel, |gpu, entry| {
        let device = &gpu.setup.device;
        let capability = device.capability as i32;
        // Libraries choose by it among the kernels that they were compiled with.
        let target = gpu.registry.target(unit);
        let mut warps = (1..=32).rev();
        let fits = |warps: &u32| device.blocks_per_sm(entry, warps * 32, 0) > 0;
        let room = device.block_shared_optin();
        FunctionAttributes {
            shared_bytes: u64::from(entry.shared_bytes),
            constant_bytes: gpu
                .registry
                .read(unit)
                .map_or(0, |module| module.constants.len() as u64),
            local_bytes: u64::from(entry.local_bytes),
            most_threads: warps.find(fits).unwrap_or(0) as i32 * 32,
            registers: entry.registers as i32,
            ptx_version: target.map_or(capability, |target| target as i32),
            binary_version: capability,
            dynamic_shared: room.saturating_sub(u64::from(entry.shared_bytes)) as i32,
            carve_out: -1,
            ..FunctionAttributes::default()
        }
    })
}

fn attributes(gpu: &mut Gpu, to: Out<u8>, kernel: u64) -> Outcome {
    /// Bytes of `cudaFuncAttributes` that every version since 11 has, and since 12.
    const BYTES: [usize; 2] = [56, 144];
    let version = gpu.version();
    let found = described(gpu, kernel)?;
    for at in 0..BYTES[usize::from(version >= 12)] {
        to.put_at(at, 0)?;
    }
    Out::at_address(to.address()).put(found)
}

/// The same one by one, by the numbers of the driver (`CUfunction_attribute`); zero of others.
pub(super) fn function_attribute(gpu: &mut Gpu, kernel: u64, what: i32) -> Outcome<i32> {
    let found = described(gpu, kernel)?;
    Ok(match what {
        0 => found.most_threads,
        1 => found.shared_bytes as i32,
        2 => found.constant_bytes as i32,
        3 => found.local_bytes as i32,
        4 => found.registers,
        5 => found.ptx_version,
        6 => found.binary_version,
        8 => found.dynamic_shared,
        9 => found.carve_out,
        _ => 0,
    })
}

entries! {
    __cudaPushCallConfiguration: (grid: Dim3, block: Dim3, shared: u64, stream: u64) |_| {
        push(Configuration { grid: grid.into(), block: block.into(), shared, stream });
        Ok(())
    };
    __cudaPopCallConfiguration: (grid: Out<[u32; 3]>, block: Out<[u32; 3]>, shared: Out<u64>, stream: Out<u64>) |_| {
        let found = pop().ok_or(Code::MISSING_CONFIGURATION)?;
        grid.put(found.grid)?;
        block.put(found.block)?;
        shared.put(found.shared)?;
        stream.put(found.stream)
    };
    __cudaGetKernel | cudaGetKernel | cudaGetFuncBySymbol: (to: Out<u64>, host: u64) |gpu| gpu.registry.kernel(host).and_then(|_| to.put(host));
    __cudaLaunchKernel | __cudaLaunchKernel_ptsz | cudaLaunchKernel | cudaLaunchKernel_ptsz:
        (kernel: u64, grid: Dim3, block: Dim3, arguments: Arguments, shared: u64, stream: u64) |gpu|
        launch(gpu, kernel, (grid, block, shared), arguments, stream, false);
    cudaLaunchCooperativeKernel | cudaLaunchCooperativeKernel_ptsz:
        (kernel: u64, grid: Dim3, block: Dim3, arguments: Arguments, shared: u64, stream: u64) |gpu|
        launch(gpu, kernel, (grid, block, shared), arguments, stream, true);
    cudaLaunchKernelExC | cudaLaunchKernelExC_ptsz: (config: In<LaunchConfig>, kernel: u64, arguments: Arguments) |gpu|
        launch_configured(gpu, config, kernel, arguments);
    cudaFuncGetAttributes: (to: Out<u8>, kernel: u64) |gpu| attributes(gpu, to, kernel);
    cudaFuncGetName: (to: Out<u64>, kernel: u64) |gpu| {
        let kernel = gpu.registry.kernel(kernel)?;
        to.put(crate::foreign::kept(&kernel.name))
    };
    cudaFuncGetParamInfo: (kernel: u64, at: u64, offset: Out<u64>, bytes: Out<u64>) |gpu| {
        let found = of_entry(gpu, kernel, |_, entry| {
            entry.params.get(at as usize).map(|param| (param.offset, param.bytes))
        })?;
        let (begins, size) = found.ok_or(Code::INVALID_VALUE)?;
        offset.put(u64::from(begins))?;
        bytes.put_if(u64::from(size));
        Ok(())
    };
    cudaFuncGetParamCount: (kernel: u64, to: Out<u64>) |gpu| {
        let count = of_entry(gpu, kernel, |_, entry| entry.params.len())?;
        to.put(count as u64)
    };
    cudaOccupancyMaxActiveBlocksPerMultiprocessor: (to: Out<i32>, kernel: u64, threads: i32, shared: u64) |gpu|
        occupancy(gpu, to, kernel, threads, shared);
    cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags: (to: Out<i32>, kernel: u64, threads: i32, shared: u64, _flags: u32) |gpu|
        occupancy(gpu, to, kernel, threads, shared);
    cudaOccupancyAvailableDynamicSMemPerBlock: (to: Out<u64>, kernel: u64, blocks: i32, threads: i32) |gpu| {
        let room = of_entry(gpu, kernel, |gpu, entry| {
            let device = &gpu.setup.device;
            let fits = |bytes: &u64| device.blocks_per_sm(entry, threads.max(0) as u32, *bytes) >= blocks.max(1) as u32;
            (0..=device.block_shared_optin()).rev().step_by(128).find(fits)
        })?;
        to.put(room.unwrap_or(0))
    };
    cudaOccupancyMaxActiveClusters: (to: Out<i32>, kernel: u64, config: In<LaunchConfig>) |gpu| {
        let config = config.get()?;
        let attributes = config.attributes.list(config.count as usize)?;
        let cluster = attributes.iter().find(|it| it.what == CLUSTER);
        let blocks = cluster.map_or(1, |it| it.value[..3].iter().product::<u32>()).max(1);
        let threads = <[u32; 3]>::from(config.block).iter().product();
        let held = of_entry(gpu, kernel, |gpu, entry| {
            gpu.setup.device.blocks_per_sm(entry, threads, config.shared) * gpu.setup.device.sms
        })?;
        to.put((held / blocks) as i32)
    };
    cudaOccupancyMaxPotentialClusterSize: (to: Out<i32>, _kernel: u64, _config: In<LaunchConfig>) |gpu|
        to.put(if gpu.setup.device.capability >= 90 { 8 } else { 1 });
}

pub(super) fn occupancy(
    gpu: &mut Gpu,
    to: Out<i32>,
    kernel: u64,
    threads: i32,
    shared: u64,
) -> Outcome {
    let threads = u32::try_from(threads).map_err(|_| Code::INVALID_VALUE)?;
    let blocks = of_entry(gpu, kernel, |gpu, entry| {
        gpu.setup.device.blocks_per_sm(entry, threads, shared)
    })?;
    to.put(blocks as i32)
}

nothing_to_do! {
    cudaFuncSetAttribute cudaFuncSetCacheConfig cudaFuncSetSharedMemConfig cudaKernelSetAttributeForDevice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_kernels_are_refused() {
        let unknown = cudaFuncGetAttributes(Out::at_address(0), 0x1234);
        assert_eq!(Code(unknown), Code::INVALID_FUNCTION);
        let none = In::at_address(0);
        let answered = cudaLaunchKernelExC(none, 0x1234, Arguments::at_address(0));
        assert_eq!(Code(answered), Code::INVALID_VALUE);
    }

    #[test]
    fn what_is_popped_was_pushed_by_the_same_thread() {
        let three = Dim3 { x: 3, y: 2, z: 1 };
        __cudaPushCallConfiguration(three, three, 7, 0);
        let none = Out::at_address(0);
        let elsewhere = std::thread::spawn(|| {
            let none = Out::at_address(0);
            __cudaPopCallConfiguration(none, none, Out::at_address(0), Out::at_address(0))
        });
        assert_eq!(Code(elsewhere.join().unwrap()), Code::MISSING_CONFIGURATION);
        let here = __cudaPopCallConfiguration(none, none, Out::at_address(0), Out::at_address(0));
        assert_eq!(Code(here), Code::INVALID_VALUE);
    }
}
