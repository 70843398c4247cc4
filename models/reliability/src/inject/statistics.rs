//! How many flips to try, and what a count of them is worth.

use statrs::distribution::{Beta, ContinuousCDF, Normal};

/// The bounds of a share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower one.
    pub low: f64,
    /// The upper one.
    pub high: f64,
}

/// The two-sided quantile of the normal distribution: 1.96 for a confidence of 0.95.
pub fn quantile(confidence: f64) -> f64 {
    Normal::standard().inverse_cdf(f64::midpoint(1.0, confidence))
}

/// How many of `population` faults to try so that a share is known within `margin`, with `confidence`: n = N / (1 + e^2 (N - 1) / (t^2 p (1 - p))), p being
/// 0.5, for which it is largest (Leveugle, Calvez, Maistri, Vanhauwaert, "Statistical Fault Injection: Quantified Error and Confidence", DATE 2009,
/// equation 4).
pub fn sample_size(population: u128, margin: f64, confidence: f64) -> u64 {
    let t = quantile(confidence);
    let all = population as f64;
    let size = all / (1.0 + margin * margin * (all - 1.0) / (t * t * 0.25));
    size.ceil() as u64
}

/// The margin that a sample of `samples` has, p being 0.5: the same equation, solved for e.
pub fn margin(population: u128, samples: u64, confidence: f64) -> f64 {
    let t = quantile(confidence);
    let (all, n) = (population as f64, samples as f64);
    if all <= 1.0 || n >= all {
        return 0.0;
    }
    t * libm::sqrt(0.25 / n * (all - n) / (all - 1.0))
}

/// The score interval of `hits` in `samples` (Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 1927).
pub fn wilson(hits: u64, samples: u64, confidence: f64) -> Interval {
    if samples == 0 {
        return Interval {
            low: 0.0,
            high: 1.0,
        };
    }
    let t = quantile(confidence);
    let (n, k) = (samples as f64, hits as f64);
    let share = k / n;
    let centre = share + t * t / (2.0 * n);
    let half = t * libm::sqrt(share * (1.0 - share) / n + t * t / (4.0 * n * n));
    let scale = 1.0 + t * t / n;
    Interval {
        low: if hits == 0 {
            0.0
        } else {
            (centre - half) / scale
        },
        high: if hits == samples {
            1.0
        } else {
            (centre + half) / scale
        },
    }
}

/// The exact interval of `hits` in `samples` (Clopper, Pearson, "The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial",
/// Biometrika 1934), by quantiles of the beta distribution.
pub fn clopper_pearson(hits: u64, samples: u64, confidence: f64) -> Interval {
    let tail = (1.0 - confidence) / 2.0;
    let (n, k) = (samples as f64, hits as f64);
    let beta = |a: f64, b: f64, at: f64| Beta::new(a, b).map_or(f64::NAN, |it| it.inverse_cdf(at));
    Interval {
        low: if hits == 0 {
            0.0
        } else {
            beta(k, n - k + 1.0, tail)
        },
        high: if hits == samples {
            1.0
        } else {
            beta(k + 1.0, n - k, 1.0 - tail)
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, want: f64, within: f64) {
        assert!((got - want).abs() <= within, "{got}, not {want}");
    }

    #[test]
    fn sample_sizes_are_those_of_the_formula() {
        // t = 1.959964: t^2 p q / e^2 = 384.146 for 5%, 9603.6 for 1%; for 99% and 1%, t = 2.575829, 16587.2.
        assert_eq!(sample_size(1 << 60, 0.05, 0.95), 385);
        assert_eq!(sample_size(1 << 60, 0.01, 0.95), 9604);
        assert_eq!(sample_size(1 << 60, 0.01, 0.99), 16588);
        // N = 1000: 1000 / (1 + 0.0025 * 999 / 0.960365) = 277.7.
        assert_eq!(sample_size(1000, 0.05, 0.95), 278);
        assert_eq!(sample_size(1, 0.05, 0.95), 1);
        near(margin(1 << 60, 9604, 0.95), 0.01, 1e-5);
        near(margin(1000, 278, 0.95), 0.05, 1e-4);
    }

    #[test]
    fn intervals_of_a_known_case() {
        // 10 of 100 at 95%: Wilson 0.05523 to 0.17437, Clopper-Pearson 0.04900 to 0.17622.
        let score = wilson(10, 100, 0.95);
        near(score.low, 0.055_229, 1e-5);
        near(score.high, 0.174_366, 1e-5);
        let exact = clopper_pearson(10, 100, 0.95);
        near(exact.low, 0.049_005, 1e-5);
        near(exact.high, 0.176_223, 1e-5);
    }

    #[test]
    fn nothing_and_everything() {
        let none = clopper_pearson(0, 50, 0.95);
        // 1 - (0.025)^(1/50).
        near(none.high, 0.071_121_6, 1e-6);
        assert!(none.low == 0.0 && wilson(0, 50, 0.95).low == 0.0);
        assert!(clopper_pearson(50, 50, 0.95).high == 1.0 && wilson(50, 50, 0.95).high == 1.0);
    }

    #[test]
    fn the_exact_interval_holds_the_share_as_often_as_it_says() {
        // All outcomes of 40 trials with p = 0.2: those whose interval holds p weigh at least 95%.
        let (n, p) = (40u64, 0.2f64);
        let mut weight = libm::pow(1.0 - p, n as f64);
        let mut held = 0.0;
        for k in 0..=n {
            let interval = clopper_pearson(k, n, 0.95);
            if (interval.low..=interval.high).contains(&p) {
                held += weight;
            }
            weight *= (n - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
        }
        assert!((0.95..0.99).contains(&held), "{held}");
    }
}
