//! `--timeline`: the run on a page, as a file of its own.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use warpwatt_gpu::GpuSpec;

use super::files::PartFile;
use crate::diag::{Diag, Rejection, Sink};
use crate::timeline::{Cycles, Extent, Recorder, SmSet, Summary};

/// Options of `--timeline`.
#[derive(Debug, Args)]
pub struct TimelineArguments {
    /// Write what SMs and warps did and when, as a trace that ui.perfetto.dev opens
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,
    /// SMs that are shown, such as 0-3,7, or all
    #[arg(long, value_name = "SMS", default_value = "0-3", requires = "timeline")]
    pub timeline_sms: SmSet,
    /// Cycles that are shown, such as 1000..5000 [default: all]
    #[arg(long, value_name = "FROM..TO", requires = "timeline")]
    pub timeline_cycles: Option<Cycles>,
    /// Stretches of fewer cycles are shown together; 1 shows each
    #[arg(long, value_name = "CYCLES", default_value_t = 16, requires = "timeline", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub timeline_detail: u64,
    /// Events after which the timeline of a run ends (a hundred bytes each)
    #[arg(long, value_name = "N", default_value_t = 1_000_000, requires = "timeline", value_parser = clap::value_parser!(u64).range(1000..=100_000_000))]
    pub timeline_events: u64,
}

/// A timeline that is being written.
pub struct Timeline {
    recorder: Recorder<PartFile>,
    path: PathBuf,
}

/// A timeline that was written.
#[derive(Debug)]
pub struct Written {
    path: PathBuf,
    summary: Summary,
}

impl TimelineArguments {
    /// Opens the file for a run on `spec`, if one was asked for; `None` if it cannot be.
    pub fn open(&self, spec: &GpuSpec, sink: &mut Sink) -> Option<Option<Timeline>> {
        self.file([spec], sink).map(|file| {
            let (path, file) = file?;
            Some(Timeline {
                recorder: Recorder::new(spec, self.extent(), file),
                path,
            })
        })
    }

    /// Opens the file for runs with names, each on its GPU, likewise; none if there are no runs.
    pub fn open_several(
        &self,
        runs: &[(String, &GpuSpec)],
        sink: &mut Sink,
    ) -> Option<Option<Timeline>> {
        let file = self.file(runs.iter().map(|(_, spec)| *spec), sink)?;
        let timeline = file
            .zip(runs.first())
            .map(|((path, file), (name, spec))| Timeline {
                recorder: Recorder::of_several(name, spec, self.extent(), file),
                path,
            });
        Some(timeline)
    }

    /// The file, if one was asked for and every GPU has an SM to show.
    fn file<'s>(
        &self,
        specs: impl IntoIterator<Item = &'s GpuSpec>,
        sink: &mut Sink,
    ) -> Option<Option<(PathBuf, PartFile)>> {
        let Some(path) = &self.timeline else {
            return Some(None);
        };
        let mut specs = specs.into_iter();
        if let Some(spec) = specs.find(|spec| !self.timeline_sms.meets(spec.sm.count)) {
            let message = format!(
                "the GPU has no SM of `--timeline-sms {}`",
                self.timeline_sms
            );
            let help = format!("its SMs are 0 to {}", spec.sm.count - 1);
            sink.push(Diag::error("kernel::timeline", message).help(help));
            return None;
        }
        match PartFile::create(path) {
            Ok(file) => Some(Some((path.clone(), file))),
            Err(Rejection(faults)) => {
                faults.diags.into_iter().for_each(|diag| sink.push(diag));
                None
            }
        }
    }

    fn extent(&self) -> Extent {
        Extent {
            sms: self.timeline_sms.clone(),
            cycles: self.timeline_cycles.unwrap_or(Cycles::ALL),
            detail: self.timeline_detail,
            events: self.timeline_events,
        }
    }
}

impl Timeline {
    /// Who looks on.
    pub fn watcher(&mut self) -> &mut Recorder<PartFile> {
        &mut self.recorder
    }

    /// Puts the file in its place.
    pub fn finish(self) -> Result<Written, Rejection> {
        let (file, summary) = self.recorder.finish();
        file.commit()?;
        Ok(Written {
            path: self.path,
            summary,
        })
    }
}

impl Written {
    /// For the document of a kernel.
    pub fn value(&self) -> Value {
        json!({ "file": self.path, "events": self.summary.events, "cut_at_cycle": self.summary.cut })
    }

    /// A line, and another if something is missing.
    pub fn text(&self) -> String {
        let line = format!(
            "  timeline of {} events: {}\n",
            self.summary.events,
            self.path.display()
        );
        match self.summary.cut {
            None => line,
            Some(cycle) => format!(
                "{line}    cut at cycle {cycle}: raise --timeline-events, or show less with --timeline-sms, --timeline-cycles or --timeline-detail\n"
            ),
        }
    }
}
