//! Published results that ours are shown beside.

mod filter_cache;

pub use filter_cache::{Benchmark, Derived, FilterCachePaper, LeakageOther, Line, StructureRow};

/// The papers whose figures a study can ask to stand beside ours.
pub const BESIDE: [&str; 1] = ["filter_cache"];
