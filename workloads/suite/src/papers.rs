//! The papers' tables of benchmarks: which kernel and which case of the suite stands for each row.

use crate::kernels::Kernel;

/// A paper that evaluates on kernels of this suite.
#[derive(Debug)]
pub struct Paper {
    /// Its name in studies (`paper:NAME`) and of its file of numbers.
    pub name: &'static str,
    /// The paper.
    pub citation: &'static str,
    /// The rows of its table, in the table's order.
    pub benchmarks: &'static [Benchmark],
}

/// A row of a paper's table of benchmarks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Benchmark {
    /// The benchmark's abbreviation in the paper, or its short name.
    pub abbreviation: &'static str,
    /// Its name in the paper.
    pub title: &'static str,
    /// Kernel and case that stand for it; `None` while the suite has none.
    pub stands: Option<(&'static str, &'static str)>,
    /// Thread instructions in millions, if the paper states them.
    pub millions: Option<f64>,
    /// Registers of a thread in the paper, and the least number without spills.
    pub registers: Option<[u32; 2]>,
    /// What was chosen where the paper is silent, and why counts differ.
    pub note: &'static str,
}

impl Paper {
    /// The row with this abbreviation or title; case does not matter.
    pub fn benchmark(&self, name: &str) -> Option<&'static Benchmark> {
        self.benchmarks.iter().find(|row| row.is_called(name))
    }

    /// Rows that no kernel stands for.
    pub fn missing(&self) -> impl Iterator<Item = &'static Benchmark> {
        self.benchmarks.iter().filter(|row| row.stands.is_none())
    }

    /// The cases that stand for its rows, each once, in the table's order.
    pub fn cases(&self) -> Vec<(&'static str, &'static str)> {
        let mut cases = Vec::new();
        for stands in self.benchmarks.iter().filter_map(|row| row.stands) {
            if !cases.contains(&stands) {
                cases.push(stands);
            }
        }
        cases
    }
}

impl Benchmark {
    /// Whether this is one of its names.
    pub fn is_called(&self, name: &str) -> bool {
        self.abbreviation.eq_ignore_ascii_case(name) || self.title.eq_ignore_ascii_case(name)
    }

    const fn millions(mut self, millions: f64) -> Self {
        self.millions = Some(millions);
        self
    }

    const fn registers(mut self, used: u32, least: u32) -> Self {
        self.registers = Some([used, least]);
        self
    }

    const fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }
}

/// The paper called `name`.
pub fn paper(name: &str) -> Option<&'static Paper> {
    papers().iter().find(|paper| paper.name == name)
}

/// All papers.
pub fn papers() -> &'static [Paper] {
    PAPERS
}

/// The kernels that a name of a paper's stands for: one, none, or several where papers give one name to different things.
pub fn called(name: &str) -> Vec<&'static str> {
    let rows = papers().iter().flat_map(|paper| paper.benchmarks);
    let mut kernels: Vec<_> = rows
        .filter(|row| row.is_called(name))
        .filter_map(|row| row.stands.map(|(kernel, _)| kernel))
        .collect();
    kernels.sort_unstable();
    kernels.dedup();
    kernels
}

impl Kernel {
    /// The rows of papers' tables that its cases stand for.
    pub fn paper_rows(&self) -> impl Iterator<Item = (&'static Paper, &'static Benchmark)> {
        let name = self.name;
        papers().iter().flat_map(move |paper| {
            let rows = paper.benchmarks.iter();
            rows.filter(move |row| row.stands.is_some_and(|(kernel, _)| kernel == name))
                .map(move |row| (paper, row))
        })
    }
}

const fn row(
    abbreviation: &'static str,
    title: &'static str,
    kernel: &'static str,
    case: &'static str,
) -> Benchmark {
    Benchmark {
        stands: Some((kernel, case)),
        ..missing(abbreviation, title)
    }
}

const fn missing(abbreviation: &'static str, title: &'static str) -> Benchmark {
    Benchmark {
        abbreviation,
        title,
        stands: None,
        millions: None,
        registers: None,
        note: "",
    }
}

