//! Registers that are given out when values are written and taken back when values are dead.
//!
//! H. Jeon, "Resource Underutilization Exploitation for Power Efficient and Reliable Throughput Processor", USC 2015, chapter 2. Claim: 16 % fewer registers are
//! taken on average, and with subarrays switched off that hold none the static power of the register file falls by 47 %.
//!
//! The compiler finds where values die (`warpwatt_ptx::lifetime`) and says so in metadata instructions: a `pir` at each basic block and every 18 instructions, unless
//! nothing dies there, a `pbr` for every 9 registers that are released where paths meet. A renaming table maps the registers of a warp to physical ones from the first write of a
//! value to its release. What does not fit the table is not renamed.
//!
//! ```
//! let table = "allocation = \"wear\"\nwake_cycles = 3".parse().unwrap();
//! let technique = warpwatt_techniques::register_virtualization::DEFINITION.parse(&table);
//! assert_eq!(
//!     technique.unwrap().label(),
//!     "register_virtualization(allocation=wear, wake_cycles=3)"
//! );
//! ```

use warpwatt_circuit::CircuitError;
use warpwatt_gpu::{GpuSpec, Hooks, Run};
use warpwatt_reliability::{Journals, ProtectionFactory, Structure as Storage};

use crate::definition::unless;
use crate::parameter::{Choice, Handle, Values, choice};
use crate::register_file::parameters::{
    self, GATINGS, PIPELINE_CYCLES, RELEASE_FLAG_CACHE, RENAMING_TABLE_BYTES, SUBARRAYS,
    WAKE_CYCLES,
};
use crate::register_file::{Allocation, Domain, Management, Selection, Size, costs, stage};
use crate::registers_over_time::RegistersOverTime;
use crate::{Circuits, Claim, Definition, Fit, Judged, Metric, Parsed, Structure, Technique};

/// The technique in the registry.
pub static DEFINITION: Definition = Definition {
    name: "register_virtualization",
    summary: "registers are given out at the first write of a value and taken back at its death; empty subarrays are switched off",
    citation: "H. Jeon, \"Resource Underutilization Exploitation for Power Efficient and Reliable Throughput Processor\", USC 2015, chapter 2",
    parameters: &[
        RENAMING_TABLE_BYTES.declared(),
        RELEASE_FLAG_CACHE.declared(),
        ALLOCATION.declared(),
        GATING.declared(),
        WAKE_CYCLES.declared(),
        PIPELINE_CYCLES.declared(),
        SUBARRAYS.declared(),
    ],
    counters: &parameters::RENAMING_COUNTERS,
    metrics: &[
        Judged::headline("allocation_reduction"),
        Judged::lower("powered_share"),
        Judged::lower("wear_variation"),
        Judged::lower("wear_most_over_least"),
        Judged::lower("wear_most_over_mean"),
        Judged::higher("wear_lifetime"),
        Judged::lower("static_code_increase"),
        Judged::lower("dynamic_code_increase"),
        Judged::lower("dynamic_code_increase_without_cache"),
    ],
    configure,
};

const ALLOCATION: Choice<Allocation, 3> = choice(
    "allocation",
    [
        ("power", Allocation::Renamed(Selection::Powered)),
        ("wear", SPREAD),
        ("static", Allocation::Static),
    ],
    "power",
    "how a physical register is chosen in the bank that the compiler chose: in a subarray that has power, or round robin; \"static\" renames nothing",
);
const GATING: Choice<Option<Domain>, 3> = choice(
    "gating",
    GATINGS,
    "subarray",
    "what is switched off while it holds nothing; with allocation = \"wear\" not \"subarray\", and \"register\" if nothing is said",
);

/// Leaves no subarray empty for long.
const SPREAD: Allocation = Allocation::Renamed(Selection::RoundRobin);

/// A configured register virtualization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterVirtualization {
    management: Management,
    label: String,
}

fn configure(values: &Values) -> Parsed {
    let allocation = values.get(&ALLOCATION);
    let spread = allocation == SPREAD;
    let gating = match values.given(&GATING) {
        None if spread => Some(Domain::Register),
        _ => values.get(&GATING),
    };
    let mut problems = Vec::new();
    if spread && gating == Some(Domain::Subarray) {
        problems.push(GATING.refused(
            "round robin spreads registers over all subarrays, so that none could be switched off",
            "`gating = \"register\"` or `gating = \"none\"` with `allocation = \"wear\"`",
        ));
    }
    let management = Management {
        table_bytes: values.get(&RENAMING_TABLE_BYTES),
        flag_entries: values.get(&RELEASE_FLAG_CACHE),
        allocation,
        gating,
        wake_cycles: values.get(&WAKE_CYCLES),
        stage_cycles: values.get(&PIPELINE_CYCLES),
        subarrays: values.get(&SUBARRAYS),
        size: Size::Whole,
    };
    let label = values.label();
    unless(problems, RegisterVirtualization { management, label })
}

impl RegisterVirtualization {
    fn renames(&self) -> bool {
        self.management.allocation != Allocation::Static
    }
}

impl Technique for RegisterVirtualization {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    fn label(&self) -> String {
        self.label.clone()
    }

    /// A stage between issue and operand collection: everything's result comes so much later.
    fn reshape(&self, gpu: &mut GpuSpec) {
        if self.renames() {
            stage::lengthen(gpu, self.management.stage_cycles);
        }
    }

    fn fit(&self, gpu: &mut GpuSpec, circuits: &dyn Circuits) -> Result<Fit, CircuitError> {
        if !self.renames() {
            return Ok(Fit::default());
        }
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
        if self.renames() {
            costs::structures(&self.management, gpu)
        } else {
            Vec::new()
        }
    }

    fn alter(&self, gpu: &GpuSpec, structures: &mut [Structure]) {
        costs::gate(&self.management, gpu, structures);
    }

    fn metrics(&self, run: &Run) -> Vec<Metric> {
        let mut metrics = costs::metrics(DEFINITION.name, run);
        if self.renames() {
            metrics.extend(costs::metadata_metrics(DEFINITION.name, run));
        }
        metrics
    }

    fn claims(&self) -> &'static [Claim] {
        &[Claim::RegisterPlaces]
    }
}
