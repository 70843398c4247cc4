//! `warpwatt run --timeline`: the timing runs of a study in one file, one after the other.

use std::collections::BTreeMap;

use warpwatt_gpu::{Control, GpuSpec};

use super::timeline::{Timeline, TimelineArguments, Written};
use crate::cache::TraceCache;
use crate::diag::{Diag, Sink, Sources};
use crate::outcome::{Point, gpu_label};
use crate::run::Resolved;
use crate::run::drive::Work;
use crate::run::plan::Plan;

/// The timeline of a study before it is written.
pub struct StudyTimeline {
    timeline: Timeline,
    /// Timing runs by their names, those that share an execution together.
    runs: Vec<(String, usize)>,
}

impl StudyTimeline {
    /// Opens the file, if one was asked for; `None` if it cannot be.
    pub fn open(
        arguments: &TimelineArguments,
        plan: &Plan,
        sink: &mut Sink,
    ) -> Option<Option<Self>> {
        if arguments.timeline.is_none() {
            return Some(None);
        }
        let runs = runs(plan);
        let named: Vec<(String, &GpuSpec)> = runs
            .iter()
            .map(|(name, timing)| (name.clone(), &*plan.timings[*timing].spec))
            .collect();
        let timeline = arguments.open_several(&named, sink)?;
        Some(timeline.map(|timeline| Self { timeline, runs }))
    }

    /// Times every configuration with the recorder looking on. Points may have come from the result store, hence nothing is left of earlier runs to show.
    pub fn write(
        mut self,
        resolved: &Resolved,
        sources: &Sources,
        cache: Option<&TraceCache>,
    ) -> Result<Written, Diag> {
        let work = resolved.work(sources, cache);
        let mut traces = None;
        for (number, (name, timing)) in self.runs.iter().enumerate() {
            let timing = &work.plan.timings[*timing];
            let recorder = self.timeline.watcher();
            if number > 0 {
                recorder.next(name, &timing.spec);
            }
            let (_, trace) = match traces.take() {
                Some((execution, trace)) if execution == timing.execution => {
                    traces.insert((execution, trace))
                }
                _ => traces.insert((timing.execution, work.execute(timing.execution)?.trace)),
            };
            let control = Control {
                watcher: Some(recorder),
                ..Control::default()
            };
            work.simulate(timing, trace.traces(), control)?;
        }
        let written = self.timeline.finish();
        written.map_err(|rejection| {
            let first = rejection.0.diags.into_iter().next();
            first.unwrap_or_else(|| Diag::error("run::timeline", "the timeline cannot be written"))
        })
    }
}

fn runs(plan: &Plan) -> Vec<(String, usize)> {
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
    let mut runs: Vec<(String, usize)> = first
        .iter()
        .map(|(timing, point)| (name(point), *timing))
        .collect();
    runs.sort_by_key(|(_, timing)| plan.timings[*timing].execution);
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    for (name, _) in &runs {
        *alike.entry(name.clone()).or_default() += 1;
    }
    for (name, timing) in &mut runs {
        // A technique that must fit the clock makes another GPU at another node.
        if alike[name] > 1 {
            *name = format!("{name} · {}", first[timing].technology.node);
        }
    }
    runs
}

/// Kernel, GPU, settings and technique in one line.
fn name(point: &Point) -> String {
    let Point { kernel, .. } = point;
    let gpu = gpu_label(&point.gpu, &point.axes);
    format!(
        "{} {} · {gpu} · {}",
        kernel.name, kernel.case, point.technique
    )
}