static PAPERS: &[Paper] = &[
    Paper {
        name: "filter_cache",
        citation: "A. Lashgar, A. Baniasadi, A. Khonsari, \"Inter-Warp Instruction Temporal Locality in Deep-Multithreaded GPUs\", 2013, Table 2",
        benchmarks: FILTER_CACHE,
    },
    Paper {
        name: "uniform_vectors",
        citation: "P. Xiang, Y. Yang, M. Mantor, N. Rubin, L. R. Hsu, H. Zhou, \"Exploiting Uniform Vector Instructions for GPGPU Performance, Energy Efficiency, and Opportunistic Reliability Enhancement\", ICS 2013, Table 3",
        benchmarks: UNIFORM_VECTORS,
    },
    Paper {
        name: "register_virtualization",
        citation: "H. Jeon, \"Resource Underutilization Exploitation for Power Efficient and Reliable Throughput Processor\", USC 2015, Table 2.1",
        benchmarks: REGISTER_VIRTUALIZATION,
    },
    Paper {
        name: "warped_dmr",
        citation: "H. Jeon, \"Resource Underutilization Exploitation for Power Efficient and Reliable Throughput Processor\", USC 2015, Table 4.4",
        benchmarks: WARPED_DMR,
    },
    Paper {
        name: "soft_error",
        citation: "J. Tan, Z. Li, X. Fu, \"Cost-Effective Soft-Error Protection for SRAM-Based Structures in GPGPUs\", CF 2013",
        benchmarks: SOFT_ERROR,
    },
    Paper {
        name: "miaow",
        citation: "R. Balasubramanian et al., \"Enabling GPGPU Low-Level Hardware Explorations with MIAOW\", ACM TACO 12(2), 2015",
        benchmarks: MIAOW,
    },
];

#[rustfmt::skip]
const FILTER_CACHE: &[Benchmark] = &[
    row("BFS", "BFS graph", "bfs", "paper").millions(1.4)
        .note("4096 nodes, 3 to 8 random edges each, seed chosen so that the search takes eight rounds of two launches"),
    row("BKP", "Back propagation", "back_propagation", "paper").millions(2.9)
        .note("1024 inputs, 16 units; one launch forward, one backward"),
    row("CP", "Coulombic potential", "coulombic", "paper").millions(113.0)
        .note("128 x 256 lattice points; as many charges as give the paper's instruction count"),
    row("DYN", "Dyn_Proc", "dyn_proc", "paper").millions(64.0)
        .note("260 rows of 7500 columns, 20 rows a launch, so that 13 launches of 35 blocks cover them"),
    row("FWAL", "Fast Walsh transform", "walsh", "paper").millions(11.0)
        .note("2^15 elements: per transform two radix-4 passes and one in shared memory, three transforms, one product"),
    row("GAS", "Gaussian elimination", "gaussian_step", "paper").millions(9.0)
        .note("a 48 x 48 matrix, 48 steps, the matrix alternating between two buffers. Half of the paper's count: one launch a step computes factor and row together, the original's rows recompute addresses in 32-bit code of 2009"),
    row("HSPT", "Hotspot", "hotspot", "paper").millions(76.0)
        .note("512 x 512 cells, two time steps, so that 43 x 43 blocks of 12 x 12 inner cells cover them"),
    row("LPS", "Laplace 3D", "laplace3d", "paper").millions(81.0)
        .note("100 x 100 x 100 points"),
    row("MP2", "MUMmer-GPU++ big", "mummer_array", "paper").millions(139.0)
        .note("bisection starts anew at every position of a read, which is twice the paper's work; reads of 25 letters with one error in 16, a text of 20000 random letters; matches of at least 20 letters are looked for, MUMmer's default"),
    row("MP", "MUMmer-GPU++ small", "mummer_array", "paper_small").millions(0.3)
        .note("five times the paper's count: bisection starts anew at every position, and all 256 threads have a read, which 1200 instructions a thread do not allow; 256 reads of 25 letters with one error in 16, a text of 20000 random letters; matches of at least 20 letters are looked for, MUMmer's default"),
    row("MTM", "Matrix multiply", "matrix_mul", "paper").millions(2.4)
        .note("128 x 48 times 48 x 80"),
    row("MU2", "MUMmer-GPU big", "mummer_tree", "paper").millions(75.0)
        .note("reads of 25 letters with one error in 16, a text of 20000 random letters; matches of at least 20 letters are looked for, MUMmer's default"),
    row("MU", "MUMmer-GPU small", "mummer_tree", "paper_small").millions(0.2)
        .note("100 reads of 25 letters with one error in 16, a text of 20000 random letters; matches of at least 20 letters are looked for, MUMmer's default"),
    row("NNC", "Nearest neighbor", "nearest_neighbor", "paper").millions(5.9)
        .note("4 x 15000 records of 32 characters"),
    row("NN", "Neural network", "neural_network", "paper").millions(68.0)
        .note("28 images, 6 and 25 maps, 100 and 10 neurons, as the grids say. Half of the paper's count: its program has 50 maps in the second layer, of which the table shows 25 blocks, and computes indices of weights from tables"),
    row("NQU", "N-Queen", "n_queens", "paper").millions(1.2)
        .note("8 queens, two of them placed, the first on the left half: 21 placements for 24576 threads, whose blocks sum what they find"),
    row("NW", "Needleman-Wunsch", "needleman_wunsch", "paper").millions(12.0)
        .note("two sequences of 512 elements in tiles of 16 x 16"),
    row("RAY", "Ray tracing", "ray_trace", "paper").millions(64.0)
        .note("256 x 256 pixels, 6 spheres"),
    row("SCN", "Scan", "scan", "paper").millions(3.6)
        .note("64 rows of 1024 integers"),
    row("SR1", "Speckle reducing anisotropic diffusion, big", "srad", "paper").millions(9.5)
        .note("128 x 128 pixels, two iterations; the speckle scale is given, not measured between launches"),
    row("SR2", "Speckle reducing anisotropic diffusion, small", "srad", "paper_small").millions(2.4)
        .note("64 x 64 pixels, two iterations"),
];

