//! Published results that ours are shown beside.

mod filter_cache;
mod uniform_vectors;

pub use filter_cache::{Benchmark, Derived, FilterCachePaper, LeakageOther, Line, StructureRow};
pub use uniform_vectors::{MeanMax, Modes, UniformVectorPaper};
