//! The power of a board from what it does: standing watts, watts of active SMs, energies of events, all by clock and supply.
//!
//! With `v` the supply over that at the default clock, `f` and `m` the clocks over their defaults, `a` the share of SMs with work, `r` rates of events:
//!
//! `P = constant + memory m + clock f v^2 + leakage v^n + active a f v^2 + sum(r E v^2)`, without `v` for DRAM.
//!
//! The form is that of J. Guerreiro et al., TPDS 2019, with active SMs beside utilisations as in V. Kandiah et al., AccelWattch, MICRO 2021.

use crate::channel::{CHANNELS, Channel};
use crate::parameter::{
    ACTIVE, CLOCK, CONSTANT, EXPONENT, FRESH, KNEE, LEAKAGE, MEMORY, PARAMETERS, PEAKS, REACHED,
    SCALE, SLOPE, STILL_FLOAT, STILL_INT, parameter,
};
use crate::rows::{Change, Row};
use crate::split::Split;

/// How sharply a kernel turns from waiting for one clock to waiting for the other: exponent of a norm of both times. Assumed.
const SHARPNESS: f64 = 6.0;
/// Rise of leakage for a kelvin. Assumed: twice in 46 K.
const LEAKAGE_PER_KELVIN: f64 = 0.015;
/// Temperature at which leakage is as it is written, where a row knows its own. Assumed: a busy board's.
const WARM_K: f64 = 338.0;

/// Step of numeric derivatives, on a value's scale.
const STEP: f64 = 1e-5;

/// Places of a board's values on their scales.
pub type Places = [f64; PARAMETERS];

/// The supply at a core clock over that at the default one: level up to the knee, straight above (J. Guerreiro et al., HPCA 2018, Figure 6).
pub fn supply(places: &Places, core: f64) -> f64 {
    let (knee, slope) = (places[KNEE], places[SLOPE]);
    let above = (core - knee).max(0.0) - (1.0 - knee).max(0.0);
    (1.0 + slope * above).max(0.3)
}

/// How much longer work takes at other clocks than the default ones. It waits for the busiest of the core's parts, for DRAM, and for what neither of them explains: latencies,
/// which go with the core clock.
fn stretch(row: &Row, (core_share, dram_share): (f64, f64)) -> f64 {
    let of = |share: f64| libm::pow(share.clamp(0.0, 1.0), SHARPNESS);
    let (core, dram) = (of(core_share), of(dram_share));
    let all = (core + dram).max(1.0);
    let rest = all - core - dram;
    let by = |clock: f64| libm::pow(clock, -SHARPNESS);
    let both = (core + rest) * by(row.core) + dram * by(row.memory);
    libm::pow(both / all, 1.0 / SHARPNESS)
}

/// The watts of a row. `operands` is the logarithm of what this row's operands take over what its kind does.
pub fn watts(places: &Places, row: &Row, operands: f64) -> Split {
    let value = |at: usize| parameter(at).scale.value(places[at]);
    let v = row.supply.unwrap_or_else(|| supply(places, row.core));
    let (square, dram) = (v * v, Channel::Dram as usize);
    // Each operation of a loop takes away from what is left of a loaded word's change.
    let fresh = match row.operands {
        Change::Share(share) => share,
        Change::Words(words) => 1.0 - libm::exp(-value(FRESH) * words),
    };
    let (int, float) = (value(STILL_INT), value(STILL_FLOAT));
    let computing = |channel: Channel| {
        let still = if channel.floats() { float } else { int };
        (still + (1.0 - still) * fresh) * libm::exp(operands)
    };
    let shares = row
        .shares
        .map(|(core, memory)| (core, memory / value(REACHED)));
    let time = shares.map_or(1.0, |shares| stretch(row, shares));
    let mut dynamic_w = [0.0; CHANNELS];
    for channel in Channel::ALL {
        let at = channel as usize;
        let energy = libm::exp(places[at] + places[SCALE]);
        let peak = PEAKS
            .iter()
            .find(|(_, of)| row.shares.is_some() && *of == channel);
        let peak = peak.map_or(1.0, |(at, _)| value(*at));
        let supplied = if at == dram { 1.0 } else { square };
        let own = if channel.computes() {
            computing(channel)
        } else {
            1.0
        };
        dynamic_w[at] = row.rates[at] / time * peak * energy * supplied * own;
    }
    let warmth = row.temperature_k.map_or(0.0, |kelvin| kelvin - WARM_K);
    let leakage = value(LEAKAGE) * libm::pow(v, places[EXPONENT]);
    Split {
        constant_w: value(CONSTANT) + value(MEMORY) * row.memory + value(CLOCK) * row.core * square,
        leakage_w: leakage * libm::exp(LEAKAGE_PER_KELVIN * warmth),
        active_w: value(ACTIVE) * row.active * row.core * square,
        dynamic_w,
    }
}

/// Change of the logarithm of a row's watts with each place.
pub fn gradient(places: &Places, row: &Row, operands: f64) -> Places {
    let log = |places: &Places| libm::log(watts(places, row, operands).total_w());
    let here = log(places);
    let mut moved = *places;
    std::array::from_fn(|at| {
        // Most rows do without most kinds of events.
        if row.rates.get(at) == Some(&0.0) {
            return 0.0;
        }
        moved[at] = places[at] + STEP;
        let there = log(&moved);
        moved[at] = places[at];
        (there - here) / STEP
    })
}
