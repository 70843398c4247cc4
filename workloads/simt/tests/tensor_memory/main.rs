//! Tensor memory and what works in it, against plain loops: where each bit lies is written down here once more, from the memory's side.

mod access;
mod gemm;
mod kernel;
mod layout;
mod pairs;
mod products;
mod small_elements;
mod steps;
