//! A suite as data: the numbers of one paper, row by row, and of what ours are made.
//!
//! A row compares a published number with one of ours, which is either a metric of the points of a study, reduced over kernels, or an expression over other rows,
//! circuits and settings of a GPU. `docs/validation.md` describes the files.

mod circuit;
mod engine;
mod flips;
mod measure;
mod points;
mod read;
mod reduce;
mod row;
mod shipped;

#[cfg(test)]
mod tests;

use warpwatt_suite::Paper;

use warpwatt_input::expression::Expression;

use super::{Kind, Tolerance};
use circuit::{Circuit, Setting};
use measure::Measure;
use reduce::Reduce;

pub use engine::Studies;
pub use flips::{Flipped, Flips};
pub use shipped::{shipped, study};

/// The rows of one paper.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Authors, title, place.
    pub citation: String,
    /// What most of its gaps hang on, with the experiment that shows it; empty if that is not said.
    pub why: String,
    /// Studies whose points are compared, by the names of their files.
    pub studies: Vec<String>,
    /// Flips in flip-flops that rows compare, if there are any.
    pub flips: Option<Flips>,
    /// Whose benchmarks the kernels stand for; without one they stand for themselves.
    pub paper: Option<&'static Paper>,
    /// Of what and how circuits are built.
    setting: Option<Setting>,
    circuits: Vec<Circuit>,
    measures: Vec<(String, Measure)>,
    /// Those that only others use stand first.
    rows: Vec<Row>,
}

/// A number of ours, and the published one if there is one.
#[derive(Clone, Debug)]
struct Row {
    /// By which other rows name it.
    id: Option<String>,
    ours: Ours,
    published: Option<Published>,
}

/// What a paper says, and how near ours should be.
#[derive(Clone, Debug)]
struct Published {
    figure: String,
    what: String,
    unit: String,
    value: f64,
    tolerance: Tolerance,
    kind: Kind,
    /// Why it is known to be a gap.
    gap: Option<String>,
}

/// Where a number of ours comes from.
#[derive(Clone, Debug)]
enum Ours {
    /// A metric of points, reduced to one number.
    Points(Box<Selection>),
    /// Of other rows, circuits and settings of the GPU.
    Made(Expression),
}

/// Points of a study, what is looked at, and how it becomes one number.
#[derive(Clone, Debug)]
struct Selection {
    /// The name of the study's file.
    study: String,
    technique: String,
    /// What `without:` stands for.
    against: String,
    /// Which GPU, node and swept settings the points have, where that is said.
    gpu: Option<String>,
    node: Option<String>,
    axes: Vec<(String, String)>,
    /// Abbreviations; empty for all benchmarks.
    kernels: Vec<String>,
    metric: Expression,
    reduce: Reduce,
}
