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
//! let technique = (definition.parse)(&"replayq_entries = 5\nmapping = \"in_order\"".parse()?).map_err(|_| "wrong parameters")?;
//! assert_eq!(technique.label(), "warped_dmr(replayq_entries=5, mapping=in_order)");
//! # Ok(())
//! # }
//! ```

mod checker;
mod code;
mod counts;
mod lanes;
mod pipeline;
mod structures;

use toml::Table;
use warpwatt_circuit::CircuitError;
use warpwatt_gpu::{GpuSpec, Hooks, Run};

use crate::{
    Circuits, Claim, Definition, Fit, Judged, Kind, Metric, Parameter, Parsed, Reader, Structure,
    Technique,
};
use lanes::{Clusters, Mapping};
use pipeline::Pipeline;

/// The registry's entry.
pub static DEFINITION: Definition = Definition {
    name: "warped_dmr",
    summary: "idle lanes and idle units execute instructions a second time to detect errors",
    citation: "H. Jeon, \"Resource Underutilization Exploitation for Power Efficient and Reliable Throughput Processor\", USC 2015, chapter 4",
    parameters: PARAMETERS,
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
    parse,
};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "intra",
        kind: Kind::Flag,
        default: "true",
        range: "true, false",
        meaning: "idle lanes of a warp repeat what active lanes of their cluster do",
    },
    Parameter {
        name: "inter",
        kind: Kind::Flag,
        default: "true",
        range: "true, false",
        meaning: "what all lanes of a warp execute is executed again; not both this and intra are false",
    },
    Parameter {
        name: "enhanced",
        kind: Kind::Flag,
        default: "false",
        range: "true, false",
        meaning: "what idle lanes do not verify in full is executed again, too: all of it is verified; only with inter = true",
    },
    Parameter {
        name: "replayq_entries",
        kind: Kind::Count,
        default: "10",
        range: "0 to 64",
        meaning: "instructions of an SM that can wait for their second execution",
    },
    Parameter {
        name: "cluster_lanes",
        kind: Kind::Count,
        default: "4",
        range: "2, 4, 8, 16 or 32",
        meaning: "lanes of a cluster, within which operands are forwarded",
    },
    Parameter {
        name: "mapping",
        kind: Kind::Choice(&["in_order", "round_robin"]),
        default: "\"round_robin\"",
        range: "\"in_order\", \"round_robin\"",
        meaning: "how threads of a warp go to lanes: neighbours to one cluster, or around the clusters",
    },
];

/// The configured technique.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WarpedDmr {
    intra: bool,
    inter: bool,
    enhanced: bool,
    replayq_entries: u32,
    cluster_lanes: u32,
    mapping: Mapping,
    label: String,
}

fn parse(table: &Table) -> Parsed {
    let mut reader = Reader::new(table, PARAMETERS);
    let mappings = [
        ("in_order", Mapping::InOrder),
        ("round_robin", Mapping::RoundRobin),
    ];
    let technique = WarpedDmr {
        intra: reader.flag("intra", true),
        inter: reader.flag("inter", true),
        enhanced: reader.flag("enhanced", false),
        replayq_entries: reader.count("replayq_entries", 10, 0..=64),
        cluster_lanes: reader.count("cluster_lanes", 4, 2..=32),
        mapping: reader.choice("mapping", Mapping::RoundRobin, &mappings),
        label: reader.label(DEFINITION.name, PARAMETERS),
    };
    if !technique.cluster_lanes.is_power_of_two() {
        let message = format!("{} is not a power of two", technique.cluster_lanes);
        reader.refuse("cluster_lanes", &message, "2, 4, 8, 16 or 32");
    }
    if !technique.intra && !technique.inter {
        let message = "nothing would be verified";
        reader.refuse(
            "inter",
            message,
            "leave out `inter = false` or `intra = false`",
        );
    }
    if technique.enhanced && !technique.inter {
        let message = "it executes instructions again, which `inter = false` excludes";
        reader.refuse("enhanced", message, "leave out `inter = false`");
    }
    reader.finish(technique)
}

impl WarpedDmr {
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

    fn claims(&self) -> &'static [Claim] {
        &[Claim::SecondExecution]
    }
}
