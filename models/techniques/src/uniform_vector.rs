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
//! let technique = definition.parse(&"design = \"srf\"\nsrf_entries = 64".parse()?).map_err(|_| "wrong parameters")?;
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

use warpwatt_circuit::CircuitError;
use warpwatt_gpu::{GpuSpec, Hooks, Run};
use warpwatt_reliability::{Journals, ProtectionFactory, Structure as Storage};

use crate::compiled::needs_facts;
use crate::definition::unless;
use crate::parameter::{
    Choice, Count, CountOr, Flag, Handle, Values, choice, count, count_or, flag,
};
use crate::protection::attach_issue;
use crate::{Circuits, Claim, Definition, Fit, Judged, Metric, Parsed, Structure, Technique};
use notes::Notes;
use pipeline::Pipeline;

/// The registry's entry.
pub static DEFINITION: Definition = Definition {
    name: "uniform_vector",
    summary: "one lane computes what all lanes would, and warps reuse each other's results",
    citation: "P. Xiang, Y. Yang, M. Mantor, N. Rubin, L. Hsu, H. Zhou, \"Exploiting Uniform Vector Instructions for GPGPU Performance, Energy Efficiency, and Opportunistic Reliability Enhancement\", section 3",
    parameters: &[
        DESIGN.declared(),
        MODE.declared(),
        SRF_ENTRIES.declared(),
        IRB_ENTRIES.declared(),
        IRB_TAG_BITS.declared(),
        IRB_VALUE_BITS.declared(),
        IRB_EARLY.declared(),
        CONVERT.declared(),
        RELIABILITY.declared(),
        PARITY.declared(),
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
    configure,
};

const DESIGN: Choice<Design, 2> = choice(
    "design",
    [("token", Design::Token), ("srf", Design::Srf)],
    "token",
    "where uniform vectors are held: in one lane of the vector register file, or in a scalar register file with renaming, a stage longer",
)
.labelled();
const MODE: Choice<Mode, 3> = choice(
    "mode",
    [
        ("intra", Mode::Intra),
        ("inter", Mode::Inter),
        ("combined", Mode::Combined),
    ],
    "combined",
    "what is saved: lanes of uniform instructions, executions that the reuse buffer makes needless, or both",
)
.labelled();
const SRF_ENTRIES: CountOr = count_or(
    "srf_entries",
    Some(128),
    1..=4096,
    "unlimited",
    "scalar registers of an SM; only with design = \"srf\"",
);
const IRB_ENTRIES: Count = count(
    "irb_entries",
    8,
    1..=64,
    "entries of the reuse buffer; not with mode = \"intra\"",
);
const IRB_TAG_BITS: Count = count(
    "irb_tag_bits",
    10,
    1..=32,
    "lower bits of the instruction's number that are its tag in the reuse buffer",
);
const IRB_VALUE_BITS: Count = count(
    "irb_value_bits",
    32,
    32..=64,
    "bits of each value in the reuse buffer; wider values are not reused",
);
const IRB_EARLY: Flag = flag(
    "irb_early",
    false,
    "for comparison: the reuse buffer has a result a cycle after the issue, as a simulator has it that executes at issue, and not when it is computed",
);
const CONVERT: Choice<Convert, 2> = choice(
    "convert",
    [
        ("computations", Convert::Computations),
        ("all", Convert::All),
    ],
    "computations",
    "which uniform instructions issue in one cycle: computations alone, or branches, loads and stores too",
);
const RELIABILITY: Flag = flag(
    "reliability",
    false,
    "a second lane repeats uniform computations, results are held twice, entries of the reuse buffer have parity",
);

const PARITY: Flag = flag(
    "parity",
    false,
    "a parity bit beside each copy of a value that is held twice says which of two that differ is right; only with reliability = true",
);

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
#[derive(Clone, Debug, PartialEq, Eq)]
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
    parity: bool,
    label: String,
}

fn configure(values: &Values) -> Parsed {
    let technique = UniformVector {
        design: values.get(&DESIGN),
        mode: values.get(&MODE),
        srf_entries: values.get(&SRF_ENTRIES),
        irb_entries: values.get(&IRB_ENTRIES),
        irb_tag_bits: values.get(&IRB_TAG_BITS),
        irb_value_bits: values.get(&IRB_VALUE_BITS),
        irb_early: values.get(&IRB_EARLY),
        convert: values.get(&CONVERT),
        reliability: values.get(&RELIABILITY),
        parity: values.get(&PARITY),
        label: values.label(),
    };
    let mut problems = Vec::new();
    if technique.parity && !technique.reliability {
        problems.push(PARITY.refused(
            "it chooses between two copies, of which there is one",
            "write `reliability = true` beside it",
        ));
    }
    unless(problems, technique)
}

/// Which uniform instructions one lane does for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Convert {
    All,
    Computations,
}

impl Technique for UniformVector {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    fn label(&self) -> String {
        self.label.clone()
    }

    fn reshape(&self, gpu: &mut GpuSpec) {
        if self.design == Design::Srf {
            gpu.fetch.decode_cycles += 1;
        }
    }

    fn fit(&self, gpu: &mut GpuSpec, circuits: &dyn Circuits) -> Result<Fit, CircuitError> {
        self.fit_of(gpu, circuits)
    }

    fn adds_up(&self) -> bool {
        true
    }

    fn attach(&self, gpu: &GpuSpec, hooks: &mut Hooks) {
        needs_facts(hooks, "digests of operands");
        let (settings, warps) = (self.clone(), gpu.warps_per_sm());
        let bytes = gpu.fetch.instruction_bytes;
        hooks.issue.push(Box::new(move |_| {
            Box::new(Pipeline::new(settings.clone(), warps, bytes))
        }));
    }

    /// With `reliability`, what is held twice tells of a flip in either copy, and with `parity` which of them is right; what the parity bit of the reuse buffer finds
    /// wrong is executed.
    fn attach_protecting(
        &self,
        gpu: &GpuSpec,
        hooks: &mut Hooks,
        journals: &Journals,
    ) -> Option<ProtectionFactory> {
        needs_facts(hooks, "digests of operands");
        let (settings, warps, journals) = (self.clone(), gpu.warps_per_sm(), journals.clone());
        let (bytes, bits) = (gpu.fetch.instruction_bytes, self.renamed_bits(gpu));
        let pipeline = move |sm| {
            let journal = journals.of(sm);
            Pipeline::new(settings.clone(), warps, bytes).noting(Notes { journal, bits })
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
