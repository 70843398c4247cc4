//! Samples of the unit cube, one dimension at a time. What is drawn depends on the seed, the method and, but for Sobol's sequence, the name of the
//! dimension: another axis in the study does not change what is drawn for the others.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Sampling;

/// How points are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Each for itself, uniformly: the first of a thousand samples are those of a hundred.
    Random,
    /// Each of `count` equal strata of every dimension once (M. D. McKay, R. J. Beckman, W. J. Conover, "A comparison of three methods for selecting
    /// values of input variables", Technometrics 21(2), 1979).
    LatinHypercube,
    /// Sobol's sequence with the direction numbers of S. Joe and F. Y. Kuo ("Constructing Sobol sequences with better two-dimensional projections",
    /// SIAM J. Sci. Comput. 30(5), 2008), scrambled after Owen by hashing (B. Burley, "Practical hash-based Owen scrambling", JCGT 9(4), 2020). Most even
    /// for counts that are powers of two.
    Sobol,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 3] = [Method::Random, Method::LatinHypercube, Method::Sobol];

    /// As written in a study.
    pub fn name(self) -> &'static str {
        match self {
            Method::Random => "random",
            Method::LatinHypercube => "latin_hypercube",
            Method::Sobol => "sobol",
        }
    }
}

/// Samples of Sobol's sequence that the library has.
pub(crate) const MOST_SOBOL: u32 = 1 << 16;

/// Dimensions of it.
pub(crate) const SOBOL_DIMENSIONS: usize = sobol_burley::NUM_DIMENSIONS as usize;

/// One number of [0, 1) for every sample in the dimension `name`, the `number`th.
pub(crate) fn column(sampling: &Sampling, name: &str, number: usize) -> Vec<f64> {
    let count = sampling.count;
    match sampling.method {
        Method::Random => {
            let mut random = stream(sampling.seed, name);
            (0..count).map(|_| unit(&mut random)).collect()
        }
        Method::LatinHypercube => {
            let mut random = stream(sampling.seed, name);
            let mut strata: Vec<u32> = (0..count).collect();
            for last in (1..strata.len()).rev() {
                strata.swap(last, below(&mut random, last + 1));
            }
            let count = f64::from(count);
            strata
                .into_iter()
                .map(|stratum| (f64::from(stratum) + unit(&mut random)) / count)
                .collect()
        }
        Method::Sobol => {
            // More dimensions than there are is a fault of the study, found when all axes are known.
            let dimension = (number % SOBOL_DIMENSIONS) as u32;
            let at = |sample| sobol_burley::sample(sample, dimension, sampling.seed);
            (0..count).map(|sample| f64::from(at(sample))).collect()
        }
    }
}

/// Random numbers of a seed and a name.
fn stream(seed: u32, name: &str) -> ChaCha8Rng {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    hash.update(name.as_bytes());
    ChaCha8Rng::from_seed(hash.finalize().into())
}

/// 53 random bits as a number of [0, 1).
fn unit(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// A number below `limit`; even but for one part in 2^64 over `limit`.
fn below(random: &mut ChaCha8Rng, limit: usize) -> usize {
    ((u128::from(random.next_u64()) * limit as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(method: Method, count: u32, seed: u32, name: &str, number: usize) -> Vec<f64> {
        column(
            &Sampling {
                method,
                count,
                seed,
            },
            name,
            number,
        )
    }

    #[test]
    fn samples_lie_in_the_unit_interval_and_depend_on_the_seed_alone() {
        for method in Method::ALL {
            let one = drawn(method, 64, 1, "gpu.vdd", 0);
            assert!(one.iter().all(|u| (0.0..1.0).contains(u)), "{method:?}");
            assert_eq!(one, drawn(method, 64, 1, "gpu.vdd", 0), "{method:?}");
            assert_ne!(one, drawn(method, 64, 2, "gpu.vdd", 0), "{method:?}");
            assert_ne!(
                one,
                drawn(method, 64, 1, "gpu.temperature", 1),
                "{method:?}"
            );
            let mean = one.iter().sum::<f64>() / 64.0;
            assert!(
                (mean - 0.5).abs() < 4.0 * (1.0f64 / 12.0 / 64.0).sqrt(),
                "{method:?}: {mean}"
            );
        }
    }

    /// The defining property of both: each of n equal strata is hit once (Sobol's for powers of two).
    #[test]
    fn stratified_methods_hit_every_stratum_once() {
        for method in [Method::LatinHypercube, Method::Sobol] {
            for number in 0..6 {
                let column = drawn(method, 64, 7, &format!("axis {number}"), number);
                let mut strata: Vec<u32> = column.iter().map(|u| (u * 64.0) as u32).collect();
                strata.sort_unstable();
                assert_eq!(
                    strata,
                    (0..64).collect::<Vec<_>>(),
                    "{method:?}, dimension {number}"
                );
            }
        }
    }

    /// Two dimensions of a (0, 2)-sequence: every elementary box of area 1/64 holds one of 64 points.
    #[test]
    fn the_first_two_dimensions_of_sobol_fill_every_elementary_box() {
        let (x, y) = (
            drawn(Method::Sobol, 64, 3, "x", 0),
            drawn(Method::Sobol, 64, 3, "y", 1),
        );
        for (columns, rows) in [(1.0, 64.0), (4.0, 16.0), (8.0, 8.0), (32.0, 2.0)] {
            let boxes = x
                .iter()
                .zip(&y)
                .map(|(x, y)| ((x * columns) as u32, (y * rows) as u32));
            let mut boxes: Vec<(u32, u32)> = boxes.collect();
            boxes.sort_unstable();
            boxes.dedup();
            assert_eq!(boxes.len(), 64, "{columns} x {rows}");
        }
    }

    #[test]
    fn more_random_samples_begin_like_fewer() {
        let (few, many) = (
            drawn(Method::Random, 10, 1, "a", 0),
            drawn(Method::Random, 50, 1, "a", 0),
        );
        assert_eq!(few[..], many[..10]);
    }
}
