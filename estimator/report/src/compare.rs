//! A technique beside its baseline: what it saves, what it costs, how sure that is.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::estimate::{self, Estimate, Term, Terms};
use super::paper::{Beside, Paper};
use super::terms;
use crate::outcome::{FRONT_END, Metric, Note, Outcome, Point, PricedStructure};

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
    /// Its standard deviation, where a part of the runs was timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slowdown_sigma: Option<f64>,
    /// Instructions fetched by the baseline.
    pub fetches: u64,
    /// Dynamic energy of each group of structures, by the group's name.
    pub groups: BTreeMap<Arc<str>, Change>,
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
    /// What the paper that the study asks for puts beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<Beside>,
    /// What the techniques report beyond energy.
    pub metrics: Arc<Vec<Metric>>,
    /// What a reader must know.
    pub notes: Arc<Vec<Note>>,
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
    pub structure: Arc<str>,
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

impl Comparison {
    /// Compares `with` with `without`, which must differ in nothing but their technique, beside a paper if one is asked for.
    pub fn of(without: &Outcome, with: &Outcome, paper: Option<&dyn Paper>) -> Self {
        let (mut before, mut after) = (front_end(without), front_end(with));
        let front_end_parts = parts(&before, &after);
        terms::add_sample(without, &mut before);
        terms::add_sample(with, &mut after);
        Self {
            point: with.point.clone(),
            baseline_cycles: without.cycles,
            cycles: with.cycles,
            slowdown: with.cycles as f64 / without.cycles.max(1) as f64 - 1.0,
            slowdown_sigma: slowdown_sigma(without, with),
            fetches: without.activity.get("fetches"),
            groups: groups(without, with),
            front_end: Change::between(&before, &after),
            front_end_saving: Saving::of(&front_end_parts),
            front_end_parts,
            total: Change::between(&terms::all_energy(without), &terms::all_energy(with)),
            overhead: Overhead::of(without, with),
            beside: paper.map(|paper| paper.beside(without, with)),
            metrics: with.metrics.clone(),
            notes: with.notes.clone(),
        }
    }
}

/// What the slowdown is uncertain by where a part of the runs was timed.
fn slowdown_sigma(without: &Outcome, with: &Outcome) -> Option<f64> {
    let ratio = terms::time(with).over(&terms::time(without));
    ratio.map(|ratio| ratio.sigma).filter(|sigma| *sigma > 0.0)
}

/// The dynamic energy of each group that either has.
fn groups(without: &Outcome, with: &Outcome) -> BTreeMap<Arc<str>, Change> {
    let structures = without.structures.iter().chain(&with.structures);
    let mut names: Vec<&Arc<str>> = Vec::new();
    for structure in structures {
        if !names.contains(&&structure.group) {
            names.push(&structure.group);
        }
    }
    let change = |group: &Arc<str>| {
        // One by one: an array of them would be copied.
        let before = terms::energy_of(without, Some(group), terms::dynamic);
        let after = terms::energy_of(with, Some(group), terms::dynamic);
        (Arc::clone(group), Change::between(&before, &after))
    };
    names.into_iter().map(change).collect()
}

fn front_end(outcome: &Outcome) -> Terms<'_> {
    terms::of_group(outcome, Some(FRONT_END), terms::dynamic)
}

impl Change {
    /// From the terms of one configuration to those of another.
    pub fn between(without: &[Term], with: &[Term]) -> Self {
        let (before, after, ratio) = estimate::change(without, with);
        Self {
            without_j: before.value,
            without_sigma_j: before.sigma,
            with_j: after.value,
            with_sigma_j: after.sigma,
            relative: ratio.map(Estimate::minus_one),
        }
    }

    /// Energy without.
    pub fn without(&self) -> Estimate {
        Estimate {
            value: self.without_j,
            sigma: self.without_sigma_j,
        }
    }

    /// Energy with.
    pub fn with(&self) -> Estimate {
        Estimate {
            value: self.with_j,
            sigma: self.with_sigma_j,
        }
    }

    /// Energy with over energy without.
    pub fn ratio(&self) -> Option<f64> {
        self.relative.map(|change| change.value + 1.0)
    }
}

/// The terms of both configurations side by side.
fn parts(without: &[Term], with: &[Term]) -> Vec<Part> {
    let name = |term: &Term| Arc::clone(term.structure);
    let joined = joined(without, with, |term| term.structure);
    let part = joined.into_iter().map(|(without, with)| Part {
        structure: without.or(with).map(name).unwrap_or_default(),
        without_j: without.map_or(0.0, |term| term.value),
        with_j: with.map_or(0.0, |term| term.value),
    });
    part.collect()
}

/// What two configurations have of each name, in the order of the names. In an outcome structures stand in that order, each once, so that no tree is made of them.
pub(super) fn joined<'t, T>(
    without: &'t [T],
    with: &'t [T],
    name: impl Fn(&'t T) -> &'t Arc<str>,
) -> Vec<(Option<&'t T>, Option<&'t T>)> {
    debug_assert!(
        [without, with]
            .iter()
            .all(|side| side.is_sorted_by(|a, b| name(a) < name(b)))
    );
    let mut pairs = Vec::with_capacity(without.len().max(with.len()) + 8);
    let (mut left, mut right) = (without.iter().peekable(), with.iter().peekable());
    loop {
        let order = match (left.peek(), right.peek()) {
            (None, None) => return pairs,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) if name(a) == name(b) => Ordering::Equal,
            (Some(a), Some(b)) => name(a).cmp(name(b)),
        };
        pairs.push(match order {
            Ordering::Less => (left.next(), None),
            Ordering::Greater => (None, right.next()),
            Ordering::Equal => (left.next(), right.next()),
        });
    }
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
fn growth<'o>(
    without: &'o Outcome,
    with: &'o Outcome,
    group: Option<&str>,
    term: fn(&'o PricedStructure) -> Term<'o>,
) -> Option<Estimate> {
    let before = terms::of_group(without, group, term);
    let after = terms::of_group(with, group, term);
    estimate::ratio(&after, &before).map(Estimate::minus_one)
}

#[cfg(test)]
mod tests;
