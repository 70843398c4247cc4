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
//! let technique = warpwatt_techniques::register_shrink::DEFINITION.parse(&table);
//! assert_eq!(technique.unwrap().label(), "register_shrink(register_file_kb=64)");
//! ```

use warpwatt_circuit::CircuitError;
use warpwatt_gpu::{GpuSpec, Hooks, Run};
use warpwatt_reliability::{Journals, ProtectionFactory, Structure as Storage};

use crate::parameter::{Choice, choice};
use crate::register_file::parameters::{
    self, GATINGS, PIPELINE_CYCLES, RELEASE_FLAG_CACHE, RENAMING_TABLE_BYTES, SUBARRAYS,
    WAKE_CYCLES,
};
use crate::register_file::{
    Allocation, Domain, Management, REGISTER_FILE_KB, Selection, Size, costs, stage,
};
use crate::registers_over_time::RegistersOverTime;
use crate::{Circuits, Claim, Definition, Fit, Judged, Metric, Structure, Technique};

/// The technique in the registry.
pub static DEFINITION: Definition = Definition {
    name: "register_shrink",
    summary: "GPU-Shrink: a smaller register file with renaming, and a scheduler that holds warps back before it runs out",
    citation: "H. Jeon, \"Resource Underutilization Exploitation for Power Efficient and Reliable Throughput Processor\", USC 2015, chapter 3",
    parameters: &[
        REGISTER_FILE_KB.declared(),
        RENAMING_TABLE_BYTES.declared(),
        RELEASE_FLAG_CACHE.declared(),
        GATING.declared(),
        WAKE_CYCLES.declared(),
        PIPELINE_CYCLES.declared(),
        SUBARRAYS.declared(),
    ],
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
    configure: |values| {
        let management = Management {
            size: Size::of(values),
            allocation: Allocation::Renamed(Selection::Powered),
            table_bytes: values.get(&RENAMING_TABLE_BYTES),
            flag_entries: values.get(&RELEASE_FLAG_CACHE),
            gating: values.get(&GATING),
            wake_cycles: values.get(&WAKE_CYCLES),
            stage_cycles: values.get(&PIPELINE_CYCLES),
            subarrays: values.get(&SUBARRAYS),
        };
        Ok(Box::new(RegisterShrink {
            management,
            label: values.label(),
        }))
    },
};

const GATING: Choice<Option<Domain>, 3> = choice(
    "gating",
    GATINGS,
    "subarray",
    "what is switched off while it holds nothing",
);

/// A configured GPU-Shrink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterShrink {
    management: Management,
    label: String,
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

    fn adds_up(&self) -> bool {
        true
    }

    fn decides(&self) -> String {
        self.management.decides()
    }

    fn attached(&self) -> Vec<String> {
        self.management.attached()
    }

    fn attach(&self, gpu: &GpuSpec, hooks: &mut Hooks) {
        self.management.attach(gpu, hooks, None);
    }

    fn attach_over_time(&self, gpu: &GpuSpec, hooks: &mut Hooks, log: &RegistersOverTime) -> bool {
        self.management.attach_over_time(gpu, hooks, log);
        true
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
