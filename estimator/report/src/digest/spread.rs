//! Order statistics.

use serde::{Deserialize, Serialize};

/// Order statistics of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The smallest.
    pub least: f64,
    /// The one in the middle; of an even number the lower one.
    pub median: f64,
    /// The largest.
    pub most: f64,
}

impl Spread {
    /// Of values in any order; `None` of nothing.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        let middle = values.len().checked_sub(1)? / 2;
        let (before, median, behind) = values.select_nth_unstable_by(middle, f64::total_cmp);
        let median = *median;
        let least = before.iter().copied().min_by(f64::total_cmp);
        let most = behind.iter().copied().max_by(f64::total_cmp);
        Some(Self {
            least: least.unwrap_or(median),
            median,
            most: most.unwrap_or(median),
        })
    }

    pub(super) fn text(&self, show: impl Fn(f64) -> String) -> String {
        let [least, median, most] = [self.least, self.median, self.most].map(show);
        format!("{least}, {median}, {most}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_least_middle_and_most() {
        let spread = Spread::of(vec![3.0, 1.0, 2.0, 10.0]).unwrap();
        assert_eq!((spread.least, spread.median, spread.most), (1.0, 2.0, 10.0));
        let one = Spread::of(vec![4.0]).unwrap();
        assert_eq!((one.least, one.median, one.most), (4.0, 4.0, 4.0));
        assert_eq!(Spread::of(vec![]), None);
    }
}
