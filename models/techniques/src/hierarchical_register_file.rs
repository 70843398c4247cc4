//! Small register files between the main one and the lanes, which the compiler fills.
//!
//! M. Gebhart, S. W. Keckler, W. J. Dally, "A Compile-Time Managed Multi-Level Register File Hierarchy", MICRO 2011. An operand register file (ORF) of a few
//! entries a thread and a last result file (LRF) of one stand beside the main register file (MRF). A value that is written and read for the last time in one
//! strand may never see the MRF; see [`warpwatt_gpu::trace::Marks`] for strands and [`allocate`] for what goes where. The claim: three entries and a last
//! result file save most energy, more than half of that of the register file. It is what H. Jeon's work is compared with in its section 2.8.6.
//!
//! Assumed:
//! - Warps take part in turns (M. Gebhart and others, "Energy-Efficient Mechanisms for Managing Thread Context in Throughput Processors", ISCA 2011): the ORF and
//!   the LRF have room for the active warps of a scheduler with a pool of them, and for all warps of other schedulers.
//! - An active warp makes room only at the end of a strand. The model's pool also lets one go that waits for shared memory; its entries are taken to be there
//!   when it comes back, which is often within the time that a strand's end would have cost.
//! - The main register file's timing stays, also for operands from the small ones; these take no turn of a bank.
//! - Wires are not priced, in any of the three: the paper has the MRF a millimetre from the lanes and the others nearer, and so saves more than the arrays do.
//!
//! ```
//! let table = "orf_entries = 5\nlrf = false".parse().unwrap();
//! let technique = warpwatt_techniques::hierarchical_register_file::DEFINITION.parse(&table);
//! assert_eq!(
//!     technique.unwrap().label(),
//!     "hierarchical_register_file(orf_entries=5, lrf=false)"
//! );
//! ```

pub mod allocate;
mod code;
mod follow;
mod values;

use warpwatt_circuit::{BufferSpec, CircuitError, Granularity, Ports, Spec};
use warpwatt_gpu::{GpuSpec, Hooks, Policy, Run};

use crate::compiled::needs_facts;
use crate::parameter::{Choice, Count, Flag, choice, count, flag};
use crate::{Circuits, Claim, Definition, Fit, Gates, Judged, Metric, Path, Structure, Technique};
pub use allocate::Sizes;
pub use code::{Code, Inst, Level, OperandAt, ResultAt};
use follow::{Follower, Warps};
pub use values::{Value, values};

/// The technique in the registry.
pub static DEFINITION: Definition = Definition {
    name: "hierarchical_register_file",
    summary: "the compiler keeps values that live shortly in small register files beside the main one",
    citation: "M. Gebhart, S. W. Keckler, W. J. Dally, \"A Compile-Time Managed Multi-Level Register File Hierarchy\", MICRO 2011",
    parameters: &[ORF_ENTRIES.declared(), LRF.declared(), GATING.declared()],
    counters: follow::COUNTERS,
    metrics: &[
        Judged::headline_low("reads_main"),
        Judged::higher("main_allocation_reduction"),
        Judged::higher("allocation_reduction"),
    ],
    configure: |values| {
        Ok(Box::new(HierarchicalRegisterFile {
            sizes: Sizes {
                entries: values.get(&ORF_ENTRIES),
                last: values.get(&LRF),
            },
            gated: values.get(&GATING),
            label: values.label(),
        }))
    },
};

const ORF_ENTRIES: Count = count(
    "orf_entries",
    3,
    0..=8,
    "entries of the operand register file, for each thread of the active warps",
);
const LRF: Flag = flag(
    "lrf",
    true,
    "whether there is a last result file, of an entry for each thread of the active warps, which only the lanes' own units reach",
);
const GATING: Choice<bool, 2> = choice(
    "gating",
    [("none", false), ("register", true)],
    "none",
    "whether registers of the main register file are switched off that no resident CTA has there; not in the paper, but in the comparison of H. Jeon's",
);

