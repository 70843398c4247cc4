//! One round of simulated annealing.

use std::cell::RefCell;

use argmin::core::{ArgminError, CostFunction, Error, Executor};
use argmin::solver::simulatedannealing::{Anneal, SATempFunc, SimulatedAnnealing};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::{Record, Score, Space};

/// Temperature at the start, in costs relative to that of the first candidate: a fifth worse is often accepted.
const HOT: f64 = 0.2;

/// Temperature at the end, over that at the start.
const COOLED: f64 = 1e-3;

/// Steps for each evaluation of a round: steps to known candidates cost nothing, but there is an end to them.
const STEPS: u64 = 4;

/// What being outside the budget costs beyond the violation itself.
const OUTSIDE: f64 = 1.0;

/// The most that a violation or a lack of a value counts.
const WORST: f64 = 10.0;

struct Problem<'s, 'e, E> {
    space: &'s Space,
    record: RefCell<Record<'e, E>>,
    random: RefCell<Xoshiro256PlusPlus>,
    /// Evaluations that are left to later rounds.
    reserve: usize,
    /// Size of the costs.
    scale: f64,
}

/// Spends about `share` evaluations from `start` on.
pub fn anneal<'e, E>(
    space: &Space,
    mut record: Record<'e, E>,
    start: usize,
    seed: u64,
    share: usize,
) -> Record<'e, E> {
    let Some(first) = record.score(start) else {
        return record;
    };
    let scale = first.cost.map_or(1.0, f64::abs);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let chance = random.clone();
    random.jump();
    let steps = STEPS * share as u64;
    let problem = Problem {
        space,
        reserve: record.left.saturating_sub(share),
        record: RefCell::new(record),
        random: RefCell::new(random),
        scale: if scale > 0.0 { scale } else { 1.0 },
    };
    let cooling = libm::pow(COOLED, 1.0 / steps as f64);
    let shared = &problem;
    // It ends with its steps, or with an error when the evaluations are spent; what was found is in the record in either case.
    if let Ok(solver) = SimulatedAnnealing::new_with_rng(HOT, chance) {
        let solver = solver.with_temp_func(SATempFunc::Exponential(cooling));
        let executor = Executor::new(shared, solver);
        let executor = executor.configure(|state| state.param(start).max_iters(steps));
        let _ = executor.timer(false).run();
    }
    problem.record.into_inner()
}

impl<E> CostFunction for &Problem<'_, '_, E> {
    type Param = usize;
    type Output = f64;

    fn cost(&self, candidate: &usize) -> Result<f64, Error> {
        let mut record = self.record.borrow_mut();
        let known = record.scores.contains_key(candidate);
        let score = if known || record.left > self.reserve {
            record.score(*candidate)
        } else {
            None
        };
        score
            .map(|score| cost(&score, self.scale))
            .ok_or_else(spent)
    }
}

impl<E> Anneal for &Problem<'_, '_, E> {
    type Param = usize;
    type Output = usize;
    type Float = f64;

    fn anneal(&self, candidate: &usize, _: f64) -> Result<usize, Error> {
        let mut random = self.random.borrow_mut();
        Ok(self.space.step(*candidate, &mut random))
    }
}

fn spent() -> Error {
    let text = "no evaluation is left".to_owned();
    ArgminError::ConditionViolated { text }.into()
}

/// One figure for value and budget.
fn cost(score: &Score, scale: f64) -> f64 {
    let value = score.cost.map_or(WORST, |cost| cost / scale);
    if score.violation > 0.0 {
        value + OUTSIDE + score.violation.min(WORST)
    } else {
        value
    }
}
