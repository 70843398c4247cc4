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

static PRESETS: [Preset; 9] = [
    Preset {
        name: "tesla-16sm",
        summary: "16 SMs of 8 lanes at 1.3 GHz, 1024 threads each, 6 memory controllers: the GT200-like GPU of the filter-cache paper",
        source: include_str!("../../presets/tesla-16sm.toml"),
        citation: "A. Lashgar, A. Baniasadi, A. Khonsari, \"Inter-Warp Instruction Temporal Locality in Deep-Multithreaded GPUs\", Table 3, sections 3.1 and 5.1",
    },
    Preset {
        name: "gtx285",
        summary: "30 SMs of 8 lanes at 1.3 GHz, 48 KB of L1, 4 MB of L2: the GTX285-like GPU of the uniform-vector paper",
        source: include_str!("../../presets/gtx285.toml"),
        citation: "P. Xiang et al., \"Exploiting Uniform Vector Instructions for GPGPU Performance, Energy Efficiency, and Opportunistic Reliability Enhancement\", ICS 2013, Table 1",
    },
    Preset {
        name: "gtx285-16lane",
        summary: "15 SMs of 16 lanes at 1.3 GHz: the wider GPU of the uniform-vector paper",
        source: include_str!("../../presets/gtx285-16lane.toml"),
        citation: "P. Xiang et al., ICS 2013, Table 1 and section 5.3",
    },
    Preset {
        name: "fermi-16sm",
        summary: "16 SMs of 48 warps and 128 KB of registers, two schedulers with a ready queue: the GPU of the register-virtualization work",
        source: include_str!("../../presets/fermi-16sm.toml"),
        citation: "H. Jeon, \"Resource Underutilization Exploitation for Power Efficient and Reliable Throughput Processor\", USC 2015, chapter 2",
    },
    Preset {
        name: "dmr-30sm",
        summary: "30 SMs of 32 lanes at 800 MHz: the GPU of Warped-DMR",
        source: include_str!("../../presets/dmr-30sm.toml"),
        citation: "H. Jeon, USC 2015, chapter 4, Table 4.3",
    },
    Preset {
        name: "softerror-28sm",
        summary: "28 SMs of width 32 without data caches, FR-FCFS memory: the GPU of the soft-error paper",
        source: include_str!("../../presets/softerror-28sm.toml"),
        citation: "J. Tan, Z. Li, X. Fu, \"Cost-Effective Soft-Error Protection for SRAM-Based Structures in GPGPUs\", CF 2013, section 4",
    },
    Preset {
        name: "gtx480",
        summary: "15 SMs at 700 MHz, 1536 threads each, two schedulers, 16 KB of L1, 768 KB of L2: a Fermi GTX 480 as GPGPU-Sim describes it",
        source: include_str!("../../presets/gtx480.toml"),
        citation: "GPGPU-Sim 4.2.0, tested configuration SM2_GTX480; M. Khairy et al., \"Accel-Sim\", ISCA 2020",
    },
    Preset {
        name: "v100",
        summary: "80 SMs of four sub-cores at 1132 MHz, 2048 threads each, 128 KB of L1 and shared memory, 6 MB of L2: a Volta V100 as GPGPU-Sim describes it",
        source: include_str!("../../presets/v100.toml"),
        citation: "GPGPU-Sim 4.2.0, tested configuration SM7_QV100; M. Khairy et al., \"Accel-Sim\", ISCA 2020",
    },
    Preset {
        name: "h200",
        summary: "132 SMs of four sub-cores at 1980 MHz, 256 KB of L1 and shared memory, 50 MB of L2, 4.8 TB/s: a Hopper H200",
        source: include_str!("../../presets/h200.toml"),
        citation: "NVIDIA H200 datasheet; W. Luo et al., \"Benchmarking and Dissecting the Nvidia Hopper GPU Architecture\", 2024",
    },
];

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

/// The value at `path`, `sm.threads`, in a GPU's table; `None` if there is none, or a table of them.
pub fn setting<'t>(table: &'t toml::Table, path: &str) -> Option<&'t toml::Value> {
    match path.split_once('.') {
        Some((first, rest)) => setting(table.get(first)?.as_table()?, rest),
        None => table.get(path).filter(|value| !value.is_table()),
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
        for preset in presets() {
            // The tags that the file explains at its head.
            let tags: Vec<&str> = preset
                .source
                .lines()
                .filter_map(|line| line.strip_prefix("#   ["))
                .filter_map(|line| line.split_once(']'))
                .map(|(tag, _)| tag)
                .collect();
            assert!(tags.len() > 1, "{}", preset.name);
            let values = preset
                .source
                .lines()
                .filter(|line| line.contains('=') && !line.starts_with('#'));
            let mut count = 0;
            for line in values {
                let comment = line.split_once('#').map_or("", |(_, comment)| comment);
                let tag = comment
                    .trim()
                    .strip_prefix('[')
                    .and_then(|rest| rest.split_once(']'));
                assert!(
                    tag.is_some_and(|(tag, _)| tags.contains(&tag)),
                    "{}: {line}",
                    preset.name
                );
                count += 1;
            }
            assert!(count > 120, "the preset was read: {count} values");
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
