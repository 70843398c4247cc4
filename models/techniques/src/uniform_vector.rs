//! Uniform vectors: one lane computes what all lanes would, and results are reused among warps.
//!
//! P. Xiang, Y. Yang, M. Mantor, N. Rubin, L. Hsu, H. Zhou, "Exploiting Uniform Vector Instructions for GPGPU Performance, Energy Efficiency, and
//! Opportunistic Reliability Enhancement", ICS 2013. The claim: 12.0 % more performance and 12.7 % less energy on the average with tokens, 10.7 % and 12.2 %
//! with a scalar register file, for less than 0.01 % of the area.
//!
//! An instruction is uniform if the tokens of all its sources are set and all lanes of the warp are active. Its result is one value, held once; its
//! destination gets a token, as does that of a load from one address. Then one lane executes it, and the scheduler is free in the next cycle. A small buffer
//! holds results of uniform computations by partial address: a hit with equal operands skips execution.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let definition = warpwatt_techniques::find("uniform_vector").map_err(|_| "unknown")?;
//! let technique = (definition.parse)(&"design = \"srf\"\nsrf_entries = 64".parse()?).map_err(|_| "wrong parameters")?;
//! assert_eq!(technique.label(), "uniform_vector(design=srf, mode=combined, srf_entries=64)");
//! # Ok(())
//! # }
//! ```

mod code;
mod copies;
mod counts;
mod live;
mod notes;
mod pipeline;
mod reuse;
mod structures;

use toml::Table;
use warpwatt_circuit::CircuitError;
use warpwatt_gpu::{GpuSpec, Hooks, Run};
use warpwatt_reliability::{Journals, ProtectionFactory, Structure as Storage};

use crate::protection::attach_issue;
use crate::{
    Circuits, Claim, Definition, Fit, Judged, Kind, Metric, Parameter, Parsed, Reader, Structure,
    Technique,
};
use notes::Notes;
use pipeline::Pipeline;

/// The registry's entry.
pub static DEFINITION: Definition = Definition {
    name: "uniform_vector",
    summary: "one lane computes what all lanes would, and warps reuse each other's results",
    citation: "P. Xiang, Y. Yang, M. Mantor, N. Rubin, L. Hsu, H. Zhou, \"Exploiting Uniform Vector Instructions for GPGPU Performance, Energy Efficiency, and Opportunistic Reliability Enhancement\", section 3",
    parameters: &[
        Parameter {
            name: "design",
            kind: Kind::Choice(&["token", "srf"]),
            default: "\"token\"",
            range: "\"token\", \"srf\"",
            meaning: "where uniform vectors are held: in one lane of the vector register file, or in a scalar register file with renaming, a stage longer",
        },
        Parameter {
            name: "mode",
            kind: Kind::Choice(&["intra", "inter", "combined"]),
            default: "\"combined\"",
            range: "\"intra\", \"inter\", \"combined\"",
            meaning: "what is saved: lanes of uniform instructions, executions that the reuse buffer makes needless, or both",
        },
        Parameter {
            name: "srf_entries",
            kind: Kind::CountOr("unlimited"),
            default: "128",
            range: "1 to 4096, or \"unlimited\"",
            meaning: "scalar registers of an SM; only with design = \"srf\"",
        },
        Parameter {
            name: "irb_entries",
            kind: Kind::Count,
            default: "8",
            range: "1 to 64",
            meaning: "entries of the reuse buffer; not with mode = \"intra\"",
        },
        Parameter {
            name: "irb_tag_bits",
            kind: Kind::Count,
            default: "10",
            range: "1 to 32",
            meaning: "lower bits of the instruction's number that are its tag in the reuse buffer",
        },
        Parameter {
            name: "irb_value_bits",
            kind: Kind::Count,
            default: "32",
            range: "32 to 64",
            meaning: "bits of each value in the reuse buffer; wider values are not reused",
        },
        Parameter {
            name: "irb_early",
            kind: Kind::Flag,
            default: "false",
            range: "true, false",
            meaning: "for comparison: the reuse buffer has a result a cycle after the issue, as a simulator has it that executes at issue, and not when it is computed",
        },
        Parameter {
            name: "convert",
            kind: Kind::Choice(&["all", "computations"]),
            default: "\"computations\"",
            range: "\"computations\", \"all\"",
            meaning: "which uniform instructions issue in one cycle: computations alone, or branches, loads and stores too",
        },
        Parameter {
            name: "reliability",
            kind: Kind::Flag,
            default: "false",
            range: "true, false",
            meaning: "a second lane repeats uniform computations, results are held twice, entries of the reuse buffer have parity",
        },
    ],
    counters: counts::COUNTERS,
    metrics: &[
        Judged::headline("redundant.intra"),
        Judged::higher("reuse_rate"),
        Judged::higher("alu_coverage"),
        Judged::higher("alu_coverage.of_instructions"),
        Judged::higher("vrf_coverage"),
        Judged::higher("vrf_coverage.of_words"),
        Judged::higher("vrf_coverage.loaded"),
    ],
    parse,
};

