//! The functions of CUDA's runtime, under their names. They translate: what is done stands in the modules beside this one.
#![allow(
    unsafe_code,
    non_snake_case,
    reason = "a name of C's is given to each function, which no other library of the process has"
)]

mod arrays;
mod blas;
mod copies;
mod device;
mod driver;
mod errors;
mod events;
mod graphs;
mod kernels;
mod libraries;
mod linking;
mod memory;
mod pointers;
mod pools;
mod registration;
mod streams;
mod symbols;
mod tensor_maps;
mod textures;
mod unsupported;

pub use unsupported::{UNSUPPORTED, UNSUPPORTED_BLAS};

/// Functions that answer with an error code: their names, which are several where CUDA has one for each kind of default stream, arguments, the work. Codes are the
/// runtime's, unless it is said first who else answers.
macro_rules! entries {
    (answered by $answer:path; $($($name:ident)|+: $arguments:tt |$gpu:pat_param| $work:expr;)*) => {
        $($($crate::api::entry! { $answer; $name $arguments |$gpu| $work })+)*
    };
    ($($($name:ident)|+: $arguments:tt |$gpu:pat_param| $work:expr;)*) => {
        $($($crate::api::entry! { $crate::gpu::answer; $name $arguments |$gpu| $work })+)*
    };
}

/// Functions of the driver: as `entries`, and `address_of` finds each by its name. Programs ask by names without versions.
macro_rules! driver_entries {
    ($($($name:ident)|+: $arguments:tt |$gpu:pat_param| $work:expr;)*) => {
        $crate::api::entries! { $($($name)|+: $arguments |$gpu| $work;)* }

        /// Where the function of a name, with or without its version, is.
        pub(super) fn address_of(name: &str) -> Option<u64> {
            let all = [$($((stringify!($name), $name as *const () as u64)),+),*];
            $crate::api::address_in(&all, name)
        }
    };
}

/// The address that stands beside a name, with or without its version.
fn address_in(all: &[(&str, u64)], name: &str) -> Option<u64> {
    let is_it =
        |&&(known, _): &&(&str, u64)| known == name || known.strip_suffix("_v2") == Some(name);
    all.iter().find(is_it).map(|(_, address)| *address)
}

/// One of them.
macro_rules! entry {
    ($answer:path; $name:ident ($($arg:ident: $type:ty),* $(,)?) |$gpu:pat_param| $work:expr) => {
        #[doc = concat!("`", stringify!($name), "`, as CUDA has it.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $type),*) -> i32 {
            $answer(|$gpu| $work)
        }
    };
}

/// Functions that have nothing to do here, whatever they are passed: what they ask for holds already, or is advice.
macro_rules! nothing_to_do {
    ($($name:ident)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of CUDA's runtime, which has nothing to do here.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> i32 {
            $crate::gpu::answer(|_| Ok(()))
        }
    )*};
}

use {driver_entries, entries, entry, nothing_to_do};

/// Three numbers that C passes by value.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Dim3 {
    x: u32,
    y: u32,
    z: u32,
}

impl From<Dim3> for [u32; 3] {
    fn from(Dim3 { x, y, z }: Dim3) -> Self {
        [x, y, z]
    }
}

/// `cudaExtent`: width, height, depth.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Extent([u64; 3]);

/// `cudaPitchedPtr`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Pitched {
    address: u64,
    pitch: u64,
    width: u64,
    height: u64,
}
