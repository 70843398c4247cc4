//! The search over organisations (CACTI 5.1 TR, section 4; CACTI 7, Ucache.cc). CACTI evaluates them all; here families whose lower bounds cannot win are
//! passed over.

use warpwatt_techlib::quantity::{Area, Energy, Time};

use super::bound::{Family, families, spreads};
use super::mat::RowCache;
use super::{Array, Limits, Need, Shape, Split};
use crate::Profile;
use crate::process::Process;

/// A data array is dropped if it is this much worse than the best, both in delay and in energy (CACTI 7, Ucache.cc:795).
const FILTER: f64 = 1.5;

/// What a profile asks of the arrays: how much slower than the fastest they may be, and what it minimises among those.
#[derive(Clone, Copy, Debug)]
struct Objective {
    slower: f64,
    price: fn(&Figures) -> f64,
}

/// What a choice looks at: of an array, or of it together with what is around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    pub(crate) delay: Time,
    pub(crate) energy: Energy,
    pub(crate) area: Area,
    pub(crate) cycle: Time,
}

impl Objective {
    /// Of plain memories and of caches as a whole.
    fn of_whole(profile: Profile) -> Self {
        match profile {
            // Weights 0:0:0:0:100, deviations 60:100000:100000:100000:1000000.
            Profile::Cacti65 => Self {
                slower: 1.6,
                price: |figures| figures.area.si(),
            },
            Profile::Cacti7 => Self {
                slower: f64::INFINITY,
                price: |figures| figures.delay.si() * figures.delay.si() * figures.energy.si(),
            },
        }
    }

    /// Of tags: CACTI picks these first, by its weights whatever the goal of the whole is.
    fn of_tags(profile: Profile) -> Self {
        match profile {
            Profile::Cacti65 => Self::of_whole(profile),
            // Weights 0:0:0:100:0 and a deviation of 20 in delay.
            Profile::Cacti7 => Self {
                slower: 1.2,
                price: |figures| figures.cycle.si(),
            },
        }
    }
}

impl Figures {
    pub(crate) fn of(array: &Array) -> Self {
        Self {
            delay: array.access_time,
            energy: array.read,
            area: array.area(),
            cycle: array.cycle_time,
        }
    }
}

/// The best organisation of a plain memory.
pub(crate) fn best(process: &Process, need: &Need) -> Option<(Array, Limits)> {
    search(
        process,
        need,
        Objective::of_whole(process.profile),
        Figures::of,
    )
}

/// The best organisation of tags.
pub(crate) fn best_tags(process: &Process, need: &Need) -> Option<(Array, Limits)> {
    search(
        process,
        need,
        Objective::of_tags(process.profile),
        Figures::of,
    )
}

/// The best organisation of the data side of a cache whose tags are chosen; `whole` gives the figures of both together, none of which may be below those
/// of the data alone.
pub(crate) fn best_data(
    process: &Process,
    need: &Need,
    whole: impl Fn(&Array) -> Figures,
) -> Option<(Array, Limits)> {
    search(process, need, Objective::of_whole(process.profile), whole)
}

/// Among the organisations that CACTI would consider; if there are none, among those of any size.
fn search(
    process: &Process,
    need: &Need,
    objective: Objective,
    whole: impl Fn(&Array) -> Figures,
) -> Option<(Array, Limits)> {
    [Limits::Strict, Limits::Relaxed]
        .into_iter()
        .find_map(|limits| {
            let families = families(process, need, limits);
            let search = Search {
                process,
                need,
                limits,
                objective,
                whole: &whole,
                families,
                rows: RowCache::default(),
            };
            Some((search.run()?, limits))
        })
}

struct Search<'a, W> {
    process: &'a Process,
    need: &'a Need,
    limits: Limits,
    objective: Objective,
    whole: &'a W,
    families: Vec<Family>,
    rows: RowCache,
}

/// What has been evaluated.
#[derive(Default)]
struct Seen {
    /// In CACTI's order within a family, families as they came.
    arrays: Vec<(usize, Array)>,
    done: Vec<bool>,
    fastest: Option<Time>,
}

impl<W: Fn(&Array) -> Figures> Search<'_, W> {
    fn run(mut self) -> Option<Array> {
        let mut seen = Seen {
            done: vec![false; self.families.len()],
            ..Seen::default()
        };
        if self.objective.slower.is_finite() {
            self.find_fastest(&mut seen);
        }
        self.find_best(&mut seen)
    }

    /// Evaluates families in the order of the least delay they could have until none can be faster than the fastest seen.
    fn find_fastest(&mut self, seen: &mut Seen) {
        while let Some(next) = self.least(seen, |family| family.delay.si()) {
            let bound = self.families[next].delay;
            if seen.fastest.is_some_and(|fastest| bound >= fastest) {
                return;
            }
            self.evaluate(next, seen);
        }
    }

    /// Evaluates families in the order of the least price they could have until none can be better than the best seen.
    fn find_best(&mut self, seen: &mut Seen) -> Option<Array> {
        let price = self.objective.price;
        let bound = |family: &Family| {
            price(&Figures {
                delay: family.delay,
                energy: family.energy,
                area: family.area,
                cycle: family.cycle,
            })
        };
        loop {
            let best = self.pick(seen);
            let next = self.least(seen, bound);
            let Some(next) = next else {
                return best.map(|(_, array)| array);
            };
            if let Some((least, array)) = best
                && bound(&self.families[next]) >= least
            {
                return Some(array);
            }
            self.evaluate(next, seen);
        }
    }

    /// The family not yet evaluated with the least bound, of those that may be fast enough.
    fn least(&self, seen: &Seen, bound: impl Fn(&Family) -> f64) -> Option<usize> {
        let limit = seen.fastest.map_or(f64::INFINITY, |fastest| {
            fastest.si() * self.objective.slower
        });
        let open = self
            .families
            .iter()
            .enumerate()
            .filter(|(i, family)| !seen.done[*i] && family.delay.si() <= limit);
        open.map(|(i, family)| (i, bound(family)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(i, _)| i)
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
            let array = Array::with_rows(self.process, self.need, shape, &mut self.rows);
            let delay = (self.whole)(&array).delay;
            seen.fastest = Some(seen.fastest.map_or(delay, |fastest| fastest.min(delay)));
            seen.arrays.push((index, array));
        }
    }

    /// The best array seen that meets the limits, and its price; of equals the first in CACTI's order.
    fn pick(&self, seen: &Seen) -> Option<(f64, Array)> {
        let fastest = seen.fastest?;
        let alone = seen
            .arrays
            .iter()
            .map(|(_, array)| (array.access_time.si(), array.read.si()));
        let (delay, energy) = alone.fold((f64::INFINITY, f64::INFINITY), |least, next| {
            (least.0.min(next.0), least.1.min(next.1))
        });
        let good = |array: &Array| {
            let quick = (self.whole)(array).delay.si() <= fastest.si() * self.objective.slower;
            let data = self.need.is_tags()
                || array.access_time.si() <= FILTER * delay
                || array.read.si() <= FILTER * energy;
            quick && data
        };
        let priced = seen.arrays.iter().filter(|(_, array)| good(array));
        priced
            .map(|(index, array)| ((self.objective.price)(&(self.whole)(array)), *index, array))
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
            .map(|(price, _, array)| (price, *array))
    }
}
