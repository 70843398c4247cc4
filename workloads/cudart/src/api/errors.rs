//! The last error, and what codes are called.

use std::ffi::{CStr, c_char};

use crate::error::Code;
use crate::gpu::{broken, last_error};

/// `cudaGetLastError`: what a kernel did wrong stays.
#[doc(hidden)]
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetLastError() -> i32 {
    let last = last_error(true);
    broken().unwrap_or(last).0
}

/// `cudaPeekAtLastError`.
#[doc(hidden)]
#[unsafe(no_mangle)]
pub extern "C" fn cudaPeekAtLastError() -> i32 {
    broken().unwrap_or(last_error(false)).0
}

fn passed(text: &'static CStr) -> *const c_char {
    text.as_ptr()
}

/// `cudaGetErrorName`.
#[doc(hidden)]
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorName(code: i32) -> *const c_char {
    passed(Code(code).name())
}

/// `cudaGetErrorString`.
#[doc(hidden)]
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorString(code: i32) -> *const c_char {
    passed(Code(code).text())
}
