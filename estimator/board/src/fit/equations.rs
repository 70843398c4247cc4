//! Cost, slope and curvature of a fit.

use nalgebra::{DMatrix, DVector};

use super::{Belief, Noise};
use crate::law::{Places, gradient, watts};
use crate::parameter::PARAMETERS;
use crate::rows::Row;

/// Degrees of freedom of residuals: as heavy in the tails as four make them (K. Lange et al., JASA 1989).
const FREEDOM: f64 = 4.0;
/// Rows of a case whose errors are their own; more only tell how power goes with clocks.
const OWN_ROWS: f64 = 4.0;

/// A fit's rows and what is known beforehand.
pub(super) struct Equations<'a> {
    rows: &'a [Row],
    cases: &'a [(&'a str, Vec<usize>)],
    prior: &'a Belief,
    precision: DMatrix<f64>,
    noise: Noise,
}

/// Slope and curvature over the board's values, operand factors eliminated; and what gives those back.
pub(super) struct Sums {
    pub(super) slope: DVector<f64>,
    pub(super) curvature: DMatrix<f64>,
    /// Of each case: slope and curvature of its factor, and their coupling to the values.
    operands: Vec<Option<(f64, f64, DVector<f64>)>>,
}

impl<'a> Equations<'a> {
    pub(super) fn new(
        rows: &'a [Row],
        cases: &'a [(&'a str, Vec<usize>)],
        prior: &'a Belief,
        noise: Noise,
    ) -> Result<Self, String> {
        let precision = prior.covariance.clone().try_inverse();
        let precision = precision.ok_or("the covariance of the board's values has no inverse")?;
        Ok(Self {
            rows,
            cases,
            prior,
            precision,
            noise,
        })
    }

    /// Half of minus twice the logarithm of the posterior.
    pub(super) fn cost(&self, places: &Places, operands: &[f64], used: &[bool]) -> f64 {
        let away = self.away(places);
        let mut cost = 0.5 * away.dot(&(&self.precision * &away));
        for (number, (_, members)) in self.cases.iter().enumerate() {
            if !used[number] {
                continue;
            }
            let each: f64 = members
                .iter()
                .map(|at| {
                    let residual = self.residual(places, &self.rows[*at], operands[number]);
                    0.5 * (FREEDOM + 1.0) * libm::log1p(residual * residual / FREEDOM)
                })
                .sum();
            cost += weight(members.len()) * each;
            if self.noise.operands > 0.0 {
                let scaled = operands[number] / self.noise.operands;
                cost += 0.5 * scaled * scaled;
            }
        }
        if cost.is_finite() {
            cost
        } else {
            f64::INFINITY
        }
    }

    fn away(&self, places: &Places) -> DVector<f64> {
        DVector::from_iterator(
            PARAMETERS,
            (0..PARAMETERS).map(|at| places[at] - self.prior.mean[at]),
        )
    }

    fn residual(&self, places: &Places, row: &Row, operands: f64) -> f64 {
        let total = watts(places, row, operands).total_w();
        (libm::log(total) - libm::log(row.power_w.unwrap_or(total))) / self.noise.row
    }

    /// Those of the used cases and of what is known beforehand.
    pub(super) fn sums(&self, places: &Places, operands: &[f64], used: &[bool]) -> Sums {
        let mut sums = self.sums_of_data(places, operands, used);
        sums.slope += &self.precision * self.away(places);
        sums.curvature += &self.precision;
        sums
    }

    /// Those of the used cases alone.
    pub(super) fn sums_of_data(&self, places: &Places, operands: &[f64], used: &[bool]) -> Sums {
        let mut sums = Sums {
            slope: DVector::zeros(PARAMETERS),
            curvature: DMatrix::zeros(PARAMETERS, PARAMETERS),
            operands: vec![None; self.cases.len()],
        };
        for number in 0..self.cases.len() {
            if used[number] {
                self.add(&mut sums, number, places, operands[number]);
            }
        }
        sums
    }

    fn add(&self, sums: &mut Sums, number: usize, places: &Places, operands: f64) {
        let members = &self.cases[number].1;
        let weight = weight(members.len());
        let free = self.noise.operands > 0.0;
        let square = self.noise.operands * self.noise.operands;
        let (mut slope, mut curvature) = if free {
            (operands / square, 1.0 / square)
        } else {
            (0.0, 1.0)
        };
        let mut coupling = DVector::zeros(PARAMETERS);
        for at in members {
            let row = &self.rows[*at];
            let residual = self.residual(places, row, operands);
            let gradient = DVector::from(gradient(places, row, operands).to_vec()) / self.noise.row;
            let robust = weight * (FREEDOM + 1.0) / (FREEDOM + residual * residual);
            sums.slope.axpy(robust * residual, &gradient, 1.0);
            sums.curvature.ger(robust, &gradient, &gradient, 1.0);
            if free {
                let split = watts(places, row, operands);
                let own = split.computing_w() / split.total_w() / self.noise.row;
                slope += robust * residual * own;
                curvature += robust * own * own;
                coupling.axpy(robust * own, &gradient, 1.0);
            }
        }
        if free {
            sums.slope.axpy(-slope / curvature, &coupling, 1.0);
            sums.curvature
                .ger(-1.0 / curvature, &coupling, &coupling, 1.0);
        }
        sums.operands[number] = free.then_some((slope, curvature, coupling));
    }

    /// Operand factors after the values took a step.
    pub(super) fn operands_after(
        &self,
        operands: &[f64],
        sums: &Sums,
        step: &DVector<f64>,
    ) -> Vec<f64> {
        let each = operands.iter().zip(&sums.operands);
        each.map(|(now, own)| match own {
            Some((slope, curvature, coupling)) => now - (slope + coupling.dot(step)) / curvature,
            None => *now,
        })
        .collect()
    }
}

/// Weight of a row of a case of so many.
fn weight(rows: usize) -> f64 {
    (OWN_ROWS / rows as f64).min(1.0)
}
