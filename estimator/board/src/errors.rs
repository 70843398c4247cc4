//! How far predictions are from measurements.

use statrs::statistics::Statistics;

/// Errors of a table of predictions. Relative to what was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Rows that were compared.
    pub rows: usize,
    /// Mean absolute relative error.
    pub mean_absolute: f64,
    /// Mean relative error: above zero where predictions are too high.
    pub bias: f64,
    /// Pearson's correlation; none where either side does not vary.
    pub correlation: Option<f64>,
    /// Share of measurements within the interval.
    pub coverage: f64,
}

/// A prediction beside its measurement, in watts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    /// What was measured.
    pub measured_w: f64,
    /// What was predicted.
    pub predicted_w: f64,
    /// The interval.
    pub within_w: (f64, f64),
}

impl Errors {
    /// Those of `rows`; none if there are none.
    pub fn of(rows: &[Compared]) -> Option<Self> {
        if rows.is_empty() {
            return None;
        }
        let relative: Vec<f64> = rows
            .iter()
            .map(|row| row.predicted_w / row.measured_w - 1.0)
            .collect();
        let inside = rows
            .iter()
            .filter(|row| (row.within_w.0..=row.within_w.1).contains(&row.measured_w));
        Some(Self {
            rows: rows.len(),
            mean_absolute: relative.iter().map(|error| error.abs()).mean(),
            bias: relative.iter().mean(),
            correlation: correlation(rows),
            coverage: inside.count() as f64 / rows.len() as f64,
        })
    }
}

fn correlation(rows: &[Compared]) -> Option<f64> {
    let measured: Vec<f64> = rows.iter().map(|row| row.measured_w).collect();
    let predicted: Vec<f64> = rows.iter().map(|row| row.predicted_w).collect();
    let both = (&measured).std_dev() * (&predicted).std_dev();
    (rows.len() > 2 && both > 0.0).then(|| (&measured).covariance(&predicted) / both)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_by_hand() {
        let row = |measured_w, predicted_w| Compared {
            measured_w,
            predicted_w,
            within_w: (predicted_w * 0.95, predicted_w * 1.05),
        };
        let errors = Errors::of(&[row(100.0, 110.0), row(200.0, 190.0), row(50.0, 50.0)]).unwrap();
        approx::assert_relative_eq!(errors.mean_absolute, 0.05, epsilon = 1e-12);
        approx::assert_relative_eq!(errors.bias, 0.05 / 3.0, epsilon = 1e-12);
        approx::assert_relative_eq!(errors.coverage, 1.0 / 3.0, epsilon = 1e-12);
        assert!(errors.correlation.unwrap() > 0.98);
        assert_eq!(Errors::of(&[]), None);
    }
}
