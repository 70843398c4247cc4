//! A technique beside its baseline: what it saves, what it costs, how sure that is.

use std::collections::BTreeMap;

use serde::Serialize;

use super::accounting::{Implied, Lookups};
use super::estimate::{self, Estimate, Term};
use super::terms;
use crate::outcome::{FRONT_END, Metric, Note, Outcome, Point, PricedStructure};
use crate::papers::{Benchmark, FilterCachePaper};
use warpwatt_gpu::{Preset, presets};

/// One point with a technique, compared with the baseline on the same kernel, GPU and technology.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The point with the technique.
    pub point: Point,
    /// Cycles of the baseline.
    pub baseline_cycles: u64,
    /// Cycles with the technique.
    pub cycles: u64,
    /// `cycles / baseline_cycles - 1`.
    pub slowdown: f64,
    /// Instructions fetched by the baseline.
    pub fetches: u64,
    /// Fraction of the fetches that the filter cache served, where there is one.
    pub hit_rate: Option<f64>,
    /// Dynamic energy of the I-cache, fills included, without; with the technique also of what it adds to the front end.
    pub icache: Change,
    /// Dynamic energy of the front end.
    pub front_end: Change,
    /// The same taken apart.
    pub front_end_saving: Saving,
    /// The same structure by structure, by name.
    pub front_end_parts: Vec<Part>,
    /// Dynamic and leakage energy of every priced structure.
    pub total: Change,
    /// What the technique adds to area and leakage power.
    pub overhead: Overhead,
    /// The same counts under the sum that the paper's Table 4 implies, where there is a filter cache.
    pub implied: Option<Implied>,
    /// What the paper reports for this kernel.
    pub paper: Option<PaperValues>,
    /// What the techniques report beyond energy.
    pub metrics: Vec<Metric>,
    /// What a reader must know.
    pub notes: Vec<Note>,
}

/// An energy without and with a technique.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Without.
    pub without_j: f64,
    /// Its standard deviation.
    pub without_sigma_j: f64,
    /// With.
    pub with_j: f64,
    /// Its standard deviation.
    pub with_sigma_j: f64,
    /// `with / without - 1`; errors that both have in common cancel. Absent if there was nothing to save.
    pub relative: Option<Estimate>,
}

/// A saving as gross, overhead and net.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Saving {
    /// Sum over the structures that spend less.
    pub gross_j: f64,
    /// Sum over the structures that spend more, those that the technique adds among them.
    pub overhead_j: f64,
    /// `gross_j - overhead_j`.
    pub net_j: f64,
}

/// One structure's dynamic energy without and with a technique.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// The structure.
    pub structure: String,
    /// Without; zero if the technique adds the structure.
    pub without_j: f64,
    /// With; zero if the technique removes it.
    pub with_j: f64,
}

/// Relative growth of area and of leakage power, gate leakage included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Overhead {
    /// Area over that of the front end.
    pub front_end_area: Option<Estimate>,
    /// Area over that of all priced structures of the streaming multiprocessor.
    pub sm_area: Option<Estimate>,
    /// Leakage over that of the front end.
    pub front_end_leakage: Option<Estimate>,
    /// Leakage over that of all priced structures of the streaming multiprocessor.
    pub sm_leakage: Option<Estimate>,
}

/// A paper's own row for a kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PaperValues {
    /// The paper's abbreviation.
    pub abbreviation: String,
    /// Its filter-cache hit rate.
    pub hit_rate: f64,
    /// Its energy of I-cache and filter cache over that of the I-cache.
    pub icache_ratio: f64,
    /// Its saving of front-end dynamic energy.
    pub front_end_saving: f64,
}

impl Comparison {
    /// Compares `with` with `without`, which must differ in nothing but their technique.
    pub fn of(without: &Outcome, with: &Outcome, paper: &FilterCachePaper) -> Self {
        let front_end = (front_end(without), front_end(with));
        let front_end_parts = parts(&front_end.0, &front_end.1);
        Self {
            point: with.point.clone(),
            baseline_cycles: without.cycles,
            cycles: with.cycles,
            slowdown: with.cycles as f64 / without.cycles.max(1) as f64 - 1.0,
            fetches: without.activity.get("fetches"),
            hit_rate: Lookups::of(with).map(|lookups| lookups.hit_rate()),
            icache: Change::between(
                &instruction_supply(without, without),
                &instruction_supply(with, without),
            ),
            front_end: Change::between(&front_end.0, &front_end.1),
            front_end_saving: Saving::of(&front_end_parts),
            front_end_parts,
            total: Change::between(&terms::all_energy(without), &terms::all_energy(with)),
            overhead: Overhead::of(without, with),
            implied: Implied::of(without, with),
            paper: is_the_papers_configuration(&with.point)
                .then(|| paper.benchmark(&with.point.kernel.paper))
                .flatten()
                .map(PaperValues::of),
            metrics: with.metrics.clone(),
            notes: with.notes.clone(),
        }
    }
}

