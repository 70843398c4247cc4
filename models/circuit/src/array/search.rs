//! The search over organisations (CACTI 5.1 TR, section 4; CACTI 7, Ucache.cc).

use super::shape::{MOST_SPLITS, MOST_SPREAD};
use super::{Array, Limits, Need, Shape, Split};
use crate::Profile;
use crate::process::Process;

/// Largest degree of each multiplexer, as a power of two.
const MOST_MUX: u32 = 8;
/// A data array is dropped if it is this much worse than the best, both in delay and in energy (CACTI 7, Ucache.cc:795).
const FILTER: f64 = 1.5;

/// What a profile asks of the arrays: how much slower than the fastest they may be, and what it minimises among those.
#[derive(Clone, Copy, Debug)]
struct Objective {
    /// For tags: CACTI picks these first, by its weights whatever the goal of the whole is.
    tag_slower: f64,
    tag_price: fn(&Array) -> f64,
    slower: f64,
    price: fn(&Figures) -> f64,
}

/// What the choice of a whole looks at.
#[derive(Clone, Copy, Debug)]
struct Figures {
    delay: f64,
    energy: f64,
    area: f64,
}

impl Objective {
    fn of(profile: Profile) -> Self {
        match profile {
            // Weights 0:0:0:0:100, deviations 60:100000:100000:100000:1000000.
            Profile::Cacti65 => Self {
                tag_slower: 1.6,
                tag_price: |array| array.area().si(),
                slower: 1.6,
                price: |figures| figures.area,
            },
            // ED^2; for tags weights 0:0:0:100:0 and deviation 20 in delay.
            Profile::Cacti7 => Self {
                tag_slower: 1.2,
                tag_price: |array| array.cycle_time.si(),
                slower: f64::INFINITY,
                price: |figures| figures.delay * figures.delay * figures.energy,
            },
        }
    }
}

/// Every organisation that works, in CACTI's order.
pub(super) fn all(process: &Process, need: &Need, limits: Limits) -> Vec<Array> {
    let mut found = Vec::new();
    let powers = |most: u32| (0..=most.ilog2()).map(|i| 1_u32 << i);
    let mut spread = need.least_spread();
    while spread <= f64::from(MOST_SPREAD) {
        // An Nspd below an eighth would need columns of less than a bit.
        if spread >= 1.0 {
            for ndwl in powers(MOST_SPLITS) {
                for ndbl in powers(MOST_SPLITS) {
                    multiplexers(
                        process,
                        need,
                        limits,
                        (spread as u32, ndwl, ndbl),
                        &mut found,
                    );
                }
            }
        }
        spread *= 2.0;
    }
    found
}

fn multiplexers(
    process: &Process,
    need: &Need,
    limits: Limits,
    (nspd_eighths, ndwl, ndbl): (u32, u32, u32),
    found: &mut Vec<Array>,
) {
    let degrees = || (0..=MOST_MUX).map(|i| 1_u32 << i);
    for ndcm in degrees() {
        for ndsam1 in degrees() {
            for ndsam2 in degrees() {
                let split = Split {
                    ndwl,
                    ndbl,
                    nspd_eighths,
                    ndcm,
                    ndsam1,
                    ndsam2,
                };
                if let Some(shape) = Shape::new(process, need, split, limits) {
                    found.push(Array::new(process, need, shape));
                }
            }
        }
    }
}

/// The best organisation of a plain memory.
pub(crate) fn best(process: &Process, need: &Need) -> Option<(Array, Limits)> {
    strict_or_relaxed(process, need)
        .and_then(|(arrays, limits)| Some((pick(process, &filtered(arrays), alone)?, limits)))
}

/// The best organisation of tags.
pub(crate) fn best_tags(process: &Process, need: &Need) -> Option<(Array, Limits)> {
    let (arrays, limits) = strict_or_relaxed(process, need)?;
    let objective = Objective::of(process.profile);
    let fastest = least(arrays.iter().map(|array| array.access_time.si()));
    let quick = arrays
        .into_iter()
        .filter(|array| array.access_time.si() <= fastest * objective.tag_slower);
    // CACTI looks from the back and keeps the first of equals.
    let best = quick.rev_min(|array| (objective.tag_price)(array))?;
    Some((best, limits))
}

/// The best organisation of the data side of a cache whose tags are chosen; `whole` gives the figures of both together.
pub(crate) fn best_data(
    process: &Process,
    need: &Need,
    whole: impl Fn(&Array) -> (f64, f64, f64),
) -> Option<(Array, Limits)> {
    let (arrays, limits) = strict_or_relaxed(process, need)?;
    let figures = |array: &Array| {
        let (delay, energy, area) = whole(array);
        Figures {
            delay,
            energy,
            area,
        }
    };
    Some((pick(process, &filtered(arrays), figures)?, limits))
}

/// The organisations that CACTI would consider; if there are none, those of any size.
fn strict_or_relaxed(process: &Process, need: &Need) -> Option<(Vec<Array>, Limits)> {
    [Limits::Strict, Limits::Relaxed]
        .into_iter()
        .find_map(|limits| {
            let arrays = all(process, need, limits);
            (!arrays.is_empty()).then_some((arrays, limits))
        })
}

fn alone(array: &Array) -> Figures {
    Figures {
        delay: array.access_time.si(),
        energy: array.read.si(),
        area: array.area().si(),
    }
}

fn filtered(arrays: Vec<Array>) -> Vec<Array> {
    let delay = least(arrays.iter().map(|array| array.access_time.si()));
    let energy = least(arrays.iter().map(|array| array.read.si()));
    let good = |array: &Array| {
        array.access_time.si() <= FILTER * delay || array.read.si() <= FILTER * energy
    };
    arrays.into_iter().filter(good).collect()
}

fn pick(process: &Process, arrays: &[Array], figures: impl Fn(&Array) -> Figures) -> Option<Array> {
    let objective = Objective::of(process.profile);
    let fastest = least(arrays.iter().map(|array| figures(array).delay));
    arrays
        .iter()
        .filter(|array| figures(array).delay <= fastest * objective.slower)
        .min_by(|a, b| (objective.price)(&figures(a)).total_cmp(&(objective.price)(&figures(b))))
        .copied()
}

fn least(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::INFINITY, f64::min)
}

/// The last of the least elements.
trait LastLeast: Iterator + Sized {
    fn rev_min(self, price: impl Fn(&Self::Item) -> f64) -> Option<Self::Item> {
        self.fold(None, |best: Option<(f64, Self::Item)>, item| {
            let mine = price(&item);
            match best {
                Some((least, kept)) if least < mine => Some((least, kept)),
                _ => Some((mine, item)),
            }
        })
        .map(|(_, item)| item)
    }
}

impl<I: Iterator> LastLeast for I {}
