//! Parts of the register file that hold no register of a resident CTA are switched off.
//!
//! What CACTI-P (S. Li, K. Chen, J. H. Ahn, J. B. Brockman, N. P. Jouppi, ICCAD 2011) offers to a register file whose registers are given out at the launch of a
//! CTA and taken back at its end: the comparison for [`register_virtualization`](crate::register_virtualization), which knows more.
//!
//! ```
//! let technique = (warpwatt_techniques::power_gating::DEFINITION.parse)(&Default::default());
//! assert_eq!(technique.unwrap().label(), "power_gating");
//! ```

use toml::Table;
use warpwatt_gpu::{GpuSpec, Hooks, Run};

use crate::register_file::{Allocation, Domain, Management, Size, costs, parameters};
use crate::{
    Claim, Definition, Judged, Kind, Metric, Parameter, Parsed, Reader, Structure, Technique,
};

/// The technique in the registry.
pub static DEFINITION: Definition = Definition {
    name: "power_gating",
    summary: "subarrays or registers of the register file that belong to no resident CTA are switched off",
    citation: "S. Li, K. Chen, J. H. Ahn, J. B. Brockman, N. P. Jouppi, \"CACTI-P: Architecture-Level Modeling for SRAM-based Structures with Advanced Leakage Reduction Techniques\", ICCAD 2011",
    parameters: PARAMETERS,
    counters: &parameters::COUNTERS,
    metrics: &[
        Judged::headline_low("powered_share"),
        Judged::higher("allocation_reduction"),
        Judged::lower("wear_variation"),
        Judged::lower("wear_most_over_least"),
        Judged::lower("wear_most_over_mean"),
        Judged::higher("wear_lifetime"),
    ],
    parse,
};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "gating",
        kind: Kind::Choice(&["subarray", "register"]),
        default: "\"subarray\"",
        range: "\"subarray\" or \"register\"",
        meaning: "what is switched off while it holds nothing",
    },
    parameters::SUBARRAYS,
];

/// A configured power gating.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerGating {
    management: Management,
    label: String,
}

fn parse(table: &Table) -> Parsed {
    let mut reader = Reader::new(table, PARAMETERS);
    let gatings = [
        ("subarray", Domain::Subarray),
        ("register", Domain::Register),
    ];
    let management = Management {
        allocation: Allocation::Static,
        gating: Some(reader.choice("gating", Domain::Subarray, &gatings)),
        table_bytes: None,
        flag_entries: 0,
        stage_cycles: 0,
        wake_cycles: 0,
        subarrays: reader.count("subarrays", 4, 1..=64),
        size: Size::Whole,
    };
    let label = reader.label(DEFINITION.name, PARAMETERS);
    reader.finish(PowerGating { management, label })
}

impl Technique for PowerGating {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    fn label(&self) -> String {
        self.label.clone()
    }

    fn attach(&self, gpu: &GpuSpec, hooks: &mut Hooks) {
        self.management.attach(gpu, hooks, None);
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
