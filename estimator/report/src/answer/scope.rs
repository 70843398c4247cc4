//! What the figures hold, and what they leave out.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use warpwatt_activity::Event;
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

impl Scope {
    /// That of `points` together.
    pub fn of(points: &[Outcome]) -> Self {
        let mut scope = Self::default();
        for outcome in points {
            scope.add(outcome);
        }
        scope
    }

    /// Adds a point.
    pub fn add(&mut self, outcome: &Outcome) {
        for structure in &outcome.structures {
            self.priced.insert(structure.name.clone());
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
