//! Registers that are given out when values are written and taken back when values are dead.
//!
//! H. Jeon, "Resource Underutilization Exploitation for Power Efficient and Reliable Throughput Processor", USC 2015, chapter 2. Claim: 16 % fewer registers are
//! taken on average, and with subarrays switched off that hold none the static power of the register file falls by 47 %.
//!
//! The compiler finds where values die (`warpwatt_ptx::lifetime`) and says so in metadata instructions: a `pir` at each basic block and every 18 instructions,
//! a `pbr` for every 9 registers that are released where paths meet. A renaming table maps the registers of a warp to physical ones from the first write of a
//! value to its release. What does not fit the table is not renamed.
//!
//! ```
//! let table = "allocation = \"wear\"\nwake_cycles = 3".parse().unwrap();
//! let technique = (warpwatt_techniques::register_virtualization::DEFINITION.parse)(&table);
//! assert_eq!(
//!     technique.unwrap().label(),
//!     "register_virtualization(allocation=wear, wake_cycles=3)"
//! );
//! ```

use toml::Table;
use warpwatt_circuit::CircuitError;
use warpwatt_gpu::{GpuSpec, Hooks, Run};
use warpwatt_reliability::{Journals, ProtectionFactory, Structure as Storage};

use crate::register_file::{
    Allocation, Choice, Domain, Management, Size, costs, parameters, stage,
};
use crate::{
    Circuits, Claim, Definition, Fit, Judged, Kind, Metric, Parameter, Parsed, Reader, Structure,
    Technique,
};

/// The technique in the registry.
pub static DEFINITION: Definition = Definition {
    name: "register_virtualization",
    summary: "registers are given out at the first write of a value and taken back at its death; empty subarrays are switched off",
    citation: "H. Jeon, \"Resource Underutilization Exploitation for Power Efficient and Reliable Throughput Processor\", USC 2015, chapter 2",
    parameters: PARAMETERS,
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
    parse,
};

const PARAMETERS: &[Parameter] = &[
    parameters::RENAMING_TABLE_BYTES,
    parameters::RELEASE_FLAG_CACHE,
    Parameter {
        name: "allocation",
        kind: Kind::Choice(&["power", "wear", "static"]),
        default: "\"power\"",
        range: "\"power\", \"wear\" or \"static\"",
        meaning: "how a physical register is chosen in the bank that the compiler chose: in a subarray that has power, or round robin; \"static\" renames nothing",
    },
    Parameter {
        name: "gating",
        kind: Kind::Choice(&["subarray", "register", "none"]),
        default: "\"subarray\"",
        range: "\"subarray\", \"register\" or \"none\"",
        meaning: "what is switched off while it holds nothing; with allocation = \"wear\" not \"subarray\", and \"register\" if nothing is said",
    },
    parameters::WAKE_CYCLES,
    parameters::PIPELINE_CYCLES,
    parameters::SUBARRAYS,
];

/// A configured register virtualization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterVirtualization {
    management: Management,
    label: String,
}

fn parse(table: &Table) -> Parsed {
    let mut reader = Reader::new(table, PARAMETERS);
    let renamed = |choice| Allocation::Renamed(choice);
    let allocations = [
        ("power", renamed(Choice::Powered)),
        ("wear", renamed(Choice::RoundRobin)),
        ("static", Allocation::Static),
    ];
    let gatings = [
        ("subarray", Some(Domain::Subarray)),
        ("register", Some(Domain::Register)),
        ("none", None),
    ];
    let allocation = reader.choice("allocation", renamed(Choice::Powered), &allocations);
    let spread = allocation == renamed(Choice::RoundRobin);
    let usual = if spread {
        Domain::Register
    } else {
        Domain::Subarray
    };
    let management = Management {
        table_bytes: reader.count_or("renaming_table_bytes", "full", Some(1024), 16..=65_536),
        flag_entries: reader.count("release_flag_cache", 10, 0..=1024),
        allocation,
        gating: reader.choice("gating", Some(usual), &gatings),
        wake_cycles: reader.count("wake_cycles", 1, 0..=1000),
        stage_cycles: reader.count("pipeline_cycles", 1, 0..=8),
        subarrays: reader.count("subarrays", 4, 1..=64),
        size: Size::Whole,
    };
    if spread && management.gating == Some(Domain::Subarray) {
        reader.refuse(
            "gating",
            "round robin spreads registers over all subarrays, so that none could be switched off",
            "`gating = \"register\"` or `gating = \"none\"` with `allocation = \"wear\"`",
        );
    }
    let label = reader.label(DEFINITION.name, PARAMETERS);
    reader.finish(RegisterVirtualization { management, label })
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