/// Where uniform vectors are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Design {
    Token,
    Srf,
}

/// What is saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Intra,
    Inter,
    Combined,
}

/// The configured technique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UniformVector {
    design: Design,
    mode: Mode,
    srf_entries: Option<u32>,
    irb_entries: u32,
    irb_tag_bits: u32,
    irb_value_bits: u32,
    irb_early: bool,
    convert: Convert,
    reliability: bool,
}

/// Which uniform instructions one lane does for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Convert {
    All,
    Computations,
}

impl Default for UniformVector {
    fn default() -> Self {
        Self {
            design: Design::Token,
            mode: Mode::Combined,
            srf_entries: Some(128),
            irb_entries: 8,
            irb_tag_bits: 10,
            irb_value_bits: 32,
            irb_early: false,
            convert: Convert::Computations,
            reliability: false,
        }
    }
}

fn parse(table: &Table) -> Parsed {
    let mut reader = Reader::new(table, DEFINITION.parameters);
    let default = UniformVector::default();
    let designs = [("token", Design::Token), ("srf", Design::Srf)];
    let modes = [
        ("intra", Mode::Intra),
        ("inter", Mode::Inter),
        ("combined", Mode::Combined),
    ];
    let technique = UniformVector {
        design: reader.choice("design", default.design, &designs),
        mode: reader.choice("mode", default.mode, &modes),
        srf_entries: reader.count_or("srf_entries", "unlimited", default.srf_entries, 1..=4096),
        irb_entries: reader.count("irb_entries", default.irb_entries, 1..=64),
        irb_tag_bits: reader.count("irb_tag_bits", default.irb_tag_bits, 1..=32),
        irb_value_bits: reader.count("irb_value_bits", default.irb_value_bits, 32..=64),
        irb_early: reader.flag("irb_early", default.irb_early),
        convert: reader.choice(
            "convert",
            default.convert,
            &[
                ("all", Convert::All),
                ("computations", Convert::Computations),
            ],
        ),
        reliability: reader.flag("reliability", default.reliability),
    };
    reader.finish(technique)
}

impl Technique for UniformVector {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    fn label(&self) -> String {
        let default = Self::default();
        let design = match self.design {
            Design::Token => "token",
            Design::Srf => "srf",
        };
        let mode = match self.mode {
            Mode::Intra => "intra",
            Mode::Inter => "inter",
            Mode::Combined => "combined",
        };
        let mut parts = vec![format!("design={design}"), format!("mode={mode}")];
        if self.srf_entries != default.srf_entries {
            let entries = self
                .srf_entries
                .map_or_else(|| "unlimited".to_owned(), |entries| entries.to_string());
            parts.push(format!("srf_entries={entries}"));
        }
        for (name, value, usual) in [
            ("irb_entries", self.irb_entries, default.irb_entries),
            ("irb_tag_bits", self.irb_tag_bits, default.irb_tag_bits),
            (
                "irb_value_bits",
                self.irb_value_bits,
                default.irb_value_bits,
            ),
        ] {
            if value != usual {
                parts.push(format!("{name}={value}"));
            }
        }
        for (said, what) in [
            (self.irb_early, "irb_early=true"),
            (self.convert != default.convert, "convert=all"),
            (self.reliability, "reliability=true"),
        ] {
            if said {
                parts.push(what.to_owned());
            }
        }
        format!("uniform_vector({})", parts.join(", "))
    }

    fn reshape(&self, gpu: &mut GpuSpec) {
        if self.design == Design::Srf {
            gpu.fetch.decode_cycles += 1;
        }
    }