#[rustfmt::skip]
const UNIFORM_VECTORS: &[Benchmark] = &[
    row("NQU", "N-Queen solver", "n_queens", "uniform_vectors").millions(0.78)
        .note("what the input `32` means is not said; ten queens, seven of them placed: 9632 placements for 24576 threads"),
    row("VA", "Vector add", "vector_add", "uniform_vectors").millions(5.5)
        .note("512 x 512 elements in 512 blocks of 512"),
    row("FFT", "Fast Fourier transform", "fft", "paper").millions(14.0)
        .note("128 x 128 complex numbers, rows then columns. Half of the paper's count or less: what its two numbers stand for is not said, and butterflies here are a few fused operations"),
    row("CONV", "Convolution", "convolution", "paper").millions(157.0)
        .note("512 x 512 pixels and 17 x 17 taps; the number of taps is not stated"),
    row("BFS", "Breadth first search", "bfs", "paper").millions(11.0)
        .note("4096 nodes of 3 to 8 random edges; the paper's graph is not known, and its count asks for eight times as many edges or rounds"),
    row("MM", "Matrix multiply", "matrix_mul", "paper").millions(2.0)
        .note("128 x 48 times 48 x 80"),
    row("MT", "Mersenne twister", "mersenne_twister", "paper").millions(1478.0)
        .note("48 million numbers by 32 blocks of 128 twisters; matrices and masks are random words, not ones chosen for the longest period"),
    row("SP", "Scalar product", "scalar_product", "paper").millions(28.0)
        .note("524288 elements as 256 vectors of 2048, on 128 blocks of 256 threads"),
    row("RAY", "Ray tracing", "ray_trace", "uniform_vectors").millions(123.0)
        .note("512 x 512 pixels, 6 spheres"),
    row("DT", "dxtc", "dxt_compress", "paper").millions(573.0)
        .note("1024 blocks of 4 x 4 random pixels"),
    row("HT", "HeartWall", "heart_wall", "paper").millions(4.0)
        .note("51 points, one frame, patterns of 5 x 5, 21 x 21 places: sizes are not stated, these give the order of the paper's count; every place is a full correlation"),
    row("HS", "HotSpot", "hotspot", "paper").millions(103.0)
        .note("512 x 512 cells, two time steps in one launch"),
    row("PF", "PathFinder", "dyn_proc", "uniform_vectors").millions(582.0)
        .note("100000 columns, 100 rows, 20 rows a launch: only the columns are stated"),
];

