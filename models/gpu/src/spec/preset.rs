//! The GPUs that ship.

use toml::{Table, Value};

use super::{GpuSpec, Lowering, SpecProblem};

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

static PRESETS: [Preset; 19] = [
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
        name: "gtx-titan-x",
        summary: "24 SMs of four sub-cores at 1075 MHz, 48 KB of L1, 3 MB of L2, 336 GB/s: a Maxwell GTX TITAN X",
        source: include_str!("../../presets/gtx-titan-x.toml"),
        citation: "NVIDIA GeForce GTX TITAN X specifications; Z. Jia et al., \"Dissecting the NVidia Turing T4 GPU via Microbenchmarking\", 2019",
    },
    Preset {
        name: "titan-x-pascal",
        summary: "28 SMs of four sub-cores at 1531 MHz, 48 KB of L1, 3 MB of L2, 480 GB/s: a Pascal TITAN X",
        source: include_str!("../../presets/titan-x-pascal.toml"),
        citation: "NVIDIA TITAN X specifications; GPGPU-Sim, tested configuration SM6_TITANX",
    },
    Preset {
        name: "titan-xp",
        summary: "30 SMs of four sub-cores at 1582 MHz, 48 KB of L1, 3 MB of L2, 548 GB/s: a Pascal TITAN Xp",
        source: include_str!("../../presets/titan-xp.toml"),
        citation: "NVIDIA TITAN Xp specifications; GPGPU-Sim, tested configuration SM6_TITANX",
    },
    Preset {
        name: "v100",
        summary: "80 SMs of four sub-cores at 1132 MHz, 2048 threads each, 128 KB of L1 and shared memory, 6 MB of L2: a Volta V100 as GPGPU-Sim describes it",
        source: include_str!("../../presets/v100.toml"),
        citation: "GPGPU-Sim 4.2.0, tested configuration SM7_QV100; M. Khairy et al., \"Accel-Sim\", ISCA 2020",
    },
    Preset {
        name: "titan-v",
        summary: "80 SMs of four sub-cores at 1455 MHz, 128 KB of L1 and shared memory, 4.5 MB of L2, 653 GB/s: a Volta TITAN V",
        source: include_str!("../../presets/titan-v.toml"),
        citation: "NVIDIA TITAN V specifications; GPGPU-Sim, tested configuration SM7_TITANV; RRZE-HPC, gpu-benches",
    },
    Preset {
        name: "rtx2060s",
        summary: "34 SMs of four sub-cores at 1650 MHz, 96 KB of L1 and shared memory, 4 MB of L2, 448 GB/s: a Turing RTX 2060 SUPER",
        source: include_str!("../../presets/rtx2060s.toml"),
        citation: "NVIDIA GeForce RTX 2060 SUPER specifications; GPGPU-Sim, tested configuration SM75_RTX2060_S",
    },
    Preset {
        name: "a100",
        summary: "108 SMs of four sub-cores at 1410 MHz, 192 KB of L1 and shared memory, 40 MB of L2, 1.6 TB/s: an Ampere A100 of 40 GB",
        source: include_str!("../../presets/a100.toml"),
        citation: "NVIDIA A100 whitepaper; RRZE-HPC, gpu-benches; GPGPU-Sim, configuration SM80_A100",
    },
    Preset {
        name: "h100",
        summary: "132 SMs of four sub-cores at 1980 MHz, 256 KB of L1 and shared memory, 50 MB of L2, 3.4 TB/s: a Hopper H100 SXM5",
        source: include_str!("../../presets/h100.toml"),
        citation: "NVIDIA H100 whitepaper; W. Luo et al., \"Benchmarking and Dissecting the Nvidia Hopper GPU Architecture\", 2024",
    },
    Preset {
        name: "h200",
        summary: "132 SMs of four sub-cores at 1980 MHz, 256 KB of L1 and shared memory, 60 MB of L2, 4.8 TB/s: a Hopper H200",
        source: include_str!("../../presets/h200.toml"),
        citation: "NVIDIA H200 datasheet; W. Luo et al., \"Benchmarking and Dissecting the Nvidia Hopper GPU Architecture\", 2024",
    },
    Preset {
        name: "tahiti",
        summary: "32 compute units of four 16-lane SIMDs at 925 MHz, wavefronts of 64, a scalar unit, 16 KB of L1, 768 KB of L2, 264 GB/s: an AMD Radeon HD 7970",
        source: include_str!("../../presets/tahiti.toml"),
        citation: "AMD Radeon HD 7970 specifications; AMD, \"AMD Graphics Core Next (GCN) Architecture\", 2012; CLRX, \"GCN ISA Instruction Timings\"",
    },
    Preset {
        name: "miaow",
        summary: "one compute unit at 222 MHz: a scalar unit, four integer and four floating-point units of 16 lanes, a memory of fixed delay: MIAOW by its paper",
        source: include_str!("../../presets/miaow.toml"),
        citation: "R. Balasubramanian et al., \"Enabling GPGPU Low-Level Hardware Explorations with MIAOW\", ACM TACO 12(2), 2015, section 2 and Tables V and VII",
    },
    Preset {
        name: "miaow-rtl",
        summary: "the same with the latencies of its released RTL, which floating-point units keep for 43 to 155 cycles, and a memory of one cycle",
        source: include_str!("../../presets/miaow-rtl.toml"),
        citation: "R. Balasubramanian et al., ACM TACO 12(2), 2015, and cycles of small programs on the released RTL under a simulator",
    },
];

