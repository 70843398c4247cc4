//! The organisation that the objective prefers. There are nine at most for each kind of wire, so all are evaluated.

use super::array::CamArray;
use super::shape::{CamNeed, CamShape};
use crate::process::Process;
use crate::{Objective, Profile, Settings, Weights};

/// An organisation is dropped if it is this much worse than the best, both in delay and in energy (CACTI 7, Ucache.cc:795).
const FILTER: f64 = 1.5;

/// What the objective looks at.
#[derive(Clone, Copy)]
struct Looks {
    delay: f64,
    dynamic: f64,
    leakage: f64,
    cycle: f64,
    area: f64,
}

/// The best organisation of an associative array.
pub(crate) fn best(process: &Process, settings: &Settings, need: &CamNeed) -> Option<CamArray> {
    let mut arrays = Vec::new();
    for (kind, _) in &process.repeaters.offers {
        let wired = process.with_wires(*kind);
        let shapes = need.shapes(&wired);
        arrays.extend(shapes.map(|shape| CamArray::new(&wired, need, &shape)));
    }
    let looks: Vec<Looks> = arrays
        .iter()
        .map(|array| Looks::of(array, settings.profile))
        .collect();
    let least = Looks::least(&looks);
    let kept =
        |look: &Looks| look.delay <= least.delay * FILTER || look.dynamic <= least.dynamic * FILTER;
    let price = |look: &Looks| match settings.objective {
        Objective::EnergyDelay => look.delay * look.dynamic,
        Objective::EnergyDelaySquared => look.delay * look.delay * look.dynamic,
        Objective::Weighted => look.weighted(&least, &settings.weights),
    };
    let within = |look: &Looks| {
        settings.objective != Objective::Weighted || look.within(&least, &settings.deviations)
    };
    // Where the deviations leave nothing, the fastest is as near as it gets.
    let pick = |good: &dyn Fn(&Looks) -> bool| {
        looks
            .iter()
            .enumerate()
            .filter(|(_, look)| good(look))
            .min_by(|a, b| price(a.1).total_cmp(&price(b.1)))
            .map(|(index, _)| index)
    };
    let chosen = pick(&|look| kept(look) && within(look))
        .or_else(|| pick(&|look| look.delay <= least.delay))?;
    arrays.into_iter().nth(chosen)
}

/// The same organisation under another process, with that one's cells.
pub(crate) fn again(process: &Process, need: &CamNeed, array: &CamArray) -> CamArray {
    let shape = CamShape::new(process, need, array.shape.ndbl);
    CamArray::new(&process.with_wires(array.wires), need, &shape)
}

impl Looks {
    /// The tools look at the energy of a plain read; mended, at that of a search, which is what the array is for.
    fn of(array: &CamArray, profile: Profile) -> Self {
        let energy = if profile == Profile::Silicon {
            array.search
        } else {
            array.read
        };
        Self {
            delay: array.access_time.si(),
            dynamic: energy.si(),
            leakage: array.leakage.si(),
            cycle: array.cycle_time.si(),
            area: array.area().si(),
        }
    }

    fn least(all: &[Self]) -> Self {
        let of = |figure: fn(&Self) -> f64| all.iter().map(figure).fold(f64::INFINITY, f64::min);
        Self {
            delay: of(|look| look.delay),
            dynamic: of(|look| look.dynamic),
            leakage: of(|look| look.leakage),
            cycle: of(|look| look.cycle),
            area: of(|look| look.area),
        }
    }

    fn pairs(&self, least: &Self, values: &Weights) -> [(f64, f64); 5] {
        [
            (self.delay / least.delay, values.delay),
            (self.dynamic / least.dynamic, values.dynamic),
            (self.leakage / least.leakage, values.leakage),
            (self.cycle / least.cycle, values.cycle),
            (self.area / least.area, values.area),
        ]
    }

    fn weighted(&self, least: &Self, weights: &Weights) -> f64 {
        let pairs = self.pairs(least, weights);
        pairs.iter().map(|(ratio, weight)| ratio * weight).sum()
    }

    fn within(&self, least: &Self, percent: &Weights) -> bool {
        self.pairs(least, percent)
            .iter()
            .all(|(ratio, percent)| *ratio <= 1.0 + percent / 100.0)
    }
}