#[rustfmt::skip]
const REGISTER_VIRTUALIZATION: &[Benchmark] = &[
    row("MatrixMul", "Matrix multiply", "matrix_mul", "register_virtualization").registers(14, 7)
        .note("three matrices of 128 x 128"),
    row("HotSpot", "HotSpot", "hotspot", "paper").registers(22, 20)
        .note("1849 blocks are the 43 x 43 of 512 x 512 cells and two time steps"),
    row("Blackscholes", "Black-Scholes", "black_scholes", "register_virtualization").registers(18, 16)
        .note("one option a thread"),
    row("ScalarProd", "Scalar product", "scalar_product", "paper").registers(17, 11)
        .note("256 vectors of 2048"),
    row("DCT8x8", "Discrete cosine transform", "dct8x8", "paper").registers(22, 19)
        .note("4096 blocks of 64 threads: 512 x 512 pixels"),
    row("NN", "Neural network", "neural_network", "paper").registers(14, 8)
        .note("its 168 blocks of 169 threads are the first launch"),
    row("Reduction", "Reduction", "reduction", "register_virtualization").registers(14, 8)
        .note("2^20 integers"),
    row("LUD", "LU decomposition", "lu_decomposition", "paper").registers(19, 12)
        .note("15 blocks of 32 threads are the first border launch of a 256 x 256 matrix"),
    row("VectorAdd", "Vector add", "vector_add", "register_virtualization").registers(4, 3)
        .note("50000 elements"),
    row("Gaussian", "Gaussian elimination", "gaussian_step", "register_virtualization").registers(8, 6)
        .note("32 x 32 elements are what two blocks of 512 threads, one element each, cover"),
    row("BackProp", "Back propagation", "back_propagation", "register_virtualization").registers(17, 12)
        .note("65536 inputs, 16 units"),
    row("LIB", "LIBOR Monte Carlo", "libor", "paper").registers(22, 17)
        .note("4096 paths, 80 rates, 40 steps, 15 swaptions"),
    row("BFS", "Breadth first search", "bfs", "register_virtualization").registers(9, 6)
        .note("a million nodes of 3 to 8 random edges"),
    row("LPS", "Laplace 3D", "laplace3d", "paper").registers(17, 16)
        .note("100 x 100 x 100 points: 4 x 25 blocks of 32 x 4"),
    row("Heartwall", "Heart wall", "heart_wall", "paper").registers(29, 23)
        .note("51 points, one frame"),
    row("MUM", "MUMmer-GPU", "mummer_tree", "paper").registers(19, 17)
        .note("reads of 25 letters with one error in 16, a text of 20000 random letters; matches of at least 20 letters are looked for, MUMmer's default"),
];

#[rustfmt::skip]
const WARPED_DMR: &[Benchmark] = &[
    row("BFS", "Breadth first search", "bfs", "warped_dmr")
        .note("65536 nodes of 3 to 8 random edges"),
    row("MatrixMul", "Matrix multiply", "matrix_mul", "warped_dmr")
        .note("160 x 80 times 80 x 80: the depth is not stated"),
    row("Gaussian", "Gaussian elimination", "gaussian_step", "warped_dmr")
        .note("a block of 4 x 4 threads"),
    row("VectorAdd", "Vector add", "vector_add", "register_virtualization")
        .note("50000 elements"),
    row("DCT8x8", "Discrete cosine transform", "dct8x8", "paper")
        .note("64 x 64 blocks of 8 x 8 threads: 512 x 512 pixels"),
    row("Reduction", "Reduction", "reduction", "register_virtualization")
        .note("2^20 integers"),
    row("BackProp", "Back propagation", "back_propagation", "register_virtualization")
        .note("65536 inputs, 16 units"),
    row("HotSpot", "HotSpot", "hotspot", "paper").note("512 x 512 cells; two time steps chosen"),
    row("MUM", "MUMmer-GPU", "mummer_tree", "paper")
        .note("20000 letters and 50000 reads of 25 as stated; one error in 16"),
];

