//! Launches that kernels ask for. They are noted, and run when the one that asked has ended: a grid has not ended before those that it launched have, and cannot wait
//! for them (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism", since CUDA 12).

use std::collections::BTreeMap;

use warpwatt_ptx::Module;
use warpwatt_ptx::program::{ENTRIES_BASE, FUNCTION_STEP};

use crate::error::ExecError;
use crate::execute::Launch;
use crate::memory::DeviceMemory;

/// Bytes of room for a kernel's parameters.
pub(crate) const PARAMETER_BYTES: u64 = 4096;
/// Launches that may be asked for by one: as many as a host may let pend, by far.
const MAX_PENDING: usize = 1 << 16;
/// Grids that launch one another: so many may be open (CUDA C++ Programming Guide, "Nesting and Synchronization Depth").
const MAX_DEPTH: u32 = 24;
/// The stream of what runs after all else that a grid launches.
const TAIL: u64 = 3;

/// `cudaErrorInvalidValue` and `cudaErrorLaunchPendingCountExceeded`.
const INVALID: u32 = 1;
const TOO_MANY: u32 = 69;

/// What is launched, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Its address.
    pub entry: u64,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
}

/// A launch that a kernel asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceLaunch {
    shape: Shape,
    tail: bool,
    /// Its parameters, and what lies behind them.
    params: Vec<u8>,
}

/// What kernels have asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeviceLaunches {
    /// By the address of the room for its parameters.
    prepared: BTreeMap<u64, Shape>,
    pending: Vec<DeviceLaunch>,
}

impl DeviceMemory {
    /// Room for the parameters of a launch; zero if there is none.
    pub(crate) fn prepare(&mut self, shape: Shape) -> u64 {
        let room = self.allocate(PARAMETER_BYTES);
        if room != 0 {
            self.launches.prepared.insert(room, shape);
        }
        room
    }

    /// Asks for the launch whose parameters lie in `room`, or at `from`; an error code.
    pub(crate) fn launch(&mut self, room: u64, stream: u64, from: Option<u64>) -> u32 {
        let Some(shape) = self.launches.prepared.remove(&room) else {
            return INVALID;
        };
        let params = self.heap_bytes(from.unwrap_or(room), PARAMETER_BYTES);
        if self.release(room).is_err() {
            return INVALID;
        }
        let Some(params) = params else {
            return INVALID;
        };
        if self.launches.pending.len() >= MAX_PENDING {
            return TOO_MANY;
        }
        self.launches.pending.push(DeviceLaunch {
            shape,
            tail: stream == TAIL,
            params,
        });
        0
    }

    /// The launches that the last one asked for, in the order in which they begin.
    pub fn take_launches(&mut self) -> Vec<DeviceLaunch> {
        let mut pending = std::mem::take(&mut self.launches.pending);
        pending.sort_by_key(|launch| launch.tail);
        pending
    }
}

impl DeviceLaunch {
    /// The launch of an entry of `module`.
    ///
    /// # Errors
    /// No entry has the address, or it has more parameters than a kernel can pass.
    fn of<'m>(&self, module: &'m Module) -> Result<Launch<'m>, ExecError> {
        let refused = |kernel: &str, message: String| ExecError::Launch {
            kernel: kernel.to_owned(),
            message,
        };
        let number = self.shape.entry.checked_sub(ENTRIES_BASE);
        let number = number.filter(|distance| distance.is_multiple_of(FUNCTION_STEP));
        let entry = number.and_then(|distance| {
            let number = usize::try_from(distance / FUNCTION_STEP).ok()?;
            module.entries.get(number)
        });
        let Some(entry) = entry else {
            let message = format!("no kernel has the address {:#x}", self.shape.entry);
            return Err(refused("a launch by a kernel", message));
        };
        let bytes = entry.param_bytes() as usize;
        let Some(params) = self.params.get(..bytes) else {
            let message = format!(
                "its parameters take {bytes} bytes: a kernel can pass {PARAMETER_BYTES} to one that it launches"
            );
            return Err(refused(&entry.name, message));
        };
        Ok(Launch {
            entry: &entry.name,
            grid: self.shape.grid,
            block: self.shape.block,
            cluster: None,
            dynamic_shared: self.shape.dynamic_shared,
            params: params.to_vec(),
        })
    }
}

/// The launches behind one of a host: those that its kernels ask for.
#[derive(Clone, Debug, Default)]
pub struct Nested {
    /// What is to be launched, the next one last, and how deep it is nested.
    waiting: Vec<(DeviceLaunch, u32)>,
    /// How deep the one is nested that runs.
    depth: u32,
}

impl Nested {
    /// What begins when the one that runs has ended; none if all have.
    ///
    /// # Errors
    /// What a kernel asked for is no launch of `module`, or is nested too deep.
    pub fn next<'m>(
        &mut self,
        memory: &mut DeviceMemory,
        module: &'m Module,
    ) -> Result<Option<Launch<'m>>, ExecError> {
        let within = self.depth + 1;
        let asked = memory.take_launches().into_iter().rev();
        self.waiting.extend(asked.map(|asked| (asked, within)));
        let Some((asked, depth)) = self.waiting.pop() else {
            return Ok(None);
        };
        let launch = asked.of(module)?;
        if depth > MAX_DEPTH {
            return Err(ExecError::Launch {
                kernel: launch.entry.to_owned(),
                message: format!("kernels launch kernels {MAX_DEPTH} deep at most"),
            });
        }
        self.depth = depth;
        Ok(Some(launch))
    }
}
