//! From a study file to a plan: everything that can be wrong is found before anything runs.

use std::path::Path;

use crate::cache::TraceCache;
use crate::diag::{Diag, Sink, SourceId, Sources};
use crate::input;
use crate::study::{self, Catalogue, Choice, Placed, Study, Variant, Workload};

use super::boards;
use super::plan::StudyKernel;
use super::plan::{Axes, Plan, structures};
use super::work::StudyWork;
use super::workloads::{judge_counted, kernels};

/// A study that can run.
#[derive(Debug)]
pub struct Resolved {
    /// The study as written.
    pub study: Study,
    /// What to do.
    pub plan: Plan,
    /// The study file among the sources.
    pub source: SourceId,
}

impl Resolved {
    /// The work of the study; `sources` are the texts that were read for it.
    pub fn work<'r>(
        &'r self,
        sources: &'r Sources,
        cache: Option<&'r TraceCache>,
    ) -> StudyWork<'r> {
        StudyWork {
            plan: &self.plan,
            sources,
            study: self.source,
            limit: self.study.limits.warp_instructions,
            cache,
            interrupt: None,
            goal: self.plan.goal(),
            sampling: None,
        }
    }
}

/// Reads a study file, which may use the names of `catalogue`, and everything that it names. `None` if it cannot run; every reason is in `sink`.
pub fn resolve_with(path: &Path, catalogue: &Catalogue, sink: &mut Sink) -> Option<Resolved> {
    match input::text(path, input::STUDY) {
        Ok(text) => {
            let directory = path.parent().unwrap_or(Path::new(""));
            resolve_text_with(
                &path.display().to_string(),
                &text,
                directory,
                catalogue,
                sink,
            )
        }
        Err(error) => {
            let message = format!("cannot read the study file `{}`: {error}", path.display());
            sink.push(
                Diag::error("input::unreadable", message)
                    .help("`workloads/studies/` has studies to start from"),
            );
            None
        }
    }
}

/// As [`resolve_with`], for a text in hand; the files that it names are looked for in `directory`.
pub fn resolve_text_with(
    name: &str,
    text: &str,
    directory: &Path,
    catalogue: &Catalogue,
    sink: &mut Sink,
) -> Option<Resolved> {
    let source = sink.sources.add(name, text);
    let load = |workloads: &[Placed<Workload>], gpus: &[Variant], sink: &mut Sink| {
        kernels((workloads, gpus), directory, catalogue, sink, source)
    };
    resolve_source(source, (directory, load), catalogue, sink)
}

/// As [`resolve_text_with`], for a text among the sources; `kernels` brings in those of workloads as GPUs run them.
pub(crate) fn resolve_source(
    source: SourceId,
    (directory, kernels): (
        &Path,
        impl FnOnce(&[Placed<Workload>], &[Variant], &mut Sink) -> Vec<StudyKernel>,
    ),
    catalogue: &Catalogue,
    sink: &mut Sink,
) -> Option<Resolved> {
    let draft = study::read(sink, source, catalogue)?;
    let design = &draft.design;
    let workloads = draft.workloads.as_deref().unwrap_or_default();
    let asked = workloads.iter();
    let lower = asked.flat_map(|workload| workload.value.lower()).next();
    let lower = lower.map(study::lowered);
    let gpus = draft.gpu.iter();
    let gpus = gpus.flat_map(|axes| study::gpus(axes, lower, design, sink, source));
    let (gpus, gpu_choices): (Vec<_>, Vec<_>) = gpus.unzip();
    let technologies = draft.technology.iter();
    let technologies =
        technologies.flat_map(|axes| study::technologies(axes, design, directory, sink, source));
    let (technologies, technology_choices): (Vec<_>, Vec<_>) = technologies.unzip();
    let mut own = study::OwnStructures::new(&draft.structures);
    let configurations = study::configurations(&draft.techniques, &mut own, design, sink, source);
    let (configurations, configuration_choices): (Vec<_>, Vec<_>) =
        configurations.into_iter().unzip();
    let kernels = kernels(workloads, &gpus, sink);
    if let Some(gpu) = gpus.first() {
        let techniques = !draft.techniques.is_empty();
        judge_counted(&kernels, &gpu.spec, techniques, sink, source);
    }
    let board = draft.gpu.as_ref().and_then(|axes| axes.board.as_ref());
    let board = board.and_then(|named| boards::named(named, directory, &gpus, (sink, source)));
    let axes = Axes {
        board,
        kernels,
        gpus,
        technologies,
        configurations,
        clock: draft
            .technology
            .as_ref()
            .map_or_else(Default::default, |axes| axes.clock),
        cooling: draft.cooling.clone(),
        peak: draft.peak,
        sampling: draft.sampling,
        reliability: draft.reliability.clone(),
    };
    sink.sort();
    if sink.has_errors() {
        return None;
    }
    let kernel_axis = design.axis("workloads.kernels");
    // A file of counts is one workload of several kernels.
    let places = axes.kernels.iter().map(|kernel| kernel.workload);
    let kernel_choices: Vec<Choice> = places
        .map(|place| kernel_axis.map(|axis| (axis, place)).into_iter().collect())
        .collect();
    let choices = [
        &kernel_choices[..],
        &gpu_choices,
        &technology_choices,
        &configuration_choices,
    ];
    let Some(combinations) = design.combinations(choices, MOST_POINTS) else {
        sink.push(absurd(&axes));
        return None;
    };
    let own = (
        &draft.structures[..],
        &own.made().cloned().collect::<Vec<_>>()[..],
    );
    structures::check(&axes, own, sink, source);
    let plan = Plan::new(axes, &combinations, sink, source)?;
    if let (Some(_), Some(label)) = (plan.axes.sampling, plan.needs_all()) {
        sink.push(whole(label));
    }
    let study = draft.finish()?;
    Some(Resolved {
        study,
        plan,
        source,
    })
}

/// Nothing is left out of runs with that configuration, and so of none that it is compared with.
fn whole(label: &str) -> Diag {
    let message = format!(
        "all runs are timed whole: what `{label}` counts does not add up over parts of a run"
    );
    Diag::warning("study::not_sampled", message)
        .help("leave out the technique, or do without sampling")
}

/// More points than anyone waits for; a study beyond is a slip.
const MOST_POINTS: usize = 10_000_000;

fn absurd(axes: &Axes) -> Diag {
    let message = format!(
        "the study spans {} kernels x {} GPUs x {} technologies x {} configurations, more than {MOST_POINTS} points",
        axes.kernels.len(),
        axes.gpus.len(),
        axes.technologies.len(),
        axes.configurations.len()
    );
    Diag::error("study::absurd_size", message).help(
        "shorten some of its lists, draw points with `sample` under `[sweep]`, or split it into several studies",
    )
}
