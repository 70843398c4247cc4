//! Registers over time of a study's runs.

use std::fmt::Write as _;
use std::path::PathBuf;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use warpwatt_gpu::{Control, GpuSpec};
use warpwatt_run::live::{Live, manages};

use super::show::{self, Shown};
use super::{LiveArguments, asked, reshaped};
use crate::cache::TraceCache;
use crate::command::files::writable;
use crate::command::study_runs::{TimedRun, timed_runs};
use crate::diag::{Diag, Rejection, Sink, Sources};
use crate::run::drive::Work;
use crate::run::plan::Plan;
use crate::run::{self, Resolved};
use crate::study::Configuration;

/// Registers over time of a study, before its runs are timed for them.
pub struct StudyLive {
    path: PathBuf,
    window: u64,
    /// What manages registers in the place of the study's own techniques.
    instead: Option<Configuration>,
    /// The runs: those under techniques that manage registers, or those of the plain GPU.
    runs: Vec<(TimedRun, GpuSpec)>,
}

impl StudyLive {
    /// Finds what is to be timed, if registers are asked for; `None` if nothing can be, or not be written.
    pub fn open(arguments: &LiveArguments, plan: &Plan, sink: &mut Sink) -> Option<Option<Self>> {
        let Some(path) = &arguments.live else {
            return Some(None);
        };
        let instead = match &arguments.live_with {
            Some(technique) => Some(asked(technique, sink)?),
            None => None,
        };
        let runs = show::named(path)
            .map_err(Rejection::from)
            .and_then(|()| writable(path))
            .and_then(|()| runs(plan, instead.as_ref()).map_err(Rejection::from));
        match runs {
            Ok(runs) => Some(Some(Self {
                path: path.clone(),
                window: arguments.live_window,
                instead,
                runs,
            })),
            Err(Rejection(faults)) => {
                faults.diags.into_iter().for_each(|diag| sink.push(diag));
                None
            }
        }
    }

    /// Times every run once more and writes what its registers did; says in lines what was written. Points may have come from the result store, hence nothing is left
    /// of earlier runs.
    ///
    /// # Errors
    /// A run cannot be timed or takes too many windows, or the file cannot be written.
    pub fn write(
        self,
        resolved: &Resolved,
        sources: &Sources,
        (cache, jobs): (Option<&TraceCache>, Option<u16>),
    ) -> Result<String, Rejection> {
        let work = resolved.work(sources, cache);
        let pool = run::pool(run::threads(jobs))?;
        let mut shown = Vec::new();
        let execution = |run: &TimedRun| work.plan.timings[run.timing].execution;
        for alike in self
            .runs
            .chunk_by(|(a, _), (b, _)| execution(a) == execution(b))
        {
            let made = pool.install(|| work.execute(execution(&alike[0].0)))?;
            let traces = made.trace.traces();
            let timed = |(run, spec): &(TimedRun, GpuSpec)| {
                let configuration = self.configuration(work.plan, run);
                let run_of = (spec, traces);
                let live = Live::of(
                    &configuration.stack,
                    run_of,
                    self.window,
                    Control::default(),
                );
                live.map(|live| self.shown(run, live))
            };
            let timed = pool.install(|| alike.par_iter().map(timed).collect::<Vec<_>>());
            for live in timed {
                shown.push(live?);
            }
        }
        show::write(&self.path, &shown)?;
        Ok(self.told(&shown))
    }

    fn shown(&self, run: &TimedRun, live: Live) -> Shown {
        let instead = self.instead.as_ref().map(|instead| &instead.label);
        let technique = instead.unwrap_or(&run.technique).clone();
        let key = [&run.kernel, &run.gpu, &technique].map(String::clone);
        Shown {
            name: format!("{} · {}", run.kernel, run.gpu),
            technique,
            columns: ["kernel", "gpu", "technique"]
                .into_iter()
                .zip(key)
                .collect(),
            live,
        }
    }

    fn configuration<'p>(&'p self, plan: &'p Plan, run: &TimedRun) -> &'p Configuration {
        let own = &plan.axes.configurations[plan.timings[run.timing].configuration];
        self.instead.as_ref().unwrap_or(own)
    }

    fn told(&self, shown: &[Shown]) -> String {
        let mut text = format!(
            "\nregisters over time of {} runs: {}\n",
            shown.len(),
            self.path.display()
        );
        for run in shown {
            let _ = writeln!(text, "  {} · {}", run.name, run.technique);
            show::plot(&mut text, &run.live);
        }
        text
    }
}

/// The runs to be timed, each with its GPU.
fn runs(plan: &Plan, instead: Option<&Configuration>) -> Result<Vec<(TimedRun, GpuSpec)>, Diag> {
    let mut runs = Vec::new();
    for run in timed_runs(plan) {
        let timing = &plan.timings[run.timing];
        let configuration = &plan.axes.configurations[timing.configuration];
        match instead {
            Some(instead) if configuration.is_baseline() => {
                let spec = reshaped(instead, &timing.spec)?;
                runs.push((run, spec));
            }
            None if manages(&configuration.stack, &timing.spec) => {
                let spec = GpuSpec::clone(&timing.spec);
                runs.push((run, spec));
            }
            _ => {}
        }
    }
    if runs.is_empty() {
        let message = "none of the study's runs manages registers";
        let help = "`--live-with register_virtualization` shows what a technique would do that is not in the study";
        return Err(Diag::error("run::live", message).help(help));
    }
    Ok(runs)
}
