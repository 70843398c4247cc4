//! Warped-DMR: idle lanes and idle units execute instructions a second time, to detect errors of the execution units.
//!
//! H. Jeon, "Resource Underutilization Exploitation for Power Efficient and Reliable Throughput Processor", USC 2015, chapter 4 (H. Jeon, M. Annavaram,
//! MICRO 2012). The claim: 94 % of all executions verified for 8 % more time and 12 % more energy of the device.
//!
//! *Intra-warp*: within a cluster of lanes a register forwarding unit gives each idle lane the operands of an active one, and results are compared. *Inter-warp*:
//! what all lanes of a warp execute is executed again when its unit is idle; until then it waits in the ReplayQ. A full queue, and an instruction that reads a
//! result which waits there, cost a cycle each. *Enhanced*: what the lanes of a warp cannot verify among themselves is executed again, too.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let definition = warpwatt_techniques::find("warped_dmr").map_err(|_| "unknown")?;
//! let technique = definition.parse(&"replayq_entries = 5\nmapping = \"in_order\"".parse()?).map_err(|_| "wrong parameters")?;
//! assert_eq!(technique.label(), "warped_dmr(replayq_entries=5, mapping=in_order)");
//! # Ok(())
//! # }
//! ```

mod checker;
mod code;
mod comparisons;
mod counts;
mod lanes;
mod pipeline;
mod structures;

use warpwatt_circuit::CircuitError;
use warpwatt_gpu::{GpuSpec, Hooks, Run};

use crate::definition::unless;
use crate::parameter::{Choice, Count, Flag, Handle, Values, choice, count, flag, power_of_two};
use crate::{
    Circuits, Claim, Definition, Fit, Judged, LaneCheck, Metric, Parsed, Structure, Technique,
};
use comparisons::Comparisons;
use lanes::{Clusters, Mapping, Pairing};
use pipeline::Pipeline;

/// The registry's entry.
pub static DEFINITION: Definition = Definition {
    name: "warped_dmr",
    summary: "idle lanes and idle units execute instructions a second time to detect errors",
    citation: "H. Jeon, \"Resource Underutilization Exploitation for Power Efficient and Reliable Throughput Processor\", USC 2015, chapter 4",
    parameters: &[
        INTRA.declared(),
        INTER.declared(),
        ENHANCED.declared(),
        REPLAYQ_ENTRIES.declared(),
        CLUSTER_LANES.declared(),
        MAPPING.declared(),
        SHUFFLE.declared(),
    ],
    counters: counts::COUNTERS,
    metrics: &[
        Judged::headline("coverage"),
        Judged::higher("coverage.intra"),
        Judged::higher("coverage.inter"),
        Judged::higher("coverage.computation"),
        Judged::higher("coverage.address"),
        Judged::higher("coverage.branch"),
        Judged::higher("coverage.instructions"),
        Judged::lower("stalls.full"),
        Judged::lower("stalls.raw"),
    ],
    configure,
};

const INTRA: Flag = flag(
    "intra",
    true,
    "idle lanes of a warp repeat what active lanes of their cluster do",
);
const INTER: Flag = flag(
    "inter",
    true,
    "what all lanes of a warp execute is executed again; not both this and intra are false",
);
const ENHANCED: Flag = flag(
    "enhanced",
    false,
    "what idle lanes do not verify in full is executed again, too: all of it is verified; only with inter = true",
);
const REPLAYQ_ENTRIES: Count = count(
    "replayq_entries",
    10,
    0..=64,
    "instructions of an SM that can wait for their second execution",
);
const CLUSTER_LANES: Count = power_of_two(
    "cluster_lanes",
    4,
    2..=32,
    "lanes of a cluster, within which operands are forwarded",
);
const MAPPING: Choice<Mapping, 2> = choice(
    "mapping",
    [
        ("in_order", Mapping::InOrder),
        ("round_robin", Mapping::RoundRobin),
    ],
    "round_robin",
    "how threads of a warp go to lanes: neighbours to one cluster, or around the clusters",
);

const SHUFFLE: Flag = flag(
    "shuffle",
    true,
    "second executions go to other lanes of the cluster, where a permanent fault of a lane shows; false: to the same; only with inter = true",
);

/// The configured technique.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WarpedDmr {
    intra: bool,
    inter: bool,
    enhanced: bool,
    replayq_entries: u32,
    cluster_lanes: u32,
    mapping: Mapping,
    shuffle: bool,
    label: String,
}

fn configure(values: &Values) -> Parsed {
    let technique = WarpedDmr {
        intra: values.get(&INTRA),
        inter: values.get(&INTER),
        enhanced: values.get(&ENHANCED),
        replayq_entries: values.get(&REPLAYQ_ENTRIES),
        cluster_lanes: values.get(&CLUSTER_LANES),
        mapping: values.get(&MAPPING),
        shuffle: values.get(&SHUFFLE),
        label: values.label(),
    };
    let mut problems = Vec::new();
    if !technique.intra && !technique.inter {
        problems.push(INTER.refused(
            "nothing would be verified",
            "leave out `inter = false` or `intra = false`",
        ));
    }
    if technique.enhanced && !technique.inter {
        problems.push(ENHANCED.refused(
            "it executes instructions again, which `inter = false` excludes",
            "leave out `inter = false`",
        ));
    }
    if !technique.shuffle && !technique.inter {
        problems.push(SHUFFLE.refused(
            "it is about second executions, which `inter = false` excludes",
            "leave out `inter = false` or `shuffle = false`",
        ));
    }
    unless(problems, technique)
}

impl WarpedDmr {
    /// What idle lanes verify, of what they could.
    fn within(&self, pairs: Pairing) -> Pairing {
        let alone = Pairing {
            verified: 0,
            repeating: 0,
            comparing: 0,
            ..pairs
        };
        if self.intra { pairs } else { alone }
    }

    /// Whether an instruction is executed again whose lanes are all of the warp, or not, and are verified as `within` says.
    fn repeats(&self, whole: bool, within: Pairing) -> bool {
        let not_enough = self.enhanced && within.verified < within.active;
        self.inter && (whole || not_enough)
    }

    fn clusters(&self, gpu: &GpuSpec) -> Clusters {
        Clusters::new(gpu.sm.warp_width, self.cluster_lanes, self.mapping)
    }
}

impl Technique for WarpedDmr {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    fn label(&self) -> String {
        self.label.clone()
    }

    fn fit(&self, gpu: &mut GpuSpec, circuits: &dyn Circuits) -> Result<Fit, CircuitError> {
        self.fit_of(gpu, circuits)
    }

    fn adds_up(&self) -> bool {
        true
    }

    fn attach(&self, gpu: &GpuSpec, hooks: &mut Hooks) {
        let (settings, gpu) = (self.clone(), gpu.clone());
        hooks.issue.push(Box::new(move |_| {
            Box::new(Pipeline::new(settings.clone(), &gpu))
        }));
    }

    fn structures(&self, gpu: &GpuSpec) -> Vec<Structure> {
        self.structures_of(gpu)
    }

    fn metrics(&self, run: &Run) -> Vec<Metric> {
        counts::metrics(run)
    }

    fn lane_check(&self, gpu: &GpuSpec) -> Option<LaneCheck> {
        let comparisons = Comparisons::new(self, gpu);
        Some(LaneCheck::Results(Box::new(comparisons)))
    }

    fn claims(&self) -> &'static [Claim] {
        &[Claim::SecondExecution]
    }
}
