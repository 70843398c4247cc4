//! Rows of the answer that grow: kernel by kernel, and stretch by stretch of a study that is too large to be held.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use warpwatt_techniques::headline;

use super::row::{Answer, Pair, parameters, saved_and_added};
use crate::estimate::{Estimate, MeanRatio};
use crate::format;
use crate::model::{Block, Report};
use crate::outcome::{KernelName, Outcome};
use crate::parameters::Parameters;
use crate::terms;

/// The rows so far, in the order of their first kernel.
#[derive(Clone, Debug, Default)]
pub struct Growing {
    rows: Vec<Row>,
    places: BTreeMap<Key, usize>,
    /// What the study chose.
    parameters: Parameters,
}

/// What a row is of: technique, GPU and its settings, the technology by its names, supply and temperature.
type Key = (
    Arc<str>,
    Arc<str>,
    Arc<BTreeMap<String, String>>,
    [Arc<str>; 4],
    [u64; 2],
);

/// A row: what it is of, and sums over its kernels.
#[derive(Clone, Debug)]
struct Row {
    /// What it is of.
    of: Block,
    within_budget: Option<bool>,
    kernels: Vec<Arc<KernelName>>,
    energy: MeanRatio,
    saved: Mean,
    added: Mean,
    power: Mean,
    area: Mean,
    area_m2: Mean,
    slowdown: Mean,
    edp: Mean,
    headline: BTreeMap<String, Mean>,
}

/// A mean of figures that may be absent: then there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Mean {
    sum: f64,
    count: usize,
    absent: bool,
}

fn key(block: &Block) -> Key {
    let technology = &block.technology;
    let names = [
        &technology.node,
        &technology.flavour,
        &technology.library,
        &technology.profile,
    ];
    (
        Arc::clone(&block.technique),
        Arc::clone(&block.gpu),
        Arc::clone(&block.axes),
        names.map(Arc::clone),
        [technology.vdd_v, technology.temperature_k].map(f64::to_bits),
    )
}

impl Growing {
    /// Adds the comparisons of a report, which may be a stretch of the study's.
    pub fn add(&mut self, report: &Report) {
        self.parameters = report.parameters.clone();
        for (number, block) in report.blocks.iter().enumerate() {
            let row = self.row(block);
            for (pair, inside) in report.judged_pairs(number) {
                row.add(pair, inside);
            }
        }
    }

    /// Adds the rows of comparisons that follow.
    pub fn merge(&mut self, next: Self) {
        self.parameters = next.parameters;
        for row in next.rows {
            match self.places.entry(key(&row.of)) {
                Entry::Occupied(place) => self.rows[*place.get()].merge(row),
                Entry::Vacant(place) => {
                    place.insert(self.rows.len());
                    self.rows.push(row);
                }
            }
        }
    }

    fn row(&mut self, block: &Block) -> &mut Row {
        let rows = &mut self.rows;
        let place = *self.places.entry(key(block)).or_insert_with(|| {
            rows.push(Row::of(block));
            rows.len() - 1
        });
        &mut self.rows[place]
    }

    /// The rows.
    pub fn finish(self) -> Vec<Answer> {
        let rows = self.rows.into_iter();
        rows.map(|row| row.finish(&self.parameters)).collect()
    }
}

impl Row {
    fn of(block: &Block) -> Self {
        Self {
            of: block.empty(),
            within_budget: None,
            kernels: Vec::new(),
            energy: MeanRatio::default(),
            saved: Mean::default(),
            added: Mean::default(),
            power: Mean::default(),
            area: Mean::default(),
            area_m2: Mean::default(),
            slowdown: Mean::default(),
            edp: Mean::default(),
            headline: BTreeMap::new(),
        }
    }

    fn add(&mut self, pair: Pair<'_>, inside: Option<bool>) {
        let (without, with) = pair;
        self.kernels.push(with.point.kernel.clone());
        self.energy
            .add(&terms::all_energy(with), &terms::all_energy(without));
        let whole = without.energy_j();
        let [saved, added] = saved_and_added(pair).map(|sum| (whole > 0.0).then_some(sum / whole));
        self.saved.add(saved);
        self.added.add(added);
        let change = |figure: fn(&Outcome) -> f64| Some(figure(with) / figure(without) - 1.0);
        self.power.add(change(|o| o.energy_j() / o.time_s));
        self.area.add(change(|o| o.totals.area_m2));
        self.area_m2.add(Some(with.totals.area_m2));
        self.slowdown.add(change(|o| o.cycles as f64));
        self.edp.add(change(|o| o.energy_j() * o.time_s));
        for metric in with.metrics.iter().filter(|metric| headline(&metric.name)) {
            let mean = self.headline.entry(metric.name.clone()).or_default();
            mean.add(Some(metric.value));
        }
        self.judge(inside);
    }

    /// Adds the kernels of another row of the same configuration.
    fn merge(&mut self, next: Self) {
        self.kernels.extend(next.kernels);
        self.energy.merge(&next.energy);
        let means = [
            (&mut self.saved, next.saved),
            (&mut self.added, next.added),
            (&mut self.power, next.power),
            (&mut self.area, next.area),
            (&mut self.area_m2, next.area_m2),
            (&mut self.slowdown, next.slowdown),
            (&mut self.edp, next.edp),
        ];
        for (mean, next) in means {
            mean.merge(next);
        }
        for (name, next) in next.headline {
            self.headline.entry(name).or_default().merge(next);
        }
        self.judge(next.within_budget);
    }

    /// Inside the budget only if all of it is.
    fn judge(&mut self, inside: Option<bool>) {
        if let Some(inside) = inside {
            let before = self.within_budget.unwrap_or(true);
            self.within_budget = Some(before && inside);
        }
    }

    fn finish(self, chosen: &Parameters) -> Answer {
        let kernels: Vec<&KernelName> = self.kernels.iter().map(AsRef::as_ref).collect();
        let headline = self.headline.into_iter();
        let headline = headline.filter_map(|(name, mean)| Some((name, mean.value()?)));
        Answer {
            kernels: format::kernels(&kernels),
            energy_change: self.energy.value().map(Estimate::minus_one),
            energy_gross_saving: self.saved.value(),
            energy_overhead: self.added.value(),
            power_change: self.power.value(),
            area_change: self.area.value(),
            area_m2: self.area_m2.value(),
            slowdown: self.slowdown.value(),
            edp_change: self.edp.value(),
            headline: headline.collect(),
            within_budget: self.within_budget,
            ..Answer::named(&self.of, parameters(chosen, &self.of))
        }
    }
}

impl Mean {
    fn add(&mut self, value: Option<f64>) {
        match value.filter(|value| value.is_finite()) {
            Some(value) => self.sum += value,
            None => self.absent = true,
        }
        self.count += 1;
    }

    fn merge(&mut self, next: Self) {
        self.sum += next.sum;
        self.count += next.count;
        self.absent |= next.absent;
    }

    fn value(self) -> Option<f64> {
        (self.count > 0 && !self.absent).then(|| self.sum / self.count as f64)
    }
}
