//! Every metric that there is, and the one of a name.

use std::collections::BTreeSet;

use warpwatt_gpu::COUNTERS;
use warpwatt_techniques::ALL;

use super::{Better, Def, Figure, Metric, POINT, VERSUS, paper, point, technique, versus};
use crate::diag::{Diag, nearest};
use crate::goal::{Measured, MetricNames};
use crate::outcome::{Outcome, PricedStructure};

/// Before the name of a counter.
const ACTIVITY: &str = "activity.";
/// Before the name of a structure and its figure.
const STRUCTURES: &str = "structures.";

/// The metrics that can be asked for.
#[derive(Clone, Debug)]
pub struct Metrics {
    /// Those that a listing shows.
    listed: Vec<Metric>,
    /// Structures of the points, where there are points.
    structures: Option<Vec<String>>,
    /// Counters.
    counters: Vec<(String, String)>,
}

/// A name, a unit, which way is good, and the value.
pub type StructureFigure = (
    &'static str,
    &'static str,
    Better,
    fn(&PricedStructure) -> f64,
);

/// Figures of a structure, called as in `report.json`.
pub const FIGURES: [StructureFigure; 7] = [
    ("area_m2", "m2", Better::Lower, |s| s.area_m2),
    ("leakage_w", "W", Better::Lower, |s| s.leakage_w),
    ("gate_leakage_w", "W", Better::Lower, |s| s.gate_leakage_w),
    ("delay_s", "s", Better::Lower, |s| s.delay_s),
    ("dynamic_j", "J", Better::Lower, |s| s.dynamic_j),
    ("leakage_j", "J", Better::Lower, |s| s.leakage_j),
    ("instances", "1", Better::Neither, |s| s.instances as f64),
];

impl Metrics {
    /// Those of any study: what techniques report is taken from their default parameters.
    pub fn known() -> Self {
        let mut listed: Vec<Metric> = Vec::new();
        let points = POINT.iter().chain(point::DERIVED);
        let points = points.map(|def| fixed(def, Figure::Point));
        let versus = VERSUS.iter().chain(versus::DERIVED);
        let versus = versus.map(|def| fixed(def, Figure::Versus));
        for metric in points
            .chain(versus)
            .chain(paper::all())
            .chain(technique::defaults())
        {
            add(&mut listed, metric);
        }
        let counters = COUNTERS.iter().map(|counter| (counter.name, counter.unit));
        let techniques = ALL.iter().flat_map(|definition| definition.counters);
        let counters = counters.chain(techniques.map(|(name, _)| (*name, "1")));
        Self {
            listed,
            structures: None,
            counters: counters
                .map(|(name, unit)| (name.to_owned(), unit.to_owned()))
                .collect(),
        }
    }

