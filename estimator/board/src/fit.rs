//! Maximum a posteriori: a board's values from its measurements and from what was known before.
//!
//! Residuals are of the logarithm of watts. Their distribution is Student's with four degrees of freedom, so that a bad row does not move the board. Each case (rows of one
//! name) has an operand factor of its own, normal about none, which is eliminated from the normal equations. Steps are Levenberg's and Marquardt's; the covariance is the
//! inverse of the curvature at the optimum.

mod equations;

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};

use crate::law::{Places, watts};
use crate::parameter::PARAMETERS;
use crate::rows::Row;
use equations::{Equations, Sums};

/// What is known of the values: their places and standard deviations on their scales.
#[derive(Clone, Debug, PartialEq)]
pub struct Belief {
    /// Places.
    pub mean: Places,
    /// Covariance of the places.
    pub covariance: DMatrix<f64>,
}

impl Belief {
    /// Values that know nothing of each other.
    pub fn independent(mean: Places, sigma: Places) -> Self {
        let squares = DVector::from_iterator(PARAMETERS, sigma.iter().map(|sigma| sigma * sigma));
        Self {
            mean,
            covariance: DMatrix::from_diagonal(&squares),
        }
    }

    /// Whether the values know of each other.
    pub fn is_joint(&self) -> bool {
        let off = |row: usize| (0..row).map(move |column| (row, column));
        (0..PARAMETERS)
            .flat_map(off)
            .any(|at| self.covariance[at] != 0.0)
    }

    /// Standard deviation of a value on its scale.
    pub fn sigma(&self, at: usize) -> f64 {
        self.covariance[(at, at)].max(0.0).sqrt()
    }
}

/// How measurements scatter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Relative scatter of a row about the law.
    pub row: f64,
    /// Scatter of what operands of a case take, as a logarithm; none where zero.
    pub operands: f64,
}

/// A fitted board.
#[derive(Clone, Debug)]
pub struct Fit {
    /// What is known after the measurements.
    pub belief: Belief,
    /// Of each case: its name, and its rows' relative errors (predicted over measured, less one) when it was left out.
    pub left_out: BTreeMap<String, Vec<f64>>,
}

/// Damped steps at most; a fit takes some twenty.
const STEPS: usize = 80;
/// Up to so many cases each is left out in a fit of its own; of more, in one step from the optimum.
const REFITTED: usize = 40;

/// Fits `rows`, all of which have watts.
///
/// # Errors
/// What was known before has no inverse.
pub fn fit(rows: &[Row], prior: &Belief, noise: Noise) -> Result<Fit, String> {
    let cases = cases(rows);
    let problem = Equations::new(rows, &cases, prior, noise)?;
    let all = vec![true; cases.len()];
    let optimum = solved(&problem, &all, prior.mean);
    let sums = problem.sums(&optimum.0, &optimum.1, &all);
    let covariance = sums.curvature.clone().try_inverse();
    let covariance = covariance.ok_or("the measurements leave the values without a scale")?;
    let mut left_out = BTreeMap::new();
    for (number, (name, members)) in cases.iter().enumerate() {
        let without = without(&problem, number, &optimum, &sums);
        let errors = members.iter().map(|at| {
            let row = &rows[*at];
            let predicted = watts(&without, row, 0.0).total_w();
            predicted / row.power_w.unwrap_or(predicted) - 1.0
        });
        left_out.insert((*name).to_owned(), errors.collect());
    }
    let mean = optimum.0;
    Ok(Fit {
        belief: Belief { mean, covariance },
        left_out,
    })
}

/// Rows by name, in the order of the names.
fn cases(rows: &[Row]) -> Vec<(&str, Vec<usize>)> {
    let mut cases: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        cases.entry(&row.name).or_default().push(at);
    }
    cases.into_iter().collect()
}

/// The places that the other cases alone give.
fn without(problem: &Equations, case: usize, optimum: &(Places, Vec<f64>), sums: &Sums) -> Places {
    let count = optimum.1.len();
    if count <= REFITTED {
        let mut used = vec![true; count];
        used[case] = false;
        return solved(problem, &used, optimum.0).0;
    }
    let mut used = vec![false; count];
    used[case] = true;
    let own = problem.sums_of_data(&optimum.0, &optimum.1, &used);
    let rest = &sums.curvature - own.curvature;
    let step = rest.lu().solve(&own.slope);
    moved(&optimum.0, step.as_ref(), 1.0)
}

fn moved(places: &Places, step: Option<&DVector<f64>>, by: f64) -> Places {
    let mut moved = *places;
    for (at, place) in moved.iter_mut().enumerate() {
        *place += by * step.map_or(0.0, |step| step[at]);
    }
    moved
}

/// Places and operand factors at which the cost of the `used` cases is least.
fn solved(problem: &Equations, used: &[bool], start: Places) -> (Places, Vec<f64>) {
    let mut at = (start, vec![0.0; used.len()]);
    let mut cost = problem.cost(&at.0, &at.1, used);
    let mut damping = 1e-3;
    for _ in 0..STEPS {
        let sums = problem.sums(&at.0, &at.1, used);
        let mut damped = sums.curvature.clone();
        for place in 0..PARAMETERS {
            damped[(place, place)] *= 1.0 + damping;
        }
        let Some(step) = damped.lu().solve(&-&sums.slope) else {
            break;
        };
        let places = moved(&at.0, Some(&step), 1.0);
        let operands = problem.operands_after(&at.1, &sums, &step);
        let next = problem.cost(&places, &operands, used);
        if next < cost {
            let gain = cost - next;
            at = (places, operands);
            cost = next;
            damping = (damping * 0.3).max(1e-9);
            if gain < 1e-9 * (1.0 + cost) {
                break;
            }
        } else if damping > 1e9 {
            break;
        } else {
            damping *= 8.0;
        }
    }
    at
}
