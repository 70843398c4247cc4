//! The register-virtualization work: Jeon, USC 2015, chapter 2.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Its numbers, as printed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegisterVirtualizationPaper {
    /// Author, title, place.
    pub citation: String,
    /// Table 2.2: circuits at 40 nm.
    pub table_2_2: Table22,
    /// Section 2.5: the renaming table.
    pub section_2_5: Section25,
    /// Section 2.8: results.
    pub section_2_8: Section28,
    /// Section 2.8.6: beside three levels of register files.
    pub section_2_8_6: Section286,
    /// Chapter 3: half the register file.
    pub chapter_3: Chapter3,
}

/// Energies of an access and leakages of a bank.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table22 {
    /// Of the renaming table of 1 KB in four banks.
    pub table_energy_pj: f64,
    /// Of one of its banks.
    pub table_leakage_mw_per_bank: f64,
    /// Of a register bank of 4 KB.
    pub bank_energy_pj: f64,
    /// Of the same.
    pub bank_leakage_mw: f64,
}

/// The renaming table.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section25 {
    /// Size of one for all registers of all warps.
    pub full_table_kb: f64,
    /// Look-up in one of 1 KB.
    pub lookup_ns: f64,
}

/// Results over the benchmarks of Table 2.1.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section28 {
    /// Figure 2.12.
    pub allocation_reduction_average: f64,
    /// Figure 2.12.
    pub allocation_reduction_most: f64,
    /// Figure 2.13.
    pub static_power_reduction_average: f64,
    /// Leakage of the renaming table over that of a bank.
    pub table_share_of_bank_static: f64,
    /// Leakage of the renaming table over that of the register file.
    pub table_static_overhead: f64,
    /// Dynamic power of the renaming table over that of the register file.
    pub table_dynamic_overhead: f64,
    /// Figure 2.14.
    pub wakeup_10_cycles_slowdown_at_most: f64,
    /// Figure 2.15, `Dynamic-0`.
    pub dynamic_code_increase_no_cache: f64,
    /// Figure 2.15, `Dynamic-10`.
    pub dynamic_code_increase_ten_entries: f64,
    /// Figure 2.2.
    pub access_imbalance_average: f64,
    /// Figure 2.18.
    pub variation_with_wear_leveling: f64,
    /// Registers that a table of 1 KB leaves out, by benchmark.
    pub exempt_registers: BTreeMap<String, f64>,
}

/// Register virtualization beside the hierarchy of Gebhart and others.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section286 {
    /// Figure 2.19 (a), the benchmark with the least difference.
    pub fewer_registers_least: f64,
    /// Figure 2.19 (a), that with the most.
    pub fewer_registers_most: f64,
    /// Figure 2.19 (b), the benchmark with the most difference.
    pub static_power_less_most: f64,
    /// Size of the main register file over that of the two small ones.
    pub main_over_small: f64,
    /// Entries a thread of the operand register file.
    pub orf_entries: f64,
    /// Entries a thread of the last result file.
    pub lrf_entries: f64,
}

/// GPU-Shrink over the same benchmarks, 64 KB of registers instead of 128 KB.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chapter3 {
    /// Figure 3.1, without any technique.
    pub dynamic_power_reduction_of_half_file: f64,
    /// Figure 3.1, leakage in it.
    pub total_power_reduction_of_half_file: f64,
    /// Figure 3.2: of the sixteen, with renaming.
    pub benchmarks_above_512_registers: f64,
    /// Section 3.3.
    pub counter_bits: f64,
    /// Figure 3.5.
    pub slowdown_shrink_average: f64,
    /// Figure 3.5.
    pub slowdown_compiler_spill_average: f64,
    /// Section 3.4.2, with files smaller by 40 % and by 30 %.
    pub slowdown_shrink_40_and_30_percent: f64,
    /// Section 3.4.2.
    pub no_throttling_needed: Vec<String>,
    /// Section 3.4.2.
    pub speeds_up: Vec<String>,
    /// Figure 3.6: of the register file with what manages it.
    pub energy_reduction_shrink_with_gating_average: f64,
}

impl RegisterVirtualizationPaper {
    /// The numbers, which are part of the program.
    ///
    /// # Panics
    /// Never: a test reads the embedded file.
    pub fn load() -> Self {
        toml::from_str(include_str!("../../papers/register_virtualization.toml"))
            .expect("the embedded file parses")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_numbers_are_the_works() {
        let paper = RegisterVirtualizationPaper::load();
        assert_eq!(paper.section_2_8.static_power_reduction_average, 0.47);
        assert_eq!(paper.section_2_8.exempt_registers["Heartwall"], 4.0);
        assert_eq!(paper.chapter_3.slowdown_compiler_spill_average, 0.7332);
        // 38 % of a bank, of which there are 32.
        let share = paper.section_2_8.table_share_of_bank_static / 32.0;
        assert!((share - paper.section_2_8.table_static_overhead).abs() < 0.0005);
    }
}
