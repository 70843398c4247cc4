//! The roofline model of energy: J. W. Choi, D. Bedard, R. Fowler, R. Vuduc, "A Roofline Model of Energy", IPDPS 2013, section II.
//!
//! There an algorithm of W operations and Q bytes takes the energy E = W e_op + Q e_byte + P T, with a constant power P over the time
//! T = max(W t_op, Q t_byte). Operations a joule follow from the intensity I = W / Q alone:
//! W / E = 1 / (e_op + e_byte / I + P max(t_op, t_byte / I)).

use crate::outcome::{DRAM, Outcome, UNCORE};
use crate::performance::dram_bytes;

/// Counters of what lanes compute: an operation each, a multiply-add one too.
const OPERATIONS: [&str; 7] = [
    "int_add.read",
    "int_mul.read",
    "fp32_add.read",
    "fp32_mul.read",
    "fp64.read",
    "sfu.read",
    "tensor_multiply_adds",
];

/// A run with what it did and what that took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Operations.
    pub operations: f64,
    /// Bytes between DRAM and the chip.
    pub bytes: f64,
    /// Dynamic energy of DRAM and of what lies between it and the SMs.
    pub memory_j: f64,
    /// All other dynamic energy.
    pub other_j: f64,
    /// Leakage energy.
    pub leakage_j: f64,
    /// Time.
    pub time_s: f64,
}

/// The lowest costs of several runs together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roof {
    /// Energy of an operation.
    pub operation_j: f64,
    /// Energy of a byte.
    pub byte_j: f64,
    /// Power that does not depend on what is done.
    pub constant_w: f64,
    /// Time of an operation.
    pub operation_s: f64,
    /// Time of a byte.
    pub byte_s: f64,
}

impl Work {
    /// That of a run, whose operations are those of `plain`, the same run without a technique: what a technique saves is no less work done. `None` without
    /// operations, bytes or time.
    pub fn of(outcome: &Outcome, plain: &Outcome) -> Option<Self> {
        let operations = OPERATIONS.map(|counter| plain.activity.get(counter));
        let operations: u64 = operations.iter().sum();
        let bytes = bytes(outcome);
        let of_memory = |group: &str| [UNCORE, DRAM].contains(&group);
        let structures = outcome.structures.iter();
        let memory = structures.filter(|it| of_memory(&it.group));
        let memory_j: f64 = memory.map(|it| it.dynamic_j).sum();
        let is_there = operations > 0 && bytes > 0 && outcome.time_s > 0.0;
        is_there.then_some(Self {
            operations: operations as f64,
            bytes: bytes as f64,
            memory_j,
            other_j: outcome.totals.dynamic_j - memory_j,
            leakage_j: outcome.totals.leakage_j,
            time_s: outcome.time_s,
        })
    }

    /// Operations a byte.
    pub fn intensity(&self) -> f64 {
        self.operations / self.bytes
    }

    /// Operations a joule.
    pub fn efficiency(&self) -> f64 {
        self.operations / (self.memory_j + self.other_j + self.leakage_j)
    }
}

/// Bytes between DRAM and the chip; a second-level cache that was used is there.
fn bytes(outcome: &Outcome) -> u64 {
    let count = |counter: &str| outcome.activity.get(counter);
    let has_l2 = count("l2_reads") + count("l2_writes") > 0;
    dram_bytes(&outcome.activity, has_l2)
}

impl Roof {
    /// Of each cost the lowest that a run has. No run is above the roof, since each pays at least these.
    pub fn over(runs: &[Work]) -> Self {
        let least = |cost: fn(&Work) -> f64| runs.iter().map(cost).fold(f64::INFINITY, f64::min);
        Self {
            operation_j: least(|run| run.other_j / run.operations),
            byte_j: least(|run| run.memory_j / run.bytes),
            constant_w: least(|run| run.leakage_j / run.time_s),
            operation_s: least(|run| run.time_s / run.operations),
            byte_s: least(|run| run.time_s / run.bytes),
        }
    }

    /// Operations a joule at an intensity.
    pub fn efficiency(&self, intensity: f64) -> f64 {
        let time_s = f64::max(self.operation_s, self.byte_s / intensity);
        1.0 / (self.operation_j + self.byte_j / intensity + self.constant_w * time_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use proptest::prelude::*;

    /// 1000 operations on 500 bytes in 1 us: 2 nJ of memory, 3 nJ of the rest, 5 nJ of leakage.
    #[test]
    fn the_roof_of_one_run_goes_through_it() {
        let run = Work {
            operations: 1000.0,
            bytes: 500.0,
            memory_j: 2e-9,
            other_j: 3e-9,
            leakage_j: 5e-9,
            time_s: 1e-6,
        };
        let roof = Roof::over(&[run]);
        assert_relative_eq!(roof.byte_j, 4e-12, max_relative = 1e-12);
        assert_relative_eq!(roof.operation_j, 3e-12, max_relative = 1e-12);
        assert_relative_eq!(roof.constant_w, 5e-3, max_relative = 1e-12);
        assert_relative_eq!(run.efficiency(), 1e11, max_relative = 1e-12);
        assert_relative_eq!(roof.efficiency(2.0), 1e11, max_relative = 1e-12);
        // Half the bytes an operation: 3 pJ + 1 pJ + 5 mW x 1 ns = 9 pJ an operation.
        assert_relative_eq!(roof.efficiency(4.0), 1.0 / 9e-12, max_relative = 1e-12);
        // Twice the bytes an operation take twice the time: 3 pJ + 4 pJ + 5 mW x 2 ns = 17 pJ.
        assert_relative_eq!(roof.efficiency(1.0), 1.0 / 17e-12, max_relative = 1e-12);
    }

    fn work() -> impl Strategy<Value = Work> {
        let size = || (-6.0..6.0f64).prop_map(libm::exp10);
        let figures = (size(), size(), size(), size(), size(), size());
        figures.prop_map(
            |(operations, bytes, memory_j, other_j, leakage_j, time_s)| Work {
                operations,
                bytes,
                memory_j,
                other_j,
                leakage_j,
                time_s,
            },
        )
    }

    proptest! {
        #[test]
        fn no_run_is_above_its_roof(runs in prop::collection::vec(work(), 1..12)) {
            let roof = Roof::over(&runs);
            for run in &runs {
                prop_assert!(run.efficiency() <= roof.efficiency(run.intensity()) * (1.0 + 1e-9));
            }
        }

        #[test]
        fn a_roof_never_falls_with_intensity(run in work(), low in 0.01..100.0f64, factor in 1.0..100.0f64) {
            let roof = Roof::over(&[run]);
            prop_assert!(roof.efficiency(low) <= roof.efficiency(low * factor) * (1.0 + 1e-12));
        }
    }
}