/// Whether a point is what the paper's Table 4 is about: its filter cache of 32 entries on its GPU. Other sizes and variants have no row of their own.
fn is_the_papers_configuration(point: &Point) -> bool {
    if point.technique != PAPER_TECHNIQUE || point.gpu != PAPER_GPU {
        return false;
    }
    if point.axes.is_empty() {
        return true;
    }
    let preset = presets().iter().find(|preset| preset.name == PAPER_GPU);
    preset.map(Preset::table).is_some_and(|table| {
        let mut axes = point.axes.iter();
        axes.all(|(path, value)| setting(&table, path).as_deref() == Some(value))
    })
}

const PAPER_GPU: &str = "tesla-16sm";
const PAPER_TECHNIQUE: &str = "filter_cache(entries=32)";

/// The value of a preset's setting, as an axis shows it.
fn setting(table: &toml::Table, path: &str) -> Option<String> {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    match table.get(first)? {
        toml::Value::Table(inner) => setting(inner, rest),
        value if rest.is_empty() => Some(
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned),
        ),
        _ => None,
    }
}

fn front_end(outcome: &Outcome) -> Vec<Term<'_>> {
    outcome.group(FRONT_END).map(terms::dynamic).collect()
}

/// The dynamic energy of the I-cache and of everything in the front end that the baseline does not have.
fn instruction_supply<'a>(outcome: &'a Outcome, baseline: &Outcome) -> Vec<Term<'a>> {
    outcome
        .group(FRONT_END)
        .filter(|s| s.name.starts_with("icache.") || baseline.structure(&s.name).is_none())
        .map(terms::dynamic)
        .collect()
}

impl Change {
    /// From the terms of one configuration to those of another.
    pub fn between(without: &[Term], with: &[Term]) -> Self {
        let (before, after) = (estimate::sum(without), estimate::sum(with));
        Self {
            without_j: before.value,
            without_sigma_j: before.sigma,
            with_j: after.value,
            with_sigma_j: after.sigma,
            relative: estimate::ratio(with, without).map(Estimate::minus_one),
        }
    }

    /// Energy with over energy without.
    pub fn ratio(&self) -> Option<f64> {
        self.relative.map(|change| change.value + 1.0)
    }
}

/// The terms of both configurations side by side.
fn parts(without: &[Term], with: &[Term]) -> Vec<Part> {
    let mut parts: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for term in without {
        parts.entry(term.structure).or_default().0 += term.value;
    }
    for term in with {
        parts.entry(term.structure).or_default().1 += term.value;
    }
    parts
        .into_iter()
        .map(|(structure, (without_j, with_j))| Part {
            structure: structure.to_owned(),
            without_j,
            with_j,
        })
        .collect()
}

impl Saving {
    /// What every structure saves or costs, summed by sign.
    fn of(parts: &[Part]) -> Self {
        let rises = || parts.iter().map(|part| part.with_j - part.without_j);
        let gross_j = rises().map(|rise| (-rise).max(0.0)).sum();
        let overhead_j = rises().map(|rise| rise.max(0.0)).sum();
        Self {
            gross_j,
            overhead_j,
            net_j: gross_j - overhead_j,
        }
    }
}

impl Overhead {
    fn of(without: &Outcome, with: &Outcome) -> Self {
        Self {
            front_end_area: growth(without, with, Some(FRONT_END), terms::area),
            sm_area: growth(without, with, None, terms::area),
            front_end_leakage: growth(without, with, Some(FRONT_END), terms::leakage_power),
            sm_leakage: growth(without, with, None, terms::leakage_power),
        }
    }
}

/// Relative growth of a figure, in one group or over all structures.
fn growth(
    without: &Outcome,
    with: &Outcome,
    group: Option<&str>,
    term: fn(&PricedStructure) -> Term<'_>,
) -> Option<Estimate> {
    let (before, after) = (members(without, group), members(with, group));
    let before: Vec<Term> = before.map(term).collect();
    let after: Vec<Term> = after.map(term).collect();
    estimate::ratio(&after, &before).map(Estimate::minus_one)
}

fn members<'a>(
    outcome: &'a Outcome,
    group: Option<&'a str>,
) -> impl Iterator<Item = &'a PricedStructure> {
    let structures = outcome.structures.iter();
    structures.filter(move |structure| group.is_none_or(|group| structure.group == group))
}

impl PaperValues {
    fn of(row: &Benchmark) -> Self {
        Self {
            abbreviation: row.abbr.clone(),
            hit_rate: row.fc_hit,
            icache_ratio: row.energy_ratio(),
            front_end_saving: row.front_end_saving,
        }
    }
}

#[cfg(test)]
mod tests;
