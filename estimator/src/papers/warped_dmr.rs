//! Warped-DMR: Jeon, USC 2015, chapter 4.

use serde::Deserialize;

/// Its numbers, as printed. Shares and slowdowns are fractions.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WarpedDmrPaper {
    /// Author, title, place.
    pub citation: String,
    /// Synthesised blocks at 40 nm, and the size of the ReplayQ.
    pub circuits: Circuits,
    /// Figures 4.1, 4.4 and 4.7: what is idle.
    pub idle: Idle,
    /// Figure 4.8 (a).
    pub coverage: Coverage,
    /// Figures 4.8 (b) and 4.9.
    pub slowdown: Slowdown,
    /// Figure 4.10: energy more than without.
    pub energy: Energy,
    /// What the summary says.
    pub summary: Summary,
}

/// Circuits of a cluster of four lanes, and the ReplayQ.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Circuits {
    /// Register forwarding unit.
    pub rfu_area_um2: f64,
    /// Likewise.
    pub rfu_delay_ns: f64,
    /// Comparator of 128 bits.
    pub comparator_area_um2: f64,
    /// Likewise.
    pub comparator_delay_ns: f64,
    /// An entry of the ReplayQ, from and to.
    pub queue_entry_bytes: [f64; 2],
    /// Ten entries.
    pub queue_kb_at_10: f64,
    /// Their bytes over those of a register file of 128 KB.
    pub queue_share_of_128_kb: f64,
}

/// What is idle without verification.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Idle {
    /// Share of lanes on the average.
    pub lanes: f64,
    /// Share of the instructions of BFS that one lane executes, at least.
    pub bfs_one_lane: f64,
    /// Instructions of one type in a row in most applications, at most.
    pub run_length_upper_bound: f64,
    /// The same of gaussian.
    pub gaussian_run_length_upper_bound: f64,
    /// Cycles from the write of a register to its read.
    pub raw_distance_cycles_at_least: f64,
    /// Share of registers that lie longer than 100 cycles.
    pub raw_over_100_cycles: f64,
}

/// Share of what is executed that is verified.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coverage {
    /// Clusters of eight lanes, threads in order.
    pub lanes_8: f64,
    /// Clusters of four lanes, threads around the clusters.
    pub round_robin: f64,
    /// Points that this mapping gains over threads in order.
    pub mapping_gain: f64,
    /// Of hotspot, the lowest.
    pub hotspot: f64,
    /// Of BFS.
    pub bfs: f64,
}

/// Cycles over those without verification, less one.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slowdown {
    /// Average with ten entries.
    pub entries_10: f64,
    /// Average of the enhanced mode.
    pub enhanced_10: f64,
    /// Points between the two.
    pub enhanced_more: f64,
    /// `MatrixMul` with one entry.
    pub matrix_mul_1: f64,
    /// `MatrixMul` with ten.
    pub matrix_mul_10: f64,
    /// BFS.
    pub bfs: f64,
}

/// Energy over that without verification, less one.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Energy {
    /// Of the device.
    pub device: f64,
    /// Of its execution units.
    pub execution_units: f64,
}

/// Section 4.8.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Share that is verified.
    pub coverage: f64,
    /// Slowdown.
    pub slowdown: f64,
}

impl WarpedDmrPaper {
    /// The numbers, which are part of the program.
    ///
    /// # Panics
    /// Never: a test reads the embedded file.
    pub fn load() -> Self {
        toml::from_str(include_str!("../../papers/warped_dmr.toml"))
            .expect("the embedded file parses")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_numbers_are_complete() {
        let paper = WarpedDmrPaper::load();
        let slowdown = paper.slowdown;
        let more = slowdown.enhanced_10 - slowdown.entries_10;
        assert!((more - slowdown.enhanced_more).abs() < 1e-9);
        assert_eq!(paper.circuits.rfu_area_um2, 390.0);
    }
}
