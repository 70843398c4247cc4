//! Swaption portfolios on paths of the LIBOR market model, in double precision.

use super::{Inputs, Outputs};

const DELTA: f64 = 0.25;

pub(crate) fn libor(inputs: &Inputs<'_>) -> Outputs {
    let numbers = |name: &str| {
        inputs
            .f32s(name)
            .into_iter()
            .map(f64::from)
            .collect::<Vec<_>>()
    };
    let [initial, sigma, shocks, swap_rates] =
        ["initial", "sigma", "shocks", "swap_rate"].map(numbers);
    let (rates, steps) = (inputs.size("rates"), inputs.size("steps"));
    let maturities = inputs.i32s("maturity");
    let paths = shocks.len() / steps;
    let values = (0..paths).map(|path| {
        let mut rate = initial[..rates].to_vec();
        for step in 0..steps {
            let shock = shocks[step * paths + path] * DELTA.sqrt();
            let mut drift = 0.0;
            for (rate, sigma) in rate[step + 1..].iter_mut().zip(&sigma) {
                drift += DELTA * sigma * *rate / (1.0 + DELTA * *rate);
                *rate *= (DELTA * sigma * drift + sigma * (shock - 0.5 * DELTA * sigma)).exp();
            }
        }
        let swaptions = maturities
            .iter()
            .map(|maturity| *maturity as usize)
            .zip(&swap_rates);
        let payoffs = swaptions
            .map(|(maturity, swap_rate)| payoff(&rate[steps..steps + maturity], *swap_rate));
        let numeraire: f64 = rate[..steps]
            .iter()
            .map(|rate| 1.0 + DELTA * rate)
            .product();
        (payoffs.sum::<f64>() / numeraire) as f32
    });
    Outputs::default().f32s("value", &values.collect::<Vec<_>>())
}

/// What a swaption over these rates pays, for a notional of 100.
fn payoff(rates: &[f64], swap_rate: f64) -> f64 {
    let (mut bond, mut annuity) = (1.0, 0.0);
    for rate in rates {
        bond /= 1.0 + DELTA * rate;
        annuity += DELTA * bond;
    }
    100.0 * (1.0 - bond - swap_rate * annuity).max(0.0)
}
