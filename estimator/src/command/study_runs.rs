//! The timing runs of a study, named, for those who look at each.

use std::collections::BTreeMap;

use crate::outcome::{Point, gpu_label};
use crate::run::plan::Plan;

/// A timing run.
pub struct TimedRun {
    /// What runs: the kernel and its case.
    pub kernel: String,
    /// The GPU with its settings.
    pub gpu: String,
    /// The techniques, and the node where there are several such runs: a technique that must fit the clock makes another GPU at another node.
    pub technique: String,
    /// Its place among the plan's timings.
    pub timing: usize,
}

/// Those of a study that are timed here, those that share an execution one after the other.
pub fn timed_runs(plan: &Plan) -> Vec<TimedRun> {
    let mut first: BTreeMap<usize, Point> = BTreeMap::new();
    let timed = |timing: usize| {
        let execution = &plan.executions[plan.timings[timing].execution];
        let subject = &plan.axes.kernels[execution.kernel].subject;
        subject.counted().is_none()
    };
    let points = plan.points.iter().enumerate();
    for (number, planned) in points.filter(|(_, point)| timed(point.timing)) {
        let point = first.entry(planned.timing);
        point.or_insert_with(|| plan.point(number));
    }
    let mut runs: Vec<TimedRun> = first
        .iter()
        .map(|(timing, point)| run(point, *timing))
        .collect();
    runs.sort_by_key(|run| plan.timings[run.timing].execution);
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    for run in &runs {
        *alike.entry(run.name()).or_default() += 1;
    }
    for run in &mut runs {
        if alike[&run.name()] > 1 {
            run.technique = format!("{} · {}", run.technique, first[&run.timing].technology.node);
        }
    }
    runs
}

fn run(point: &Point, timing: usize) -> TimedRun {
    TimedRun {
        kernel: format!("{} {}", point.kernel.name, point.kernel.case),
        gpu: gpu_label(&point.gpu, &point.axes),
        technique: point.technique.to_string(),
        timing,
    }
}

impl TimedRun {
    /// Kernel, GPU, settings and technique in one line.
    pub fn name(&self) -> String {
        format!("{} · {} · {}", self.kernel, self.gpu, self.technique)
    }
}
