//! The kernel suite: everything embedded, so that the installed command needs no files.

use std::fmt;

use crate::launch::{Case, Files, LaunchFile, Prepared, Problem, UnknownCase};
use crate::reference::{self, Inputs, Reference};

/// A kernel of the suite.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Its name in studies and on the command line; also its directory's.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Where the algorithm is known from as a benchmark.
    pub origin: &'static str,
    /// How it behaves.
    pub class: Class,
    /// One sentence about what it does.
    pub summary: &'static str,
    /// Its launch file.
    pub launch: &'static str,
    /// Its PTX.
    pub ptx: &'static str,
    /// The same kernel from another compiler for compute_70, where there is one.
    pub ptx_sm70: Option<&'static str>,
    /// The same kernel as compilers of the papers' time made it: [`Build::Papers`].
    pub ptx_papers: &'static str,
    /// Its object for Southern Islands, where there is one: [`Build::Gfx600`].
    pub gfx600: Option<&'static [u8]>,
    /// What it must compute.
    pub reference: Reference,
}

/// Which of a kernel's programs runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Build {
    /// A compiler of today: addresses of 64 bits, loops as the source has them.
    #[default]
    Today,
    /// Compilers of the papers' time (2009 to 2013): addresses of 32 bits, loops with a known number of passes unrolled.
    Papers,
    /// Machine code of Southern Islands, from OpenCL; few kernels have it.
    Gfx600,
}

impl Build {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Today, Self::Papers, Self::Gfx600];

    /// As studies write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Today => "today",
            Self::Papers => "papers",
            Self::Gfx600 => "gfx600",
        }
    }
}

/// What dominates a kernel's behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Every datum is touched once; bandwidth decides.
    Streaming,
    /// Dense arithmetic on tiles in shared memory.
    Tiled,
    /// Neighbourhoods of a grid, with halos.
    Stencil,
    /// Trees and sweeps with many barriers.
    Barriers,
    /// Data-dependent addresses.
    Irregular,
    /// Lanes of a warp go different ways.
    Divergent,
    /// Arithmetic on the special-function and division paths, or plain floating point.
    Arithmetic,
    /// Integer and bit operations.
    Integer,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Class::Streaming => "streaming",
            Class::Tiled => "tiled",
            Class::Stencil => "stencil",
            Class::Barriers => "barriers",
            Class::Irregular => "irregular",
            Class::Divergent => "divergent",
            Class::Arithmetic => "arithmetic",
            Class::Integer => "integer",
        })
    }
}

/// A kernel of the suite that could not be prepared.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// It has no such case.
    #[error(transparent)]
    Case(#[from] UnknownCase),
    /// Its launch file is wrong: a defect of the suite.
    #[error("the launch file of `{kernel}`: {}", .problems.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>().join("; "))]
    Launch {
        /// The kernel.
        kernel: &'static str,
        /// What is wrong.
        problems: Vec<Problem>,
    },
}

impl Kernel {
    /// Its launch file, read.
    ///
    /// # Errors
    /// If the file is wrong, which tests rule out.
    pub fn launch_file(&self) -> Result<LaunchFile, SuiteError> {
        LaunchFile::parse(self.launch).map_err(|problems| self.defect(problems))
    }

    /// One of its cases (the first one if none is named) with its inputs, and with what its reference says its buffers must
    /// hold afterwards.
    ///
    /// # Errors
    /// If there is no such case.
    pub fn prepare(&self, case: Option<&str>) -> Result<(Case, Prepared), SuiteError> {
        let file = self.launch_file()?;
        let case = file.case(case)?.clone();
        let mut prepared = case
            .fill(Files::None)
            .map_err(|problems| self.defect(problems))?;
        let outputs = (self.reference)(&Inputs::new(&case, &prepared));
        for (name, contents) in outputs.0 {
            if let Some(buffer) = prepared.buffer_mut(name) {
                buffer.expected = Some(contents);
            }
        }
        Ok((case, prepared))
    }

    /// A program of it, if it has that one: file and contents.
    pub fn program(&self, build: Build) -> Option<(&'static str, &'static [u8])> {
        match build {
            Build::Today => Some(("kernel.ptx", self.ptx.as_bytes())),
            Build::Papers => Some(("kernel.papers.ptx", self.ptx_papers.as_bytes())),
            Build::Gfx600 => self.gfx600.map(|object| ("kernel.gfx600.o", object)),
        }
    }

    /// Its PTX files, each with a word for it.
    pub fn ptx_files(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let other = self.ptx_sm70.map(|ptx| ("kernel.sm70.ptx", ptx));
        let builds = [
            ("kernel.ptx", self.ptx),
            ("kernel.papers.ptx", self.ptx_papers),
        ];
        builds.into_iter().chain(other)
    }

    fn defect(&self, problems: Vec<Problem>) -> SuiteError {
        SuiteError::Launch {
            kernel: self.name,
            problems,
        }
    }
}

