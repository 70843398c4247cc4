//! What supplies instructions: the I-cache, and what a technique adds to the front end.

use super::accounting::{Implied, Lookups};
use crate::estimate::Term;
use crate::outcome::{FRONT_END, Outcome};
use crate::{Change, terms};

/// The energy of supplying instructions, counted structure by structure and under the paper's sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Supply {
    /// Fraction of the fetches that the filter cache served, where there is one.
    pub hit_rate: Option<f64>,
    /// Dynamic energy of the I-cache, fills included, without; with the technique also of what it adds to the front end.
    pub icache: Change,
    /// The same counts under the sum that Table 4 implies, where there is a filter cache.
    pub implied: Option<Implied>,
}

impl Supply {
    /// That of a point without and with a technique.
    pub fn of(without: &Outcome, with: &Outcome) -> Self {
        Self {
            hit_rate: Lookups::of(with).map(|lookups| lookups.hit_rate()),
            icache: Change::between(&energy(without, without), &energy(with, without)),
            implied: Implied::of(without, with),
        }
    }
}

/// The dynamic energy of the I-cache and of everything in the front end that the baseline does not have.
fn energy<'a>(outcome: &'a Outcome, baseline: &Outcome) -> Vec<Term<'a>> {
    outcome
        .group(FRONT_END)
        .filter(|s| s.name.starts_with("icache.") || baseline.structure(&s.name).is_none())
        .map(terms::dynamic)
        .collect()
}
