//! What the figures hold, and what they leave out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use warpwatt_activity::{Activity, Event};
use warpwatt_gpu::HARDWARE_EVENTS;

use crate::format;
use crate::outcome::{Outcome, PricedStructure};

/// What is priced in a report's points, and what was counted without a price.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// Structures with a price: area, leakage, and energy unless they are in `leakage_only`.
    pub priced: BTreeSet<String>,
    /// Those of them whose events have no price: area and leakage alone.
    pub leakage_only: BTreeSet<String>,
    /// Structures in which events happened and that have no price at all, not even area.
    pub unpriced_structures: BTreeSet<String>,
    /// Counters of events without a price, with their counts over all points.
    pub unpriced_events: BTreeMap<String, u64>,
}

/// The structure in which the events of a counter happen; `None` of a statistic.
fn structure_of(counter: &str) -> Option<&str> {
    let mut known = HARDWARE_EVENTS.iter();
    let plain = known.find(|event| event.counter == counter);
    let plain = plain.map(|event| event.structure);
    plain.or_else(|| Event::of(counter).map(|event| event.structure))
}

/// The priced structure of a name, or its parts: `l2.tag` and `l2.data` are those of `l2`.
fn parts_of<'o>(outcome: &'o Outcome, name: &str) -> impl Iterator<Item = &'o PricedStructure> {
    outcome.structures.iter().filter(move |priced| {
        let rest = priced.name.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// A scope that grows. Points of one run have the same counts at every supply and temperature, and what these leave out is found once.
#[derive(Clone, Debug, Default)]
pub struct Scopes {
    whole: Scope,
    /// By where the counts are.
    runs: BTreeMap<usize, OfRun>,
}

/// What points of a run leave out.
#[derive(Clone, Debug)]
struct OfRun {
    /// The counts: as long as they are held, no others are at their place.
    counts: Arc<Activity>,
    /// What of them is priced elsewhere.
    charged: Arc<BTreeSet<String>>,
    structures: usize,
    scope: Scope,
    points: u64,
}

/// Runs that are remembered at once.
const MOST_RUNS: usize = 1024;

impl Scopes {
    /// Adds a point.
    pub fn add(&mut self, outcome: &Outcome) {
        let place = Arc::as_ptr(&outcome.activity).addr();
        if let Some(run) = self.runs.get_mut(&place)
            && run.structures == outcome.structures.len()
            && run.charged == outcome.charged
        {
            run.points += 1;
            return;
        }
        if self.runs.len() >= MOST_RUNS {
            self.settle();
        }
        let mut scope = Scope::default();
        scope.add(outcome);
        let run = OfRun {
            counts: Arc::clone(&outcome.activity),
            charged: Arc::clone(&outcome.charged),
            structures: outcome.structures.len(),
            scope,
            points: 1,
        };
        if let Some(other) = self.runs.insert(place, run) {
            self.whole.merge(other.scope, other.points);
        }
    }

    fn settle(&mut self) {
        for run in std::mem::take(&mut self.runs).into_values() {
            drop(run.counts);
            self.whole.merge(run.scope, run.points);
        }
    }

    /// What all points come to.
    pub fn finish(mut self) -> Scope {
        self.settle();
        self.whole
    }
}

impl Scope {
    /// That of `points` together.
    pub fn of(points: &[Outcome]) -> Self {
        let mut scopes = Scopes::default();
        points.iter().for_each(|outcome| scopes.add(outcome));
        scopes.finish()
    }

    /// Adds what another says, of so many points.
    fn merge(&mut self, other: Self, points: u64) {
        self.priced.extend(other.priced);
        self.leakage_only.extend(other.leakage_only);
        self.unpriced_structures.extend(other.unpriced_structures);
        for (counter, count) in other.unpriced_events {
            *self.unpriced_events.entry(counter).or_default() += points * count;
        }
    }

    fn add(&mut self, outcome: &Outcome) {
        for structure in &outcome.structures {
            self.priced.insert(structure.name.to_string());
        }
        let activity = &outcome.activity;
        for (counter, count) in activity.iter().filter(|(_, count)| *count > 0) {
            let Some(structure) = structure_of(counter) else {
                continue;
            };
            let mut priced = parts_of(outcome, structure).peekable();
            let is_there = priced.peek().is_some();
            if outcome.charged.contains(counter) || priced.any(|part| !part.actions.is_empty()) {
                continue;
            }
            let left_out = match is_there {
                true => &mut self.leakage_only,
                false => &mut self.unpriced_structures,
            };
            left_out.insert(structure.to_owned());
            self.count(counter, count);
        }
    }

    fn count(&mut self, counter: &str, count: u64) {
        *self.unpriced_events.entry(counter.to_owned()).or_default() += count;
    }

    /// What is left out, in a sentence; `None` if that is nothing.
    pub fn words(&self) -> Option<String> {
        let list = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(", ");
        let mut parts = Vec::new();
        if !self.unpriced_structures.is_empty() {
            let structures = &self.unpriced_structures;
            parts.push(format!(
                "structures without a price ({}): {}",
                structures.len(),
                list(structures)
            ));
        }
        if !self.leakage_only.is_empty() {
            parts.push(format!("dynamic energy of {}", list(&self.leakage_only)));
        }
        if !self.unpriced_events.is_empty() {
            let events = self.unpriced_events.iter();
            let events = events.map(|(name, count)| format!("{name} {}", format::count(*count)));
            let events: Vec<String> = events.collect();
            parts.push(format!(
                "counted events without a price ({}): {}",
                events.len(),
                events.join(", ")
            ));
        }
        let words = format!("Not in the figures: {}.", parts.join("; "));
        (!parts.is_empty()).then_some(words)
    }
}
