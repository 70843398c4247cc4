//! What is counted in one SM, and under which names.

use warpwatt_activity::Activity;
use warpwatt_gpu::Run;

use super::checker;
use super::code::Kind;
use super::lanes::Pairing;
use crate::Metric;

/// The counters and what they mean.
pub(super) const COUNTERS: &[(&str, &str)] = &[
    (
        "warped_dmr_lanes_computation",
        "lanes that executed computations",
    ),
    (
        "warped_dmr_lanes_address",
        "lanes that executed loads, stores and atomics, of which addresses are verified",
    ),
    (
        "warped_dmr_lanes_branch",
        "lanes that executed branches, calls and returns",
    ),
    (
        "warped_dmr_intra_computation",
        "of those of computations, repeated by an idle lane at the same time",
    ),
    (
        "warped_dmr_intra_address",
        "of those of addresses, likewise",
    ),
    ("warped_dmr_intra_branch", "of those of branches, likewise"),
    (
        "warped_dmr_inter_computation",
        "of those of computations, executed a second time",
    ),
    (
        "warped_dmr_inter_address",
        "of those of addresses, likewise",
    ),
    ("warped_dmr_inter_branch", "of those of branches, likewise"),
    (
        "warped_dmr_instructions",
        "warp instructions with something to verify",
    ),
    (
        "warped_dmr_instructions_verified",
        "of them, verified in all their lanes",
    ),
    (
        "warped_dmr_instructions_repeated",
        "of them, executed a second time: behind the first, out of the ReplayQ, or in a cycle that the scheduler gave up",
    ),
    (
        "warped_dmr_repeating_lanes",
        "idle lanes that repeated an active one; several may repeat the same",
    ),
    (
        "warped_dmr_behind",
        "second executions right behind the first, the unit being idle",
    ),
    (
        "warped_dmr_queued",
        "instructions that waited in the ReplayQ for their second execution",
    ),
    (
        "warped_dmr_queued_wide",
        "of them, with more than three operand words or one result word, for which an entry of the paper's has no room",
    ),
    (
        "warped_dmr_stalls_full",
        "cycles in which a scheduler issued nothing because the ReplayQ was full and the unit was wanted for the next instruction",
    ),
    (
        "warped_dmr_stalls_raw",
        "cycles in which a scheduler issued nothing because an instruction wanted a result that waited for verification in the ReplayQ",
    ),
    (
        "warped_dmr_queue_cycles",
        "instructions in the ReplayQ, summed over cycles",
    ),
    (
        "warped_dmr_queue_most",
        "the most instructions in the ReplayQ at once, summed over SMs",
    ),
    (
        "warped_dmr_tail_cycles",
        "cycles from the end of a launch until the ReplayQ is empty, summed over SMs and launches",
    ),
    (
        "warped_dmr.rfu.read",
        "operands that passed a cluster's register forwarding unit",
    ),
    (
        "warped_dmr.comparator.read",
        "comparisons of a cluster's results",
    ),
    (
        "warped_dmr.latch.read",
        "results of a cluster kept until those of the second execution come",
    ),
    (
        "warped_dmr.replayq.read",
        "instructions that passed the ReplayQ: written once, read once",
    ),
];

/// The counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    kinds: [Verified; 3],
    instructions: u64,
    verified: u64,
    repeated: u64,
    repeating: u64,
    forwarded: u64,
    compared: u64,
    latched: u64,
    pub tail: u64,
}

/// Lanes.
#[derive(Clone, Copy, Debug, Default)]
struct Verified {
    all: u64,
    intra: u64,
    inter: u64,
}

/// How an instruction is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Idle lanes repeat some of its lanes, or none.
    Intra(Pairing),
    /// It is executed again.
    Inter(Pairing),
}

impl Counts {
    /// An instruction with something to verify has issued.
    pub fn instruction(&mut self, kind: Kind, way: Way) {
        let lanes = &mut self.kinds[kind as usize];
        self.instructions += 1;
        let (pairs, verified) = match way {
            Way::Intra(pairs) => {
                lanes.intra += u64::from(pairs.verified);
                self.repeating += u64::from(pairs.repeating);
                self.compared += u64::from(pairs.comparing);
                (pairs, pairs.verified)
            }
            Way::Inter(pairs) => {
                lanes.inter += u64::from(pairs.active);
                self.repeated += 1;
                self.compared += u64::from(pairs.working);
                self.latched += u64::from(pairs.working);
                (pairs, pairs.active)
            }
        };
        lanes.all += u64::from(pairs.active);
        self.verified += u64::from(verified == pairs.active);
    }

