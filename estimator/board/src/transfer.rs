//! What boards that were measured say of one that was not.
//!
//! Ratios carry over: of an event's energy to the model's own price on that chip, of standing watts to the thermal design power. Chips of different dies are compared at the same
//! share of the boost clock, where chips are sold. Boards of one die are compared at the clock itself, and by their SMs: what supply a clock needs is the silicon's, and how far it may
//! be clocked and cooled the seller's.
//!
//! All boards are solved for together (a linear mixed model; G. Robinson, Statistical Science 1991). Their values scatter about what is common to all, of which the models' prices are
//! known beforehand; boards of one die, or of one kind of memory, are closer. Of each source counts what its measurements added to what was known before, with the covariance of its values:
//! loops at one memory clock tell what constant and memory take together, but not each of them.

use nalgebra::{DMatrix, DVector};

use crate::channel::{CHANNELS, Channel};
use crate::facts::Facts;
use crate::fit::Belief;
use crate::law::{Places, supply};
use crate::own::Price;
use crate::parameter::{
    ACTIVE, CLOCK, CONSTANT, EXPONENT, KNEE, LEAKAGE, MEMORY, PARAMETERS, SLOPE, STILL_FLOAT,
    STILL_INT,
};

/// Spread of ratios between boards of different dies: logarithms. Assumed.
const SPREAD: f64 = 0.3;
/// Spread between boards of one die. Assumed.
const SAME_CHIP: f64 = 0.2;
/// Of memory at rest, where it is of another kind, and where it is not. Assumed.
const OTHER_MEMORY: (f64, f64) = (0.8, 0.3);
/// Of the supply's knee, its slope, laws of leakage and operands, and peaks: between dies, and between boards of one. Assumed.
const OF_KNEE: (f64, f64) = (0.05, 0.03);
const OF_SLOPE: (f64, f64) = (0.2, 0.1);
const OF_LAWS: (f64, f64) = (0.4, 0.2);
const OF_PEAKS: (f64, f64) = (0.3, 0.2);

/// Step of numeric derivatives, on a value's scale.
const STEP: f64 = 1e-6;

/// What is known of a board without measuring it.
#[derive(Clone, Copy, Debug)]
pub struct Sheet<'a> {
    /// What is published of it.
    pub facts: &'a Facts,
    /// The models' prices on its chip.
    pub prices: [Price; CHANNELS],
    /// SMs of its GPU.
    pub sms: f64,
}

/// A board that was measured.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// What is known without that.
    pub sheet: Sheet<'a>,
    /// What was known of its values before its measurements.
    pub prior: &'a Belief,
    /// What is known of them now.
    pub belief: &'a Belief,
}

/// What `sources` say of the values of the board of `sheet`, of which `prior` (places and standard deviations) is known by itself.
///
/// # Errors
/// What is known has no inverse.
pub fn transferred(
    sheet: &Sheet,
    prior: (Places, Places),
    sources: &[Source],
) -> Result<Belief, String> {
    let boards: Vec<&Facts> = std::iter::once(sheet.facts)
        .chain(sources.iter().map(|source| source.sheet.facts))
        .collect();
    let before = inverse(jointly(&boards, &prior.1))?;
    let means = DVector::from_fn(before.nrows(), |at, _| prior.0[at % PARAMETERS]);
    let mut slope = &before * means;
    let mut precision = before;
    for (place, source) in (1..).zip(sources) {
        let (own_precision, own_slope) = said(source, sheet)?;
        let from = place * PARAMETERS;
        let mut block = precision.view_mut((from, from), (PARAMETERS, PARAMETERS));
        block += own_precision;
        let mut block = slope.rows_mut(from, PARAMETERS);
        block += own_slope;
    }
    let covariance = inverse(precision)?;
    let found = &covariance * slope;
    let covariance = covariance.view((0, 0), (PARAMETERS, PARAMETERS));
    Ok(Belief {
        mean: std::array::from_fn(|at| found[at]),
        // Both halves alike: rounding must not tell them apart.
        covariance: 0.5 * (covariance + covariance.transpose()),
    })
}

fn inverse(matrix: DMatrix<f64>) -> Result<DMatrix<f64>, String> {
    let inverse = matrix.try_inverse();
    inverse.ok_or_else(|| "what is known of the boards has no inverse".to_owned())
}

/// The covariance of the values of all boards, each of which is known by itself with these standard deviations.
fn jointly(boards: &[&Facts], sigma: &Places) -> DMatrix<f64> {
    let size = boards.len() * PARAMETERS;
    DMatrix::from_fn(size, size, |row, column| {
        let at = row % PARAMETERS;
        if at != column % PARAMETERS {
            return 0.0;
        }
        let (all, own) = spread(at);
        let (one, other) = (boards[row / PARAMETERS], boards[column / PARAMETERS]);
        let related = if family(at, one) == family(at, other) {
            all * all - own * own
        } else {
            0.0
        };
        let itself = if row == column { own * own } else { 0.0 };
        sigma[at] * sigma[at] + related + itself
    })
}

