//! The GPUs that ship.

use super::{GpuSpec, SpecProblem};

/// A GPU that ships with warpwatt.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Its TOML, with the source of every value.
    pub source: &'static str,
    /// Where it was published.
    pub citation: &'static str,
}

static PRESETS: [Preset; 1] = [Preset {
    name: "tesla-16sm",
    summary: "16 SMs of 8 lanes at 1.3 GHz, 1024 threads each, 6 memory controllers: the GT200-like GPU of the filter-cache paper",
    source: include_str!("../../presets/tesla-16sm.toml"),
    citation: "A. Lashgar, A. Baniasadi, A. Khonsari, \"Inter-Warp Instruction Temporal Locality in Deep-Multithreaded GPUs\", Table 3, sections 3.1 and 5.1",
}];

/// All presets, in the order of `warpwatt list presets`.
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

impl Preset {
    /// The preset's table, for overrides to be merged into.
    ///
    /// # Panics
    /// Never: a test reads every preset.
    pub fn table(&self) -> toml::Table {
        self.source.parse().expect("presets are valid TOML")
    }

    /// The preset as it is.
    ///
    /// # Errors
    /// Never for a preset that ships.
    pub fn spec(&self) -> Result<GpuSpec, Vec<SpecProblem>> {
        GpuSpec::from_table(self.table())
    }
}

impl GpuSpec {
    /// The preset `name`; `None` if there is none of that name (see [`presets`]).
    pub fn preset(name: &str) -> Option<Self> {
        let preset = PRESETS.iter().find(|preset| preset.name == name)?;
        preset.spec().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_a_valid_gpu() {
        for preset in presets() {
            assert!(
                preset.spec().is_ok(),
                "{}: {:?}",
                preset.name,
                preset.spec()
            );
        }
        assert!(GpuSpec::preset("tesla-17sm").is_none());
    }

    #[test]
    fn every_value_of_a_preset_says_where_it_comes_from() {
        const TAGS: [&str; 5] = ["[paper]", "[table 1]", "[wong]", "[cuda]", "[assumed]"];
        for preset in presets() {
            let values = preset
                .source
                .lines()
                .filter(|line| line.contains('=') && !line.starts_with('#'));
            let mut count = 0;
            for line in values {
                let comment = line.split_once('#').map_or("", |(_, comment)| comment);
                assert!(TAGS.iter().any(|tag| comment.contains(tag)), "{line}");
                count += 1;
            }
            assert!(count > 60, "the preset was read: {count} values");
        }
    }

    #[test]
    fn the_paper_s_gpu_has_its_derived_sizes() {
        let gpu = GpuSpec::preset("tesla-16sm").unwrap();
        assert_eq!(gpu.warps_per_sm(), 32);
        assert_eq!(gpu.icache_sets(), 4, "4 KB, 4-way, 4 sets (section 5.1)");
        assert_eq!(gpu.icache.line_bytes / gpu.fetch.instruction_bytes, 32);
        assert_eq!(gpu.interval(gpu.units.sp.lanes), 4);
        assert_eq!(gpu.registers_per_sm(), 16384);
        assert_eq!(gpu.core_period_fs(), 769_230);
        assert_eq!(gpu.noc_ports(), 8);
    }
}
