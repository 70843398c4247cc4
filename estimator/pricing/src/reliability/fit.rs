//! Failures in time.
//!
//! FIT = AVF x bits x raw rate of a bit (Mukherjee et al., MICRO 2003, section 2). The raw rate is that of SRAM cells at a node; its uncertainty is that of every FIT
//! figure at the node, which therefore err together: ratios are far more certain than figures.

use warpwatt_reliability::BitCycles;
use warpwatt_techlib::TechError;
use warpwatt_techlib::published::{UpsetRate, upset_rate};
use warpwatt_techlib::quantity::Length;

/// The raw rate of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Rate {
    /// As it was asked for: `7nm`.
    pub node: String,
    /// Of a bit.
    pub rate: UpsetRate,
}

impl Rate {
    /// That of a node, whose name goes with it.
    ///
    /// # Errors
    /// The data that come with the program cannot be read.
    pub fn of(name: &str, node: Length) -> Result<Self, TechError> {
        Ok(Self {
            node: name.to_owned(),
            rate: upset_rate(node)?,
        })
    }
}

/// Failures in 10⁹ hours of a structure of the whole GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fit {
    /// Silent data corruption, as protected.
    pub sdc: f64,
    /// Detected unrecoverable errors, as protected.
    pub due: f64,
    /// Silent data corruption without any protection.
    pub unprotected: f64,
}

impl Fit {
    /// That of a structure of so many bits in all.
    pub fn of(bits: u64, bit_cycles: &BitCycles, rate: &UpsetRate) -> Self {
        let raw = bits as f64 * rate.fit_per_bit;
        Self {
            sdc: raw * bit_cycles.sdc_avf(),
            due: raw * bit_cycles.due_avf(),
            unprotected: raw * bit_cycles.avf(),
        }
    }
}

impl std::ops::AddAssign for Fit {
    fn add_assign(&mut self, other: Self) {
        self.sdc += other.sdc;
        self.due += other.due;
        self.unprotected += other.unprotected;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detection_turns_silent_failures_into_noticed_ones_and_correction_ends_them() {
        let bit_cycles = BitCycles {
            total: 1000,
            occupied: 900,
            ace: 500,
            detected: 200,
            corrected: 100,
        };
        let rate = UpsetRate {
            fit_per_bit: 1e-3,
            source: String::new(),
            uncertainty: 0.5,
        };
        let fit = Fit::of(2_000_000, &bit_cycles, &rate);
        assert_eq!((fit.sdc, fit.due, fit.unprotected), (400.0, 400.0, 1000.0));
    }
}
