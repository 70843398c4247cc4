//! The search over organisations (CACTI 5.1 TR, section 4; CACTI 7, Ucache.cc). CACTI evaluates them all; here families whose lower bounds cannot win are
//! passed over.

use warpwatt_techlib::quantity::{Energy, Power, Time};

use super::bound::{Family, families, spreads};
use super::choice::{FILTER, Figures, Goal, SAME};
use super::exhaustive;
use super::shared::Shared;
use super::{Array, Limits, Need, Shape, Split};
use crate::process::Process;
use crate::{Objective, Settings};

/// A goal for which lower bounds tell enough: how much slower than the fastest an organisation may be, and what is least among those.
#[derive(Clone, Copy, Debug)]
struct Quick {
    slower: f64,
    price: fn(&Figures) -> f64,
}

impl Quick {
    /// Of a goal that this search can reach; others take the exhaustive one.
    fn of(goal: &Goal) -> Option<Self> {
        let slower = match goal.objective {
            Objective::Weighted => goal.limits.delay,
            _ => f64::INFINITY,
        };
        let weights = &goal.weights;
        let others = weights.delay + weights.dynamic + weights.leakage;
        let price: fn(&Figures) -> f64 = match goal.objective {
            Objective::EnergyDelay => |figures| figures.delay.si() * figures.energy.si(),
            Objective::EnergyDelaySquared => {
                |figures| figures.delay.si() * figures.delay.si() * figures.energy.si()
            }
            Objective::Weighted if goal.skips_second || others > 0.0 => return None,
            Objective::Weighted if weights.cycle == 0.0 => |figures| figures.area.si(),
            Objective::Weighted if weights.area == 0.0 => |figures| figures.cycle.si(),
            Objective::Weighted => return None,
        };
        Some(Self { slower, price })
    }
}

impl Family {
    /// The least figures it could have.
    fn least(&self) -> Figures {
        Figures {
            delay: self.delay,
            energy: self.energy,
            area: self.area,
            cycle: self.cycle,
            leakage: Power::ZERO,
        }
    }
}

/// The best organisation of a plain memory.
pub(crate) fn best(process: &Process, settings: &Settings, need: &Need) -> Option<(Array, Limits)> {
    search(process, need, Goal::of_whole(settings), Figures::of)
}

/// The best organisation of tags.
pub(crate) fn best_tags(
    process: &Process,
    settings: &Settings,
    need: &Need,
) -> Option<(Array, Limits)> {
    search(process, need, Goal::of_tags(settings), Figures::of)
}

/// The best organisation of the data side of a cache whose tags are chosen; `whole` gives the figures of both together, none of which may be below those
/// of the data alone.
pub(crate) fn best_data(
    process: &Process,
    settings: &Settings,
    need: &Need,
    whole: impl Fn(&Array) -> Figures,
) -> Option<(Array, Limits)> {
    search(process, need, Goal::of_whole(settings), whole)
}

/// Among the organisations that CACTI would consider; if there are none, among those of any size.
fn search(
    process: &Process,
    need: &Need,
    goal: Goal,
    whole: impl Fn(&Array) -> Figures,
) -> Option<(Array, Limits)> {
    [Limits::Strict, Limits::Relaxed]
        .into_iter()
        .find_map(|limits| {
            let one_wire = process.repeaters.offers.len() == 1;
            let Some(quick) = Quick::of(&goal).filter(|_| one_wire) else {
                let array = exhaustive::best(process, need, limits, &goal, &whole)?;
                return Some((array, limits));
            };
            let mut shared = Shared::default();
            let families = families(process, need, limits, &mut shared);
            let search = Search {
                process,
                need,
                limits,
                goal: quick,
                whole: &whole,
                families,
                shared,
            };
            Some((search.run()?, limits))
        })
}

struct Search<'a, W> {
    process: &'a Process,
    need: &'a Need,
    limits: Limits,
    goal: Quick,
    whole: &'a W,
    families: Vec<Family>,
    shared: Shared,
}

/// An organisation that has been evaluated.
#[derive(Clone, Copy)]
struct Entry {
    split: Split,
    whole: Figures,
    /// Of the array alone.
    delay: Time,
    energy: Energy,
}

/// All that have been.
struct Seen {
    entries: Vec<Entry>,
    done: Vec<bool>,
    /// The fastest whole, the fastest array and the one that takes least energy.
    whole: Time,
    delay: Time,
    energy: Energy,
}

impl Seen {
    fn new(families: usize) -> Self {
        Self {
            entries: Vec::new(),
            done: vec![false; families],
            whole: Time::from_si(f64::INFINITY),
            delay: Time::from_si(f64::INFINITY),
            energy: Energy::from_si(f64::INFINITY),
        }
    }
}

