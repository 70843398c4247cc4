//! Parts of the register file that hold no register of a resident CTA are switched off.
//!
//! What CACTI-P (S. Li, K. Chen, J. H. Ahn, J. B. Brockman, N. P. Jouppi, ICCAD 2011) offers to a register file whose registers are given out at the launch of a
//! CTA and taken back at its end: the comparison for [`register_virtualization`](crate::register_virtualization), which knows more.
//!
//! ```
//! let technique = warpwatt_techniques::power_gating::DEFINITION.parse(&Default::default());
//! assert_eq!(technique.unwrap().label(), "power_gating");
//! ```

use warpwatt_gpu::{GpuSpec, Hooks, Run};

use crate::parameter::{Choice, choice};
use crate::register_file::parameters::{self, SUBARRAYS};
use crate::register_file::{Allocation, Domain, Management, Size, costs};
use crate::registers_over_time::RegistersOverTime;
use crate::{Claim, Definition, Judged, Metric, Structure, Technique};

/// The technique in the registry.
pub static DEFINITION: Definition = Definition {
    name: "power_gating",
    summary: "subarrays or registers of the register file that belong to no resident CTA are switched off",
    citation: "S. Li, K. Chen, J. H. Ahn, J. B. Brockman, N. P. Jouppi, \"CACTI-P: Architecture-Level Modeling for SRAM-based Structures with Advanced Leakage Reduction Techniques\", ICCAD 2011",
    parameters: &[GATING.declared(), SUBARRAYS.declared()],
    counters: &parameters::COUNTERS,
    metrics: &[
        Judged::headline_low("powered_share"),
        Judged::higher("allocation_reduction"),
        Judged::lower("wear_variation"),
        Judged::lower("wear_most_over_least"),
        Judged::lower("wear_most_over_mean"),
        Judged::higher("wear_lifetime"),
    ],
    configure: |values| {
        let management = Management {
            allocation: Allocation::Static,
            gating: Some(values.get(&GATING)),
            table_bytes: None,
            flag_entries: 0,
            stage_cycles: 0,
            wake_cycles: 0,
            subarrays: values.get(&SUBARRAYS),
            size: Size::Whole,
        };
        Ok(Box::new(PowerGating {
            management,
            label: values.label(),
        }))
    },
};

const GATING: Choice<Domain, 2> = choice(
    "gating",
    [
        ("subarray", Domain::Subarray),
        ("register", Domain::Register),
    ],
    "subarray",
    "what is switched off while it holds nothing",
);

/// A configured power gating.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerGating {
    management: Management,
    label: String,
}

impl Technique for PowerGating {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    fn label(&self) -> String {
        self.label.clone()
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

    fn alter(&self, gpu: &GpuSpec, structures: &mut [Structure]) {
        costs::gate(&self.management, gpu, structures);
    }

    fn metrics(&self, run: &Run) -> Vec<Metric> {
        costs::metrics(DEFINITION.name, run)
    }

    fn claims(&self) -> &'static [Claim] {
        &[Claim::RegisterPlaces]
    }
}
