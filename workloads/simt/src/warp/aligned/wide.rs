//! The loops over all terms with AVX2. It cuts numbers to integers in one instruction, where Rust's conversion takes ten to look for numbers beyond these.

use std::arch::x86_64::{
    __m256, __m256d, __m256i, _mm_cvtsd_f64, _mm_unpackhi_pd, _mm256_add_epi32, _mm256_add_pd,
    _mm256_castpd256_pd128, _mm256_castps256_ps128, _mm256_castsi256_ps, _mm256_castsi256_si128,
    _mm256_cvtepi32_pd, _mm256_cvtps_pd, _mm256_cvttps_epi32, _mm256_extractf128_pd,
    _mm256_extractf128_ps, _mm256_extracti128_si256, _mm256_max_epi32, _mm256_mul_pd,
    _mm256_mul_ps, _mm256_set1_epi32, _mm256_set1_ps, _mm256_setr_epi32, _mm256_setr_ps,
    _mm256_setzero_si256, _mm256_slli_epi32, _mm256_sub_epi32,
};

use super::steps::{Block, COLUMNS, STEP, Terms};

/// All sums.
#[target_feature(enable = "avx2")]
pub(in crate::warp) fn exact(terms: &Terms<'_>, exact: &mut [[f64; COLUMNS]]) {
    let kept = _mm256_set1_epi32(terms.kept);
    let least = _mm256_set1_epi32(terms.least);
    terms.each(exact, |(left, right, before)| {
        let largest = _mm256_max_epi32(largest(left.1, right.1), integers(before.1));
        let largest = _mm256_max_epi32(largest, least);
        let scale = power(_mm256_sub_epi32(kept, largest));
        let products = sums(left.0, right.0, scale);
        let before = _mm256_cvttps_epi32(_mm256_mul_ps(singles(before.0), scale));
        let place = power(_mm256_sub_epi32(largest, kept));
        let [low, high] = [0, 1].map(|half| {
            let both = _mm256_add_pd(doubles(products, half), doubles(before, half));
            _mm256_mul_pd(both, widened(place, half))
        });
        joined(low, high)
    });
}

/// The largest exponents of products.
#[target_feature(enable = "avx2")]
#[inline]
fn largest(left: &[[i32; STEP]], right: &[Block<i32>]) -> __m256i {
    let mut largest = _mm256_set1_epi32(i32::MIN);
    for (left, right) in left.iter().zip(right) {
        for (&left, right) in left.iter().zip(right) {
            let exponents = _mm256_add_epi32(_mm256_set1_epi32(left), integers(right));
            largest = _mm256_max_epi32(largest, exponents);
        }
    }
    largest
}

/// Sums of products, as multiples of the last place that is kept.
#[target_feature(enable = "avx2")]
#[inline]
fn sums(left: &[[f32; STEP]], right: &[Block<f32>], scale: __m256) -> __m256i {
    let mut sums = _mm256_setzero_si256();
    for (left, right) in left.iter().zip(right) {
        for (&left, right) in left.iter().zip(right) {
            let products = _mm256_mul_ps(_mm256_set1_ps(left), singles(right));
            let cut = _mm256_cvttps_epi32(_mm256_mul_ps(products, scale));
            sums = _mm256_add_epi32(sums, cut);
        }
    }
    sums
}

/// Two to the power of exponents.
#[target_feature(enable = "avx2")]
#[inline]
fn power(exponents: __m256i) -> __m256 {
    let biased = _mm256_add_epi32(exponents, _mm256_set1_epi32(127));
    _mm256_castsi256_ps(_mm256_slli_epi32::<23>(biased))
}

#[target_feature(enable = "avx2")]
#[inline]
fn singles(&[a, b, c, d, e, f, g, h]: &[f32; COLUMNS]) -> __m256 {
    _mm256_setr_ps(a, b, c, d, e, f, g, h)
}

#[target_feature(enable = "avx2")]
#[inline]
fn integers(&[a, b, c, d, e, f, g, h]: &[i32; COLUMNS]) -> __m256i {
    _mm256_setr_epi32(a, b, c, d, e, f, g, h)
}

/// The lower or the upper half.
#[target_feature(enable = "avx2")]
#[inline]
fn doubles(of: __m256i, half: u8) -> __m256d {
    _mm256_cvtepi32_pd(match half {
        0 => _mm256_castsi256_si128(of),
        _ => _mm256_extracti128_si256::<1>(of),
    })
}

#[target_feature(enable = "avx2")]
#[inline]
fn widened(of: __m256, half: u8) -> __m256d {
    _mm256_cvtps_pd(match half {
        0 => _mm256_castps256_ps128(of),
        _ => _mm256_extractf128_ps::<1>(of),
    })
}

#[target_feature(enable = "avx2")]
#[inline]
fn joined(low: __m256d, high: __m256d) -> [f64; COLUMNS] {
    let [[a, b, c, d], [e, f, g, h]] = [low, high].map(|half| {
        let [low, high] = [
            _mm256_castpd256_pd128(half),
            _mm256_extractf128_pd::<1>(half),
        ];
        [
            _mm_cvtsd_f64(low),
            _mm_cvtsd_f64(_mm_unpackhi_pd(low, low)),
            _mm_cvtsd_f64(high),
            _mm_cvtsd_f64(_mm_unpackhi_pd(high, high)),
        ]
    });
    [a, b, c, d, e, f, g, h]
}
