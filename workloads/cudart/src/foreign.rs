//! What C passes: pointers to values, lists and texts, and functions to call back.
//!
//! The caller promises what the runtime's documentation asks of it: a pointer is null or points to what its type says, for the length that is passed beside it,
//! until the call returns. Null is answered with an error; what is not null is trusted, as the real library trusts it.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_void};
use std::slice;

use crate::error::{Code, Outcome};

/// Writes to the program's standard output, behind what it has written itself.
pub fn print(text: &[u8]) {
    for (number, piece) in text.split(|&byte| byte == 0).enumerate() {
        let piece = CString::new(piece).unwrap_or_default();
        // SAFETY: both texts end with a zero, and the format asks for one text.
        unsafe {
            if number > 0 {
                libc::putchar(0);
            }
            libc::printf(c"%s".as_ptr(), piece.as_ptr());
        }
    }
}

/// Where C wants a value.
#[repr(transparent)]
#[derive(Debug)]
pub struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> Out<T> {
    /// A pointer that is a number.
    pub fn at_address(address: u64) -> Self {
        Self(address as *mut T)
    }

    /// Writes the value.
    ///
    /// # Errors
    /// The pointer is null.
    pub fn put(self, value: T) -> Outcome {
        self.put_at(0, value)
    }

    /// Writes element `at` of an array, which the caller says is there.
    ///
    /// # Errors
    /// The pointer is null.
    pub fn put_at(self, at: usize, value: T) -> Outcome {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: it is not null, so that the caller promises room for so many values. What is there may never have been written, so nothing is dropped.
        unsafe { self.0.add(at).write(value) };
        Ok(())
    }

    /// Writes the value if the caller wants it.
    pub fn put_if(self, value: T) {
        let _ = self.put(value);
    }

    /// Nobody wants the value.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// As a number.
    pub fn address(self) -> u64 {
        self.0 as u64
    }
}

/// Where C has a value.
#[repr(transparent)]
#[derive(Debug)]
pub struct In<T>(*const T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T: Copy> In<T> {
    /// A pointer that is a number in a structure of C's.
    pub fn at_address(address: u64) -> Self {
        Self(address as *const T)
    }

    /// The value.
    ///
    /// # Errors
    /// The pointer is null.
    pub fn get(self) -> Outcome<T> {
        self.get_at(0)
    }

    /// Element `at` of an array, which the caller says is there.
    ///
    /// # Errors
    /// The pointer is null.
    pub fn get_at(self, at: usize) -> Outcome<T> {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: it is not null, so that the caller promises so many values; they may lie anywhere.
        Ok(unsafe { self.0.add(at).read_unaligned() })
    }

    /// The first `count` elements of an array.
    ///
    /// # Errors
    /// The pointer is null and `count` is not zero.
    pub fn list(self, count: usize) -> Outcome<Vec<T>> {
        (0..count).map(|at| self.get_at(at)).collect()
    }

    /// As a number.
    pub fn address(self) -> u64 {
        self.0 as u64
    }
}

/// Bytes at an address that stay as they are while the program runs: what a compiler put there.
///
/// # Errors
/// The address is null.
pub fn image(address: u64, bytes: usize) -> Outcome<&'static [u8]> {
    if address == 0 {
        return Err(Code::INVALID_VALUE);
    }
    // SAFETY: the caller passes the address of a fat binary of its program, or of a library that it keeps until it unloads it; its own header says how long it is.
    Ok(unsafe { slice::from_raw_parts(address as *const u8, bytes) })
}

/// Bytes of host memory that the program has registered or that were mapped for it.
///
/// The caller promises that they stay mapped, and that nobody else touches them until what is returned is gone: kernels run one by one, and a program must not
/// touch what a kernel works on.
pub fn lent(address: u64, bytes: usize) -> &'static mut [u8] {
    // SAFETY: the range was mapped by this library or registered by the program, which must unregister it before it gives it back; see above for who touches it.
    unsafe { slice::from_raw_parts_mut(address as *mut u8, bytes) }
}

/// Copies bytes between any two places; they may overlap.
///
/// The places come from [`Memory::place`](crate::memory::Memory::place), which has checked those of device memory. Those of the host are trusted, as the real
/// library trusts them.
pub(crate) fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: see above.
    unsafe { std::ptr::copy(from, to, bytes) };
}

/// A copy of bytes; the place is as in [`copy`].
pub(crate) fn bytes_at(from: *const u8, bytes: usize) -> Vec<u8> {
    let mut copied = vec![0; bytes];
    copy(copied.as_mut_ptr(), from, bytes);
    copied
}

/// Fills bytes; the place is as in [`copy`].
pub(crate) fn fill(to: *mut u8, value: u8, bytes: usize) {
    // SAFETY: see `copy`.
    unsafe { std::ptr::write_bytes(to, value, bytes) };
}

/// A text of C's.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Text(*const c_char);

impl Text {
    /// The text.
    ///
    /// # Errors
    /// The pointer is null.
    pub fn get(self) -> Outcome<String> {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: it is not null, so that the caller promises a text that ends with a zero.
        let text = unsafe { CStr::from_ptr(self.0) };
        Ok(text.to_string_lossy().into_owned())
    }

    /// A text whose address is a number.
    pub fn at_address(address: u64) -> Self {
        Self(address as *const c_char)
    }
}

/// The arguments of a launch: a list of pointers to values whose sizes the kernel knows.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Arguments(*const *const c_void);

impl Arguments {
    /// A list whose address is a number.
    pub fn at_address(address: u64) -> Self {
        Self(address as *const *const c_void)
    }

    /// The bytes of argument `at`.
    ///
    /// # Errors
    /// There is none.
    pub fn bytes(self, at: usize, bytes: usize) -> Outcome<Vec<u8>> {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: the caller passes a list with a pointer for each parameter of the kernel, `at` is less than their number, and each points to a value of its
        // parameter's size.
        unsafe {
            let argument = *self.0.add(at);
            if argument.is_null() {
                return Err(Code::INVALID_VALUE);
            }
            Ok(slice::from_raw_parts(argument.cast::<u8>(), bytes).to_vec())
        }
    }
}

/// What a program wants called when a stream comes so far: `function(data)`, or with a stream and a status before the data.
#[derive(Clone, Copy, Debug)]
pub enum Callback {
    /// Of `cudaLaunchHostFunc`.
    Plain(extern "C" fn(u64), u64),
    /// Of `cudaStreamAddCallback`: function, stream, data.
    Stream(extern "C" fn(u64, i32, u64), u64, u64),
}

impl Callback {
    /// Calls it.
    pub fn call(self) {
        match self {
            Self::Plain(function, data) => function(data),
            Self::Stream(function, stream, data) => function(stream, 0, data),
        }
    }
}

/// The address of a text that C may read for ever. Few are asked for: names of kernels.
pub fn kept(text: &str) -> u64 {
    let text = std::ffi::CString::new(text).unwrap_or_default();
    text.into_raw() as u64
}
