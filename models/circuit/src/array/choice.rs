//! Which organisation CACTI takes of those that it has evaluated (CACTI 7, Ucache.cc: filter_data_arr, filter_tag_arr, find_optimal_uca; 6.5 likewise).

use warpwatt_techlib::quantity::{Area, Energy, Power, Time};

use super::Face;
use crate::{Circuits, Objective, Profile, Settings, Signalling, Weights};

/// A data array is dropped if it is this much worse than the best, both in delay and in energy (Ucache.cc:795).
pub(super) const FILTER: f64 = 1.5;
/// Which of the five figures they are.
pub(super) const DELAY: usize = 0;
pub(super) const ENERGY: usize = 1;
pub(super) const LEAKAGE: usize = 2;
const AREA: usize = 4;
/// Figures that differ by less are the same to within rounding: the order of the list decides.
pub(super) const SAME: f64 = 1e-12;

/// What a choice looks at: of an array, or of it together with what is around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    pub(crate) delay: Time,
    pub(crate) energy: Energy,
    /// Of one bank with the routing between banks.
    pub(crate) leakage: Power,
    pub(crate) cycle: Time,
    pub(crate) area: Area,
}

/// An organisation that takes part, in the order of CACTI's list.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) alone: Figures,
    /// Together with the tags, if there are any.
    pub(super) whole: Figures,
}

/// What is asked of the organisation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    pub(super) objective: Objective,
    pub(super) weights: Weights,
    /// Largest value over the least one, for each figure.
    pub(super) limits: Weights,
    /// Tags are chosen from the end of the list and are not filtered.
    pub(super) tags: bool,
    /// CACTI's loop steps over the second element of the list, as it erases the first one while it stands on it (Ucache.cc:705). In 6.5 that is the first
    /// organisation once more, evaluated for another wire that it ignores.
    pub(super) skips_second: bool,
    /// Figures that are limited before all others and whatever the objective, each above the least of what is left, so that something always is (CACTI-D's "max area
    /// constraint" and the one of the access time behind it: Thoziyoor et al., ISCA 2008).
    pub(super) first: &'static [usize],
    /// Whether words may be in slices.
    pub(super) slices: bool,
}

impl Figures {
    pub(crate) fn of(array: &Face) -> Self {
        Self {
            delay: array.access_time,
            energy: array.read,
            leakage: array.leakage,
            cycle: array.cycle_time,
            area: array.area,
        }
    }

    /// In SI, in the order of [`values`].
    pub(super) fn values(&self) -> [f64; 5] {
        [
            self.delay.si(),
            self.energy.si(),
            self.leakage.si(),
            self.cycle.si(),
            self.area.si(),
        ]
    }
}

/// In the order of [`Figures::values`].
pub(super) fn values(weights: &Weights) -> [f64; 5] {
    [
        weights.delay,
        weights.dynamic,
        weights.leakage,
        weights.cycle,
        weights.area,
    ]
}

impl Goal {
    /// Of plain memories and of caches as a whole.
    pub(super) fn of_whole(settings: &Settings) -> Self {
        let repeats =
            settings.profile == Profile::Cacti65 && settings.wires.signalling != Signalling::Global;
        let tags = Self::of_tags(settings);
        let limits = match (settings.objective, settings.profile) {
            (Objective::Weighted, _) => tags.limits,
            // The tools' products know no limits.
            (_, Profile::Cacti65 | Profile::Cacti7) => Weights::all(f64::INFINITY),
            (_, Profile::Silicon) => Weights {
                area: tags.limits.area,
                dynamic: tags.limits.dynamic,
                ..Weights::all(f64::INFINITY)
            },
        };
        Self {
            objective: settings.objective,
            limits,
            tags: false,
            skips_second: settings.objective == Objective::Weighted
                && settings.profile != Profile::Silicon
                && !repeats,
            ..tags
        }
    }

    /// Of tags: CACTI picks these first, by its weights whatever the objective of the whole is.
    pub(super) fn of_tags(settings: &Settings) -> Self {
        let over = |percent: f64| 1.0 + percent / 100.0;
        let deviations = &settings.deviations;
        Self {
            objective: Objective::Weighted,
            weights: settings.weights,
            limits: Weights {
                delay: over(deviations.delay),
                dynamic: over(deviations.dynamic),
                leakage: over(deviations.leakage),
                cycle: over(deviations.cycle),
                area: over(deviations.area),
            },
            tags: true,
            skips_second: false,
            first: match settings.profile {
                Profile::Cacti65 | Profile::Cacti7 => &[],
                Profile::Silicon => &[AREA, ENERGY],
            },
            slices: settings.profile == Profile::Silicon && settings.circuits == Circuits::Any,
        }
    }
}

/// The choice as CACTI makes it, to which the search is held.
#[cfg(test)]
impl Goal {
    /// The choice among all organisations that work.
    pub(super) fn choose(&self, all: &[Candidate]) -> Option<usize> {
        let mut left = self.filtered(all);
        let lowest = |left: &[usize]| least(left.iter().map(|&i| all[i].whole.values()));
        for &figure in self.first {
            let most = lowest(&left)[figure] * values(&self.limits)[figure] * (1.0 + SAME);
            left.retain(|&i| all[i].whole.values()[figure] <= most);
        }
        let least = lowest(&left);
        let mut limits = values(&self.limits);
        for &figure in self.first {
            limits[figure] = f64::INFINITY;
        }
        let mut best: Option<(f64, usize)> = None;
        for (place, &i) in left.iter().enumerate() {
            let figures = all[i].whole.values();
            let within =
                (0..figures.len()).all(|i| figures[i] <= least[i] * limits[i] * (1.0 + SAME));
            if !within || place == 1 && self.skips_second {
                continue;
            }
            let price = self.price(&figures, &least);
            let better = best.is_none_or(|(lowest, _)| {
                if self.tags {
                    price <= lowest * (1.0 + SAME)
                } else {
                    price < lowest * (1.0 - SAME)
                }
            });
            if better {
                best = Some((price, i));
            }
        }
        best.map(|(_, i)| i)
    }

    fn filtered(&self, all: &[Candidate]) -> Vec<usize> {
        let least = least(all.iter().map(|candidate| candidate.alone.values()));
        let passes = |&i: &usize| {
            let [delay, energy, ..] = all[i].alone.values();
            self.tags || delay <= least[0] * FILTER || energy <= least[1] * FILTER
        };
        (0..all.len()).filter(passes).collect()
    }

    fn price(&self, figures: &[f64; 5], least: &[f64; 5]) -> f64 {
        let [delay, energy, ..] = *figures;
        match self.objective {
            Objective::EnergyDelay => (delay / least[0]) * (energy / least[1]),
            Objective::EnergyDelaySquared => {
                (delay / least[0]) * (delay / least[0]) * (energy / least[1])
            }
            Objective::Weighted => values(&self.weights)
                .iter()
                .zip(figures.iter().zip(least))
                .map(|(weight, (value, least))| weight * (value / least))
                .sum(),
        }
    }
}

/// The least value of each figure.
#[cfg(test)]
fn least(all: impl Iterator<Item = [f64; 5]>) -> [f64; 5] {
    all.fold([f64::INFINITY; 5], |least, figures| {
        std::array::from_fn(|i| least[i].min(figures[i]))
    })
}
