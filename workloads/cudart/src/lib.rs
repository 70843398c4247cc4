//! CUDA's runtime library for programs that run without a GPU.
//!
//! A program that is linked with the shared runtime (`-cudart shared`) and holds PTX finds its functions here: kernels are executed functionally, once,
//! and their traces go to the process that started the program ([`protocol`]), which times and prices them.
//!
//! Programs in C call this crate, so it is the one place where `unsafe` is at home: in [`foreign`], which reads and writes what C passes, and in
//! [`pages`], which maps memory at the addresses that kernels see. Everything else is safe, and entry points only translate.

pub mod api;
pub mod blas;
pub mod blas_handle;
pub mod channel;
pub mod device;
pub mod error;
pub mod fatbin;
pub mod foreign;
pub mod gpu;
pub mod graph;
pub mod launch;
pub mod memory;
pub mod occupancy;
pub mod pages;
pub mod perform;
pub mod protocol;
pub mod registry;
pub mod request;
pub mod resource;
pub mod save;
pub mod stub;
pub mod texture;
