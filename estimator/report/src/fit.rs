//! A straight line through points, by least squares.

use nalgebra::{DMatrix, DVector};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::estimate::CONFIDENCE;

/// `y = intercept + slope x`, fitted to at least three points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Line {
    /// Value at `x = 0`.
    pub intercept: f64,
    /// Half the width of its 95 % interval (Student's t with `points - 2` degrees of freedom).
    pub intercept_half_width: f64,
    /// Rise per `x`.
    pub slope: f64,
    /// Half the width of its 95 % interval.
    pub slope_half_width: f64,
    /// The largest distance of a point from the line.
    pub largest_residual: f64,
    /// How many points.
    pub points: usize,
}

impl Line {
    /// Fits the line to `points`; `None` for fewer than three, or if they all have one `x`.
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        let count = points.len();
        if count < 3 {
            return None;
        }
        let design = DMatrix::from_fn(
            count,
            2,
            |row, column| {
                if column == 0 { 1.0 } else { points[row].0 }
            },
        );
        let values = DVector::from_iterator(count, points.iter().map(|point| point.1));
        let normal = design.transpose() * &design;
        // Relative to the scale of the matrix: a determinant this small is points of one x.
        if normal.determinant() <= 1e-12 * normal.norm_squared() {
            return None;
        }
        let inverse = normal.try_inverse()?;
        let found = &inverse * design.transpose() * &values;
        let residuals = values - design * &found;
        let freedom = (count - 2) as f64;
        let variance = residuals.norm_squared() / freedom;
        let quantile = StudentsT::new(0.0, 1.0, freedom)
            .ok()?
            .inverse_cdf(0.5 + CONFIDENCE / 2.0);
        let half_width = |index: usize| quantile * (variance * inverse[(index, index)]).sqrt();
        Some(Self {
            intercept: found[0],
            intercept_half_width: half_width(0),
            slope: found[1],
            slope_half_width: half_width(1),
            largest_residual: residuals.amax(),
            points: count,
        })
    }

    /// The line in the hit rate `h`, its `x` being the miss rate: `0.4026 (± 0.0010) + 0.6616 (± 0.0020) (1 - h), ...`.
    pub fn text(&self) -> String {
        format!(
            "{:.4} (± {:.4}) + {:.4} (± {:.4}) (1 - h), {} kernels, largest residual {:.4}",
            self.intercept,
            self.intercept_half_width,
            self.slope,
            self.slope_half_width,
            self.points,
            self.largest_residual
        )
    }

    /// The value at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    #[test]
    fn points_on_a_line_give_that_line_without_error() {
        let points: Vec<(f64, f64)> = [0.0, 0.2, 0.7, 0.9]
            .map(|x| (x, 0.4 + 0.6 * x))
            .into_iter()
            .collect();
        let line = Line::through(&points).unwrap();
        assert_abs_diff_eq!(line.intercept, 0.4, epsilon = 1e-12);
        assert_abs_diff_eq!(line.slope, 0.6, epsilon = 1e-12);
        assert!(line.slope_half_width < 1e-12 && line.largest_residual < 1e-12);
        assert_abs_diff_eq!(line.at(0.5), 0.7, epsilon = 1e-12);
    }

    #[test]
    fn textbook_intervals() {
        // By hand: x = 0..3, y = 0, 1, 1, 2: slope 0.6, intercept 0.1, s^2 = 0.2/2, Sxx = 5, t(0.975, 2) = 4.302653.
        let line = Line::through(&[(0.0, 0.0), (1.0, 1.0), (2.0, 1.0), (3.0, 2.0)]).unwrap();
        assert_abs_diff_eq!(line.slope, 0.6, epsilon = 1e-12);
        assert_abs_diff_eq!(line.intercept, 0.1, epsilon = 1e-12);
        assert_abs_diff_eq!(
            line.slope_half_width,
            4.302_653 * (0.1f64 / 5.0).sqrt(),
            epsilon = 1e-5
        );
    }

    #[test]
    fn too_few_or_coincident_points_have_no_line() {
        assert_eq!(Line::through(&[(0.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(Line::through(&[(0.5, 1.0), (0.5, 2.0), (0.5, 3.0)]), None);
    }
}