/// The paper names its workloads and states no sizes: launches are those of the other papers.
#[rustfmt::skip]
const SOFT_ERROR: &[Benchmark] = &[
    row("BFS", "Breadth first search", "bfs", "paper").note("as in the filter-cache paper"),
    row("LPS", "Laplace 3D", "laplace3d", "paper").note("as in the filter-cache paper"),
    row("SP", "Scalar product", "scalar_product", "paper")
        .note("as in the uniform-vector paper"),
    row("SRAD", "Speckle reducing anisotropic diffusion", "srad", "paper").note("as in the filter-cache paper"),
    row("FWT", "Fast Walsh transform", "walsh", "paper").note("as in the filter-cache paper"),
    row("MT", "Matrix transpose", "transpose_naive", "default")
        .note("the paper does not spell its abbreviation out; 384 x 320 elements"),
    row("BS", "Black-Scholes", "black_scholes", "register_virtualization")
        .note("as in the register-virtualization study"),
    row("BP", "Back propagation", "back_propagation", "paper").note("as in the filter-cache paper"),
    row("KM", "K-means", "kmeans", "paper")
        .note("20000 points in 34 dimensions, 5 clusters, three rounds"),
    row("CP", "Coulombic potential", "coulombic", "paper").note("as in the filter-cache paper"),
    row("MM", "Matrix multiply", "matrix_mul", "paper").note("as in the filter-cache paper"),
];

#[rustfmt::skip]
const MIAOW: &[Benchmark] = &[
    row("BinS", "BinarySearch", "binary_search", "paper")
        .note("4 groups of one wavefront of 64; 65536 integers, which two launches narrow down to one"),
    row("BSort", "BitonicSort", "bitonic_sort", "paper")
        .note("1024 keys by one group: what its 512 wavefronts are is not said; 55 launches of 8 wavefronts make 440"),
    row("MatT", "MatrixTranspose", "transpose_naive", "miaow")
        .note("64 x 64 elements: 4 blocks of 1024 threads, 16 wavefronts of 64 each"),
    row("PSum", "PrefixSum", "scan", "miaow")
        .note("one block of 256 threads, four wavefronts; 1024 integers"),
    row("Red", "Reduction", "reduction_tree", "paper")
        .note("4 groups of one wavefront of 64; 1024 integers"),
    row("SLA", "ScanLargeArrays", "scan_large", "paper")
        .note("2 groups of one wavefront of 64: 256 integers"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel;

    #[test]
    fn every_row_names_a_case_that_exists() {
        for paper in papers() {
            for benchmark in paper.benchmarks {
                let Some((name, case)) = benchmark.stands else {
                    continue;
                };
                let file = kernel(name).map(|kernel| kernel.launch_file().unwrap());
                let found = file.is_some_and(|file| file.case(Some(case)).is_ok());
                assert!(
                    found,
                    "{} {}: {name} {case}",
                    paper.name, benchmark.abbreviation
                );
            }
        }
    }

    #[test]
    fn names_of_papers_lead_to_kernels() {
        assert_eq!(called("mtm"), ["matrix_mul"]);
        assert_eq!(called("Coulombic potential"), ["coulombic"]);
        assert_eq!(called("SR2"), ["srad"]);
        assert!(called("nothing").is_empty());
        let rows = kernel("srad").unwrap().paper_rows();
        let rows: Vec<_> = rows
            .map(|(paper, row)| (paper.name, row.abbreviation))
            .collect();
        assert_eq!(
            rows,
            [
                ("filter_cache", "SR1"),
                ("filter_cache", "SR2"),
                ("soft_error", "SRAD")
            ]
        );
    }

    #[test]
    fn a_papers_cases_are_in_its_tables_order_without_repetition() {
        let cases = paper("filter_cache").unwrap().cases();
        assert_eq!(cases[0], ("bfs", "paper"));
        assert_eq!(cases.last(), Some(&("srad", "paper_small")));
        for paper in papers() {
            let cases = paper.cases();
            assert!(
                cases
                    .iter()
                    .all(|case| cases.iter().filter(|other| *other == case).count() == 1)
            );
        }
    }
}
