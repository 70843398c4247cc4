//! The energy of structures, by group.

use std::collections::BTreeMap;

use crate::outcome::{Outcome, PricedStructure};

/// Structures that have a stream of their own, at most.
const MOST: usize = 12;
/// The least share of the whole that has one.
const LEAST: f64 = 0.01;

/// Energy by kind.
pub type Joules = Vec<f64>;

/// Kinds of energy that the whole parts into first.
pub struct Kinds<'k> {
    /// Their names.
    pub names: Vec<&'k str>,
    /// What a structure has of each.
    pub of: &'k dyn Fn(&PricedStructure) -> Joules,
}

/// Something that takes energy.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// What it takes.
    pub joules: Joules,
}

/// Structures that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// All of it.
    pub whole: Part,
    /// Its largest structures, the largest first, and behind them the sum of the others.
    pub parts: Vec<Part>,
}

impl Part {
    /// Of all kinds together.
    pub fn energy_j(&self) -> f64 {
        self.joules.iter().sum()
    }
}

/// The sum of `parts`.
pub fn sum<'p>(parts: impl IntoIterator<Item = &'p Part>) -> Joules {
    let mut all = Joules::new();
    parts
        .into_iter()
        .for_each(|part| add(&mut all, &part.joules));
    all
}

fn add(to: &mut Joules, more: &[f64]) {
    to.resize(to.len().max(more.len()), 0.0);
    to.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

/// The energy of `points` together by group, the largest group first. What takes nothing is left out.
pub fn groups(points: &[&Outcome], kinds: &Kinds<'_>) -> Vec<Group> {
    let parts = parts(points, kinds);
    let whole_j: f64 = parts.iter().map(|(_, part)| part.energy_j()).sum();
    let least = parts.get(MOST).map_or(0.0, |(_, part)| part.energy_j());
    let is_large = |part: &Part| part.energy_j() > least && part.energy_j() >= LEAST * whole_j;
    let mut by_group: BTreeMap<&str, Vec<Part>> = BTreeMap::new();
    for (structure, part) in parts {
        by_group.entry(&structure.group).or_default().push(part);
    }
    let groups = by_group.into_iter().map(|(name, parts)| Group {
        whole: Part {
            name: name.to_owned(),
            joules: sum(&parts),
        },
        parts: shortened(parts, is_large),
    });
    let mut groups: Vec<Group> = groups.collect();
    groups.sort_by(|a, b| b.whole.energy_j().total_cmp(&a.whole.energy_j()));
    groups
}

/// Every structure with its sum over the points, the largest first, equal ones by name.
fn parts<'o>(points: &[&'o Outcome], kinds: &Kinds<'_>) -> Vec<(&'o PricedStructure, Part)> {
    let mut sums: BTreeMap<&str, (&PricedStructure, Joules)> = BTreeMap::new();
    for structure in points.iter().flat_map(|point| &point.structures) {
        let sum = sums.entry(&structure.name);
        let (_, joules) = sum.or_insert_with(|| (structure, Joules::new()));
        add(joules, &(kinds.of)(structure));
    }
    let parts = sums.into_iter().map(|(name, (structure, joules))| {
        let name = name.to_owned();
        (structure, Part { name, joules })
    });
    let mut parts: Vec<_> = parts.filter(|(_, part)| part.energy_j() > 0.0).collect();
    parts.sort_by(|(_, a), (_, b)| b.energy_j().total_cmp(&a.energy_j()));
    parts
}

/// The large ones, and the others as one; a single other one keeps its name.
fn shortened(mut parts: Vec<Part>, is_large: impl Fn(&Part) -> bool) -> Vec<Part> {
    let large = parts.iter().take_while(|part| is_large(part)).count();
    if parts.len() > large + 1 {
        let others = parts.split_off(large);
        parts.push(Part {
            name: format!("{} others", others.len()),
            joules: sum(&others),
        });
    }
    parts
}
