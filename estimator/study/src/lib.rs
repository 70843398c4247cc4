//! Study files: what to run, on what, and what to compare.
//!
//! [`read`] turns the text of a study into a [`Study`]: every key known, every value of the right kind and every name in the [`Catalogue`].
//! A list of values anywhere is a sweep axis. All faults of a file are found in one go.

mod asked;
mod axes;
mod configurations;
mod goals;
mod gpu;
mod heading;
mod nodes;
mod peak;
mod question;
pub mod reader;
mod reliability;
pub mod sampling;
mod section;
mod shipped;
mod structure;
mod sweep;
mod technique;
pub mod technology;
mod thermal;
mod uncertainty;
pub mod variants;
mod workload;

use warpwatt_array as array;
use warpwatt_input::{diag, expression, goal, input, toml_reader};
use warpwatt_pricing::{label, outcome, pricing};

pub use asked::Asked;
pub use axes::{AxisId, Method, Sampling};
pub use configurations::{Configuration, configurations};
pub use gpu::{
    Clock, DEFAULT_KELVIN, GpuAxes, KEYS as GPU_KEYS, NodeChoice, Override, TechnologyAxes,
};
pub use gpu::{parse_profile, quantity};
pub use nodes::technologies;
pub use question::Question;
pub use reader::Placed;
pub use reliability::Watched;
pub use section::{Format, Limits, Output};
pub use structure::read_spec;
pub use structure::{OwnAction, OwnStructure, OwnStructures, Per, StructureAxes};
pub use sweep::{Choice, Design};
pub use technique::{Parameter, StackAxes, TechniqueAxes};

pub use variants::Faults;
pub use variants::{Variant, gpus};
pub use workload::{CountedFile, PaperRow, PaperTable, Workload, lowered, lowering};

use std::sync::Arc;

use crate::diag::{Sink, SourceId};
use crate::goal::{Budget, MetricNames, Objective};
use crate::pricing::Cooling;
use reader::{Reader, Section, parse_document};
use warpwatt_pricing::uncertainty::Draws;
use warpwatt_techlib::quantity::Time;

/// The values of one axis in the order of the file: never empty.
pub type Axis<T> = Vec<Placed<T>>;

/// The names that a study may use.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// GPU presets, the default first.
    pub presets: Vec<String>,
    /// Kernels of the suite.
    pub kernels: Vec<String>,
    /// Papers whose figures can stand beside ours.
    pub beside: Vec<String>,
    /// Tables of papers, whose names select kernels.
    pub papers: Vec<PaperTable>,
    /// Techniques.
    pub techniques: Vec<String>,
    /// Counters that expressions may name.
    pub counters: Vec<CounterName>,
    /// Metrics that goals may name.
    pub metrics: Arc<dyn MetricNames>,
}

/// A counter, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterName {
    /// Its name.
    pub name: String,
    /// The technique that counts it; none if every GPU does.
    pub technique: Option<String>,
}

