//! What boards that were measured say of one that was not.
//!
//! Ratios carry over: of an event's energy to the model's own price on that chip, of standing watts to the thermal design power, all at the boost clock, where chips are sold.
//! Chips differ in these by a spread of their own, beside what each board leaves open (R. DerSimonian and N. Laird, 1986, with the spread given).

use crate::channel::{CHANNELS, Channel};
use crate::facts::Facts;
use crate::fit::Belief;
use crate::law::{Places, supply};
use crate::own::Price;
use crate::parameter::{
    ACTIVE, CLOCK, CONSTANT, EXPONENT, KNEE, LEAKAGE, MEMORY, PARAMETERS, SCALE, SLOPE,
    STILL_FLOAT, STILL_INT,
};

/// Spread of ratios between chips: logarithms. Assumed.
const SPREAD: f64 = 0.3;
/// Spread between boards of one die. Assumed.
const SAME_CHIP: f64 = 0.2;
/// Of memory at rest, where it is of another kind.
const OTHER_MEMORY: f64 = 0.8;

/// A board that was measured.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// What is published of it.
    pub facts: &'a Facts,
    /// What is known of its values.
    pub belief: &'a Belief,
    /// Which of them measurements told.
    pub told: [bool; PARAMETERS],
    /// The models' prices on its chip.
    pub prices: [Price; CHANNELS],
}

/// Places and standard deviations of the board of `facts`, from `sources`; where they tell nothing, as they were.
pub fn transferred(
    facts: &Facts,
    own: &[Price; CHANNELS],
    (mean, sigma): (Places, Places),
    sources: &[Source],
) -> (Places, Places) {
    let base = base(facts, own);
    let known = sources
        .iter()
        .map(|source| (source, self::base(source.facts, &source.prices)));
    let known: Vec<(&Source, Places)> = known.collect();
    let (mut to, mut doubt) = (mean, sigma);
    for at in 0..PARAMETERS {
        let told = known.iter().filter_map(|(source, theirs)| {
            let belief = source.belief;
            let at_boost = at_clock(&belief.mean, source.facts.boost_mhz / source.facts.core_mhz);
            // What only its prior says, a source does not tell.
            let told = at < SCALE || source.told[at];
            let spread = spread(at, facts, source.facts);
            let ratio = at_boost[at] - theirs[at] + shared(source, at);
            told.then(|| (ratio, 1.0 / (belief.sigma(at).powi(2) + spread.0), spread.1))
        });
        let told: Vec<(f64, f64, f64)> = told.collect();
        let weights: f64 = told.iter().map(|(_, weight, _)| weight).sum();
        if weights > 0.0 {
            let ratio: f64 = told.iter().map(|(ratio, weight, _)| ratio * weight).sum();
            to[at] = base[at] + ratio / weights;
            let least = told
                .iter()
                .map(|(_, _, own)| *own)
                .fold(f64::INFINITY, f64::min);
            doubt[at] = (1.0 / weights + least).sqrt();
        }
    }
    for channel in Channel::ALL {
        to[channel as usize] -= to[SCALE];
    }
    (at_clock(&to, facts.core_mhz / facts.boost_mhz), doubt)
}

/// The places of the same board if so many times its default clock were its default.
fn at_clock(places: &Places, times: f64) -> Places {
    let v = supply(places, times);
    let (energy, clocked) = (2.0 * libm::log(v), libm::log(times * v * v));
    let mut there = *places;
    for channel in Channel::ALL {
        if channel != Channel::Dram {
            there[channel as usize] += energy;
        }
    }
    there[CLOCK] += clocked;
    there[ACTIVE] += clocked;
    there[LEAKAGE] += places[EXPONENT] * libm::log(v);
    there[KNEE] /= times;
    there[SLOPE] *= times / v;
    there
}

/// What ratios are of.
fn base(facts: &Facts, own: &[Price; CHANNELS]) -> Places {
    let mut base = [0.0; PARAMETERS];
    for (at, price) in own.iter().enumerate() {
        base[at] = libm::log(price.energy_j);
    }
    for place in &mut base[CONSTANT..KNEE] {
        *place = libm::log(facts.tdp_w);
    }
    base
}

/// An event's energy is its own value times what all share.
fn shared(source: &Source, at: usize) -> f64 {
    if at < CHANNELS {
        source.belief.mean[SCALE]
    } else {
        0.0
    }
}

/// Variance between two chips, and between chips of the kind of the nearer.
fn spread(at: usize, to: &Facts, from: &Facts) -> (f64, f64) {
    let of: f64 = match at {
        MEMORY if to.memory != from.memory => OTHER_MEMORY,
        KNEE => 0.05,
        SLOPE => 0.2,
        EXPONENT | STILL_INT | STILL_FLOAT => 0.4,
        _ if to.chip == from.chip => SAME_CHIP,
        _ => SPREAD,
    };
    (of * of, of * of)
}
