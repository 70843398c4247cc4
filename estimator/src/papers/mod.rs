//! Published results that ours are shown beside.

mod filter_cache;
mod register_virtualization;

pub use filter_cache::{Benchmark, Derived, FilterCachePaper, LeakageOther, Line, StructureRow};
pub use register_virtualization::{
    Chapter3, RegisterVirtualizationPaper, Section25, Section28, Section286, Table22,
};
