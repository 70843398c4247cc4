//! The uniform-vector paper: Xiang et al., ICS 2013.

use serde::Deserialize;

/// The paper's numbers, as printed in it. Shares, gains and savings are fractions.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct UniformVectorPaper {
    /// Authors, title, venue.
    pub citation: String,
    /// Table 2.
    #[serde(rename = "structure")]
    pub structures: Vec<Component>,
    /// Figure 2: shares of all scalar operations.
    pub redundant_operations: Redundant,
    /// Figures 5, 6 and 13: gains in performance.
    pub speedup: Speedup,
    /// Figure 7: copies over warp instructions.
    pub copies: MeanMax,
    /// Figures 8 to 10: savings.
    pub energy: Energy,
    /// Figure 12: gains by entries of the reuse buffer.
    pub irb: Irb,
    /// Figure 11.
    pub srf: Srf,
    /// Figures 14 to 16.
    pub reliability: Reliability,
}

/// A row of Table 2.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Component {
    /// `VRF` or `SRF`.
    pub name: String,
    /// Area.
    pub area_mm2: f64,
    /// Static power.
    pub static_w: f64,
    /// Energy of a read.
    pub read_pj: f64,
    /// Energy of a write.
    pub write_pj: f64,
}

/// A geometric mean and a maximum over the benchmarks.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct MeanMax {
    /// The mean.
    pub mean: f64,
    /// The maximum.
    pub max: f64,
}

/// Shares of redundant operations.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Redundant {
    /// Within a warp.
    pub intra: MeanMax,
    /// Among warps.
    pub inter: MeanMax,
    /// Both.
    pub combined: MeanMax,
}

/// A value for each mode.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Modes {
    /// Within a warp.
    pub intra: f64,
    /// Among warps.
    pub inter: f64,
    /// Both.
    pub combined: f64,
}

/// Gains in performance.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Speedup {
    /// With tokens.
    pub token: Modes,
    /// With a scalar register file.
    pub srf: Modes,
    /// With tokens on SMs of 16 lanes.
    pub simd_16: Modes,
    /// The largest, with tokens and both modes.
    pub token_max: f64,
    /// Ray tracing within a warp.
    pub ray_token_intra: f64,
    /// Vector addition among warps.
    pub va_token_inter: f64,
    /// Mersenne twister among warps on SMs of 16 lanes.
    pub mt_simd_16_inter: f64,
}

/// Savings of energy.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Energy {
    /// Dynamic, with tokens.
    pub dynamic_token: f64,
    /// Dynamic, with a scalar register file.
    pub dynamic_srf: f64,
    /// The largest dynamic saving.
    pub dynamic_max: f64,
    /// In total, with tokens.
    pub total_token: Modes,
    /// In total, with a scalar register file.
    pub total_srf: Modes,
    /// The largest.
    pub total_max: f64,
    /// Dynamic on SMs of 16 lanes, with tokens.
    pub simd_16_dynamic: f64,
    /// Static on them.
    pub simd_16_static: f64,
    /// In total on them.
    pub simd_16_total: f64,
    /// Upper bound of what is added to the area of an SM.
    pub area_share_of_sm_upper_bound: f64,
}

/// Gains by entries of the reuse buffer.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Irb {
    /// Two.
    pub entries_2: f64,
    /// Four.
    pub entries_4: f64,
    /// Eight.
    pub entries_8: f64,
    /// Sixteen.
    pub entries_16: f64,
}

/// What is said of sizes of the scalar register file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Srf {
    /// Benchmarks for which 64 entries are enough.
    pub enough_64: Vec<String>,
}

/// Coverage of the reliability mode, and its price.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Reliability {
    /// Share of the lanes' operations, with tokens.
    pub alu_token: f64,
    /// With a scalar register file.
    pub alu_srf: f64,
    /// The largest.
    pub alu_max: f64,
    /// Share of live registers, with tokens.
    pub vrf_token: f64,
    /// The largest.
    pub vrf_token_max: f64,
    /// Of breadth-first search.
    pub vrf_bfs: f64,
    /// Dynamic energy more than without, with tokens.
    pub dynamic_overhead_token: f64,
    /// With a scalar register file.
    pub dynamic_overhead_srf: f64,
    /// Total energy more, with tokens.
    pub total_overhead_token: f64,
    /// With a scalar register file.
    pub total_overhead_srf: f64,
}

impl UniformVectorPaper {
    /// The paper's numbers, which are part of the program.
    ///
    /// # Panics
    /// Never: a test reads the embedded file.
    pub fn load() -> Self {
        toml::from_str(include_str!("../../papers/uniform_vectors.toml"))
            .expect("the embedded file parses")
    }

    /// The row of Table 2 called `name`.
    pub fn structure(&self, name: &str) -> Option<&Component> {
        self.structures.iter().find(|row| row.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_numbers_are_complete() {
        let paper = UniformVectorPaper::load();
        assert_eq!(paper.structures.len(), 2);
        assert_eq!(paper.speedup.token.combined, paper.irb.entries_8);
        assert_eq!(paper.structure("SRF").map(|row| row.read_pj), Some(0.176));
    }
}
