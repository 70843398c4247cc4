//! Published results that ours are shown beside.

mod filter_cache;

pub use filter_cache::{Benchmark, Derived, FilterCachePaper, LeakageOther, Line, StructureRow};
