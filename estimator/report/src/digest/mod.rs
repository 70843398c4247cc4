//! Many points in few lines: for each configuration how its figures spread and where it is best and worst, how figures go along each axis, and the best
//! compromises of each kernel.

mod axes;
mod front;
mod page;
mod show;
mod spread;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

pub use axes::{Along, Value};
pub use front::{KernelFront, OnFront};
pub use spread::Spread;

use super::answer::{self, Answer, Scope, Scopes};
use super::metric::Objective;
use super::model::Report;
use crate::outcome::Point;
use axes::Axes;
use front::Growing;

/// More points than a report shows one by one; beyond, it shows a digest of them.
pub const MOST_SHOWN: usize = 2_000;

/// What is shown of a study of very many points.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Digest {
    /// The title of the study.
    pub title: String,
    /// SHA-256 of its manifest: which results these are.
    pub manifest: String,
    /// Its points.
    pub points: usize,
    /// Points with a technique inside the budget, if there is one.
    pub inside_budget: Option<usize>,
    /// The rows of the answer as `report.json` has them; of more than [`MOST_SHOWN`] the best and the worst.
    pub answer: Vec<serde_json::Value>,
    /// Which row wins, in a sentence.
    pub verdict: Option<String>,
    /// What is priced, and what was counted without a price.
    pub scope: Scope,
    /// Its configurations in the order in which they come first.
    pub configurations: Vec<Configuration>,
    /// The axes that have several values.
    pub axes: Vec<Along>,
    /// What the fronts are between.
    pub objectives: Vec<Objective>,
    /// The units of these metrics.
    pub units: Vec<String>,
    /// The best compromises, one front a kernel.
    pub fronts: Vec<KernelFront>,
}

/// What is known of a configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// Its label.
    pub technique: String,
    /// Its points.
    pub points: usize,
    /// Energy of a run, dynamic and leakage.
    pub energy_j: Spread,
    /// Time of a run.
    pub time_s: Spread,
    /// Change of the energy against the plain GPU; nothing for the plain GPU.
    pub energy_change: Option<Spread>,
    /// Rise of the cycles against it.
    pub slowdown: Option<Spread>,
    /// Growth of the area of the priced structures of the SM against it.
    pub area_overhead: Option<Spread>,
    /// The point with the largest saving of energy; without a technique, with the least energy.
    pub best: Point,
    /// The point with the smallest saving, or the most energy.
    pub worst: Point,
}

/// A digest that grows, a stretch of the study at a time. It holds some numbers of each point, no point.
#[derive(Clone, Debug)]
pub struct Gathering {
    digest: Digest,
    gathered: Vec<Gathered>,
    places: BTreeMap<Arc<str>, usize>,
    axes: Axes,
    /// Of each point.
    figures: Vec<Figures>,
    fronts: Growing,
    answer: answer::Growing,
    /// Of the whole and of its stretches: points of one run are in many of these.
    scopes: Arc<Mutex<Scopes>>,
}

/// Energy, time and change of energy of a point.
type Figures = (f64, f64, Option<f64>);

#[derive(Clone, Debug)]
struct Gathered {
    technique: Arc<str>,
    /// Its points among all.
    points: Vec<usize>,
    slowdown: Vec<f64>,
    area: Vec<f64>,
    best: (f64, Point),
    worst: (f64, Point),
}

impl Gathered {
    /// Whether a point is the best or the worst so far.
    fn judge(&mut self, merit: f64, point: &Point) {
        if merit < self.best.0 {
            self.best = (merit, point.clone());
        }
        if merit > self.worst.0 {
            self.worst = (merit, point.clone());
        }
    }

    /// Adds what was gathered of points that follow those of this number.
    fn merge(&mut self, before: usize, next: Self) {
        self.points
            .extend(next.points.iter().map(|point| before + point));
        self.slowdown.extend(next.slowdown);
        self.area.extend(next.area);
        self.judge(next.best.0, &next.best.1);
        self.judge(next.worst.0, &next.worst.1);
    }
}

impl Gathering {
    /// Nothing yet, of a study whose manifest has this hash.
    pub fn new(title: &str, manifest: String, objectives: &[Objective]) -> Self {
        Self {
            digest: Digest {
                title: title.to_owned(),
                manifest,
                ..Digest::default()
            },
            gathered: Vec::new(),
            places: BTreeMap::new(),
            axes: Axes::default(),
            figures: Vec::new(),
            fronts: Growing::between(objectives),
            answer: answer::Growing::default(),
            scopes: Arc::default(),
        }
    }

    /// Nothing yet, of a stretch of the same study: it is [merged](Self::merge) with what came before.
    #[must_use]
    pub fn of_stretch(&self) -> Self {
        Self {
            digest: Digest::default(),
            gathered: Vec::new(),
            places: BTreeMap::new(),
            axes: Axes::default(),
            figures: Vec::new(),
            fronts: self.fronts.empty(),
            answer: answer::Growing::default(),
            scopes: Arc::clone(&self.scopes),
        }
    }

    /// Adds what was gathered of the points that follow.
    pub fn merge(&mut self, next: Self) {
        let before = self.figures.len();
        self.figures.extend(next.figures);
        self.axes.merge(before, next.axes);
        for gathered in next.gathered {
            let place = self.place(&gathered.technique, &gathered.best.1);
            self.gathered[place].merge(before, gathered);
        }
        self.fronts.merge(next.fronts);
        self.answer.merge(next.answer);
        if let Some(inside) = next.digest.inside_budget {
            *self.digest.inside_budget.get_or_insert(0) += inside;
        }
    }