    fn fit(&self, gpu: &mut GpuSpec, circuits: &dyn Circuits) -> Result<Fit, CircuitError> {
        self.fit_of(gpu, circuits)
    }

    fn attach(&self, gpu: &GpuSpec, hooks: &mut Hooks) {
        let (settings, warps) = (*self, gpu.warps_per_sm());
        let bytes = gpu.fetch.instruction_bytes;
        hooks.issue.push(Box::new(move |_| {
            Box::new(Pipeline::new(settings, warps, bytes))
        }));
    }

    /// With `reliability`, what is held twice tells of a flip in either copy, not which of them is right; what the parity bit of the reuse buffer finds wrong is
    /// executed.
    fn attach_protecting(
        &self,
        gpu: &GpuSpec,
        hooks: &mut Hooks,
        journals: &Journals,
    ) -> Option<ProtectionFactory> {
        let (settings, warps, journals) = (*self, gpu.warps_per_sm(), journals.clone());
        let (bytes, bits) = (gpu.fetch.instruction_bytes, self.renamed_bits(gpu));
        let pipeline = move |sm| {
            let journal = journals.of(sm);
            Pipeline::new(settings, warps, bytes).noting(Notes { journal, bits })
        };
        if self.reliability {
            return Some(attach_issue(hooks, move |sm| pipeline(sm).guarding()));
        }
        hooks.issue.push(Box::new(move |sm| Box::new(pipeline(sm))));
        None
    }

    fn storage(&self, gpu: &GpuSpec) -> Vec<(Storage, u64)> {
        self.storage_of(gpu)
    }

    fn needs_values(&self) -> bool {
        true
    }

    fn structures(&self, gpu: &GpuSpec) -> Vec<Structure> {
        self.structures_of(gpu)
    }

    fn metrics(&self, run: &Run) -> Vec<Metric> {
        let count = |name: &str| run.activity.get(name);
        let uniform = count("uniform_vector_computations");
        let (reused, missed) = (
            count("uniform_vector_reused"),
            count("uniform_vector_missed"),
        );
        let (threads, instructions) = (count("thread_instructions"), count("warp_instructions"));
        let share = |name: &str, part: u64, whole: u64| {
            Metric::ratio(format!("uniform_vector.{name}"), part, whole)
        };
        let mut metrics = vec![
            share("redundant.intra", 31 * uniform, threads),
            share("redundant.missed", 31 * missed, threads),
            share("copies", count("uniform_vector_copies"), instructions),
            share(
                "copies_of_sources",
                count("uniform_vector_copies_of_sources"),
                instructions,
            ),
            share(
                "copies_of_sources.guarded",
                count("uniform_vector_copies_guarded"),
                instructions,
            ),
        ];
        if self.mode != Mode::Intra {
            metrics.extend([
                share("redundant.inter", 32 * reused, threads),
                share("redundant.combined", 31 * uniform + reused, threads),
                share("reuse_rate", reused, uniform),
                share("too_wide", count("uniform_vector_too_wide"), uniform),
            ]);
        }
        if self.design == Design::Srf {
            let structural = count("uniform_vector_structural");
            metrics.push(share(
                "no_scalar_register",
                structural,
                structural + uniform,
            ));
        }
        if self.reliability {
            metrics.extend([
                share(
                    "alu_coverage",
                    32 * uniform,
                    count("uniform_vector_computed_lanes"),
                ),
                share("alu_coverage.of_instructions", 32 * uniform, threads),
                share(
                    "vrf_coverage",
                    count("uniform_vector_duplicate_cycles"),
                    count("uniform_vector_live_cycles"),
                ),
                share(
                    "vrf_coverage.of_words",
                    count("uniform_vector_duplicate_cycles")
                        - count("uniform_vector_duplicate_half_cycles"),
                    count("uniform_vector_live_cycles") - count("uniform_vector_live_half_cycles"),
                ),
                share(
                    "vrf_coverage.loaded",
                    count("uniform_vector_duplicate_loaded_cycles"),
                    count("uniform_vector_live_cycles"),
                ),
            ]);
        }
        metrics
    }

    fn claims(&self) -> &'static [Claim] {
        &[Claim::Scalars, Claim::Operands]
    }
}