/// The kernel called `name`.
pub fn kernel(name: &str) -> Option<&'static Kernel> {
    kernels().iter().find(|kernel| kernel.name == name)
}

/// All kernels, by name.
pub fn kernels() -> &'static [Kernel] {
    KERNELS
}

/// One line of the registry: its files are found by its name.
macro_rules! kernel {
    ($name:ident, $title:literal, $origin:literal, $class:ident, $other:ident $(+ $code:ident)?, $summary:literal) => {
        Kernel {
            name: stringify!($name),
            title: $title,
            origin: $origin,
            class: Class::$class,
            summary: $summary,
            launch: include_str!(concat!("../../kernels/", stringify!($name), "/launch.toml")),
            ptx: include_str!(concat!("../../kernels/", stringify!($name), "/kernel.ptx")),
            ptx_sm70: kernel!(@$other $name),
            ptx_papers: include_str!(concat!("../../kernels/", stringify!($name), "/kernel.papers.ptx")),
            gfx600: kernel!(@code $name $($code)?),
            reference: reference::$name,
        }
    };
    (@nvidia $name:ident) => {
        Some(include_str!(concat!("../../kernels/", stringify!($name), "/kernel.sm70.ptx")))
    };
    (@clang $name:ident) => { None };
    (@code $name:ident) => { None };
    (@code $name:ident gfx600) => {
        Some(include_bytes!(concat!("../../kernels/", stringify!($name), "/kernel.gfx600.o")))
    };
}

