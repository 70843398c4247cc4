//! What a study comes down to: its points, their keys, and which of them share an execution and a timing run.

mod fit;
mod span;
pub mod structures;

use crate::sampling::Goal;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use warpwatt_gpu::Way;

use warpwatt_board::board::Board;
use warpwatt_gpu::GpuSpec;
use warpwatt_suite::Lower;
use warpwatt_techlib::quantity::Time;

use super::drive::{KernelRuns, TimingRun};
use super::registers::Limits;
use super::subject::Subject;
use crate::diag::{Sink, SourceId};
use crate::digest::{digest, hex};
use crate::outcome::{KernelName, Note, Point};
use crate::pricing::{Cooling, NodeCircuits, technology_name};
use crate::store::PointKey;
use crate::study::{Clock, Configuration, Variant, Watched};
use fit::Fits;

/// A kernel of a study, and where the study names it.
#[derive(Debug)]
pub struct StudyKernel {
    /// The kernel.
    pub subject: Subject,
    /// Its workload among the study's.
    pub workload: usize,
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
    /// The baseline and the techniques, with the structures of the study's own that each has.
    pub configurations: Vec<Configuration>,
    /// The board whose watts are reported, if the study names one.
    pub board: Option<Board>,
    /// What the core clock does at another supply.
    pub clock: Clock,
    /// How the GPU is cooled, if its temperature is asked for.
    pub cooling: Option<Cooling>,
    /// Over which time power is a peak, if that is asked for.
    pub peak: Option<Time>,
    /// Half the 95 % interval of cycles that may come of what is not timed, relative, if not all is to be timed.
    pub sampling: Option<f64>,
    /// The storage that every point follows bit by bit, if the study asks for it.
    pub reliability: Option<Watched>,
}

/// More technologies than have what circuits cost in them remembered at once: a technology's sixty circuits take some 50 kB.
const MOST_REMEMBERED: usize = 3072;
/// More than have their layouts remembered, where technologies do not share them.
const MOST_LAID_OUT: usize = 4096;

impl Axes {
    /// Forgets what circuits cost in a technology, where there are so many that each is met but once or twice.
    pub fn leave(&self, technology: usize) {
        let circuits = &self.technologies[technology];
        if self.technologies.len() > MOST_REMEMBERED {
            circuits.forget();
        }
        if self.technologies.len() > MOST_LAID_OUT {
            circuits.forget_layouts();
        }
    }
}

/// Places of kernel, GPU, technology and configuration among the [`Axes`].
pub type Combination = [u32; 4];

/// A study, ready to run.
#[derive(Debug)]
pub struct Plan {
    /// What it spans.
    pub axes: Axes,
    /// Technologies at supplies that techniques choose.
    pub lowered: Vec<NodeCircuits>,
    /// Its points in the order in which they are kept and reported: kernel, GPU, technology, configuration.
    pub points: Vec<PlannedPoint>,
    /// The executions: a kernel, how it is lowered, a warp width, limits of registers.
    pub executions: Vec<Execution>,
    /// What is timed. Those that take the same time [are run together](Timing::together).
    pub timings: Vec<Timing>,
    /// What its points are called.
    names: Names,
}

/// Swept settings of a GPU.
type Settings = Arc<BTreeMap<String, String>>;

/// What points are called by what decides them. They share the texts.
#[derive(Debug)]
struct Names {
    kernels: Vec<Arc<KernelName>>,
    /// With their settings.
    gpus: Vec<(Arc<str>, Settings)>,
    techniques: Vec<Arc<str>>,
}

impl Names {
    fn of(axes: &Axes) -> Self {
        let kernels = axes.kernels.iter();
        let gpus = axes.gpus.iter();
        let configurations = axes.configurations.iter();
        Self {
            kernels: kernels
                .map(|kernel| Arc::new(kernel.subject.name().clone()))
                .collect(),
            gpus: gpus
                .map(|gpu| (gpu.preset.as_str().into(), Arc::new(gpu.axes.clone())))
                .collect(),
            techniques: configurations
                .map(|configuration| configuration.label.as_str().into())
                .collect(),
        }
    }
}

/// A point before it is run. Studies have millions, so it is small: [`Plan::point`] spells it out.
#[derive(Debug)]
pub struct PlannedPoint {
    /// What decides it, by places.
    pub combination: Combination,
    /// What it is priced in, among those at supplies that techniques choose; none where that is its technology as the study has it.
    pub lowered: Option<usize>,
    /// What decides it, as a hash.
    pub key: PointKey,
    /// As what it is timed, among the plan's timings.
    pub timing: usize,
    /// What the techniques' timing checks and the registers that they leave said.
    notes: Option<Arc<Vec<Note>>>,
}

impl PlannedPoint {
    /// Its technology, among the plan's.
    pub fn technology(&self) -> usize {
        self.combination[2] as usize
    }

    /// Its configuration, among the plan's.
    pub fn configuration(&self) -> usize {
        self.combination[3] as usize
    }

    /// What the techniques' timing checks said, and what of registers.
    pub fn notes(&self) -> &[Note] {
        self.notes.as_deref().map_or(&[], Vec::as_slice)
    }
}

