//! European option prices after Black and Scholes (J. Political Economy 81, 1973), in double precision.

use super::{Inputs, Outputs};

pub(crate) fn black_scholes(inputs: &Inputs<'_>) -> Outputs {
    let market = Market {
        rate: f64::from(inputs.f32("rate")),
        volatility: f64::from(inputs.f32("volatility")),
    };
    let (spot, strike) = (inputs.f32s("spot"), inputs.f32s("strike"));
    let options = spot.iter().zip(&strike).zip(inputs.f32s("years"));
    let prices: Vec<_> = options
        .map(|((spot, strike), years)| {
            market.prices(f64::from(*spot), f64::from(*strike), f64::from(years))
        })
        .collect();
    let calls: Vec<_> = prices.iter().map(|(call, _)| *call as f32).collect();
    let puts: Vec<_> = prices.iter().map(|(_, put)| *put as f32).collect();
    Outputs::default().f32s("call", &calls).f32s("put", &puts)
}

struct Market {
    rate: f64,
    volatility: f64,
}

impl Market {
    /// The prices of a call and of a put.
    fn prices(&self, spot: f64, strike: f64, years: f64) -> (f64, f64) {
        let spread = self.volatility * years.sqrt();
        let drift = self.rate + 0.5 * self.volatility * self.volatility;
        let d1 = ((spot / strike).ln() + drift * years) / spread;
        let (n1, n2) = (normal_cdf(d1), normal_cdf(d1 - spread));
        let discounted = strike * (-self.rate * years).exp();
        let call = spot * n1 - discounted * n2;
        let put = discounted * (1.0 - n2) - spot * (1.0 - n1);
        (call, put)
    }
}

/// The cumulative normal distribution (Abramowitz and Stegun, 26.2.17).
fn normal_cdf(d: f64) -> f64 {
    const POLYNOMIAL: [f64; 5] = [
        1.330274429,
        -1.821255978,
        1.781477937,
        -0.356563782,
        0.319381530,
    ];
    let k = 1.0 / (1.0 + 0.2316419 * d.abs());
    let polynomial = POLYNOMIAL
        .iter()
        .fold(0.0, |sum, factor| (sum + factor) * k);
    let tail = 0.39894228 * (-0.5 * d * d).exp() * polynomial;
    if d > 0.0 { 1.0 - tail } else { tail }
}
