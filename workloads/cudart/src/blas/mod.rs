//! What stands in for cuBLAS: its functions of dense matrices and vectors, by kernels of this project's own (`blas/kernels.cu`).
//!
//! cuBLAS holds machine code only, which nothing here can run. Results are those of the same formulas; times and energies are those of these kernels.

pub mod product;
pub mod vector;

use crate::blas_handle::{Element, Handle, Kernels};
use crate::channel::say;
use crate::error::{Code, Outcome};
use crate::foreign::{In, bytes_at};
use crate::gpu::Gpu;
use crate::graph::{Copying, Op};
use crate::registry::Image;
use crate::request::Request;

/// Threads of a block of each of the kernels.
const THREADS: u32 = 256;
/// Bytes of a handle's own memory: the parts of a sum, and behind them the sum.
const SCRATCH_BYTES: u64 = 16384;
/// Where the sum is.
const SUM: u64 = SCRATCH_BYTES - 256;

impl Gpu {
    /// Makes a handle.
    ///
    /// # Errors
    /// There is no more memory.
    pub fn blas_create(&mut self) -> Outcome<u64> {
        let handle = Handle {
            stream: 0,
            on_device: false,
            math: 0,
            atomics: 0,
            scratch: self.memory.allocate(SCRATCH_BYTES)?,
        };
        let number = self.registry.handle();
        self.blas.handles.insert(number, handle);
        Ok(number)
    }

    /// Forgets it.
    ///
    /// # Errors
    /// There is none.
    pub fn blas_destroy(&mut self, number: u64) -> Outcome {
        let handle = self.blas.handles.remove(&number);
        let handle = handle.ok_or(Code::INVALID_HANDLE)?;
        self.memory.free(handle.scratch)
    }

    /// What a handle stands for.
    ///
    /// # Errors
    /// There is none.
    pub fn blas_handle(&mut self, number: u64) -> Outcome<&mut Handle> {
        let handle = self.blas.handles.get_mut(&number);
        handle.ok_or(Code::INVALID_HANDLE)
    }

    /// A factor that a program passes by its address.
    ///
    /// # Errors
    /// There is none, or its value is known only when a graph runs.
    fn blas_factor(&mut self, handle: Handle, address: u64, element: Element) -> Outcome<f64> {
        let bytes = element.bytes();
        if !handle.on_device {
            let bytes = In::<u8>::at_address(address).list(bytes as usize)?;
            return Ok(element.value(&bytes));
        }
        if self.is_captured(handle.stream) {
            return Err(Code::NOT_SUPPORTED);
        }
        let place = self.memory.device_place(address, bytes)?;
        Ok(element.value(&bytes_at(place, bytes as usize)))
    }

    /// Launches one of the kernels that every GPU has, with its arguments one by one.
    fn blas_launch(
        &mut self,
        stream: u64,
        name: &str,
        grid: [u32; 3],
        arguments: &[Vec<u8>],
    ) -> Outcome {
        self.blas_launch_of(Kernels::Plain, stream, name, grid, arguments)
    }

    fn blas_launch_of(
        &mut self,
        kernels: Kernels,
        stream: u64,
        name: &str,
        grid: [u32; 3],
        arguments: &[Vec<u8>],
    ) -> Outcome {
        let unit = match self.blas.units.get(&kernels) {
            Some(unit) => *unit,
            None => {
                if self.blas.units.is_empty() {
                    say(
                        "cuBLAS runs with kernels of warpwatt's own, whose times and energies are not those of NVIDIA's",
                    );
                }
                let text = kernels.text().to_owned();
                let unit = self.registry.add(Image::Text(text));
                self.load(unit)?;
                self.blas.units.insert(kernels, unit);
                unit
            }
        };
        let kernel = self.registry.kernel_named(unit, name)?;
        let entry = self.registry.read(unit)?.entry(name);
        let entry = entry.ok_or(Code::INVALID_FUNCTION)?;
        let mut params = vec![0; entry.param_bytes() as usize];
        for (param, argument) in entry.params.iter().zip(arguments) {
            params[param.offset as usize..][..argument.len()].copy_from_slice(argument);
        }
        let request = Request {
            kernel,
            grid,
            block: [THREADS, 1, 1],
            cluster: None,
            shared: 0,
            cooperative: false,
            params,
        };
        self.submit(stream, Op::Launch(request))
    }

    /// Copies bytes from device memory to the host, in the stream's order.
    fn blas_fetch(&mut self, stream: u64, to: u64, from: u64, bytes: u64) -> Outcome {
        /// `cudaMemcpyDeviceToHost`.
        const TO_HOST: i32 = 2;
        let copying = Copying::plain(to, from, bytes, TO_HOST);
        self.submit(stream, Op::Copy(copying))
    }
}

/// A count or an extent, which cannot be negative.
fn count(value: i32) -> Outcome<u32> {
    u32::try_from(value).map_err(|_| Code::INVALID_VALUE)
}

fn word(value: i32) -> Vec<u8> {
    value.to_le_bytes().to_vec()
}

fn long(value: i64) -> Vec<u8> {
    value.to_le_bytes().to_vec()
}

fn address(value: u64) -> Vec<u8> {
    value.to_le_bytes().to_vec()
}
