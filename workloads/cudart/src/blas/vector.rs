//! Vectors: sums of them, and what adds them up.

use super::{SUM, THREADS, address, count, long, word};
use crate::blas_handle::{Element, Handle};
use crate::error::{Code, Outcome};
use crate::gpu::Gpu;

/// Blocks that add up parts of a sum at most.
const PARTS: u32 = 1024;

/// A vector as a program passes it: where it is, and from one element to the next. A negative step begins at the far end.
#[derive(Clone, Copy, Debug)]
pub struct Vector(pub u64, pub i32);

impl Vector {
    /// As kernels take it.
    pub(super) fn packed(self, element: Element, count: i32) -> Outcome<[Vec<u8>; 2]> {
        let Self(first, step) = self;
        let step = i64::from(step);
        let behind = i64::from(count.max(1) - 1) * (-step).max(0);
        let bytes = u64::try_from(behind).map_or(0, |behind| behind * element.bytes());
        let first = first.checked_add(bytes).ok_or(Code::INVALID_VALUE)?;
        Ok([address(first), long(step)])
    }
}

/// What is done to vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// `y = alpha x + y`, by the address of alpha and its type.
    Axpy(u64, Element),
    /// `x = alpha x`.
    Scal(u64, Element),
    /// `y = x`.
    Copy,
    /// Both become the other.
    Swap,
}

/// What is added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    /// Products of two vectors.
    Products = 0,
    /// Squares, and the root of the sum.
    Squares = 1,
    /// Magnitudes.
    Magnitudes = 2,
}

impl Gpu {
    /// Changes a vector; only `Scal` has one alone, which it takes as the first.
    ///
    /// # Errors
    /// The type has no kernel.
    pub fn blas_change(
        &mut self,
        handle: Handle,
        element: Element,
        change: Change,
        elements: i32,
        [x, y]: [Vector; 2],
    ) -> Outcome {
        let mut arguments = vec![long(i64::from(elements))];
        let name = match change {
            Change::Axpy(factor, scale) | Change::Scal(factor, scale) => {
                let factor = self.blas_factor(handle, factor, scale)?;
                arguments.push(element.factor(factor));
                if matches!(change, Change::Scal(..)) {
                    "scal"
                } else {
                    "axpy"
                }
            }
            Change::Copy => "copy",
            Change::Swap => "swap",
        };
        arguments.extend(x.packed(element, elements)?);
        if !matches!(change, Change::Scal(..)) {
            arguments.extend(y.packed(element, elements)?);
        }
        if elements <= 0 {
            return Ok(());
        }
        let blocks = count(elements)?
            .div_ceil(THREADS)
            .min(8 * self.setup.device.sms);
        let name = format!("{name}_{}", element.name());
        self.blas_launch(handle.stream, &name, [blocks, 1, 1], &arguments)
    }

    /// Adds up, and writes the sum where the program wants it.
    ///
    /// # Errors
    /// The type has no kernel, or there is no place for the sum.
    pub fn blas_add_up(
        &mut self,
        handle: Handle,
        element: Element,
        sum: Sum,
        elements: i32,
        [x, y]: [Vector; 2],
        to: u64,
    ) -> Outcome {
        if to == 0 {
            return Err(Code::INVALID_VALUE);
        }
        // Nothing adds up to nothing.
        let elements = elements.max(0);
        let blocks = count(elements)?
            .div_ceil(THREADS)
            .min(8 * self.setup.device.sms);
        let blocks = blocks.clamp(1, PARTS);
        let parts = handle.scratch;
        let mut arguments = vec![word(sum as i32), long(i64::from(elements))];
        arguments.extend(x.packed(element, elements)?);
        arguments.extend(y.packed(element, elements)?);
        arguments.push(address(parts));
        let name = format!("parts_{}", element.name());
        self.blas_launch(handle.stream, &name, [blocks, 1, 1], &arguments)?;
        let result = if handle.on_device { to } else { parts + SUM };
        let arguments = [
            word(sum as i32),
            word(blocks as i32),
            address(parts),
            address(result),
        ];
        let name = format!("summed_{}", element.name());
        self.blas_launch(handle.stream, &name, [1, 1, 1], &arguments)?;
        match handle.on_device {
            true => Ok(()),
            false => self.blas_fetch(handle.stream, to, result, element.bytes()),
        }
    }
}
