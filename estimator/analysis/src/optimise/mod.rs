//! The best candidate of a space that is too large to walk.
//!
//! A candidate is a GPU with or without a technique at a technology: one level of every factor of a study. Few candidates are all tried. Otherwise rounds of simulated annealing
//! (S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, "Optimization by Simulated Annealing", Science 220, 1983), each followed by a descent that tries every change of one factor, take turns
//! until the evaluations are spent. A candidate is evaluated once. Everything random comes from one seed.

mod anneal;
mod evaluate;
mod space;

#[cfg(test)]
mod tests;

pub use evaluate::{Evaluator, Goal, Tried};
pub use space::{Candidate, OnKernel, Space};

use std::collections::BTreeMap;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

use crate::report::effects::below;

/// What a candidate comes out as.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// A figure of which less is better; a candidate without one is worse than any with one.
    pub cost: Option<f64>,
    /// By how much it is outside the budget, relative to the limit; zero inside.
    pub violation: f64,
}

/// How much may be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Candidates to evaluate at most.
    pub evaluations: usize,
    /// Decides what is tried.
    pub seed: u64,
}

/// The end of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The best candidate: inside the budget if any that was tried is.
    pub best: usize,
    /// What it came out as.
    pub score: Score,
    /// Candidates that were evaluated.
    pub evaluations: usize,
    /// Whether all were.
    pub whole: bool,
    /// Each candidate that was the best when it was evaluated, with how many had been evaluated then.
    pub history: Vec<(usize, usize)>,
}

impl Score {
    /// Whether it is inside the budget and has a value.
    pub fn is_inside(&self) -> bool {
        self.violation <= 0.0 && self.cost.is_some()
    }

    /// Whether it is better: inside before outside, then less violation, then less cost.
    pub fn beats(&self, other: &Score) -> bool {
        let cost = |score: &Score| score.cost.unwrap_or(f64::INFINITY);
        match (self.is_inside(), other.is_inside()) {
            (true, true) => cost(self) < cost(other),
            (inside, other_inside) if inside != other_inside => inside,
            _ => (self.violation, cost(self)) < (other.violation, cost(other)),
        }
    }
}

/// What has been tried so far.
pub(crate) struct Record<'e, E> {
    evaluate: &'e mut dyn FnMut(usize) -> Result<Score, E>,
    left: usize,
    scores: BTreeMap<usize, Score>,
    best: Option<(usize, Score)>,
    history: Vec<(usize, usize)>,
    failure: Option<E>,
}

impl<E> Record<'_, E> {
    /// The score of a candidate; `None` if it is not known and nothing may be evaluated any more.
    fn score(&mut self, candidate: usize) -> Option<Score> {
        if let Some(score) = self.scores.get(&candidate) {
            return Some(*score);
        }
        if self.left == 0 || self.failure.is_some() {
            return None;
        }
        self.left -= 1;
        let score = match (self.evaluate)(candidate) {
            Ok(score) => score,
            Err(error) => {
                self.failure = Some(error);
                return None;
            }
        };
        self.scores.insert(candidate, score);
        if self.best.is_none_or(|(_, best)| score.beats(&best)) {
            self.best = Some((candidate, score));
            self.history.push((self.scores.len(), candidate));
        }
        Some(score)
    }

    fn is_spent(&self) -> bool {
        self.left == 0 || self.failure.is_some()
    }
}

/// Looks for the best of `space`. `evaluate` is asked about each candidate at most once. `None` if the space is empty.
///
/// # Errors
/// What `evaluate` says.
pub fn search<E>(
    space: &Space,
    effort: Effort,
    mut evaluate: impl FnMut(usize) -> Result<Score, E>,
) -> Result<Option<Found>, E> {
    let mut record = Record {
        evaluate: &mut evaluate,
        left: effort.evaluations.min(space.len()),
        scores: BTreeMap::new(),
        best: None,
        history: Vec::new(),
        failure: None,
    };
    let whole = space.len() <= effort.evaluations;
    if whole {
        for candidate in 0..space.len() {
            record.score(candidate);
        }
    } else {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(effort.seed);
        while !record.is_spent() {
            let start = below(&mut random, space.len());
            let seed = random.next_u64();
            // A first look at the space is worth more of the effort than later ones.
            let share = (record.left / 2).max(1);
            record = anneal::anneal(space, record, start, seed, share);
            descend(space, &mut record);
        }
    }
    if let Some(failure) = record.failure {
        return Err(failure);
    }
    Ok(record.best.map(|(best, score)| Found {
        best,
        score,
        evaluations: record.scores.len(),
        whole,
        history: record.history,
    }))
}

/// From the best so far to the best of its neighbours, until none is better.
fn descend<E>(space: &Space, record: &mut Record<'_, E>) {
    while let Some((from, _)) = record.best {
        for neighbour in space.neighbours(from) {
            if record.score(neighbour).is_none() {
                return;
            }
        }
        if record.best.is_some_and(|(best, _)| best == from) {
            return;
        }
    }
}
