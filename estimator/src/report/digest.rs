//! Many points in few lines: for each configuration how its figures spread, and where it is best.

use std::collections::BTreeMap;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;

use super::format;
use super::model::Report;
use crate::outcome::{BASELINE, Point};

/// More points than a report shows one by one; beyond, it shows a digest of them.
pub const MOST_SHOWN: usize = 10_000;

/// The spread of the figures of a study's points.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Digest {
    /// The title of the study.
    pub title: String,
    /// Its points.
    pub points: usize,
    /// Its configurations in the order in which they come first.
    pub configurations: Vec<Configuration>,
    #[serde(skip)]
    gathered: Vec<Gathered>,
    #[serde(skip)]
    places: BTreeMap<String, usize>,
}

/// What is known of a configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
}

/// Order statistics of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The smallest.
    pub least: f64,
    /// The one in the middle; of an even number the lower one.
    pub median: f64,
    /// The largest.
    pub most: f64,
}

#[derive(Clone, Debug, PartialEq)]
struct Gathered {
    technique: String,
    energy: Vec<f64>,
    time: Vec<f64>,
    change: Vec<f64>,
    slowdown: Vec<f64>,
    area: Vec<f64>,
    best: (f64, Point),
}

impl Digest {
    /// A digest of nothing yet.
    pub fn new(title: &str) -> Self {
        Self {
            title: title.to_owned(),
            ..Self::default()
        }
    }

    /// Adds the points of a report, which may be a stretch of the study's.
    pub fn add(&mut self, report: &Report) {
        for (number, outcome) in report.points.iter().enumerate() {
            self.points += 1;
            let comparison = report.comparison(number);
            let energy = outcome.energy_j();
            let change = comparison
                .and_then(|c| c.total.relative)
                .map(|change| change.value);
            let merit = change.unwrap_or(energy);
            let technique = &outcome.point.technique;
            let place = *self.places.entry(technique.clone()).or_insert_with(|| {
                self.gathered.push(Gathered {
                    technique: technique.clone(),
                    energy: Vec::new(),
                    time: Vec::new(),
                    change: Vec::new(),
                    slowdown: Vec::new(),
                    area: Vec::new(),
                    best: (f64::INFINITY, outcome.point.clone()),
                });
                self.gathered.len() - 1
            });
            let gathered = &mut self.gathered[place];
            gathered.energy.push(energy);
            gathered.time.push(outcome.time_s);
            gathered.change.extend(change);
            gathered.slowdown.extend(comparison.map(|c| c.slowdown));
            let area = comparison.and_then(|c| c.overhead.sm_area);
            gathered.area.extend(area.map(|area| area.value));
            if merit < gathered.best.0 {
                gathered.best = (merit, outcome.point.clone());
            }
        }
    }

    /// Sorts what was gathered.
    #[must_use]
    pub fn finish(mut self) -> Self {
        let gathered = std::mem::take(&mut self.gathered).into_iter();
        self.configurations = gathered
            .filter_map(|gathered| {
                Some(Configuration {
                    points: gathered.energy.len(),
                    energy_j: Spread::of(gathered.energy)?,
                    time_s: Spread::of(gathered.time)?,
                    energy_change: Spread::of(gathered.change),
                    slowdown: Spread::of(gathered.slowdown),
                    area_overhead: Spread::of(gathered.area),
                    technique: gathered.technique,
                    best: gathered.best.1,
                })
            })
            .collect();
        self
    }

    /// As a table for the terminal.
    pub fn table(&self) -> String {
        let mut table = Table::new();
        table
            .load_style(presets::UTF8_FULL_CONDENSED)
            .set_content_arrangement(ContentArrangement::Disabled)
            .force_no_tty();
        table.set_header([
            "configuration",
            "points",
            "energy, mJ\nleast, median, most",
            "time, us\nleast, median, most",
            "energy change\nleast, median, most",
            "slower by\nmedian, most",
            "area\nmedian",
        ]);
        for one in &self.configurations {
            let percent = |value: f64| format::change(value);
            table.add_row([
                one.technique.clone(),
                format::count(one.points as u64),
                one.energy_j.text(|joules| format::number(joules * 1e3)),
                one.time_s.text(|seconds| format::number(seconds * 1e6)),
                one.energy_change
                    .map_or_else(none, |spread| spread.text(percent)),
                one.slowdown.map_or_else(none, |spread| {
                    format!("{}, {}", percent(spread.median), percent(spread.most))
                }),
                one.area_overhead
                    .map_or_else(none, |spread| percent(spread.median)),
            ]);
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let best: Vec<String> = self
            .configurations
            .iter()
            .map(Configuration::best_text)
            .collect();
        format!(
            "{}\n\n{} points, too many to show one by one: points.csv and comparisons.csv have them.\n{table}\n{}",
            self.title,
            format::count(self.points as u64),
            best.concat()
        )
    }
}

impl Configuration {
    fn best_text(&self) -> String {
        let point = &self.best;
        let what = match self.technique.as_str() {
            BASELINE => "least energy",
            _ => "largest saving",
        };
        let gpu = crate::outcome::gpu_label(&point.gpu, &point.axes);
        let technology = &point.technology;
        format!(
            "{}: {what} at {} ({}), {gpu}, {} {}, {} V, {} K\n",
            self.technique,
            point.kernel.name,
            point.kernel.case,
            technology.node,
            technology.flavour,
            technology.vdd_v,
            technology.temperature_k
        )
    }
}

impl Spread {
    /// Of values in any order; `None` of nothing.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let (least, most) = (*values.first()?, *values.last()?);
        let median = values[(values.len() - 1) / 2];
        Some(Self {
            least,
            median,
            most,
        })
    }

    fn text(&self, show: impl Fn(f64) -> String) -> String {
        let [least, median, most] = [self.least, self.median, self.most].map(show);
        format!("{least}, {median}, {most}")
    }
}

fn none() -> String {
    format::NONE.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_least_middle_and_most() {
        let spread = Spread::of(vec![3.0, 1.0, 2.0, 10.0]).unwrap();
        assert_eq!((spread.least, spread.median, spread.most), (1.0, 2.0, 10.0));
        assert_eq!(Spread::of(vec![]), None);
    }
}