    /// Adds the points of a report, which may be a stretch of the study's.
    pub fn add(&mut self, report: &Report) {
        for (place, outcome) in report.points.iter().enumerate() {
            let number = self.figures.len();
            let comparison = report.comparison(place);
            let energy = outcome.energy_j();
            let change = comparison.and_then(|c| c.total.relative);
            let change = change.map(|change| change.value);
            self.figures.push((energy, outcome.time_s, change));
            self.axes.add(number, &outcome.point);
            let place = self.place(&outcome.point.technique, &outcome.point);
            let gathered = &mut self.gathered[place];
            gathered.points.push(number);
            gathered.slowdown.extend(comparison.map(|c| c.slowdown));
            let area = comparison.and_then(|c| c.overhead.sm_area);
            gathered.area.extend(area.map(|area| area.value));
            let merit = change.unwrap_or(energy);
            gathered.judge(merit, &outcome.point);
        }
        self.fronts.add(report);
        self.answer.add(report);
        let mut scopes = self.scopes();
        report.points.iter().for_each(|point| scopes.add(point));
        drop(scopes);
        if let Some(budget) = &report.budget {
            let inside = self.digest.inside_budget.get_or_insert(0);
            *inside += budget.count(report).inside;
        }
    }

    /// Where a technique is among those that were gathered; `point` has it.
    fn place(&mut self, technique: &Arc<str>, point: &Point) -> usize {
        if let Some(place) = self.places.get(technique) {
            return *place;
        }
        self.gathered.push(Gathered {
            technique: Arc::clone(technique),
            points: Vec::new(),
            slowdown: Vec::new(),
            area: Vec::new(),
            best: (f64::INFINITY, point.clone()),
            worst: (f64::NEG_INFINITY, point.clone()),
        });
        let place = self.gathered.len() - 1;
        self.places.insert(Arc::clone(technique), place);
        place
    }

    /// A panic of another thread ends the study, whatever it left here.
    fn scopes(&self) -> MutexGuard<'_, Scopes> {
        self.scopes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it comes to, and all rows of the answer.
    pub fn finish(self) -> (Digest, Vec<Answer>) {
        let scope = std::mem::take(&mut *self.scopes()).finish();
        let rows = self.answer.finish();
        let budget = self.digest.inside_budget;
        let budget =
            budget.map(|inside| format!("budget: {inside} points with a technique are inside"));
        let shown = match rows.len() {
            0..=MOST_SHOWN => rows.iter().collect(),
            _ => answer::shown(&rows),
        };
        let shown = shown
            .into_iter()
            .filter_map(|row| serde_json::to_value(row).ok());
        let shown = shown.collect();
        let verdict = (!rows.is_empty()).then(|| answer::verdict(&rows, budget.as_deref()));
        let figures = &self.figures;
        let of = |points: &[usize], figure: fn(&Figures) -> Option<f64>| {
            let values = points.iter().filter_map(|point| figure(&figures[*point]));
            Spread::of(values.collect())
        };
        let configurations = self.gathered.into_iter().filter_map(|gathered| {
            Some(Configuration {
                points: gathered.points.len(),
                energy_j: of(&gathered.points, |figures| Some(figures.0))?,
                time_s: of(&gathered.points, |figures| Some(figures.1))?,
                energy_change: of(&gathered.points, |figures| figures.2),
                slowdown: Spread::of(gathered.slowdown),
                area_overhead: Spread::of(gathered.area),
                technique: gathered.technique.to_string(),
                best: gathered.best.1,
                worst: gathered.worst.1,
            })
        });
        let digest = Digest {
            answer: shown,
            verdict,
            scope,
            configurations: configurations.collect(),
            points: figures.len(),
            axes: self.axes.finish(figures),
            objectives: self.fronts.objectives.clone(),
            units: self.fronts.units.clone(),
            fronts: self.fronts.finish(),
            ..self.digest
        };
        (digest, rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Metrics;
    use crate::sample;

    /// Points of several supplies, each with its plain GPU, gathered a stretch at a time come to what they come to all at once.
    #[test]
    fn stretches_come_to_the_whole() {
        let mut points = Vec::new();
        for step in 0..6 {
            let mut some = sample::outcomes();
            for point in &mut some {
                point.point.technology.vdd_v += 0.01 * f64::from(step);
                point.totals.leakage_j *= 1.0 + 0.1 * f64::from(step % 4);
            }
            points.extend(some);
        }
        let read = |text| Objective::read(text, &Metrics::known()).unwrap();
        let objectives = ["energy_j", "time_s"].map(read);
        let new = || Gathering::new("Many", "0".to_owned(), &objectives);
        let mut whole = new();
        whole.add(&Report::new("Many", &points));
        let whole = whole.finish();
        for stretch in [2, 4, 10, 36] {
            let mut gathering = new();
            for points in points.chunks(stretch) {
                let mut piece = gathering.of_stretch();
                piece.add(&Report::new("Many", points));
                gathering.merge(piece);
            }
            assert_eq!(gathering.finish(), whole, "{stretch}");
        }
    }
}
