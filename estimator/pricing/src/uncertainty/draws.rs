//! Random draws with common random numbers: the same cause has the same draw in every configuration, on every thread.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use statrs::distribution::{ContinuousCDF, Normal};
use warpwatt_techlib::{Cause, Technology};

use super::input::CUT;
use super::process::{DieToDie, ProcessVariation};
use super::upsets::UPSETS;

/// How many draws, and which.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draws {
    /// Draws of every uncertain input.
    pub samples: usize,
    /// Where the generator starts.
    pub seed: u64,
    /// How transistors of a process differ, if that is drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessVariation>,
}

impl Draws {
    /// What is taken where a study does not say.
    pub const DEFAULT: Self = Self {
        samples: 200,
        seed: 1,
        process: None,
    };
    /// Fewer say nothing about a 95 % interval.
    pub const FEWEST: usize = 40;
    /// More than anyone waits for.
    pub const MOST: usize = 10_000;

    /// The draws of a cause: standard normal, cut off at [`CUT`]. Each cause has a stream of its own, so that it has the same draws whatever else is uncertain.
    pub fn of(&self, cause: &str) -> Vec<f64> {
        let digest = Sha256::digest(cause.as_bytes());
        let mut stream = [0_u8; 8];
        stream.copy_from_slice(&digest[..8]);
        let mut generator = ChaCha8Rng::seed_from_u64(self.seed);
        generator.set_stream(u64::from_le_bytes(stream));
        let normal = Normal::standard();
        let draw = |_| {
            // 53 bits, in the middle of their cell: never 0 or 1.
            let uniform = ((generator.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
            normal.inverse_cdf(uniform).clamp(-CUT, CUT)
        };
        (0..self.samples).map(draw).collect()
    }

    /// The draws of a cause of a technology: one for all flavours and operating points of a node, as they are made in one process.
    pub fn of_technology(&self, technology: &Technology, cause: Cause) -> Vec<f64> {
        self.of_node(technology, cause.name())
    }

    /// The draws of what a die has in common: one for all of its structures, flavours and operating points.
    pub fn of_die(&self, technology: &Technology, cause: DieToDie) -> Vec<f64> {
        self.of_node(technology, cause.cause())
    }

    /// The draws of the rate of upsets of a node.
    pub fn of_upsets(&self, technology: &Technology) -> Vec<f64> {
        self.of_node(technology, UPSETS)
    }

    fn of_node(&self, technology: &Technology, cause: &str) -> Vec<f64> {
        let node = technology.feature.as_nm();
        self.of(&format!("{} {node:.1} nm: {cause}", technology.library))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_has_its_own_draws_and_always_the_same() {
        let sampling = Draws {
            samples: 4000,
            seed: 7,
            process: None,
        };
        let draws = sampling.of("i_off");
        assert_eq!(draws, sampling.of("i_off"));
        assert_ne!(draws, sampling.of("i_on"));
        let more = Draws {
            samples: 5000,
            ..sampling
        };
        assert_eq!(more.of("i_off")[..4000], draws[..]);
        let mean = draws.iter().sum::<f64>() / 4000.0;
        let variance = draws.iter().map(|z| z * z).sum::<f64>() / 4000.0;
        assert!(
            mean.abs() < 0.05 && (variance - 1.0).abs() < 0.06,
            "{mean} {variance}"
        );
    }
}
