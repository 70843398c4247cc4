//! Content-addressable memories and fully associative caches (Wilton and Jouppi, WRL 93/5; CACTI 7).
//!
//! A subarray has rows of CAM cells, in a cache with memory cells beside them. A search drives all search lines of all subarrays; the match line that stays high
//! is the output, or the wordline of the data. Arrays are divided only along their bitlines.

mod array;
mod choose;
mod leakage;
mod mat;
mod matching;
mod read;
mod shape;
mod sizes;

pub(crate) use array::CamArray;
pub(crate) use choose::{again, best};
pub(crate) use shape::CamNeed;

#[cfg(test)]
mod tests;
