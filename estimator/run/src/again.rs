//! Points priced again from what was counted of them: studies that differ from one that was run in nothing that changes what is counted.
//!
//! A study decides by itself, as when it is run, which runs its points need. A run is known by its kernel, by the GPU as techniques have reshaped and fitted it,
//! and by the techniques with those of their parameters that prices alone do not hang on. What was counted in an equal run is priced; nothing is guessed for others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use warpwatt_activity::Activity;
use warpwatt_techlib::quantity::Frequency;

use super::built::built;
use super::plan::{Plan, Timing};
use super::resolve::{Resolved, resolve_source};
use super::subject::KnownKernel;
use super::work::Seen;
pub use super::workloads::NOT_COUNTED;
use super::workloads::counted_kernels;
use crate::diag::{Diag, Sink, SourceId};
use crate::digest::{digest, hex};
use crate::label;
use crate::outcome::{KernelName, Metric, Note, NoteKind, Outcome, Point, RegisterAccesses};
use crate::performance::Performance;
use crate::pricing::Counted;
use crate::store::Manifest;
use crate::study::{Catalogue, NodeChoice, Placed, Study, Variant, Workload};

/// Studies that were run, and what was counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// The kernels that a study may name.
    pub names: Vec<String>,
    /// The studies, the one that all began with first.
    studies: Vec<Ran>,
    /// What runs left, by what decides them.
    runs: BTreeMap<String, Left>,
}

/// A study that was run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ran {
    /// Its text.
    text: String,
    /// The kernels of each of its workloads, in its order.
    kernels: Vec<Vec<KnownKernel>>,
}

/// What a run left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Left {
    cycles: u64,
    clock_hz: f64,
    activity: Activity,
    performance: Arc<Performance>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    metrics: Vec<Metric>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    register_accesses: Option<Arc<RegisterAccesses>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<Note>,
}

/// What a study comes to.
#[derive(Debug)]
pub enum Again {
    /// Its points, priced as a run of the study would price them.
    Priced(Box<Resolved>, Vec<Outcome>),
    /// Points of which nothing was counted: the first of each run that is missing.
    Missing(Vec<Point>),
}

impl Counts {
    /// From the results of a study. Nothing if what was counted does not follow from them: the study looks at time or at bits on the way, it names files of its
    /// own, or its points are not those that this version would plan.
    pub fn of(manifest: &Manifest, outcomes: &[Outcome], catalogue: &Catalogue) -> Option<Self> {
        let mut sink = Sink::default();
        let source = sink.sources.add("study.toml", manifest.study.as_str());
        let workloads = workloads(source, catalogue, &mut sink)?;
        let kernels = by_workload(&workloads, manifest, outcomes)?;
        let study = Ran {
            text: manifest.study.clone(),
            kernels,
        };
        let mut counts = Self {
            names: catalogue.kernels.clone(),
            studies: vec![study],
            runs: BTreeMap::new(),
        };
        let resolved = counts.resolve(source, catalogue, &mut sink)?;
        let plan = &resolved.plan;
        let keys = plan.points.iter().map(|point| &point.key);
        if needs_files(&resolved.study)
            || watched(&resolved.study).is_some()
            || !keys.eq(&manifest.points)
        {
            return None;
        }
        counts.take(plan, outcomes.iter().enumerate());
        Some(counts)
    }

    /// Of points of a study of this text, each with its number. Nothing if it cannot be priced again, as [`add`](Self::add) says.
    pub fn begun(
        (text, resolved): (&str, &Resolved),
        points: &[(usize, Outcome)],
        catalogue: &Catalogue,
    ) -> Option<Self> {
        let mut counts = Self {
            names: catalogue.kernels.clone(),
            studies: Vec::new(),
            runs: BTreeMap::new(),
        };
        counts.add(text, resolved, points).then_some(counts)
    }

    /// For each point of a plan whether all is counted that it is priced from.
    pub fn counted(&self, plan: &Plan) -> Vec<bool> {
        let runs = self.runs_of(plan);
        let points = plan.points.iter();
        points.map(|point| runs[point.timing].is_some()).collect()
    }

    /// For each timing of a plan what an equal run left, if there was one.
    fn runs_of(&self, plan: &Plan) -> Vec<Option<&Left>> {
        let keys = keys(plan).into_iter();
        keys.map(|key| self.runs.get(&key)).collect()
    }

