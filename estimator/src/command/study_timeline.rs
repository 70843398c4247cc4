//! `warpwatt run --timeline`: the timing runs of a study in one file, one after the other.

use warpwatt_gpu::{Control, GpuSpec};

use super::console::first;
use super::study_runs::{TimedRun, timed_runs};
use super::timeline::{Timeline, TimelineArguments, Written};
use crate::cache::TraceCache;
use crate::diag::{Diag, Sink, Sources};
use crate::run::Resolved;
use crate::run::drive::Work;
use crate::run::plan::Plan;

/// The timeline of a study before it is written.
pub struct StudyTimeline {
    timeline: Timeline,
    /// Its timing runs.
    runs: Vec<TimedRun>,
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
        let runs = timed_runs(plan);
        let named = runs.iter();
        let named: Vec<(String, &GpuSpec)> = named
            .map(|run| (run.name(), &*plan.timings[run.timing].spec))
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
        for (number, run) in self.runs.iter().enumerate() {
            let timing = &work.plan.timings[run.timing];
            let recorder = self.timeline.watcher();
            if number > 0 {
                recorder.next(&run.name(), &timing.spec);
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
            let none = || Diag::error("run::timeline", "the timeline cannot be written");
            first(rejection).unwrap_or_else(none)
        })
    }
}