/// A kernel executed with warps of one width, on the registers that techniques leave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// The kernel, among the plan's.
    pub kernel: usize,
    /// How near its PTX is brought to machine code.
    pub lower: Lower,
    /// Lanes of a warp.
    pub warp_width: u32,
    /// Whether its traces show where lanes have the same operands.
    pub values: bool,
    /// Entries that have fewer registers than they would take.
    pub limits: Limits,
}

/// A GPU with techniques, as it is timed.
#[derive(Debug)]
pub struct Timing {
    /// The execution whose trace it replays, among the plan's.
    pub execution: usize,
    /// The first of the plan's configurations that have these techniques: structures of a study's own take no time.
    pub configuration: usize,
    /// The study's GPU that it starts from, the first of those that come out alike.
    pub gpu: usize,
    /// The GPU after the techniques have reshaped it and made it fit its clock.
    pub spec: Arc<GpuSpec>,
    /// The first of the timings that are run together: of this execution on this GPU, with techniques that decide alike.
    pub together: usize,
}

impl Plan {
    /// Plans the `combinations` of a study, which are in ascending order. Faults are left in `sink`.
    pub fn new(
        axes: Axes,
        combinations: &[Combination],
        sink: &mut Sink,
        source: SourceId,
    ) -> Option<Plan> {
        let fits = Fits::all(&axes, combinations, sink, source)?;
        Some(span::span(axes, combinations, &fits))
    }

    /// How sure runs are to be of which a part is timed. With techniques whole CTAs are left out, so that all configurations leave out the same.
    pub fn goal(&self) -> Option<Goal> {
        let mut stacks = self.axes.configurations.iter().map(|it| &it.stack);
        let way = match stacks.all(|stack| stack.members().is_empty()) {
            true => Way::Any,
            false => Way::Ctas,
        };
        let error = self.axes.sampling?;
        self.needs_all().is_none().then_some(Goal { error, way })
    }

    /// A configuration with a technique that sees all of a run, if there is one.
    pub fn needs_all(&self) -> Option<&str> {
        let mut configurations = self.axes.configurations.iter();
        let found = configurations.find(|configuration| !configuration.stack.adds_up());
        found.map(|configuration| configuration.label.as_str())
    }

    /// What a point is priced in.
    pub fn circuits(&self, point: &PlannedPoint) -> &NodeCircuits {
        match point.lowered {
            Some(place) => &self.lowered[place],
            None => &self.axes.technologies[point.technology()],
        }
    }

    /// What decides a point, by name.
    pub fn point(&self, number: usize) -> Point {
        let [kernel, gpu, technology, configuration] =
            self.points[number].combination.map(|place| place as usize);
        let names = &self.names;
        Point {
            kernel: Arc::clone(&names.kernels[kernel]),
            gpu: Arc::clone(&names.gpus[gpu].0),
            axes: Arc::clone(&names.gpus[gpu].1),
            technology: technology_name(&self.axes.technologies[technology]),
            technique: Arc::clone(&names.techniques[configuration]),
        }
    }

    /// The timings of a run that its points need, the first of which decides how it goes.
    pub fn timings_of(&self, run: &TimingRun) -> Vec<usize> {
        let timings = run.points.iter().map(|point| self.points[*point].timing);
        let timings: BTreeSet<usize> = timings.collect();
        timings.into_iter().collect()
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
            let timing = &self.timings[point.timing];
            runs.entry(timing.execution)
                .or_default()
                .entry(timing.together)
                .or_default()
                .push(number);
        }
        let runs = runs.into_iter().map(|(kernel, runs)| {
            let runs = runs
                .into_iter()
                .map(|(timing, points)| TimingRun { timing, points })
                .collect();
            KernelRuns { kernel, runs }
        });
        runs.collect()
    }

    /// SHA-256 of every input by its name.
    pub fn inputs(&self) -> BTreeMap<String, String> {
        let kernels = self.axes.kernels.iter().map(|kernel| {
            let name = kernel.subject.name();
            (
                format!("kernel {} {}", name.name, name.case),
                kernel.subject.hash().to_owned(),
            )
        });
        let mut technologies: BTreeMap<String, String> = BTreeMap::new();
        for circuits in &self.axes.technologies {
            let technology = circuits.technology();
            // A node of the user's own may have the label of the library's.
            let own = match circuits.notes() {
                [] => String::new(),
                _ => format!(" of {}", technology.library),
            };
            let name = format!("technology {}{own}", technology.label());
            let content = || hex(circuits.described().content());
            technologies.entry(name).or_insert_with(content);
        }
        let mut structures: BTreeMap<String, String> = BTreeMap::new();
        let configurations = self.axes.configurations.iter();
        for structure in configurations.flat_map(|configuration| &configuration.structures) {
            let name = structure.label.as_ref().unwrap_or(&structure.name.value);
            let content = || hex(&digest([structures::canonical(structure).as_bytes()]));
            structures
                .entry(format!("structure {name}"))
                .or_insert_with(content);
        }
        kernels.chain(technologies).chain(structures).collect()
    }
}
