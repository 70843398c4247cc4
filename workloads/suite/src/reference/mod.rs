//! What the kernels of the suite must compute, written from the algorithm and not from the kernel.
//!
//! A reference is a pure function from a case's inputs to the contents of every buffer that its kernels write. It works on
//! whole arrays, without blocks, tiles or halos; where a kernel's rounding is fixed by its source, the reference rounds
//! at the same places and the results agree bit for bit.

mod back_propagation;
mod bfs;
mod binary_search;
mod bitonic_sort;
mod bitonic_step;
mod black_scholes;
mod convolution;
mod coulombic;
mod dct8x8;
mod dxt_compress;
mod dyn_proc;
mod fft;
mod gaussian_step;
mod heart_wall;
mod histogram;
mod hotspot;
mod kmeans;
mod kmeans_assign;
mod laplace3d;
mod libor;
mod lu_decomposition;
mod mandelbrot;
mod matmul;
mod mc_twister;
mod mersenne_twister;
mod mummer_array;
mod mummer_tree;
mod n_queens;
mod nearest_neighbor;
mod needleman_wunsch;
mod neural_network;
mod pathfinder;
mod ray_trace;
mod reduction;
mod reduction_tree;
mod scalar_product;
mod scan;
mod scan_large;
mod spmv_csr;
mod srad;
mod stencil5;
mod transpose_naive;
mod vector_add;
mod walsh;

pub(crate) use back_propagation::back_propagation;
pub(crate) use bfs::bfs;
pub(crate) use binary_search::binary_search;
pub(crate) use bitonic_sort::bitonic_sort;
pub(crate) use bitonic_step::bitonic_step;
pub(crate) use black_scholes::black_scholes;
pub(crate) use convolution::convolution;
pub(crate) use coulombic::coulombic;
pub(crate) use dct8x8::dct8x8;
pub(crate) use dxt_compress::dxt_compress;
pub(crate) use dyn_proc::dyn_proc;
pub(crate) use fft::fft;
pub(crate) use gaussian_step::gaussian_step;
pub(crate) use heart_wall::heart_wall;
pub(crate) use histogram::histogram;
pub(crate) use hotspot::hotspot;
pub(crate) use kmeans::kmeans;
pub(crate) use kmeans_assign::kmeans_assign;
pub(crate) use laplace3d::laplace3d;
pub(crate) use libor::libor;
pub(crate) use lu_decomposition::lu_decomposition;
pub(crate) use mandelbrot::mandelbrot;
pub(crate) use matmul::{matmul_tiled, matrix_mul};
pub(crate) use mc_twister::mc_twister;
pub(crate) use mersenne_twister::mersenne_twister;
pub(crate) use mummer_array::mummer_array;
pub(crate) use mummer_tree::mummer_tree;
pub(crate) use n_queens::n_queens;
pub(crate) use nearest_neighbor::nearest_neighbor;
pub(crate) use needleman_wunsch::needleman_wunsch;
pub(crate) use neural_network::neural_network;
pub(crate) use pathfinder::pathfinder;
pub(crate) use ray_trace::ray_trace;
pub(crate) use reduction::reduction;
pub(crate) use reduction_tree::reduction_tree;
pub(crate) use scalar_product::scalar_product;
pub(crate) use scan::scan;
pub(crate) use scan_large::scan_large;
pub(crate) use spmv_csr::spmv_csr;
pub(crate) use srad::srad;
pub(crate) use stencil5::stencil5;
pub(crate) use transpose_naive::transpose_naive;
pub(crate) use vector_add::vector_add;
pub(crate) use walsh::walsh;

use crate::launch::{Case, Prepared, Role, Scalar};

/// From a case's inputs to what its buffers must hold.
pub type Reference = fn(&Inputs<'_>) -> Outputs;

/// The inputs of a case.
///
/// # Panics
/// Its methods panic on names that the case does not have: references run on the suite's own launch files only, and every
/// pair of the two is tested.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'c> {
    case: &'c Case,
    prepared: &'c Prepared,
}

impl<'c> Inputs<'c> {
    pub(crate) fn new(case: &'c Case, prepared: &'c Prepared) -> Self {
        Self { case, prepared }
    }

    pub(crate) fn bytes(&self, name: &str) -> &'c [u8] {
        &self
            .prepared
            .buffer(name)
            .expect("a buffer of the case")
            .before
    }

    fn words<T>(&self, name: &str, read: fn([u8; 4]) -> T) -> Vec<T> {
        let (words, rest) = self.bytes(name).as_chunks::<4>();
        assert!(rest.is_empty(), "{name} holds 32-bit words");
        words.iter().map(|word| read(*word)).collect()
    }

    pub(crate) fn f32s(&self, name: &str) -> Vec<f32> {
        self.words(name, f32::from_le_bytes)
    }

    pub(crate) fn i32s(&self, name: &str) -> Vec<i32> {
        self.words(name, i32::from_le_bytes)
    }

    pub(crate) fn u32s(&self, name: &str) -> Vec<u32> {
        self.words(name, u32::from_le_bytes)
    }

    /// A scalar; `None` if it follows a loop variable.
    pub(crate) fn constant(&self, name: &str) -> Option<f64> {
        let mut arguments = self.case.arguments.iter();
        let scalar = arguments.find(|argument| argument.name.get_ref() == name)?;
        match &scalar.role {
            Role::Scalar(Scalar::Constant(value)) => Some(value.to_f64()),
            _ => None,
        }
    }

    pub(crate) fn f32(&self, name: &str) -> f32 {
        self.constant(name).expect("a scalar of the case") as f32
    }

    pub(crate) fn size(&self, name: &str) -> usize {
        self.constant(name).expect("a scalar of the case") as usize
    }

    /// Grid and block of the first launch, for references of kernels whose result depends on them.
    pub(crate) fn launch(&self) -> ([u32; 3], [u32; 3]) {
        let mut first = None;
        self.case
            .for_each_launch(|_, grid, block, _| first = first.or(Some((grid, block))));
        first.expect("a case of the suite launches something")
    }

    /// CTAs of the first launch along x.
    pub(crate) fn blocks(&self) -> usize {
        self.launch().0[0] as usize
    }
}

/// Buffers by name, each with what it must hold.
#[derive(Clone, Debug, Default)]
pub struct Outputs(pub(crate) Vec<(&'static str, Vec<u8>)>);

impl Outputs {
    pub(crate) fn f32s(self, name: &'static str, values: &[f32]) -> Self {
        self.with(name, values.iter().flat_map(|value| value.to_le_bytes()))
    }

    pub(crate) fn i32s(self, name: &'static str, values: &[i32]) -> Self {
        self.with(name, values.iter().flat_map(|value| value.to_le_bytes()))
    }

    pub(crate) fn u32s(self, name: &'static str, values: &[u32]) -> Self {
        self.with(name, values.iter().flat_map(|value| value.to_le_bytes()))
    }

    pub(crate) fn with(mut self, name: &'static str, bytes: impl Iterator<Item = u8>) -> Self {
        self.0.push((name, bytes.collect()));
        self
    }
}
