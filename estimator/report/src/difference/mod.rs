//! What changed between two reports: the same kernels before and after, in time and energy.

mod read;
mod show;

pub use read::{read, spent};

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::estimate::{self, Estimate, Figure, Term};
use crate::outcome::RelativeUncertainty;

/// Structures that are named as those that changed most.
const NAMED: usize = 3;

/// What a kernel took in one configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Spent {
    /// The kernel, with its case where it has one.
    pub kernel: String,
    /// What it ran on: GPU, technique, technology.
    pub configuration: String,
    /// In what it is priced, where that is known.
    pub technology: Option<String>,
    /// Cycles, where the report has them.
    pub cycles: Option<u64>,
    /// Seconds, where it is priced.
    pub time_s: Option<f64>,
    /// Dynamic and leakage energy, where it is priced.
    pub energy_j: Option<f64>,
    /// What its structures took.
    pub structures: Vec<SpentBy>,
}

/// What a structure took, as documents have it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SpentBy {
    /// Its name.
    pub name: Arc<str>,
    /// Dynamic energy.
    pub dynamic_j: f64,
    /// Leakage energy.
    pub leakage_j: f64,
    /// How sure these are, where the report says it.
    #[serde(default)]
    pub uncertainty: Option<RelativeUncertainty>,
}

/// Two reports beside each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// What both have, in the order of the second.
    pub rows: Vec<Row>,
    /// The sum over them, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all: Option<Row>,
    /// What only the first has.
    pub only_before: Vec<String>,
    /// What only the second has.
    pub only_after: Vec<String>,
}

/// A kernel before and after.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The kernel.
    pub kernel: String,
    /// What it ran on; with an arrow where the two differ.
    pub configuration: String,
    /// Cycles.
    pub cycles: Option<Pair>,
    /// Seconds.
    pub time_s: Option<Pair>,
    /// Joules.
    pub energy_j: Option<Pair>,
    /// Half the 95 % interval of the relative change of energy: errors that both have in common cancel. Absent where a report does not say how sure it is, and between technologies.
    pub energy_change_halfwidth: Option<f64>,
    /// Mean watts.
    pub power_w: Option<Pair>,
    /// Structures whose energy changed most, in joules.
    pub most: Vec<Moved>,
}

/// A figure before and after.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// Before.
    pub before: f64,
    /// After.
    pub after: f64,
    /// `after / before - 1`; absent if there was nothing before.
    pub change: Option<f64>,
}

/// How far the energy of a structure went up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Moved {
    /// The structure.
    pub structure: String,
    /// Joules more; fewer if it is negative.
    pub change_j: f64,
}

impl Pair {
    fn of(before: Option<f64>, after: Option<f64>) -> Option<Self> {
        let (before, after) = (before?, after?);
        Some(Self {
            before,
            after,
            change: (before != 0.0).then(|| after / before - 1.0),
        })
    }
}

impl Spent {
    fn name(&self) -> (&str, &str) {
        (&self.kernel, &self.configuration)
    }

    fn power_w(&self) -> Option<f64> {
        self.time_s
            .filter(|time_s| *time_s > 0.0)
            .and_then(|time_s| Some(self.energy_j? / time_s))
    }

    /// The summands of its energy; none where one of them does not say how sure it is.
    fn terms(&self) -> Option<Vec<Term<'_>>> {
        let mut terms = Vec::new();
        for by in &self.structures {
            let sigma = by.uncertainty?;
            for (figure, value, total) in [
                (Figure::Energy, by.dynamic_j, sigma.energy),
                (Figure::Leakage, by.leakage_j, sigma.leakage),
            ] {
                terms.push(Term::of(&by.name, figure, value, (total, sigma.method)));
            }
        }
        (!terms.is_empty()).then_some(terms)
    }
}