/// Declares the parts of a study once, for the study and for its draft.
macro_rules! parts {
    (
        needed { $($(#[$about:meta])* $needed:ident: $kind:ty,)+ }
        others { $($(#[$meaning:meta])* $other:ident: $type:ty,)+ }
    ) => {
        /// A study as written, checked for itself.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Study {
            $($(#[$about])* pub $needed: $kind,)+
            $($(#[$meaning])* pub $other: $type,)+
        }

        /// What could be read of a study. A part that could not be is `None`, so that the others can be looked at further before the file is rejected.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Draft {
            $($(#[$about])* pub $needed: Option<$kind>,)+
            $($(#[$meaning])* pub $other: $type,)+
        }

        impl Draft {
            /// The study, if no part is missing.
            pub fn finish(self) -> Option<Study> {
                Some(Study {
                    $($needed: self.$needed?,)+
                    $($other: self.$other,)+
                })
            }
        }
    };
}

parts! {
    needed {
        /// What reports are headed with.
        title: String,
        /// The GPUs.
        gpu: GpuAxes,
        /// What they are made of and how they run.
        technology: TechnologyAxes,
        /// The kernels.
        workloads: Vec<Placed<Workload>>,
    }
    others {
        /// The paper whose figures stand beside ours, if one is asked for.
        paper: Option<String>,
        /// What is compared with the plain GPU, each for itself.
        techniques: Vec<StackAxes>,
        /// Structures that the study describes itself.
        structures: Vec<StructureAxes>,
        /// Which values go together.
        design: Design,
        /// The storage that is followed bit by bit.
        reliability: Option<Watched>,
        /// What points may cost and must reach.
        budget: Option<Budget>,
        /// Metrics whose best compromises are wanted.
        pareto: Vec<Objective>,
        /// How intervals are found, if not to first order.
        uncertainty: Option<Draws>,
        /// Where results go.
        output: Output,
        /// Bounds on the runs.
        limits: Limits,
        /// How the GPU is cooled, if its temperature is asked for.
        cooling: Option<Cooling>,
        /// Over which time power is a peak, if that is asked for.
        peak: Option<Time>,
        /// Half the 95 % interval of cycles that may come of what is not timed, relative, if not all is to be timed.
        sampling: Option<f64>,
    }
}

const SECTIONS: &[&str] = &[
    "study",
    "gpu",
    "workloads",
    "technique",
    "structure",
    "sweep",
    "reliability",
    "budget",
    "pareto",
    "output",
    "limits",
    "thermal",
    "peak_power",
    "sampling",
    "uncertainty",
];

/// Reads a study out of `source`. `None` if it is not even TOML; findings are in the sink in either case.
pub fn read(sink: &mut Sink, source: SourceId, catalogue: &Catalogue) -> Option<Draft> {
    let document_text = sink.sources.text(source).to_owned();
    let document = parse_document(&document_text, sink, source);
    if sink.has_errors() {
        return None;
    }
    let start = document_text.len().min(1);
    let root = Section {
        name: String::new(),
        table: document.get_ref(),
        range: 0..start,
    };
    let mut reader = Reader::new(sink, source);
    reader.refuse_unknown(&root, SECTIONS);
    reader.sweep = sweep::read(&mut reader, &root);
    let (title, paper) = heading::read(&mut reader, &root, catalogue);
    let (gpu, technology) = gpu::read(&mut reader, &root, catalogue);
    let workloads = workload::read(&mut reader, &root, catalogue);
    let techniques = technique::read(&mut reader, &root, catalogue);
    let structures = structure::read(&mut reader, &root, catalogue, &techniques);
    let sweep = std::mem::take(&mut reader.sweep);
    let budget = goals::read_budget(&mut reader, &root, catalogue, paper.as_deref());
    let pareto = goals::read_pareto(&mut reader, &root, catalogue, paper.as_deref());
    let peak = peak::read(&mut reader, &root, budget.as_ref(), &pareto);
    Some(Draft {
        title,
        paper,
        gpu,
        technology,
        workloads,
        structures,
        techniques,
        design: sweep.finish(&mut reader),
        sampling: sampling::read(&mut reader, &root, peak.is_some()),
        peak,
        budget,
        pareto,
        reliability: reliability::read(&mut reader, &root),
        uncertainty: uncertainty::read(&mut reader, &root),
        output: section::read_output(&mut reader, &root),
        limits: section::read_limits(&mut reader, &root),
        cooling: thermal::read(&mut reader, &root),
    })
}

/// Reads what stands under `[[technique]]` in a text that has nothing else.
pub(crate) fn read_techniques(
    sink: &mut Sink,
    source: SourceId,
    catalogue: &Catalogue,
) -> (Vec<StackAxes>, Design) {
    let text = sink.sources.text(source).to_owned();
    let document = parse_document(&text, sink, source);
    let root = Section {
        name: String::new(),
        table: document.get_ref(),
        range: 0..text.len().min(1),
    };
    let mut reader = Reader::new(sink, source);
    let techniques = technique::read(&mut reader, &root, catalogue);
    let sweep = std::mem::take(&mut reader.sweep);
    (techniques, sweep.finish(&mut reader))
}

#[cfg(test)]
mod tests;
