//! The filter-cache paper: Lashgar, Baniasadi, Khonsari, ARCS 2013.

use serde::Deserialize;

/// The paper's numbers, as printed in it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct FilterCachePaper {
    /// Authors, title, venue.
    pub citation: String,
    /// Table 1, one entry a row.
    #[serde(rename = "structure")]
    pub structures: Vec<StructureRow>,
    /// Section 5.2: leakage of the rest of a streaming multiprocessor.
    pub leakage_other_mw: LeakageOther,
    /// What its sentences derive from the tables.
    pub derived: Derived,
    /// A straight line through its Table 4.
    pub implied_by_table_4: Line,
    /// Tables 2 and 4, one entry a benchmark.
    #[serde(rename = "benchmark")]
    pub benchmarks: Vec<Benchmark>,
}

/// A row of Table 1: one structure at 32 nm.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct StructureRow {
    /// For example `icache_tag`, `fc_data_16`.
    pub name: String,
    /// Area.
    pub area_um2: f64,
    /// Leakage.
    pub leakage_mw: f64,
    /// Energy of a read or a write.
    pub energy_pj: f64,
    /// Access delay.
    pub delay_ps: f64,
}

/// Leakage of what a streaming multiprocessor has besides its front end.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct LeakageOther {
    /// 16 KB of registers.
    pub register_file_16kb: f64,
    /// 16 KB of shared data cache.
    pub shared_data_cache_16kb: f64,
    /// 5 KB of texture cache.
    pub texture_cache_5kb: f64,
    /// 2 KB of constant cache.
    pub constant_cache_2kb: f64,
}

/// Figures that stand in the paper's sentences.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Derived {
    /// Area of the 32-entry filter cache over that of the front end (section 4).
    pub fc32_area_overhead_of_front_end: f64,
    /// Rise of the front end's static power by it (section 5.2).
    pub fc32_front_end_static_power_increase: f64,
    /// Upper bound of its leakage over that of a streaming multiprocessor (section 5.2).
    pub fc_leakage_of_sm_upper_bound: f64,
    /// Fetch delay after a filter-cache hit, without warp scheduling (section 4).
    pub fetch_delay_fc_hit_ns: f64,
    /// Fetch delay after a filter-cache miss, without warp scheduling (section 4).
    pub fetch_delay_fc_miss_ns: f64,
    /// Clock period (section 4).
    pub clock_period_ns: f64,
    /// Share of the operand collector in the front end's dynamic energy (section 5.2).
    pub operand_collector_share_of_front_end: f64,
    /// Share of the I-cache in it (section 5.2).
    pub icache_share_of_front_end: f64,
    /// How many points the average hit rate of 16 entries lies below that of 32: from, to (section 5.2).
    pub fc16_average_hit_rate_below_fc32_points: [f64; 2],
}

/// I-cache energy with a filter cache over I-cache energy without, as a line in the miss rate.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Line {
    /// The ratio if every fetch hits.
    pub ratio_at_full_hit: f64,
    /// What a miss rate of one would add.
    pub ratio_slope_per_miss: f64,
    /// The largest distance of a row of Table 4 from the line.
    pub largest_residual: f64,
}

/// A row of Tables 2 and 4.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Benchmark {
    /// For example `MTM`.
    pub abbr: String,
    /// Its name in full.
    pub name: String,
    /// Fraction of the fetches that hit the 32-entry filter cache.
    pub fc_hit: f64,
    /// I-cache energy of the baseline.
    pub icache_nj: f64,
    /// Energy of I-cache and filter cache.
    pub icache_fc_nj: f64,
    /// Fraction of the front end's dynamic energy that is saved.
    pub front_end_saving: f64,
}

impl FilterCachePaper {
    /// The paper's numbers, which are part of the program.
    ///
    /// # Panics
    /// Never: a test reads the embedded file.
    pub fn load() -> Self {
        toml::from_str(include_str!("../../papers/filter_cache.toml"))
            .expect("the embedded file parses")
    }

    /// The row of Table 1 called `name`.
    pub fn structure(&self, name: &str) -> Option<&StructureRow> {
        self.structures.iter().find(|row| row.name == name)
    }

    /// The benchmark that one of `abbreviations` names.
    pub fn benchmark(&self, abbreviations: &[String]) -> Option<&Benchmark> {
        self.benchmarks
            .iter()
            .find(|row| abbreviations.contains(&row.abbr))
    }
}

impl Benchmark {
    /// Energy of I-cache and filter cache over that of the I-cache alone.
    pub fn energy_ratio(&self) -> f64 {
        self.icache_fc_nj / self.icache_nj
    }
}

impl Line {
    /// The ratio at a hit rate.
    pub fn at(&self, hit_rate: f64) -> f64 {
        self.ratio_at_full_hit + self.ratio_slope_per_miss * (1.0 - hit_rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_numbers_are_complete() {
        let paper = FilterCachePaper::load();
        assert_eq!(paper.structures.len(), 9);
        assert_eq!(paper.benchmarks.len(), 21);
        assert_eq!(paper.structure("icache_data").unwrap().energy_pj, 4.30);
        let mtm = paper.benchmark(&["MTM".to_owned()]).unwrap();
        assert_eq!(mtm.fc_hit, 0.95);
        assert!(paper.benchmark(&["none".to_owned()]).is_none());
    }

    #[test]
    fn table_4_is_the_stated_straight_line() {
        let paper = FilterCachePaper::load();
        let line = paper.implied_by_table_4;
        let largest = paper
            .benchmarks
            .iter()
            .map(|row| (row.energy_ratio() - line.at(row.fc_hit)).abs())
            .fold(0.0, f64::max);
        // Half a unit of the last printed digit.
        approx::assert_abs_diff_eq!(largest, line.largest_residual, epsilon = 5e-5);
    }
}