    /// With what the points have.
    #[must_use]
    pub fn with_points<'o>(mut self, points: impl IntoIterator<Item = &'o Outcome>) -> Self {
        let mut structures: Vec<String> = Vec::new();
        // Points of one GPU and technique have the same names.
        let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
        for point in points {
            if !seen.insert((&point.point.gpu, &point.point.technique)) {
                continue;
            }
            for metric in point.metrics.iter() {
                add(
                    &mut self.listed,
                    technique::metric(&metric.name, &metric.unit),
                );
            }
            for structure in &point.structures {
                if !structures.iter().any(|known| **known == *structure.name) {
                    structures.push(structure.name.to_string());
                }
            }
            for (counter, _) in point.activity.iter() {
                if !self.counters.iter().any(|(known, _)| known == counter) {
                    self.counters.push((counter.to_owned(), "1".to_owned()));
                }
            }
        }
        self.structures = Some(structures);
        self
    }

    /// Those that a listing shows: all but counters and figures of structures.
    pub fn iter(&self) -> impl Iterator<Item = &Metric> {
        self.listed.iter()
    }

    /// The metric called `name`.
    ///
    /// # Errors
    /// There is none: the nearest name is suggested.
    pub fn find(&self, name: &str) -> Result<Metric, Diag> {
        let name = name.trim();
        let found = if let Some(counter) = name.strip_prefix(ACTIVITY) {
            self.counter(name, counter)
        } else if let Some(rest) = name.strip_prefix(STRUCTURES) {
            self.structure(name, rest)
        } else {
            let mut listed = self.listed.iter();
            let found = listed.find(|metric| metric.name == name);
            found.cloned().or_else(|| self.of_other_parameters(name))
        };
        found.ok_or_else(|| {
            Diag::error("metric::unknown", format!("no metric is called `{name}`"))
                .help(self.remedy(name))
        })
    }

    /// What a technique reports of a parameter's value, a word of digits: `fetch_redundancy.other_warp.64` is like `fetch_redundancy.other_warp.16`.
    fn of_other_parameters(&self, name: &str) -> Option<Metric> {
        let is_number = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        let form = |name: &str| -> Vec<String> {
            let words = name.split('.');
            let words = words.map(|word| if is_number(word) { "#" } else { word });
            words.map(str::to_owned).collect()
        };
        let wanted = form(name);
        let mut listed = self.listed.iter();
        let like = listed.find(|metric| {
            matches!(metric.figure, Figure::Technique)
                && wanted.contains(&"#".to_owned())
                && form(&metric.name) == wanted
        })?;
        Some(technique::metric(name, &like.unit))
    }

    fn counter(&self, name: &str, counter: &str) -> Option<Metric> {
        let (_, unit) = self.counters.iter().find(|(known, _)| known == counter)?;
        Some(Metric {
            name: name.to_owned(),
            unit: unit.clone(),
            better: Better::Neither,
            meaning: format!("the counter `{counter}`"),
            interval: false,
            figure: Figure::Activity(counter.to_owned()),
        })
    }

    fn structure(&self, name: &str, rest: &str) -> Option<Metric> {
        let (structure, figure) = rest.rsplit_once('.')?;
        let (_, unit, better, value) = FIGURES.iter().find(|known| known.0 == figure)?;
        let known = self.structures.as_ref();
        if known.is_some_and(|known| !known.iter().any(|name| name == structure)) {
            return None;
        }
        Some(Metric {
            name: name.to_owned(),
            unit: (*unit).to_owned(),
            better: *better,
            meaning: format!("`{figure}` of the structure `{structure}`"),
            interval: false,
            figure: Figure::Structure(structure.to_owned(), *value),
        })
    }

    /// The nearest name, and where all of them are.
    fn remedy(&self, name: &str) -> String {
        let mut names: Vec<String> = self.listed.iter().map(|m| m.name.clone()).collect();
        names.extend(
            self.counters
                .iter()
                .map(|(name, _)| format!("{ACTIVITY}{name}")),
        );
        for structure in self.structures.iter().flatten() {
            names.extend(FIGURES.map(|(figure, ..)| format!("{STRUCTURES}{structure}.{figure}")));
        }
        let all = "`warpwatt list metrics` has all of them";
        match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`? {all}"),
            None => all.to_owned(),
        }
    }
}

impl MetricNames for Metrics {
    fn measured(&self, name: &str) -> Result<Box<dyn Measured>, Diag> {
        self.find(name).map(|metric| Box::new(metric) as _)
    }
}

type Value<T> = fn(&T) -> Option<f64>;

fn fixed<T>(def: &Def<T>, figure: fn(Value<T>) -> Figure) -> Metric {
    Metric {
        name: def.name.to_owned(),
        unit: def.unit.to_owned(),
        better: def.better,
        meaning: def.meaning.to_owned(),
        interval: def.interval,
        figure: figure(def.value),
    }
}

/// The first of a name counts: `cycles` and `fetches` are those of the point, not the columns of its comparison.
fn add(metrics: &mut Vec<Metric>, metric: Metric) {
    if metrics.iter().all(|known| known.name != metric.name) {
        metrics.push(metric);
    }
}
