//! What instructions compute, a whole warp at a time.
//!
//! Each family has one function from operand arrays to a result array. All lanes are computed, the active ones are kept: loops
//! without branches on lanes are what compilers turn into vector code.

mod carry;
mod compare;
mod convert;
mod dense;
mod double;
mod float32;
mod float64;
mod half;
mod round;
mod video;
mod word;
mod word_functions;

pub use carry::carry;
pub use compare::{compare_double, compare_word, gathered, test_double, test_word};
pub use convert::convert;
pub use dense::{add_row, small_float};
pub use double::{extract, insert, long_shift, long_to_word, long1, long2, long3};
pub use float32::{add as add_singles, extreme, flushed};
pub use float64::{fused as fused_double, quiet};
pub use half::{compare_halves, decode_bf16, decode_half, encode_half, half, narrow};
pub use video::{scalar_video, video};
pub use word::{fused_single, short, word1, word2, word3, word4};
#[cfg(test)]
pub use word_functions::decode_small;
pub use word_functions::word_function;

/// Applies `f` lane by lane.
#[inline(always)]
pub fn map1<A: Copy, R, const W: usize>(a: &[A; W], f: impl Fn(A) -> R) -> [R; W] {
    std::array::from_fn(|lane| f(a[lane]))
}

/// Applies `f` lane by lane to two operands.
#[inline(always)]
pub fn map2<A: Copy, B: Copy, R, const W: usize>(
    a: &[A; W],
    b: &[B; W],
    f: impl Fn(A, B) -> R,
) -> [R; W] {
    std::array::from_fn(|lane| f(a[lane], b[lane]))
}

/// Applies `f` lane by lane to three operands.
#[inline(always)]
pub fn map3<A: Copy, B: Copy, C: Copy, R, const W: usize>(
    a: &[A; W],
    b: &[B; W],
    c: &[C; W],
    f: impl Fn(A, B, C) -> R,
) -> [R; W] {
    std::array::from_fn(|lane| f(a[lane], b[lane], c[lane]))
}
