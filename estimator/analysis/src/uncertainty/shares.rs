//! Which causes of error the spread of a figure goes back to.

use crate::report::drawn::Share;
use statrs::statistics::Statistics;

/// The shares of `causes`, each with its draws, in the spread of `values`, the largest first. Causes are drawn independently of each other, so that the shares add up
/// to one, but for what comes of two causes together and for chance: a cause that does nothing has about one over the number of draws.
pub fn shares(causes: &[(String, Vec<f64>)], values: &[f64]) -> Vec<Share> {
    let of = |(cause, draws): &(String, Vec<f64>)| {
        let correlation = correlation(draws, values)?;
        Some(Share {
            cause: cause.clone(),
            variance_share: correlation * correlation,
            rises: correlation > 0.0,
        })
    };
    let mut all: Vec<Share> = causes.iter().filter_map(of).collect();
    all.sort_by(|a, b| b.variance_share.total_cmp(&a.variance_share));
    all
}

/// Pearson's correlation; nothing where one of the two does not vary.
fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let sigmas = a.std_dev() * b.std_dev();
    let correlation = a.covariance(b) / sigmas;
    correlation.is_finite().then_some(correlation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uncertainty::Draws;

    #[test]
    fn a_sum_goes_back_to_its_terms_by_their_squares() {
        let sampling = Draws {
            samples: 2000,
            seed: 3,
            process: None,
        };
        let causes: Vec<(String, Vec<f64>)> = ["a", "b", "c"]
            .map(|name| (name.to_owned(), sampling.of(name)))
            .into();
        let values: Vec<f64> = (0..2000)
            .map(|i| 3.0 * causes[0].1[i] - causes[1].1[i])
            .collect();
        let shares = shares(&causes, &values);
        assert_eq!([&shares[0].cause, &shares[1].cause], ["a", "b"]);
        assert!((shares[0].variance_share - 0.9).abs() < 0.02, "{shares:?}");
        assert!((shares[1].variance_share - 0.1).abs() < 0.03, "{shares:?}");
        assert!(shares[2].variance_share < 0.005);
        assert!(shares[0].rises && !shares[1].rises);
    }
}
