//! What a study will take, before anything runs.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use warpwatt_gpu::{Fill, GpuSpec, Transactions};
use warpwatt_suite::Counts;
use warpwatt_techniques::{Stack, Together};

use super::drive::{KernelRuns, TimingRun};
use super::plan::Plan;
use crate::pricing::NodeCircuits;

/// What is to be done, and an estimate of time and disk.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Forecast {
    /// Points of the study, or of its part.
    pub points: usize,
    /// Those that the result store holds already.
    pub held: usize,
    /// Executions that are left: a kernel with a width of warps and limits of registers.
    pub executions: usize,
    /// Timing runs that are left.
    pub timing_runs: usize,
    /// Warp instructions to be executed; `None` if some kernel's were not recorded.
    pub executed_instructions: Option<u64>,
    /// Warp instructions to be timed; `None` likewise.
    pub timed_instructions: Option<u64>,
    /// Kernels whose instructions were not recorded: those of the user's own.
    pub unrecorded: Vec<String>,
    /// Estimate of the time on so many threads; `None` if instructions are not known.
    pub seconds: Option<f64>,
    /// The same, summed over the threads.
    pub processor_seconds: Option<f64>,
    /// Threads.
    pub jobs: usize,
    /// Estimate of what the result store grows by.
    pub store_bytes: u64,
    /// What the estimates are made from.
    pub basis: Basis,
}

/// Measured rates of one core, and sizes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Basis {
    /// Functional execution with recording (docs/execution.md).
    pub executed_instructions_per_s: f64,
    /// The GPU model on `tesla-16sm`, without techniques and where memory is seldom waited for (docs/gpu-model.md).
    pub timed_instructions_per_s: f64,
    /// Instructions that a technique's hook is told of.
    pub followed_instructions_per_s: f64,
    /// Requests to memory that are timed, a line each.
    pub requests_per_s: f64,
    /// Sectors that these bring.
    pub sectors_per_s: f64,
    /// GPUs in technologies whose circuits are laid out.
    pub layouts_per_s: f64,
    /// Technologies at operating points for which the circuits of a GPU are evaluated.
    pub operating_points_per_s: f64,
    /// Points priced, kept and reported where that is done.
    pub pricings_per_s: f64,
    /// What a point takes in the store.
    pub bytes_per_point: u64,
    /// What the counts of a timing run take there.
    pub bytes_per_timing_run: u64,
    /// What the structures of a GPU in a technology take there.
    pub bytes_per_layout: u64,
}

/// Rates of the release build, in processor time. Pricing and sizes: a hundred thousand and a million points of `tesla-16sm` (docs/studies.md), on a machine that
/// others used too. Layouts: v100, a GPU of MIAOW and seven presets in 21 nodes; what these and counts take in the store: five studies of 160 to 7,680 points. Orders of magnitude for planning, no promise.
pub const BASIS: Basis = Basis {
    executed_instructions_per_s: 22e6,
    timed_instructions_per_s: 3.8e6,
    followed_instructions_per_s: 15e6,
    requests_per_s: 3.8e6,
    sectors_per_s: 5e6,
    layouts_per_s: 4.0,
    operating_points_per_s: 4000.0,
    pricings_per_s: 7000.0,
    bytes_per_point: 2700,
    bytes_per_timing_run: 25_000,
    bytes_per_layout: 60_000,
};

