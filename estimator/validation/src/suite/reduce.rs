//! Many values to one.

/// How the values of kernels become one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reduce {
    /// The arithmetic mean.
    Mean,
    /// The geometric mean of those above zero: with the others it would be nothing.
    GeometricMean,
    /// Of gains: the geometric mean of what is one more, less one.
    GeometricMeanGain,
    /// The greatest.
    Max,
    /// The least.
    Min,
    /// The share of the values above a bound.
    ShareAbove(f64),
}

/// As files name those without a bound.
pub(super) const REDUCTIONS: [(&str, Reduce); 5] = [
    ("mean", Reduce::Mean),
    ("geometric mean", Reduce::GeometricMean),
    ("geometric mean gain", Reduce::GeometricMeanGain),
    ("max", Reduce::Max),
    ("min", Reduce::Min),
];

impl Reduce {
    /// One number of `values`.
    pub fn of(self, values: &[f64]) -> f64 {
        let all = values.iter().copied();
        match self {
            Self::Mean => mean(all),
            Self::GeometricMean => libm::exp(mean(all.filter(|value| *value > 0.0).map(libm::log))),
            Self::GeometricMeanGain => libm::exp(mean(all.map(|gain| libm::log(1.0 + gain)))) - 1.0,
            Self::Max => all.fold(f64::NEG_INFINITY, f64::max),
            Self::Min => all.fold(f64::INFINITY, f64::min),
            Self::ShareAbove(bound) => {
                all.filter(|value| *value > bound).count() as f64 / values.len() as f64
            }
        }
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_what_its_name_says() {
        let values = [0.0, 1.0, 4.0];
        assert_eq!(Reduce::Mean.of(&values), 5.0 / 3.0);
        assert!((Reduce::GeometricMean.of(&values) - 2.0).abs() < 1e-12);
        let gains = [0.0, 0.0, 7.0];
        assert!((Reduce::GeometricMeanGain.of(&gains) - 1.0).abs() < 1e-12);
        assert_eq!(Reduce::Max.of(&values), 4.0);
        assert_eq!(Reduce::Min.of(&values), 0.0);
        assert_eq!(Reduce::ShareAbove(1.0).of(&values), 1.0 / 3.0);
        assert!(Reduce::Mean.of(&[1.0, f64::NAN]).is_nan());
    }
}
