//! The soft-error paper: Tan, Li, Fu, CF 2013 (SAWP and SHARP).

use serde::Deserialize;

/// Its numbers, as printed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SoftErrorPaper {
    /// Authors, title, place.
    pub citation: String,
    /// Figure 3: how many different instructions the buffer holds.
    pub similarity: Similarity,
    /// Sections 3.2.4 and 5.1.
    pub sawp: SawpFigures,
    /// Sections 3.3 and 5.2.
    pub sharp: SharpFigures,
    /// Figure 2.
    pub avf: AvfFigures,
}

/// How many different instructions the buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Similarity {
    /// Share of the time with two.
    pub two_instructions: Schedulers,
    /// The most at once.
    pub most_instructions: f64,
    /// Share of the time with eleven at the most.
    pub eleven_cover: f64,
    /// Share of the time with one, for the Walsh transform.
    pub all_the_same_in_fwt: f64,
}

/// A figure under four schedulers.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedulers {
    /// One warp after the other.
    pub round_robin: f64,
    /// Groups of warps.
    pub two_level: f64,
    /// Who has been ready longest.
    pub first_ready: f64,
    /// Who has issued least.
    pub fair: f64,
}

/// What protects the instruction buffer.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SawpFigures {
    /// Of an entry of the table.
    pub entry_bits: f64,
    /// Added to a slot of the buffer.
    pub slot_bits: f64,
    /// Area against a code on every slot.
    pub area_below_full_code_at_most: f64,
    /// Of SAWP.
    pub avf_reduction: f64,
    /// With twelve entries.
    pub avf_reduction_full_size: f64,
    /// Where the entry with the fewest instructions makes way.
    pub avf_reduction_min: f64,
    /// Under the fair scheduler.
    pub avf_reduction_fair: f64,
    /// Of the best benchmark.
    pub avf_reduction_best: f64,
    /// Of a code on every slot.
    pub power_full_code: f64,
    /// Of SAWP.
    pub power: f64,
    /// With twelve entries against a code on every slot.
    pub power_full_size_below_full_code: f64,
    /// SAWP_min against twelve entries.
    pub power_min_below_full_size: f64,
    /// More power over less AVF.
    pub power_per_avf: f64,
    /// The same of a code on every slot.
    pub power_per_avf_full_code: f64,
}

/// What protects the register file.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharpFigures {
    /// Figure 6: share of its words.
    pub shared_memory_used: f64,
    /// What SHARP adds to that of the register file.
    pub area_of_register_file: f64,
    /// What a code on every register adds.
    pub area_of_full_code: f64,
    /// Of SHARP.
    pub avf_reduction: f64,
    /// With free registers.
    pub avf_reduction_rtrp: f64,
    /// Of SHARP, back propagation.
    pub avf_reduction_bp: f64,
    /// With free registers, back propagation.
    pub avf_reduction_rtrp_bp: f64,
    /// Of a code on every register.
    pub power_full_code: f64,
    /// Of SHARP.
    pub power: f64,
    /// With free registers, more than that.
    pub power_rtrp_above: f64,
    /// More power over less AVF.
    pub power_per_avf: f64,
    /// The same of a code on every register.
    pub power_per_avf_full_code: f64,
    /// Share of the registers that back propagation takes.
    pub registers_used_bp: f64,
}

/// Vulnerability without protection.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AvfFigures {
    /// The most of a benchmark.
    pub instruction_buffer_most: f64,
    /// The most of a benchmark.
    pub register_file_most: f64,
    /// Of the Walsh transform and of the transposition, at least.
    pub instruction_buffer_fwt_mt_above: f64,
}

impl SoftErrorPaper {
    /// The numbers that ship.
    ///
    /// # Panics
    /// Never: a test reads them.
    pub fn load() -> Self {
        toml::from_str(include_str!("../../papers/soft_error.toml"))
            .expect("the numbers that ship can be read")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_numbers_can_be_read_and_agree_with_each_other() {
        let paper = SoftErrorPaper::load();
        let sawp = paper.sawp;
        let ratio = (sawp.power - 1.0) / sawp.avf_reduction;
        assert!((ratio - sawp.power_per_avf).abs() < 0.005);
        assert_eq!(sawp.entry_bits, 17.0);
        let sharp = paper.sharp;
        let ratio = (sharp.power - 1.0) / sharp.avf_reduction;
        assert!((ratio - sharp.power_per_avf).abs() < 0.01);
    }
}