    /// So many operands went to the lanes of so many clusters.
    pub fn operands(&mut self, words: u64, clusters: u32) {
        self.forwarded += words * u64::from(clusters);
    }

    pub fn report(&self, checker: &checker::Counts, activity: &mut Activity) {
        for (kind, name) in Kind::ALL {
            let lanes = self.kinds[kind as usize];
            activity.add(&format!("warped_dmr_lanes_{name}"), lanes.all);
            activity.add(&format!("warped_dmr_intra_{name}"), lanes.intra);
            activity.add(&format!("warped_dmr_inter_{name}"), lanes.inter);
        }
        for (name, count) in [
            ("warped_dmr_instructions", self.instructions),
            ("warped_dmr_instructions_verified", self.verified),
            ("warped_dmr_instructions_repeated", self.repeated),
            ("warped_dmr_repeating_lanes", self.repeating),
            ("warped_dmr_behind", checker.behind),
            ("warped_dmr_queued", checker.queued),
            ("warped_dmr_queued_wide", checker.wide),
            ("warped_dmr_stalls_full", checker.full_stalls),
            ("warped_dmr_stalls_raw", checker.raw_stalls),
            ("warped_dmr_queue_cycles", checker.queue_cycles),
            ("warped_dmr_queue_most", checker.queue_most),
            ("warped_dmr_tail_cycles", self.tail),
            ("warped_dmr.rfu.read", self.forwarded),
            ("warped_dmr.comparator.read", self.compared),
            ("warped_dmr.latch.read", self.latched),
            ("warped_dmr.replayq.read", checker.queued),
        ] {
            activity.add(name, count);
        }
    }
}

/// What a run comes to: coverage of lanes and instructions, and what it took.
pub(super) fn metrics(run: &Run) -> Vec<Metric> {
    let count = |name: &str| run.activity.get(&format!("warped_dmr_{name}"));
    let of_kinds = |kinds: &[(Kind, &str)], what: &str| -> u64 {
        let counts = kinds
            .iter()
            .map(|(_, kind)| count(&format!("{what}_{kind}")));
        counts.sum()
    };
    let share = |name: &str, part, whole| Metric::ratio(format!("warped_dmr.{name}"), part, whole);
    let coverage = |name: &str, kinds: &[(Kind, &str)]| {
        let verified = of_kinds(kinds, "intra") + of_kinds(kinds, "inter");
        share(name, verified, of_kinds(kinds, "lanes"))
    };
    let lanes = of_kinds(&Kind::ALL, "lanes");
    let mut metrics = vec![
        coverage("coverage", &Kind::ALL),
        share("coverage.intra", of_kinds(&Kind::ALL, "intra"), lanes),
        share("coverage.inter", of_kinds(&Kind::ALL, "inter"), lanes),
    ];
    for kind in Kind::ALL {
        metrics.push(coverage(&format!("coverage.{}", kind.1), &[kind]));
    }
    let instructions = count("instructions");
    let sm_cycles = run.cycles * run.per_sm.len() as u64;
    let most = run.per_sm.iter().map(|sm| sm.get("warped_dmr_queue_most"));
    metrics.extend([
        share(
            "coverage.instructions",
            count("instructions_verified"),
            instructions,
        ),
        share("repeated", count("instructions_repeated"), instructions),
        share("stalls.full", count("stalls_full"), sm_cycles),
        share("stalls.raw", count("stalls_raw"), sm_cycles),
        share(
            "replayq.queued",
            count("queued"),
            count("instructions_repeated"),
        ),
        Metric {
            name: "warped_dmr.replayq.mean".to_owned(),
            unit: "entries",
            value: count("queue_cycles") as f64 / sm_cycles.max(1) as f64,
            ratio: Some([count("queue_cycles"), sm_cycles.max(1)]),
        },
        Metric {
            name: "warped_dmr.replayq.most".to_owned(),
            unit: "entries",
            value: most.max().unwrap_or(0) as f64,
            ratio: None,
        },
    ]);
    metrics
}
