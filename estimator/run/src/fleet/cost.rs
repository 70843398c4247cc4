//! The units of a study, what each is likely to take, and the order in which they are best begun.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::digest::{digest, hex};
use crate::drive::KernelRuns;
use crate::forecast;
use crate::outcome::Point;
use crate::plan::Plan;

/// What a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An execution of a kernel's case.
    Execution,
    /// A timing run with all of its points.
    Timing,
}

/// A unit of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Its name; names are in the order in which units are best begun.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Its number in the plan, among those of its kind.
    pub number: usize,
    /// What it is to a reader: the kernel with its case, and what it is timed on.
    pub label: String,
    /// The unit that must be done before it.
    pub needs: Option<String>,
    /// Points that are priced from it.
    pub points: usize,
    /// Warp instructions that are executed or timed; `None` of kernels whose counts were not recorded.
    pub warp_instructions: Option<u64>,
    /// Estimate of what it takes one thread; `None` likewise.
    pub seconds: Option<f64>,
}

/// All units of `plan`. Those that the longest stretch of work begins with come first, and of those whose length is not known it is taken to be the longest: begun late,
/// they might end alone. So an execution stands before all that needs it.
pub fn jobs(plan: &Plan) -> Vec<Job> {
    let work = plan.work(&vec![false; plan.points.len()]);
    let mut waiting: Vec<(f64, Job)> = work
        .iter()
        .flat_map(|kernel| jobs_of(plan, kernel))
        .collect();
    waiting.sort_by(|(one, a), (other, b)| {
        let order = other.total_cmp(one);
        order.then_with(|| Reverse(is_execution(a)).cmp(&Reverse(is_execution(b))))
    });
    let mut jobs: Vec<Job> = waiting.into_iter().map(|(_, job)| job).collect();
    name(&mut jobs);
    jobs
}

/// What decides all points of a plan, as a text: workers that come to another one read other inputs.
pub fn seal(plan: &Plan) -> String {
    let keys = plan.points.iter().map(|point| &point.key.0[..]);
    hex(&digest(keys))
}

fn is_execution(job: &Job) -> bool {
    job.kind == Kind::Execution
}

/// The units of an execution, each with the length of the longest stretch of work that begins with it.
fn jobs_of(plan: &Plan, kernel: &KernelRuns) -> Vec<(f64, Job)> {
    let subject = &plan.axes.kernels[plan.executions[kernel.kernel].kernel].subject;
    let label = format!("{} ({})", subject.name().name, subject.name().case);
    let counts = forecast::recorded(plan, kernel.kernel);
    // Counts of another tool are there already, and ask for pricing alone.
    let counted = subject.counted().is_some();
    let mut longest = 0.0_f64;
    let mut found = Vec::new();
    for run in &kernel.runs {
        let point = plan.point(run.points[0]);
        let timed_s = match counted {
            true => Some(0.0),
            false => counts.map(|counts| forecast::timing_seconds(plan, run, counts)),
        };
        let priced_s = run.points.len() as f64 / forecast::BASIS.pricings_per_s;
        let seconds = timed_s.map(|timed_s| timed_s + priced_s);
        let stretch = seconds.unwrap_or(f64::INFINITY);
        longest = longest.max(stretch);
        let job = Job {
            name: String::new(),
            kind: Kind::Timing,
            number: run.timing,
            label: format!("{label}, {}", timed(plan, run.timing, &point)),
            needs: (!counted).then(|| kernel.kernel.to_string()),
            points: run.points.len(),
            warp_instructions: match counted {
                true => Some(0),
                false => counts.map(|counts| counts.warp_instructions),
            },
            seconds,
        };
        found.push((stretch, job));
    }
    if !counted {
        let instructions = counts.map(|counts| counts.warp_instructions);
        let seconds =
            instructions.map(|count| count as f64 / forecast::BASIS.executed_instructions_per_s);
        let job = Job {
            name: String::new(),
            kind: Kind::Execution,
            number: kernel.kernel,
            label,
            needs: None,
            points: 0,
            warp_instructions: instructions,
            seconds,
        };
        found.push((longest + seconds.unwrap_or(f64::INFINITY), job));
    }
    found
}

/// What a kernel is timed on, in words.
fn timed(plan: &Plan, timing: usize, point: &Point) -> String {
    let configuration = plan.timings[timing].configuration;
    let techniques = &plan.axes.configurations[configuration].label;
    let axes = point.axes.iter();
    let axes: String = axes
        .map(|(name, value)| format!(" {name}={value}"))
        .collect();
    format!("{}{axes}, {techniques}", point.gpu)
}

/// Names units by their places, and what they need by its name.
fn name(jobs: &mut [Job]) {
    let mut executions = BTreeMap::new();
    for (place, job) in jobs.iter_mut().enumerate() {
        let (kind, number) = (job.kind, job.number);
        job.name = match kind {
            Kind::Execution => format!("{place:06}-execution-{number}"),
            Kind::Timing => format!("{place:06}-timing-{number}"),
        };
        if kind == Kind::Execution {
            executions.insert(number.to_string(), job.name.clone());
        }
    }
    for job in jobs {
        let needed = job.needs.take();
        job.needs = needed.and_then(|needed| executions.get(&needed).cloned());
    }
}