/// All presets, in the order of `warpwatt list presets`.
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

impl Preset {
    /// The preset's table with its own lowering, for overrides to be merged into.
    pub fn table(&self) -> Table {
        self.table_lowered(None)
    }

    /// The preset's table with that lowering, or its own. What holds with one alone stands in a table of its name: the preset of a simulator's GPU, which runs
    /// PTX, says there what the card has otherwise, which runs machine code.
    ///
    /// # Panics
    /// Never: a test reads every preset.
    pub fn table_lowered(&self, lower: Option<Lowering>) -> Table {
        let mut table: Table = self.source.parse().expect("presets are valid TOML");
        if let Some(lower) = lower {
            table.insert("lower".to_owned(), lower.name().into());
        }
        let lower = table["lower"].as_str().map(str::to_owned);
        for name in Lowering::NAMES {
            match table.remove(*name) {
                Some(Value::Table(own)) if lower.as_deref() == Some(name) => {
                    merge(&mut table, own);
                }
                _ => {}
            }
        }
        table
    }

    /// The preset as it is.
    ///
    /// # Errors
    /// Never for a preset that ships.
    pub fn spec(&self) -> Result<GpuSpec, Vec<SpecProblem>> {
        GpuSpec::from_table(self.table())
    }
}

/// Sets in `table` what `own` has.
fn merge(table: &mut Table, own: Table) {
    for (key, value) in own {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(own)) => merge(inner, own),
            (_, value) => _ = table.insert(key, value),
        }
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

    /// The same, with that lowering.
    pub fn preset_lowered(name: &str, lower: Lowering) -> Option<Self> {
        let preset = PRESETS.iter().find(|preset| preset.name == name)?;
        Self::from_table(preset.table_lowered(Some(lower))).ok()
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

    /// Data sheets: Tflop/s of single precision at the preset's clock, GB/s of memory.
    const DATA_SHEETS: [(&str, f64, f64); 11] = [
        ("gtx480", 1.345, 177.4),
        ("gtx-titan-x", 6.6, 336.5),
        ("titan-x-pascal", 10.97, 480.0),
        ("titan-xp", 12.15, 547.6),
        ("v100", 11.59, 870.0),
        ("titan-v", 14.9, 652.8),
        ("rtx2060s", 7.18, 448.0),
        ("a100", 19.5, 1555.0),
        ("h100", 66.9, 3350.0),
        ("h200", 66.9, 4800.0),
        ("tahiti", 3.789, 264.0),
    ];

    fn near(name: &str, ours: f64, sheet: f64) {
        assert!((ours / sheet - 1.0).abs() < 0.05, "{name}: {ours}, {sheet}");
    }

    /// Lanes that take a multiply-add in a cycle, by the interval of a warp.
    fn multiply_adds(gpu: &GpuSpec) -> u32 {
        let units = &gpu.units.sp;
        let interval = gpu.interval(units.lanes).max(gpu.timing.fp32.mad.interval);
        units.count * gpu.sm.warp_width / interval
    }

    #[test]
    fn products_have_the_peaks_of_their_data_sheets() {
        for (name, tflops, bandwidth) in DATA_SHEETS {
            let gpu = GpuSpec::preset(name).unwrap();
            let lanes = f64::from(gpu.sm.count * multiply_adds(&gpu));
            near(name, 2e-6 * lanes * f64::from(gpu.sm.clock_mhz), tflops);
            let dram = &gpu.dram;
            let channels = 1e-3 * f64::from(dram.controllers) * f64::from(dram.clock_mhz);
            near(name, channels * f64::from(dram.bytes_per_cycle), bandwidth);
            // Of an atom that is two sectors, one is thrown away: GPGPU-Sim's GTX 480 loses half of its bandwidth so.
            if name != "gtx480" {
                let sectors = f64::from(crate::SECTOR_BYTES) / f64::from(dram.burst);
                near(name, channels * sectors, bandwidth);
            }
        }
        let all = presets().iter().map(|preset| preset.spec().unwrap());
        let products = all.filter(|gpu| gpu.chip.inventory == crate::Inventory::Chip);
        assert_eq!(products.count(), DATA_SHEETS.len());
    }

    /// Lanes that are priced are those that timing has work for; a GTX 480's go twice a cycle.
    #[test]
    fn products_are_priced_with_the_lanes_that_work() {
        for (name, ..) in DATA_SHEETS {
            let gpu = GpuSpec::preset(name).unwrap();
            let passes = if name == "gtx480" { 2 } else { 1 };
            assert_eq!(multiply_adds(&gpu), passes * gpu.chip.fp32_lanes, "{name}");
        }
    }
}