impl Difference {
    /// Matches kernels by name and configuration. Where each side is of a single kernel, these two are compared whatever they are called.
    pub fn between(before: &[Spent], after: &[Spent]) -> Self {
        let single = before.len() == 1 && after.len() == 1;
        let (known_before, known_after) = (by_name(before), by_name(after));
        let pairs = after.iter().filter_map(|with| {
            let without = match single {
                true => before.first(),
                false => known_before.get(&with.name()).copied(),
            };
            Some((without?, with))
        });
        let pairs: Vec<(&Spent, &Spent)> = pairs.collect();
        let alone = |these: &[Spent], others: &BTreeMap<(&str, &str), &Spent>| {
            let these = these.iter();
            let these = these.filter(|it| !single && !others.contains_key(&it.name()));
            these
                .map(|it| format!("{} · {}", it.kernel, it.configuration))
                .collect()
        };
        Self {
            rows: pairs.iter().map(|pair| Row::of(pair.0, pair.1)).collect(),
            all: (pairs.len() > 1).then(|| Row::sum(&pairs)),
            only_before: alone(before, &known_after),
            only_after: alone(after, &known_before),
        }
    }

    /// Rows whose time or energy rises by more than this share.
    pub fn beyond(&self, share: f64) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| {
            let time = row.time_s.or(row.cycles);
            let changes = [time, row.energy_j].into_iter().flatten();
            changes
                .filter_map(|pair| pair.change)
                .any(|rise| rise > share)
        })
    }
}

/// Of a name that comes again the first.
fn by_name(spent: &[Spent]) -> BTreeMap<(&str, &str), &Spent> {
    spent.iter().rev().map(|it| (it.name(), it)).collect()
}

impl Row {
    fn of(before: &Spent, after: &Spent) -> Self {
        let both = |a: &str, b: &str| match a == b {
            true => a.to_owned(),
            false => format!("{a} → {b}"),
        };
        let pair = |figure: fn(&Spent) -> Option<f64>| Pair::of(figure(before), figure(after));
        // Errors of two technologies have little in common.
        let alike = before.technology == after.technology;
        let terms = before.terms().zip(after.terms()).filter(|_| alike);
        let change = terms.and_then(|(without, with)| estimate::ratio(&with, &without));
        Self {
            kernel: both(&before.kernel, &after.kernel),
            configuration: both(&before.configuration, &after.configuration),
            cycles: pair(|it| it.cycles.map(|cycles| cycles as f64)),
            time_s: pair(|it| it.time_s),
            energy_j: pair(|it| it.energy_j),
            energy_change_halfwidth: change.as_ref().map(Estimate::half_width),
            power_w: pair(Spent::power_w),
            most: moved(&[(before, after)]),
        }
    }

    /// All of them one after the other.
    fn sum(pairs: &[(&Spent, &Spent)]) -> Self {
        let total = |figure: &dyn Fn(&Spent) -> Option<f64>| {
            let before: Option<f64> = pairs.iter().map(|pair| figure(pair.0)).sum();
            let after: Option<f64> = pairs.iter().map(|pair| figure(pair.1)).sum();
            Pair::of(before, after)
        };
        let (time_s, energy_j) = (total(&|it| it.time_s), total(&|it| it.energy_j));
        let power = |of: fn(&Pair) -> f64| Some(of(&energy_j?) / of(&time_s?));
        Self {
            kernel: "all".to_owned(),
            configuration: String::new(),
            cycles: total(&|it| it.cycles.map(|cycles| cycles as f64)),
            power_w: Pair::of(power(|pair| pair.before), power(|pair| pair.after)),
            time_s,
            energy_j,
            energy_change_halfwidth: None,
            most: moved(pairs),
        }
    }
}

/// The structures whose energy changed most over all pairs, the largest change first.
fn moved(pairs: &[(&Spent, &Spent)]) -> Vec<Moved> {
    let mut by_name: BTreeMap<&str, f64> = BTreeMap::new();
    for (before, after) in pairs {
        for (side, sign) in [(before, -1.0), (after, 1.0)] {
            for by in &side.structures {
                *by_name.entry(&by.name).or_default() += sign * (by.dynamic_j + by.leakage_j);
            }
        }
    }
    let changed = by_name.into_iter().filter(|(_, change)| *change != 0.0);
    let mut moved: Vec<Moved> = changed
        .map(|(structure, change_j)| Moved {
            structure: structure.to_owned(),
            change_j,
        })
        .collect();
    moved.sort_by(|a, b| b.change_j.abs().total_cmp(&a.change_j.abs()));
    moved.truncate(NAMED);
    moved
}

#[cfg(test)]
mod tests;
