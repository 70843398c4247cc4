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

/// Which is the best, of those that keep the deviation of the area, and of these those that keep that of the energy.
pub(super) fn best(settings: &Settings, candidates: &[Cost]) -> Option<usize> {
    let figures: Vec<Weights> = candidates.iter().map(figures).collect();
    let deviations = &settings.deviations;
    let mut left: Vec<usize> = (0..figures.len()).collect();
    keep(&mut left, deviations.area, |i| figures[i].area);
    keep(&mut left, deviations.dynamic, |i| figures[i].dynamic);
    let least = left.iter().map(|&i| figures[i]).reduce(least)?;
    let allowed =
        |of: &Weights| settings.objective != Objective::Weighted || within(settings, &least, of);
    let price = |of: &Weights| price(settings, &least, of);
    left.into_iter().min_by(|&a, &b| {
        let (a, b) = (&figures[a], &figures[b]);
        // What keeps the deviations comes before what does not.
        let late = |of: &Weights| !allowed(of);
        late(a).cmp(&late(b)).then(price(a).total_cmp(&price(b)))
    })
}

/// Keeps what is no more than a deviation above the least.
fn keep(left: &mut Vec<usize>, deviation: f64, of: impl Fn(usize) -> f64) {
    let least = left.iter().map(|&i| of(i)).fold(f64::INFINITY, f64::min);
    left.retain(|&i| above(of(i), least) <= deviation);
}

/// In percent.
fn above(of: f64, least: f64) -> f64 {
    (of / least - 1.0) * 100.0
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
    let deviations = Weights {
        area: f64::INFINITY,
        dynamic: f64::INFINITY,
        ..settings.deviations
    };
    let above = both(of, least, above);
    let pairs = all(&above).into_iter().zip(all(&deviations));
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