impl Forecast {
    /// What is left of `plan` if the points that are `wanted` are run and those that are `held` are not.
    pub fn of(plan: &Plan, wanted: &[bool], held: &[bool], jobs: usize) -> Self {
        let done: Vec<bool> = wanted
            .iter()
            .zip(held)
            .map(|(wanted, held)| !wanted || *held)
            .collect();
        let work = plan.work(&done);
        let mut unrecorded = Vec::new();
        let (mut executed, mut timed) = (0, 0);
        let (mut busy_s, mut longest_s) = (0.0, 0.0_f64);
        for kernel in &work {
            let subject = &plan.axes.kernels[plan.executions[kernel.kernel].kernel].subject;
            // Counts of another tool are there already.
            if subject.counted().is_some() {
                continue;
            }
            let Some(counts) = recorded(plan, kernel.kernel) else {
                let name = subject.name();
                let label = format!("{} ({})", name.name, name.case);
                if !unrecorded.contains(&label) {
                    unrecorded.push(label);
                }
                continue;
            };
            executed += counts.warp_instructions;
            timed += counts.warp_instructions * kernel.runs.len() as u64;
            let (execution_s, runs_s) = seconds(plan, kernel, counts);
            busy_s += execution_s + runs_s.iter().sum::<f64>();
            longest_s = longest_s.max(execution_s + runs_s.into_iter().fold(0.0, f64::max));
        }
        let known = unrecorded.is_empty();
        let left = done.iter().filter(|done| !**done).count();
        let timing_runs: usize = work.iter().map(|kernel| kernel.runs.len()).sum();
        let (designed, laid_out) = circuits(plan, &done);
        busy_s += laid_out as f64 / BASIS.layouts_per_s
            + designed as f64 / BASIS.operating_points_per_s
            + left as f64 / BASIS.pricings_per_s;
        // A run is timed by one thread, behind its execution.
        let seconds = (busy_s / jobs.max(1) as f64).max(longest_s);
        Self {
            points: wanted.iter().filter(|wanted| **wanted).count(),
            held: wanted
                .iter()
                .zip(held)
                .filter(|(wanted, held)| **wanted && **held)
                .count(),
            executions: work.len(),
            timing_runs,
            executed_instructions: known.then_some(executed),
            timed_instructions: known.then_some(timed),
            unrecorded,
            seconds: known.then_some(seconds),
            processor_seconds: known.then_some(busy_s),
            jobs,
            store_bytes: left as u64 * BASIS.bytes_per_point
                + timing_runs as u64 * BASIS.bytes_per_timing_run
                + laid_out as u64 * BASIS.bytes_per_layout,
            basis: BASIS,
        }
    }
}

/// Technologies at operating points of what is not done, and GPUs with technologies that share no layout.
fn circuits(plan: &Plan, done: &[bool]) -> (usize, usize) {
    let left = plan.points.iter().zip(done).filter(|(_, done)| !**done);
    let mut pairs: Vec<(usize, usize)> = left
        .map(|(point, _)| (plan.timings[point.timing].gpu, point.technology()))
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    let technologies: BTreeSet<usize> = pairs.iter().map(|(_, technology)| *technology).collect();
    let mut laid_out: BTreeMap<usize, Vec<&NodeCircuits>> = BTreeMap::new();
    for (gpu, technology) in pairs {
        let (circuits, known) = (
            &plan.axes.technologies[technology],
            laid_out.entry(gpu).or_default(),
        );
        if !known.iter().any(|it| it.shares_layouts(circuits)) {
            known.push(circuits);
        }
    }
    (technologies.len(), laid_out.values().map(Vec::len).sum())
}

/// What was counted of an execution before it shipped; nothing is known of a user's own kernels.
pub(super) fn recorded(plan: &Plan, execution: usize) -> Option<Counts> {
    let kernel = plan.executions[execution].kernel;
    let name = plan.axes.kernels[kernel].subject.name();
    warpwatt_suite::kernel(&name.name)?.counts(&name.case)
}

/// What executing a kernel takes, and each of its timing runs.
fn seconds(plan: &Plan, kernel: &KernelRuns, counts: Counts) -> (f64, Vec<f64>) {
    let execution = counts.warp_instructions as f64 / BASIS.executed_instructions_per_s;
    let runs = kernel.runs.iter();
    let runs = runs.map(|run| timing_seconds(plan, run, counts));
    (execution, runs.collect())
}

/// Instructions, those that hooks are told of, and requests to memory with what they bring.
pub(super) fn timing_seconds(plan: &Plan, run: &TimingRun, counts: Counts) -> f64 {
    let timings = plan.timings_of(run);
    let stacks = timings.iter().map(|timing| {
        let configuration = plan.timings[*timing].configuration;
        &plan.axes.configurations[configuration].stack
    });
    let stacks: Vec<&Stack> = stacks.collect();
    let spec = &plan.timings[run.timing].spec;
    let hooks = Together::hooks(&stacks, spec) as f64;
    let instructions = counts.warp_instructions as f64;
    instructions / BASIS.timed_instructions_per_s
        + hooks * instructions / BASIS.followed_instructions_per_s
        + counts.lines as f64 / BASIS.requests_per_s
        + brought(spec, counts) / BASIS.sectors_per_s
}

/// Sectors that memory brings if nothing is cached: a segment counts as one, a line of a cache that is filled by lines as all of its own.
fn brought(spec: &GpuSpec, counts: Counts) -> f64 {
    let (sectors, lines) = (counts.sectors as f64, counts.lines as f64);
    if spec.has_l1() && spec.l1.fill == Fill::Line {
        lines * f64::from(spec.l1.line_bytes) / 32.0
    } else if spec.ldst.transactions == Transactions::Segments {
        lines
    } else {
        sectors
    }
}
