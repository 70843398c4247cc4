//! Which of several circuits for one memory is the best by the objective.

use crate::build::Sizing;
use crate::{Alternative, CircuitError, Cost, Objective, Settings, Weights};

/// The best, with the others as its alternatives.
pub(crate) fn choose(at: &Sizing, candidates: Vec<Cost>) -> Result<Cost, CircuitError> {
    let best = at.choices.circuit(|| best(at.settings, &candidates))?;
    let mut alternatives: Vec<Alternative> = candidates.iter().map(Alternative::of).collect();
    alternatives.remove(best);
    let chosen = candidates.into_iter().nth(best);
    let mut chosen = chosen.ok_or(CircuitError::Deviations)?;
    chosen.alternatives = alternatives;
    Ok(chosen)
}

fn best(settings: &Settings, candidates: &[Cost]) -> Option<usize> {
    let figures: Vec<Weights> = candidates.iter().map(figures).collect();
    let least = figures.iter().copied().reduce(least)?;
    let allowed =
        |of: &Weights| settings.objective != Objective::Weighted || within(settings, &least, of);
    let price = |of: &Weights| price(settings, &least, of);
    let order = |&(_, a): &(usize, &Weights), &(_, b): &(usize, &Weights)| {
        // What keeps the deviations comes before what does not.
        let late = |of: &Weights| !allowed(of);
        late(a).cmp(&late(b)).then(price(a).total_cmp(&price(b)))
    };
    let (best, _) = figures.iter().enumerate().min_by(order)?;
    Some(best)
}

fn figures(cost: &Cost) -> Weights {
    Weights {
        delay: cost.access_time.si(),
        dynamic: cost.read_energy.si(),
        leakage: cost.leakage.si(),
        cycle: cost.cycle_time.si(),
        area: cost.area.si(),
    }
}

/// Figure by figure.
fn both(a: &Weights, b: &Weights, of: impl Fn(f64, f64) -> f64) -> Weights {
    Weights {
        delay: of(a.delay, b.delay),
        dynamic: of(a.dynamic, b.dynamic),
        leakage: of(a.leakage, b.leakage),
        cycle: of(a.cycle, b.cycle),
        area: of(a.area, b.area),
    }
}

fn least(a: Weights, b: Weights) -> Weights {
    both(&a, &b, f64::min)
}

fn all(of: &Weights) -> [f64; 5] {
    [of.delay, of.dynamic, of.leakage, of.cycle, of.area]
}

fn within(settings: &Settings, least: &Weights, of: &Weights) -> bool {
    let above = both(of, least, |of, least| (of / least - 1.0) * 100.0);
    let pairs = all(&above).into_iter().zip(all(&settings.deviations));
    pairs.into_iter().all(|(above, most)| above <= most)
}

fn price(settings: &Settings, least: &Weights, of: &Weights) -> f64 {
    match settings.objective {
        Objective::EnergyDelay => of.dynamic * of.delay,
        Objective::EnergyDelaySquared => of.dynamic * of.delay * of.delay,
        Objective::Weighted => {
            let relative = both(of, least, |of, least| of / least);
            let weighted = both(&relative, &settings.weights, |of, weight| of * weight);
            all(&weighted).into_iter().sum()
        }
    }
}