impl<W: Fn(&Array) -> Figures> Search<'_, W> {
    fn run(mut self) -> Option<Array> {
        let mut seen = Seen::new(self.families.len());
        if self.goal.slower.is_finite() {
            self.find_fastest(&mut seen);
        }
        let mut best = self.find_best(&mut seen)?;
        while !self.confirmed(&mut seen, &best) {
            best = self.find_best(&mut seen)?;
        }
        let shape = Shape::new(self.process, self.need, best.split, self.limits)?;
        Some(Array::new(self.process, self.need, shape, &mut self.shared))
    }

    /// Families in the order of a bound.
    fn ordered(&self, bound: impl Fn(&Family) -> f64) -> Vec<(f64, usize)> {
        let mut order: Vec<(f64, usize)> = self
            .families
            .iter()
            .enumerate()
            .map(|(i, family)| (bound(family), i))
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        order
    }

    /// Evaluates families in the order of the least delay they could have until none can be faster than the fastest seen.
    fn find_fastest(&mut self, seen: &mut Seen) {
        for (bound, index) in self.ordered(|family| family.delay.si()) {
            if bound >= seen.whole.si() {
                return;
            }
            self.families[index].refine(self.process);
            if self.families[index].delay < seen.whole {
                self.evaluate(index, seen);
            }
        }
    }

    /// Evaluates families in the order of the least price they could have until none can be better than the best seen.
    fn find_best(&mut self, seen: &mut Seen) -> Option<Entry> {
        let price = self.goal.price;
        let order = self.ordered(|family| price(&family.least()));
        let mut best = self.pick(seen);
        for (bound, index) in order {
            let beaten = |bound: f64| {
                best.is_some_and(|best: Entry| bound > price(&best.whole) * (1.0 + SAME))
            };
            if beaten(bound) {
                break;
            }
            self.families[index].refine(self.process);
            let late = self.families[index].delay.si() > seen.whole.si() * self.goal.slower;
            if !seen.done[index] && !late && !beaten(price(&self.families[index].least())) {
                self.evaluate(index, seen);
                best = self.pick(seen);
            }
        }
        best
    }

    /// Whether the filter that drops arrays lets the best one pass, for all that has not been evaluated. If not, what drops it has been evaluated now.
    fn confirmed(&mut self, seen: &mut Seen, best: &Entry) -> bool {
        if self.need.is_tags() {
            return true;
        }
        let (delay, energy) = (best.delay / FILTER, best.energy / FILTER);
        let faster = self.exists(
            seen,
            |family| family.delay < delay,
            |seen| seen.delay < delay,
        );
        !faster
            || !self.exists(
                seen,
                |family| family.energy < energy,
                |seen| seen.energy < energy,
            )
    }

    /// Evaluates the families that `may` until what has been seen `does`; whether it does.
    fn exists(
        &mut self,
        seen: &mut Seen,
        may: impl Fn(&Family) -> bool,
        does: impl Fn(&Seen) -> bool,
    ) -> bool {
        for index in 0..self.families.len() {
            if does(seen) {
                return true;
            }
            if seen.done[index] || !may(&self.families[index]) {
                continue;
            }
            self.families[index].refine(self.process);
            if may(&self.families[index]) {
                self.evaluate(index, seen);
            }
        }
        does(seen)
    }

    fn evaluate(&mut self, index: usize, seen: &mut Seen) {
        seen.done[index] = true;
        let family = self.families[index];
        for (ndcm, ndsam1, ndsam2) in spreads(self.need, family.mux) {
            let split = Split {
                ndcm,
                ndsam1,
                ndsam2,
                ..family.shape.split
            };
            let Some(shape) = Shape::new(self.process, self.need, split, self.limits) else {
                continue;
            };
            let array = Array::new(self.process, self.need, shape, &mut self.shared);
            let entry = Entry {
                split,
                whole: (self.whole)(&array),
                delay: array.access_time,
                energy: array.read,
            };
            seen.whole = seen.whole.min(entry.whole.delay);
            seen.delay = seen.delay.min(entry.delay);
            seen.energy = seen.energy.min(entry.energy);
            seen.entries.push(entry);
        }
    }

    /// The best seen that meets the limits; of equals the first in CACTI's order.
    fn pick(&self, seen: &Seen) -> Option<Entry> {
        let price = self.goal.price;
        let tags = self.need.is_tags();
        let good = |entry: &&Entry| {
            let quick = entry.whole.delay.si() <= seen.whole.si() * self.goal.slower;
            let data =
                tags || entry.delay <= seen.delay * FILTER || entry.energy <= seen.energy * FILTER;
            quick && data
        };
        let least = seen
            .entries
            .iter()
            .filter(good)
            .map(|entry| price(&entry.whole))
            .fold(f64::INFINITY, f64::min);
        // Of equals CACTI takes the first of its list, but the last for tags.
        let equal = |entry: &&Entry| price(&entry.whole) <= least * (1.0 + SAME);
        let equals = seen.entries.iter().filter(good).filter(equal);
        if tags {
            equals.max_by(|a, b| a.split.order(&b.split)).copied()
        } else {
            equals.min_by(|a, b| a.split.order(&b.split)).copied()
        }
    }
}
