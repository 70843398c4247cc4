//! What a study comes down to: its points, their keys, and which of them share an execution and a timing run.

use std::collections::BTreeMap;
use std::ops::Range;

use sha2::{Digest, Sha256};
use warpwatt_gpu::GpuSpec;

use super::drive::{KernelRuns, TimingRun};
use super::kernel::{LoadedKernel, hex};
use super::registers::{Limits, limits};
use super::structures;
use crate::diag::{Diag, Sink, SourceId};
use crate::outcome::{Note, NoteKind, Point};
use crate::pricing::{NodeCircuits, technology_name};
use crate::store::{FORMAT, PointKey};
use crate::study::{Configuration, OwnStructure, Variant};

/// A kernel of a study, and where the study names it.
#[derive(Debug)]
pub struct StudyKernel {
    /// The kernel.
    pub loaded: LoadedKernel,
    /// Its place in the study.
    pub range: Range<usize>,
}

/// Everything that a study spans.
#[derive(Debug)]
pub struct Axes {
    /// Kernels.
    pub kernels: Vec<StudyKernel>,
    /// GPUs.
    pub gpus: Vec<Variant>,
    /// Technologies.
    pub technologies: Vec<NodeCircuits>,
    /// The baseline and the techniques.
    pub configurations: Vec<Configuration>,
    /// Structures that the study describes itself; no axis, each point has those that belong to it.
    pub structures: Vec<OwnStructure>,
}

/// A study, ready to run.
#[derive(Debug)]
pub struct Plan {
    /// What it spans.
    pub axes: Axes,
    /// Its points in the order in which they are kept and reported: kernel, GPU, technology, configuration.
    pub points: Vec<PlannedPoint>,
    /// The executions: a kernel, a warp width, limits of registers.
    pub executions: Vec<Execution>,
    /// The timing runs.
    pub timings: Vec<Timing>,
}

/// A point before it is run.
#[derive(Debug)]
pub struct PlannedPoint {
    /// What decides it, by name.
    pub point: Point,
    /// What decides it, as a hash.
    pub key: PointKey,
    /// Its technology, among the plan's.
    pub technology: usize,
    /// Its timing run, among the plan's.
    pub timing: usize,
    /// What the techniques' timing checks said.
    pub notes: Vec<Note>,
}

/// A kernel executed with warps of one width, on the registers that techniques leave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// The kernel, among the plan's.
    pub kernel: usize,
    /// Lanes of a warp.
    pub warp_width: u32,
    /// Whether its traces show where lanes have the same operands.
    pub values: bool,
    /// Entries that have fewer registers than they would take.
    pub limits: Limits,
}

/// A GPU with a configuration, as it is timed.
#[derive(Debug)]
pub struct Timing {
    /// The execution whose trace it replays, among the plan's.
    pub execution: usize,
    /// The configuration, among the plan's.
    pub configuration: usize,
    /// The GPU after the techniques have reshaped it and made it fit its clock.
    pub spec: GpuSpec,
}

/// More points than anyone waits for; a study beyond is a slip.
const MOST_POINTS: usize = 1_000_000;

impl Plan {
    /// Spans the study. Faults are left in `sink`.
    pub fn new(axes: Axes, sink: &mut Sink, source: SourceId) -> Option<Plan> {
        let sizes = [
            axes.kernels.len(),
            axes.gpus.len(),
            axes.technologies.len(),
            axes.configurations.len(),
        ];
        let count = sizes
            .iter()
            .try_fold(1usize, |product, size| product.checked_mul(*size));
        if count.is_none_or(|count| count > MOST_POINTS) {
            let [kernels, gpus, technologies, configurations] = sizes;
            let message = format!(
                "the study spans {kernels} kernels x {gpus} GPUs x {technologies} technologies x {configurations} configurations, more than {MOST_POINTS} points"
            );
            sink.push(
                Diag::error("study::absurd_size", message)
                    .help("shorten some of its lists, or split it into several studies"),
            );
            return None;
        }
        structures::check(&axes, sink, source);
        let fits = fit_all(&axes, sink, source)?;
        Some(span(axes, &fits))
    }

    /// The work that is left, given which points are finished.
    pub fn work(&self, finished: &[bool]) -> Vec<KernelRuns> {
        let mut runs: BTreeMap<usize, BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
        for (number, point) in self
            .points
            .iter()
            .enumerate()
            .filter(|(number, _)| !finished[*number])
        {
            let execution = self.timings[point.timing].execution;
            runs.entry(execution)
                .or_default()
                .entry(point.timing)
                .or_default()
                .push(number);
        }
        let runs = runs.into_iter().map(|(kernel, runs)| {
            let runs = runs
                .into_iter()
                .map(|(configuration, points)| TimingRun {
                    configuration,
                    points,
                })
                .collect();
            KernelRuns { kernel, runs }
        });
        runs.collect()
    }

    /// SHA-256 of every input by its name.
    pub fn inputs(&self) -> BTreeMap<String, String> {
        let kernels = self.axes.kernels.iter().map(|kernel| {
            let name = &kernel.loaded.name;
            (
                format!("kernel {} {}", name.name, name.case),
                kernel.loaded.hash.clone(),
            )
        });
        let technologies = self.axes.technologies.iter().map(|circuits| {
            let technology = circuits.technology();
            (
                format!("technology {}", technology.label()),
                hash(&[&format!("{technology:?}")]),
            )
        });
        let structures = self.axes.structures.iter().map(|structure| {
            (
                format!("structure {}", structure.name.value),
                hash(&[&structures::canonical(structure)]),
            )
        });
        kernels.chain(technologies).chain(structures).collect()
    }
}