    /// Adds what was counted of points of another study, each with its number. `false`, and nothing, if it cannot be priced again: it looks at time or at bits on
    /// the way, or names files of its own.
    pub fn add(&mut self, text: &str, resolved: &Resolved, points: &[(usize, Outcome)]) -> bool {
        if needs_files(&resolved.study) || watched(&resolved.study).is_some() {
            return false;
        }
        let plan = &resolved.plan;
        let mut kernels = vec![Vec::new(); resolved.study.workloads.len()];
        for kernel in &plan.axes.kernels {
            kernels[kernel.workload].push(KnownKernel {
                name: kernel.subject.name().clone(),
                hash: kernel.subject.hash().to_owned(),
                foreign: kernel.subject.is_foreign(),
            });
        }
        let study = Ran {
            text: text.to_owned(),
            kernels,
        };
        if !self.studies.contains(&study) {
            self.studies.push(study);
        }
        self.take(
            plan,
            points.iter().map(|(number, outcome)| (*number, outcome)),
        );
        true
    }

    fn take<'o>(&mut self, plan: &Plan, points: impl Iterator<Item = (usize, &'o Outcome)>) {
        let keys = keys(plan);
        for (number, outcome) in points {
            let run = self.runs.entry(keys[plan.points[number].timing].clone());
            run.or_insert_with(|| left(plan, number, outcome));
        }
    }

    /// Prices the study of this text. Nothing if it cannot run; every reason is in `sink`.
    pub fn price(&self, text: &str, catalogue: &Catalogue, sink: &mut Sink) -> Option<Again> {
        let source = sink.sources.add("study.toml", text);
        let resolved = self.resolve(source, catalogue, sink)?;
        if let Some(what) = watched(&resolved.study) {
            let message = format!("{what} only while the study runs");
            sink.push(Diag::error("study::only_run", message).help("`warpwatt run` runs it"));
            return None;
        }
        let plan = &resolved.plan;
        let runs = plan.timings.iter().zip(self.runs_of(plan));
        let seen: Option<Vec<Seen>> = runs
            .map(|(timing, left)| Some(left?.seen(plan, timing)))
            .collect();
        let Some(seen) = seen else {
            return Some(Again::Missing(self.missing(plan)));
        };
        let work = resolved.work(&sink.sources, None);
        let priced = plan.points.iter().enumerate().map(|(number, point)| {
            let timing = &plan.timings[point.timing];
            work.priced(number, timing, &seen[point.timing])
        });
        match priced.collect::<Result<Vec<Outcome>, String>>() {
            Ok(outcomes) => Some(Again::Priced(Box::new(resolved), outcomes)),
            Err(message) => {
                sink.push(Diag::error("study::pricing", message));
                None
            }
        }
    }

    fn resolve(
        &self,
        source: SourceId,
        catalogue: &Catalogue,
        sink: &mut Sink,
    ) -> Option<Resolved> {
        let mut counted: Vec<(Workload, &Vec<KnownKernel>)> = Vec::new();
        for study in &self.studies {
            let mut own = Sink::default();
            let text = own.sources.add("study.toml", study.text.as_str());
            let workloads = workloads(text, catalogue, &mut own)?;
            counted.extend(workloads.into_iter().zip(&study.kernels));
        }
        let known = |workload: &Workload| {
            let mut counted = counted.iter();
            let (_, kernels) = counted.find(|(counted, _)| counted == workload)?;
            Some((*kernels).clone())
        };
        let kernels = |workloads: &[Placed<Workload>], _: &[Variant], sink: &mut Sink| {
            counted_kernels(workloads, known, sink, source)
        };
        resolve_source(source, (Path::new(""), kernels), catalogue, sink)
    }

    /// The first point of each run that was not counted.
    fn missing(&self, plan: &Plan) -> Vec<Point> {
        let mut met = BTreeSet::new();
        let counted = self.counted(plan);
        let points = plan.points.iter().enumerate();
        let missing =
            points.filter(|(number, point)| !counted[*number] && met.insert(point.timing));
        missing.map(|(number, _)| plan.point(number)).collect()
    }
}

impl Left {
    fn seen(&self, plan: &Plan, timing: &Timing) -> Seen {
        Seen {
            structures: built(
                &timing.spec,
                &plan.axes.configurations[timing.configuration].stack,
            ),
            counted: Counted {
                cycles: self.cycles,
                clock: Frequency::from_hz(self.clock_hz),
                activity: self.activity.clone().into(),
                performance: self.performance.clone(),
                metrics: self.metrics.clone().into(),
                register_accesses: self.register_accesses.clone(),
                windows: None,
                samples: None,
                before: Default::default(),
                notes: self.notes.clone(),
            },
            launches: None,
        }
    }
}