/// What the measurements of a source say of the values that its board would have as that of `to`: precision, and precision times the values.
fn said(source: &Source, to: &Sheet) -> Result<(DMatrix<f64>, DVector<f64>), String> {
    let after = inverse(source.belief.covariance.clone())?;
    let before = inverse(source.prior.covariance.clone())?;
    let mean = DVector::from(source.belief.mean.to_vec());
    let known = DVector::from(source.prior.mean.to_vec());
    let slope = &after * &mean - &before * known;
    let precision = after - before;
    let here = carried(&source.belief.mean, &source.sheet, to);
    let mut change = DMatrix::zeros(PARAMETERS, PARAMETERS);
    for at in 0..PARAMETERS {
        let mut moved = source.belief.mean;
        moved[at] += STEP;
        let there = carried(&moved, &source.sheet, to);
        for row in 0..PARAMETERS {
            change[(row, at)] = (there[row] - here[row]) / STEP;
        }
    }
    let back = inverse(change)?;
    let carried_precision = back.transpose() * &precision * &back;
    let rest = back.transpose() * (slope - precision * mean);
    let here = DVector::from(here.to_vec());
    Ok((carried_precision.clone(), rest + carried_precision * here))
}

/// The values of a board of `from` as those of the board of `to`.
fn carried(places: &Places, from: &Sheet, to: &Sheet) -> Places {
    let one_die = from.facts.chip == to.facts.chip;
    let clock = match one_die {
        true => to.facts.core_mhz,
        false => to.facts.core_mhz / to.facts.boost_mhz * from.facts.boost_mhz,
    };
    let mut places = at_clock(places, clock / from.facts.core_mhz);
    for channel in Channel::ALL {
        let at = channel as usize;
        let prices = libm::log(to.prices[at].energy_j / from.prices[at].energy_j);
        places[at] += prices;
    }
    let watts = libm::log(to.facts.tdp_w / from.facts.tdp_w);
    let silicon = if one_die {
        libm::log(to.sms / from.sms)
    } else {
        watts
    };
    places[CONSTANT] += watts;
    places[MEMORY] += if from.facts.memory == to.facts.memory {
        libm::log(to.facts.memory_width() / from.facts.memory_width())
    } else {
        watts
    };
    for at in [CLOCK, LEAKAGE, ACTIVE] {
        places[at] += silicon;
    }
    places
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

/// What boards must have in common for a value to be alike.
fn family(at: usize, facts: &Facts) -> &str {
    match at {
        MEMORY => facts.memory.name(),
        _ => &facts.chip,
    }
}

/// Standard deviations of a value: between boards of different families, and of one.
fn spread(at: usize) -> (f64, f64) {
    match at {
        MEMORY => OTHER_MEMORY,
        KNEE => OF_KNEE,
        SLOPE => OF_SLOPE,
        EXPONENT | STILL_INT | STILL_FLOAT => OF_LAWS,
        _ if at > STILL_FLOAT => OF_PEAKS,
        _ => (SPREAD, SAME_CHIP),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Board;
    use crate::shipped::shipped;

    fn titan_v() -> Board {
        shipped("titan-v").unwrap()
    }

    /// Another board of the same die, of which nothing was measured.
    fn sibling(change: impl Fn(&mut Facts)) -> Board {
        let mut facts = titan_v().facts;
        change(&mut facts);
        Board::unmeasured(facts, &[titan_v()]).unwrap()
    }

    fn near(a: &Board, b: &Board) -> bool {
        let (a, b) = (a.belief.mean, b.belief.mean);
        a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-6)
    }

    /// What supply a clock needs is the silicon's: a seller's boost clock and thermal design power move neither clocks nor SMs.
    #[test]
    fn boards_of_one_die_are_alike_at_the_same_clock() {
        let same = sibling(|_| ());
        assert!(near(&same, &sibling(|facts| facts.boost_mhz = 1627.0)));
        let hot = sibling(|facts| facts.tdp_w = 300.0);
        for at in [CLOCK, ACTIVE] {
            // The models' own guess, from which the source moves the values, goes with the thermal design power.
            let apart = (hot.belief.mean[at] - same.belief.mean[at]).abs();
            assert!(apart < 0.1, "{at}: {apart}");
        }
        let board = titan_v();
        let found = same.belief.mean[ACTIVE] - board.belief.mean[ACTIVE];
        assert!(found.abs() < 0.05, "{found}");
    }

    /// Three stacks are three quarters of four.
    #[test]
    fn memory_at_rest_goes_with_its_interface() {
        let (three, four) = (
            sibling(|_| ()),
            sibling(|facts| facts.dram_bytes_per_s *= 4.0 / 3.0),
        );
        let more = four.belief.mean[MEMORY] - three.belief.mean[MEMORY];
        assert!((0.05..libm::log(4.0 / 3.0)).contains(&more), "{more}");
        assert!((four.belief.mean[CONSTANT] - three.belief.mean[CONSTANT]).abs() < 0.1);
    }

    /// Loops at one memory clock tell the sum of constant and memory; of that the other board knows more than of either.
    #[test]
    fn what_is_told_together_is_carried_together() {
        let covariance = sibling(|_| ()).belief.covariance;
        assert!(covariance[(CONSTANT, MEMORY)] < 0.0);
    }

    /// Without boards the models' own prices are what is known, as before.
    #[test]
    fn nobody_says_nothing() {
        let facts = titan_v().facts;
        let alone = Board::unmeasured(facts.clone(), &[]).unwrap();
        let mut of_nothing = alone.clone();
        of_nothing.record.measured = None;
        let from = Board::unmeasured(facts, &[of_nothing]).unwrap();
        assert!(near(&alone, &from));
    }
}