/// A configured hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HierarchicalRegisterFile {
    sizes: Sizes,
    gated: bool,
    label: String,
}

/// Warps of an SM that issue without changing places with others.
fn active_warps(gpu: &GpuSpec) -> u32 {
    let all = gpu.warps_per_sm();
    match gpu.scheduler.policy {
        Policy::ActivePool => all.min(gpu.scheduler.active_warps * gpu.scheduler.count),
        _ => all,
    }
}

/// Warp-wide registers of an SM's main register file.
fn registers(gpu: &GpuSpec) -> u32 {
    gpu.registers_per_sm() / gpu.sm.warp_width
}

impl HierarchicalRegisterFile {
    /// Entries of both small register files, for each thread.
    fn entries(&self) -> u32 {
        self.sizes.entries + u32::from(self.sizes.last)
    }
}

/// The part of a small register file that belongs to a lane, in flip-flops.
fn of_lane(name: &'static str, gpu: &GpuSpec, entries: u32, reads: u32) -> Structure {
    let lanes = gpu.units.sp.lanes.max(1);
    let threads = active_warps(gpu) * gpu.sm.warp_width.div_ceil(lanes);
    let spec = Spec::Buffer(BufferSpec {
        entries: u64::from(entries * threads),
        bits: 32,
        ports: Ports {
            read: reads,
            write: 1,
            ..Ports::NONE
        },
    });
    Structure::execution(name, spec, lanes)
}

impl Technique for HierarchicalRegisterFile {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    fn label(&self) -> String {
        self.label.clone()
    }

    fn fit(&self, gpu: &mut GpuSpec, circuits: &dyn Circuits) -> Result<Fit, CircuitError> {
        let mut fit = Fit::default();
        let period_ps = gpu.core_period_fs() as f64 / 1000.0;
        for structure in self.structures(gpu) {
            let delay = circuits.cost(&structure.spec)?.access_time;
            let verdict = if delay.as_ps() <= period_ps {
                "fits"
            } else {
                "does not fit"
            };
            fit.notes.push(format!(
                "{}: {:.0} ps, {verdict} {period_ps:.0} ps",
                structure.name,
                delay.as_ps()
            ));
            fit.paths.push(Path {
                name: "operand from a small register file",
                parts: vec![(structure.name, delay)],
            });
        }
        Ok(fit)
    }

    fn decides(&self) -> String {
        format!("{}({:?})", DEFINITION.name, self.sizes)
    }

    fn attached(&self) -> Vec<String> {
        vec![self.decides()]
    }

    fn adds_up(&self) -> bool {
        true
    }

    fn attach(&self, gpu: &GpuSpec, hooks: &mut Hooks) {
        needs_facts(hooks, "strands");
        let warps = Warps {
            slots: gpu.warps_per_sm(),
            active: active_warps(gpu),
        };
        let sizes = self.sizes;
        hooks.issue.push(Box::new(move |sm| {
            Box::new(Follower::new(sizes, warps, sm == 0))
        }));
    }

    fn structures(&self, gpu: &GpuSpec) -> Vec<Structure> {
        let Sizes { entries, last } = self.sizes;
        let operand = (entries > 0)
            .then(|| of_lane("operand_register_file", gpu, entries, gpu.operands.sources));
        let last = last.then(|| of_lane("last_result_file", gpu, 1, 1));
        operand.into_iter().chain(last).collect()
    }

    fn alter(&self, gpu: &GpuSpec, structures: &mut [Structure]) {
        if !self.gated {
            return;
        }
        let files = structures
            .iter_mut()
            .filter(|structure| structure.name == "register_file");
        for file in files {
            file.gates = Some(Gates {
                granularity: Granularity::Row,
                domains: registers(gpu),
                powered: "main_registers_cycles",
                wakes: "main_registers_wakes",
            });
        }
    }

    fn metrics(&self, run: &Run) -> Vec<Metric> {
        follow::metrics(run, self.entries())
    }

    fn claims(&self) -> &'static [Claim] {
        &[Claim::RegisterPlaces, Claim::Operands]
    }
}
