//! Comparisons of priced points, and their renderings.

pub mod estimate;
pub mod fit;
