//! GPU-Shrink: a register file smaller than what programs see, with a scheduler that holds warps back before registers run out.
//!
//! H. Jeon, "Resource Underutilization Exploitation for Power Efficient and Reliable Throughput Processor", USC 2015, chapter 3. Claim: half the register file
//! costs 0.58 % of the time on average and, with empty subarrays switched off, saves 42 % of the register file's energy.
//!
//! CTAs come to an SM by the limits of the file that programs see. Registers are given out and taken back as in
//! [`register_virtualization`](crate::register_virtualization). Algorithm 1 holds back instructions that want a register which the CTA with the most of them may
//! still come to need. Where not even one CTA fits, warps that wait make room: their registers go to memory and come back, as accesses of the warp's width.
//!
//! ```
//! let table = "register_file_kb = 64".parse().unwrap();
//! let technique = (warpwatt_techniques::register_shrink::DEFINITION.parse)(&table);
//! assert_eq!(technique.unwrap().label(), "register_shrink(register_file_kb=64)");
//! ```

use toml::Table;
use warpwatt_circuit::CircuitError;
use warpwatt_gpu::{GpuSpec, Hooks, Run};
use warpwatt_reliability::{Journals, ProtectionFactory, Structure as Storage};

use crate::register_file::{
    Allocation, Choice, Domain, Management, REGISTER_FILE_KB, Size, costs, parameters, stage,
};
use crate::{
    Circuits, Claim, Definition, Fit, Judged, Kind, Metric, Parameter, Parsed, Reader, Structure,
    Technique,
};

/// The technique in the registry.
pub static DEFINITION: Definition = Definition {
    name: "register_shrink",
    summary: "GPU-Shrink: a smaller register file with renaming, and a scheduler that holds warps back before it runs out",
    citation: "H. Jeon, \"Resource Underutilization Exploitation for Power Efficient and Reliable Throughput Processor\", USC 2015, chapter 3",
    parameters: PARAMETERS,
    counters: &parameters::SHRUNK_COUNTERS,
    metrics: &[
        Judged::headline("allocation_reduction"),
        Judged::headline_low("spilled"),
        Judged::lower("powered_share"),
        Judged::lower("wear_variation"),
        Judged::lower("wear_most_over_least"),
        Judged::lower("wear_most_over_mean"),
        Judged::higher("wear_lifetime"),
        Judged::lower("static_code_increase"),
        Judged::lower("dynamic_code_increase"),
        Judged::lower("dynamic_code_increase_without_cache"),
        Judged::lower("throttled"),
        Judged::lower("throttled_cycles_each"),
    ],
    parse,
};

const PARAMETERS: &[Parameter] = &[
    REGISTER_FILE_KB,
    parameters::RENAMING_TABLE_BYTES,
    parameters::RELEASE_FLAG_CACHE,
    Parameter {
        name: "gating",
        kind: Kind::Choice(&["subarray", "register", "none"]),
        default: "\"subarray\"",
        range: "\"subarray\", \"register\" or \"none\"",
        meaning: "what is switched off while it holds nothing",
    },
    parameters::WAKE_CYCLES,
    parameters::PIPELINE_CYCLES,
    parameters::SUBARRAYS,
];

/// A configured GPU-Shrink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterShrink {
    management: Management,
    label: String,
}

fn parse(table: &Table) -> Parsed {
    let mut reader = Reader::new(table, PARAMETERS);
    let gatings = [
        ("subarray", Some(Domain::Subarray)),
        ("register", Some(Domain::Register)),
        ("none", None),
    ];
    let management = Management {
        size: Size::read(&mut reader),
        allocation: Allocation::Renamed(Choice::Powered),
        table_bytes: reader.count_or("renaming_table_bytes", "full", Some(1024), 16..=65_536),
        flag_entries: reader.count("release_flag_cache", 10, 0..=1024),
        gating: reader.choice("gating", Some(Domain::Subarray), &gatings),
        wake_cycles: reader.count("wake_cycles", 1, 0..=1000),
        stage_cycles: reader.count("pipeline_cycles", 1, 0..=8),
        subarrays: reader.count("subarrays", 4, 1..=64),
    };
    let label = reader.label(DEFINITION.name, PARAMETERS);
    reader.finish(RegisterShrink { management, label })
}

impl Technique for RegisterShrink {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    fn label(&self) -> String {
        self.label.clone()
    }

    fn reshape(&self, gpu: &mut GpuSpec) {
        stage::lengthen(gpu, self.management.stage_cycles);
    }

    fn fit(&self, gpu: &mut GpuSpec, circuits: &dyn Circuits) -> Result<Fit, CircuitError> {
        self.management.size.check(gpu)?;
        stage::fit(&self.management, gpu, circuits)
    }

    fn attach(&self, gpu: &GpuSpec, hooks: &mut Hooks) {
        self.management.attach(gpu, hooks, None);
    }

    fn attach_protecting(
        &self,
        gpu: &GpuSpec,
        hooks: &mut Hooks,
        journals: &Journals,
    ) -> Option<ProtectionFactory> {
        self.management.attach(gpu, hooks, Some(journals));
        None
    }

    fn storage(&self, gpu: &GpuSpec) -> Vec<(Storage, u64)> {
        self.management.storage(gpu)
    }

    fn structures(&self, gpu: &GpuSpec) -> Vec<Structure> {
        let mut structures = costs::structures(&self.management, gpu);
        structures.push(costs::balance(&self.management, gpu));
        structures
    }

    fn alter(&self, gpu: &GpuSpec, structures: &mut [Structure]) {
        self.management.size.resize(gpu, structures);
        costs::gate(&self.management, gpu, structures);
    }

    fn metrics(&self, run: &Run) -> Vec<Metric> {
        let mut metrics = costs::metrics(DEFINITION.name, run);
        metrics.extend(costs::metadata_metrics(DEFINITION.name, run));
        metrics.extend(costs::hold_metrics(DEFINITION.name, run));
        metrics
    }

    fn claims(&self) -> &'static [Claim] {
        &[Claim::RegisterPlaces, Claim::RegisterFileSize]
    }
}