/// What decides the run of each timing.
fn keys(plan: &Plan) -> Vec<String> {
    let timings = plan.timings.iter();
    timings.map(|timing| key(plan, timing)).collect()
}

fn key(plan: &Plan, timing: &Timing) -> String {
    let kernel = &plan.axes.kernels[plan.executions[timing.execution].kernel].subject;
    let name = serde_json::to_string(kernel.name()).unwrap_or_default();
    let gpu = serde_json::to_string(&*timing.spec).unwrap_or_default();
    let techniques = &plan.axes.configurations[timing.configuration].stack;
    let techniques = label::counted(&techniques.label());
    let parts = [&name, kernel.hash(), &gpu, &techniques];
    hex(&digest(parts.map(str::as_bytes)))
}

/// What was counted of a point, without what pricing adds.
fn left(plan: &Plan, number: usize, outcome: &Outcome) -> Left {
    let configuration = &plan.axes.configurations[plan.points[number].configuration()];
    let own = configuration.structures.iter();
    let own: BTreeSet<&str> = own.map(|structure| structure.name.value.as_str()).collect();
    let counted = outcome.activity.iter().filter(|(name, _)| {
        let structure = name.rsplit_once('.').map_or("", |(structure, _)| structure);
        !own.contains(structure)
    });
    let board: BTreeSet<String> = match &plan.axes.board {
        Some(_) => warpwatt_board::reported::names()
            .map(|(name, _)| name)
            .collect(),
        None => BTreeSet::new(),
    };
    let metrics = outcome.metrics.iter();
    let counted_only = |note: &&Note| matches!(note.kind, NoteKind::Registers | NoteKind::Foreign);
    Left {
        cycles: outcome.cycles,
        clock_hz: outcome.clock_hz,
        activity: counted.collect(),
        performance: outcome.performance.clone(),
        metrics: metrics
            .filter(|metric| !board.contains(&metric.name))
            .cloned()
            .collect(),
        register_accesses: outcome.register_accesses.clone(),
        notes: outcome.notes.iter().filter(counted_only).cloned().collect(),
    }
}

/// The workloads of a study.
fn workloads(source: SourceId, catalogue: &Catalogue, sink: &mut Sink) -> Option<Vec<Workload>> {
    let draft = crate::study::read(sink, source, catalogue)?;
    let workloads = draft.workloads?.into_iter();
    Some(workloads.map(|workload| workload.value).collect())
}

/// The kernels of each workload: results have them in the study's order. Nothing if one was left out.
fn by_workload(
    workloads: &[Workload],
    manifest: &Manifest,
    outcomes: &[Outcome],
) -> Option<Vec<Vec<KnownKernel>>> {
    let mut names: Vec<&KernelName> = outcomes.iter().map(|it| &*it.point.kernel).collect();
    names.dedup();
    let known = |name: &KernelName, foreign: bool| {
        let input = format!("kernel {} {}", name.name, name.case);
        Some(KnownKernel {
            name: name.clone(),
            hash: manifest.inputs.get(&input)?.clone(),
            foreign,
        })
    };
    let foreign = |workload: &Workload| matches!(workload, Workload::Counted(_));
    if let [only] = workloads {
        let kernels = names.iter().map(|name| known(name, foreign(only)));
        return Some(vec![kernels.collect::<Option<_>>()?]);
    }
    if names.len() != workloads.len() || workloads.iter().any(foreign) {
        return None;
    }
    let each = names.iter().map(|name| Some(vec![known(name, false)?]));
    each.collect()
}

/// Whether it names files that are not here.
fn needs_files(study: &Study) -> bool {
    let own = |node: &NodeChoice| matches!(node, NodeChoice::File(_));
    let board = study.gpu.board.as_ref();
    study.technology.node.iter().any(|node| own(&node.value))
        || board.is_some_and(|board| board.value.ends_with(".toml"))
}

/// What is looked at while a study runs, if anything is.
fn watched(study: &Study) -> Option<&'static str> {
    match (&study.reliability, study.peak) {
        (Some(_), _) => Some("bits are followed"),
        (_, Some(_)) => Some("peak power is known"),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests;
