//! Heat makes leakage, leakage makes heat: where the two come to rest, if they do.
//!
//! The temperatures of the blocks are a fixed point of `T = T_air + R P(T)`, with the network's resistances R and a power that rises with temperature. Both
//! are monotone, so steps from the air's temperature upwards approach the lowest fixed point from below and never pass it; if leakage is convex in the temperature, as
//! thermally activated currents are, so do Newton's steps, which are far fewer (J. M. Ortega, W. C. Rheinboldt, "Iterative Solution of Nonlinear Equations in Several
//! Variables", section 13.3). A step of Newton's that overshoots is taken as a plain one instead.
//!
//! The *loop gain* is the spectral radius of `R dP/dT`: the kelvin that the heat of one more kelvin of leakage adds. At one or above there is no rest: thermal runaway. With a convex
//! power the gain only rises with temperature, so one that is reached below the fixed point says that there is none.

use nalgebra::{DMatrix, DVector, SymmetricEigen};
use warpwatt_techlib::quantity::{Power, Temperature};

use super::Network;

/// How power and temperature came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Balance {
    /// What kept it from rest, if anything did; the temperatures are then the last at which there was none.
    pub limit: Option<Limit>,
    /// Of each block.
    pub blocks: Vec<Temperature>,
    /// Of the heat spreader and the heat sink.
    pub spreader: Temperature,
    /// Of the heat sink.
    pub sink: Temperature,
    /// The loop gain there.
    pub gain: f64,
    /// Steps it took.
    pub steps: usize,
}

/// Why there is no rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A kelvin more makes more heat than carries it away.
    Runaway,
    /// The power is not known at the temperatures that it would take.
    OutOfRange,
}

/// Nearer than this to rest, in kelvin, is at rest.
const CLOSE: f64 = 1e-7;
/// Over which the slope of the power is taken, in kelvin.
const SLOPE: f64 = 1e-2;
/// More steps than any case has needed: plain ones halve the distance at a gain of a half.
const MOST_STEPS: usize = 10_000;

/// The lowest temperatures at which `power` (of each block, at the blocks' temperatures; `None` where it is not known) and the network are in balance.
pub fn balance(
    network: &Network,
    mut power: impl FnMut(&[Temperature]) -> Option<Vec<Power>>,
) -> Balance {
    let resistance = network.between();
    let ambient = network.ambient().si();
    let mut heat_at = |at: &DVector<f64>| -> Option<DVector<f64>> {
        let temperatures: Vec<Temperature> = at
            .iter()
            .map(|kelvin| Temperature::from_k(*kelvin))
            .collect();
        let powers = power(&temperatures)?;
        Some(DVector::from_iterator(
            at.len(),
            powers.iter().map(|power| power.si()),
        ))
    };
    let mut at = DVector::from_element(network.blocks(), ambient);
    let Some(mut heat) = heat_at(&at) else {
        return ended(
            network,
            &at,
            &DVector::zeros(at.len()),
            (0.0, 0),
            Some(Limit::OutOfRange),
        );
    };
    let mut gain = 0.0;
    for step in 1..=MOST_STEPS {
        let plain = (&resistance * &heat).add_scalar(ambient);
        if (&plain - &at).amax() < CLOSE {
            return ended(network, &at, &heat, (gain, step), None);
        }
        let Some(slopes) = slopes(&at, &heat, &mut heat_at) else {
            return ended(network, &at, &heat, (gain, step), Some(Limit::OutOfRange));
        };
        gain = loop_gain(&resistance, &slopes);
        if gain >= 1.0 {
            return ended(network, &at, &heat, (gain, step), Some(Limit::Runaway));
        }
        let newton = newton(&at, &plain, &resistance, &slopes);
        let (next, made) = match newton.and_then(|next| Some((heat_at(&next)?, next))) {
            Some((made, next)) if below(&next, &made, &resistance, ambient) => (next, made),
            _ => match heat_at(&plain) {
                Some(made) => (plain, made),
                None => return ended(network, &at, &heat, (gain, step), Some(Limit::OutOfRange)),
            },
        };
        (at, heat) = (next, made);
    }
    ended(
        network,
        &at,
        &heat,
        (gain, MOST_STEPS),
        Some(Limit::Runaway),
    )
}

/// Watt for each kelvin of each block; blocks do not heat each other but through the network.
fn slopes(
    at: &DVector<f64>,
    heat: &DVector<f64>,
    heat_at: &mut impl FnMut(&DVector<f64>) -> Option<DVector<f64>>,
) -> Option<DVector<f64>> {
    let more = heat_at(&at.add_scalar(SLOPE))?;
    Some((more - heat) / SLOPE)
}

/// The largest eigenvalue of `R diag(slopes)`, which has those of a symmetric matrix.
fn loop_gain(resistance: &DMatrix<f64>, slopes: &DVector<f64>) -> f64 {
    let root = slopes.map(|slope| slope.max(0.0).sqrt());
    let symmetric = DMatrix::from_fn(root.len(), root.len(), |row, column| {
        root[row] * resistance[(row, column)] * root[column]
    });
    SymmetricEigen::new(symmetric).eigenvalues.max()
}

fn newton(
    at: &DVector<f64>,
    plain: &DVector<f64>,
    resistance: &DMatrix<f64>,
    slopes: &DVector<f64>,
) -> Option<DVector<f64>> {
    let identity = DMatrix::identity(at.len(), at.len());
    let jacobian = identity - resistance * DMatrix::from_diagonal(slopes);
    Some(at + jacobian.lu().solve(&(plain - at))?)
}

/// Whether temperatures are not above those that their own heat makes, so that a fixed point lies at or above them.
fn below(at: &DVector<f64>, heat: &DVector<f64>, resistance: &DMatrix<f64>, ambient: f64) -> bool {
    let plain = (resistance * heat).add_scalar(ambient);
    at.iter()
        .zip(plain.iter())
        .all(|(at, plain)| *at <= plain + CLOSE)
}

fn ended(
    network: &Network,
    at: &DVector<f64>,
    heat: &DVector<f64>,
    (gain, steps): (f64, usize),
    limit: Option<Limit>,
) -> Balance {
    let powers: Vec<Power> = heat.iter().map(|watt| Power::from_w(*watt)).collect();
    let all = network.steady(&powers);
    Balance {
        limit,
        blocks: at
            .iter()
            .map(|kelvin| Temperature::from_k(*kelvin))
            .collect(),
        spreader: all[network.blocks()],
        sink: all[network.blocks() + 1],
        gain,
        steps,
    }
}