/// A GPU that a configuration was fitted into at a technology.
struct Fitted {
    spec: GpuSpec,
    notes: Vec<Note>,
}

/// The fitted GPUs by GPU, technology and configuration.
type Fits = BTreeMap<(usize, usize, usize), Fitted>;

fn fit_all(axes: &Axes, sink: &mut Sink, source: SourceId) -> Option<Fits> {
    let mut fits = Fits::new();
    for (gpu, variant) in axes.gpus.iter().enumerate() {
        for (technology, circuits) in axes.technologies.iter().enumerate() {
            for (number, configuration) in axes.configurations.iter().enumerate() {
                match fit(variant, circuits, configuration) {
                    Ok(fitted) => {
                        fits.insert((gpu, technology, number), fitted);
                    }
                    Err(message) => {
                        let diag = Diag::error(
                            "study::fit",
                            format!("`{}` cannot be built: {message}", configuration.label),
                        );
                        sink.push(
                            configuration
                                .range
                                .iter()
                                .fold(diag, |diag, range| diag.at(source, range.clone(), "")),
                        );
                    }
                }
            }
        }
    }
    (!sink.has_errors()).then_some(fits)
}

fn fit(
    variant: &Variant,
    circuits: &NodeCircuits,
    configuration: &Configuration,
) -> Result<Fitted, String> {
    let mut spec = variant.spec.clone();
    configuration.stack.reshape(&mut spec);
    let fit = configuration
        .stack
        .fit(&mut spec, circuits)
        .map_err(|error| error.to_string())?;
    let notes = notes(NoteKind::Timing, fit.notes).collect();
    Ok(Fitted { spec, notes })
}

fn notes(kind: NoteKind, texts: Vec<String>) -> impl Iterator<Item = Note> {
    texts.into_iter().map(move |text| Note { kind, text })
}

fn span(axes: Axes, fits: &Fits) -> Plan {
    let mut plan = Plan {
        axes,
        points: Vec::new(),
        executions: Vec::new(),
        timings: Vec::new(),
    };
    let mut configurations = plan.axes.configurations.iter();
    let values = configurations.any(|configuration| configuration.stack.needs_values());
    let mut known: BTreeMap<(usize, usize, String), usize> = BTreeMap::new();
    for kernel in 0..plan.axes.kernels.len() {
        for ((gpu, technology, configuration), fitted) in fits {
            let (limits, unmet) = limits(
                &plan.axes.kernels[kernel].loaded,
                &plan.axes.configurations[*configuration].stack,
                &plan.axes.gpus[*gpu].spec,
            );
            let wanted = Execution {
                kernel,
                warp_width: fitted.spec.sm.warp_width,
                values,
                limits,
            };
            let execution = place(&mut plan.executions, wanted);
            let canonical = canonical(&fitted.spec);
            let timing = *known
                .entry((execution, *configuration, canonical))
                .or_insert_with(|| {
                    plan.timings.push(Timing {
                        execution,
                        configuration: *configuration,
                        spec: fitted.spec.clone(),
                    });
                    plan.timings.len() - 1
                });
            let point = named(&plan.axes, kernel, *gpu, *technology, *configuration);
            let places = [kernel, *gpu, *technology, *configuration];
            let key = key(&plan.axes, places, &point);
            plan.points.push(PlannedPoint {
                point,
                key,
                technology: *technology,
                timing,
                notes: (fitted.notes.iter().cloned())
                    .chain(notes(NoteKind::Registers, unmet))
                    .collect(),
            });
        }
    }
    plan
}

/// Where `wanted` is among `executions`, to which it is added if it is not there.
fn place(executions: &mut Vec<Execution>, wanted: Execution) -> usize {
    executions
        .iter()
        .position(|known| *known == wanted)
        .unwrap_or_else(|| {
            executions.push(wanted);
            executions.len() - 1
        })
}

fn named(axes: &Axes, kernel: usize, gpu: usize, technology: usize, configuration: usize) -> Point {
    Point {
        kernel: axes.kernels[kernel].loaded.name.clone(),
        gpu: axes.gpus[gpu].preset.clone(),
        axes: axes.gpus[gpu].axes.clone(),
        technology: technology_name(&axes.technologies[technology]),
        technique: axes.configurations[configuration].label.clone(),
    }
}

/// The hash of everything that decides the point: its names, the kernel's content, the GPU, the technology's values, the study's own structures, and the
/// program's version.
fn key(
    axes: &Axes,
    [kernel, gpu, technology, configuration]: [usize; 4],
    point: &Point,
) -> PointKey {
    let names = serde_json::to_string(point).unwrap_or_default();
    let technology = format!("{:?}", axes.technologies[technology].technology());
    let gpu = canonical(&axes.gpus[gpu].spec);
    let kernel = &axes.kernels[kernel].loaded.hash;
    let format = FORMAT.to_string();
    let mut parts = vec![
        format.as_str(),
        env!("CARGO_PKG_VERSION"),
        &names,
        kernel,
        &gpu,
        &technology,
    ];
    let own = structures::of(&axes.structures, &axes.configurations[configuration]);
    let own: Vec<String> = own.map(structures::canonical).collect();
    parts.extend(own.iter().map(String::as_str));
    PointKey(hash(&parts))
}

/// Equal GPUs have equal texts.
fn canonical(spec: &GpuSpec) -> String {
    serde_json::to_string(spec).unwrap_or_default()
}

/// SHA-256 of `parts`, each with its length, so that no two lists of parts have one text.
fn hash(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hex(&hash.finalize())
}