#[rustfmt::skip]
static KERNELS: &[Kernel] = &[
    kernel!(back_propagation, "Back propagation", "Rodinia", Barriers, clang,
        "One layer of a neural network: weighted sums by a tree, then the step of the weights."),
    kernel!(bfs, "Breadth-first search", "Rodinia", Irregular, clang,
        "Distances in a random graph, one level of the graph in two launches."),
    kernel!(binary_search, "Binary search", "AMD APP SDK", Irregular, clang + gfx600,
        "A key in a sorted array: all threads look at a part each, two launches."),
    kernel!(bitonic_sort, "Bitonic sort", "AMD APP SDK", Integer, clang + gfx600,
        "Keys sorted by all passes of a bitonic network, a launch a pass."),
    kernel!(bitonic_step, "Bitonic sort step", "CUDA SDK", Integer, nvidia,
        "One compare-exchange step over global memory; half of the threads leave at once."),
    kernel!(black_scholes, "Black-Scholes", "CUDA SDK", Arithmetic, nvidia,
        "Prices of European options: exponentials, logarithms, square roots, divisions."),
    kernel!(convolution, "Separable convolution", "CUDA SDK", Stencil, clang,
        "An image with a separable kernel of 17 x 17 taps: along rows, then along columns."),
    kernel!(coulombic, "Coulombic potential", "Parboil", Arithmetic, clang,
        "Electrostatic potential of point charges on a plane by direct summation."),
    kernel!(dct8x8, "Discrete cosine transform", "CUDA SDK", Tiled, clang,
        "Blocks of 8 x 8 pixels, a thread a coefficient, cosines in constant memory."),
    kernel!(dxt_compress, "DXT compression", "CUDA SDK", Arithmetic, clang,
        "Cluster fit of 4 x 4 pixels to two colours and sixteen indices: all 969 cuts are tried, by 64 threads."),
    kernel!(dyn_proc, "Dynamic programming", "Rodinia", Barriers, clang,
        "Cheapest path down a wall of costs, twenty rows a launch, in shared memory with halos."),
    kernel!(fft, "Fast Fourier transform", "CUDA SDK", Barriers, clang,
        "Rows, then columns of a complex matrix by radix-2 butterflies in shared memory; a block a row."),
    kernel!(gaussian_step, "Gaussian elimination", "Rodinia", Streaming, nvidia,
        "One elimination step of a dense matrix; in the paper's shape all of its steps."),
    kernel!(heart_wall, "Heart wall", "Rodinia", Arithmetic, clang,
        "Points of a film followed by correlation of their patterns with 441 places around; a block a point."),
    kernel!(histogram, "Histogram", "CUDA SDK", Irregular, nvidia,
        "Counts of bytes by shared-memory atomics, on skewed data so that they collide."),
    kernel!(hotspot, "HotSpot", "Rodinia", Stencil, clang,
        "Heat flow on a chip, several time steps a launch, in shared memory with halos."),
    kernel!(kmeans, "k-means", "Rodinia", Barriers, clang,
        "Three rounds of clustering: the nearest centre of every point, then the mean of every cluster."),
    kernel!(kmeans_assign, "k-means assignment", "Rodinia", Arithmetic, nvidia,
        "The nearest of 16 centroids for every point, centroids read by broadcast from shared memory."),
    kernel!(laplace3d, "Laplace 3D", "GPGPU-Sim", Stencil, clang,
        "One Jacobi iteration on a box: blocks walk along z with three planes in shared memory."),
    kernel!(libor, "LIBOR Monte Carlo", "GPGPU-Sim", Arithmetic, clang,
        "Paths of forward rates in the LIBOR market model and a portfolio of swaptions on them, a path a thread."),
    kernel!(lu_decomposition, "LU decomposition", "Rodinia", Barriers, clang,
        "A matrix in tiles of 16 x 16: diagonal, border and inner tiles, three launches a step."),
    kernel!(mandelbrot, "Mandelbrot set", "CUDA SDK", Divergent, nvidia,
        "Escape times of the Mandelbrot iteration; neighbours leave the loop at very different times."),
    kernel!(matmul_tiled, "Matrix product, square", "CUDA SDK", Tiled, nvidia,
        "Product of two square matrices in tiles of 16 x 16 in shared memory."),
    kernel!(matrix_mul, "Matrix product", "CUDA SDK", Tiled, clang,
        "Product of two matrices of any shape in tiles of 16 x 16 in shared memory."),
    kernel!(mc_twister, "Monte Carlo with a twister", "CUDA SDK", Integer, nvidia,
        "Monte Carlo estimate of pi by a shift-register generator in shared memory."),
    kernel!(mersenne_twister, "Mersenne twister", "CUDA SDK", Integer, clang,
        "Normal random numbers: a twister of 19 words in local memory a thread, then pairs by Box and Muller."),
    kernel!(mummer_array, "MUMmer-GPU++", "third party", Irregular, clang,
        "Longest matches of reads in a text by bisection of its suffix array."),
    kernel!(mummer_tree, "MUMmer-GPU", "Rodinia", Irregular, clang,
        "Longest matches of reads in a text by walks down its suffix tree."),
    kernel!(n_queens, "N queens", "GPGPU-Sim", Divergent, clang,
        "Completions of placements of queens by backtracking; every lane goes its own way."),
    kernel!(nearest_neighbor, "Nearest neighbour", "Rodinia", Streaming, clang,
        "Distances of text records from a target, four launches of blocks of 16 threads."),
    kernel!(needleman_wunsch, "Needleman-Wunsch", "Rodinia", Barriers, clang,
        "Alignment scores along diagonals of tiles: 63 launches of blocks of 16 threads."),
    kernel!(neural_network, "Neural network", "GPGPU-Sim", Arithmetic, clang,
        "Four layers of a network for digits: two of convolutions, two fully connected with a thread a block."),
    kernel!(pathfinder, "Pathfinder", "Rodinia", Barriers, nvidia,
        "Cheapest path down 16 rows of costs, unrolled."),
    kernel!(ray_trace, "Ray tracing", "GPGPU-Sim", Divergent, clang,
        "Spheres over a chequered floor with shadows and up to three reflections; a ray a thread."),
    kernel!(reduction, "Reduction", "CUDA SDK", Barriers, nvidia,
        "Sums of integers: a stream, a tree in shared memory, shuffles at the end."),
    kernel!(reduction_tree, "Reduction by a tree", "AMD APP SDK", Barriers, clang + gfx600,
        "Sums of integers, one a block of any power of two of threads, by a tree in shared memory."),
    kernel!(scalar_product, "Scalar product", "CUDA SDK", Barriers, clang,
        "Products of pairs of long vectors: 1024 partial sums in shared memory, then a tree."),
    kernel!(scan, "Prefix sum", "CUDA SDK", Barriers, clang + gfx600,
        "Exclusive prefix sums of rows of 1024 integers in shared memory."),
    kernel!(scan_large, "Prefix sum, large arrays", "AMD APP SDK", Barriers, clang + gfx600,
        "Exclusive prefix sums of a long array: blocks, their sums, and the sums added."),
    kernel!(spmv_csr, "Sparse matrix-vector product", "SHOC", Irregular, nvidia,
        "Compressed rows, one a thread: uneven loops and gathers."),
    kernel!(srad, "Speckle-reducing diffusion", "Rodinia", Stencil, clang,
        "Two iterations of anisotropic diffusion of an image, two launches each, with divisions."),
    kernel!(stencil5, "Five-point stencil", "Parboil", Stencil, nvidia,
        "One explicit step of heat flow with its tile in shared memory."),
    kernel!(transpose_naive, "Matrix transpose", "CUDA SDK", Streaming, nvidia + gfx600,
        "Reads along rows, writes along columns: uncoalesced."),
    kernel!(vector_add, "Vector addition", "CUDA SDK", Streaming, nvidia,
        "Sum of two vectors, one element a thread."),
    kernel!(walsh, "Fast Walsh transform", "CUDA SDK", Barriers, clang,
        "Dyadic convolution by three transforms: butterflies over global, then shared memory."),
];
