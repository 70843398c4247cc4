//! The runs of each configuration of a report.

use super::roof::{Roof, Work};
use crate::format;
use crate::model::Report;
use crate::outcome::{KernelName, Point, gpu_label};

/// Configurations that colours tell apart.
const MOST: usize = 8;

/// A configuration: a GPU at a technology, plain or with a technique.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// What it is.
    pub label: String,
    /// Its runs, with their kernels.
    pub runs: Vec<(String, Work)>,
}

/// The configurations in the order of the report, and what is not on the picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// The first of them.
    pub curves: Vec<Curve>,
    /// Whether there are more.
    pub has_more: bool,
    /// Kernels without operations or without bytes.
    pub left_out: Vec<String>,
}

impl Curve {
    /// The lowest costs of its runs.
    pub fn roof(&self) -> Roof {
        let runs: Vec<Work> = self.runs.iter().map(|(_, work)| *work).collect();
        Roof::over(&runs)
    }
}

/// Runs of a configuration, with the first of its points.
type Runs<'r> = (&'r Point, Vec<(String, Work)>);

impl Curves {
    /// Those of a report.
    pub fn of(report: &Report) -> Self {
        let names = names(report);
        let mut found = Self::default();
        let mut all: Vec<Runs> = Vec::new();
        for (outcome, baseline) in report.points.iter().zip(report.baselines()) {
            let point = &outcome.point;
            let known = all.iter().position(|(head, _)| is_same(head, point));
            if known.is_none() && all.len() == MOST {
                found.has_more = true;
                continue;
            }
            let plain = baseline.map_or(outcome, |number| &report.points[number]);
            let name = names.iter().find(|(kernel, _)| **kernel == *point.kernel);
            let name = name.map_or_else(String::new, |(_, name)| name.clone());
            match (Work::of(outcome, plain), known) {
                (Some(work), Some(place)) => all[place].1.push((name, work)),
                (Some(work), None) => all.push((point, vec![(name, work)])),
                (None, _) if found.left_out.contains(&name) => {}
                (None, _) => found.left_out.push(name),
            }
        }
        found.curves = curves(all);
        found
    }

    /// Whether there is anything to compare: two configurations or two kernels.
    pub fn compare(&self) -> bool {
        self.curves.len() > 1 || self.curves.iter().any(|curve| curve.runs.len() > 1)
    }
}

/// The kernels of a report with their names.
fn names(report: &Report) -> Vec<(&KernelName, String)> {
    let mut kernels: Vec<&KernelName> = Vec::new();
    for point in &report.points {
        if !kernels.contains(&&*point.point.kernel) {
            kernels.push(&point.point.kernel);
        }
    }
    let names = format::kernels(&kernels);
    kernels.into_iter().zip(names).collect()
}

fn curves(all: Vec<Runs>) -> Vec<Curve> {
    let points: Vec<&Point> = all.iter().map(|(point, _)| *point).collect();
    let curves = all.into_iter().map(|(point, runs)| Curve {
        label: label(point, &points),
        runs,
    });
    curves.collect()
}

/// Whether two points differ in nothing but the kernel.
fn is_same(one: &Point, other: &Point) -> bool {
    one.technique == other.technique
        && one.gpu == other.gpu
        && one.axes == other.axes
        && one.technology == other.technology
}

/// The technique, and what of GPU and technology the configurations differ in.
fn label(point: &Point, all: &[&Point]) -> String {
    let mut label = match point.is_baseline() {
        true => "plain GPU".to_owned(),
        false => point.technique.to_string(),
    };
    let gpu = |point: &Point| gpu_label(&point.gpu, &point.axes);
    let node = |point: &Point| point.technology.node.to_string();
    let whole = |point: &Point| point.technology.label();
    let differ = |of: &dyn Fn(&Point) -> String| all.iter().any(|other| of(other) != of(point));
    if differ(&gpu) {
        label += &format!(" · {}", gpu(point));
    }
    let alike = all.iter().filter(|other| node(other) == node(point));
    let is_told_by_node = alike.clone().all(|other| whole(other) == whole(point));
    if differ(&node) && is_told_by_node {
        label += &format!(" · {}", node(point));
    } else if differ(&whole) {
        label += &format!(" · {}", whole(point));
    }
    label
}
