//! A value with its error, and how errors combine when two configurations share their causes.
//!
//! Every figure of a structure is off by two unknown factors: one of the process data, which all structures of a technology share for that kind of
//! figure, and one of the circuit model's own, which is the structure's. A ratio `r = W/B` of two sums `W = sum f w` and `B = sum f b` then has, to first
//! order (GUM, JCGM 100:2008, eq. 10), for every factor `f`
//!
//! ```text
//! dr/df = (w_f B - W b_f) / B^2        sigma_r^2 = sum over f of (u_f dr/df)^2
//! ```
//!
//! where `w_f` and `b_f` are the parts of the sums that `f` multiplies: the *same* factor in both configurations. An error that all structures share
//! cancels; an error of a structure matters as far as its share differs between the two.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};
use std::collections::BTreeMap;

pub use crate::uncertainty::CONFIDENCE;

/// A value and its standard deviation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// One standard deviation.
    pub sigma: f64,
}

/// One summand: what it is, how large, and how uncertain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term<'a> {
    /// The structure; terms of one structure and kind share their whole error.
    pub structure: &'a str,
    /// The kind of figure.
    pub figure: Figure,
    /// The summand.
    pub value: f64,
    /// Relative standard deviation of what is this structure's own.
    pub own: f64,
    /// Relative standard deviation of what all structures share for this kind of figure.
    pub common: f64,
}

/// A cause of error: of one structure, or of all if there is none.
type Factor<'a> = (Figure, Option<&'a str>);

/// Kinds of figures whose errors are independent of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
    /// Energy of an event.
    Energy,
    /// Leakage power.
    Leakage,
    /// Area.
    Area,
}

impl Estimate {
    /// Half the width of the interval that holds the value with probability [`CONFIDENCE`], for normal errors.
    pub fn half_width(&self) -> f64 {
        Normal::standard().inverse_cdf(0.5 + CONFIDENCE / 2.0) * self.sigma
    }

    /// Whether zero is inside the interval: the sign of the value is then not known.
    pub fn is_inside_own_error(&self) -> bool {
        self.value.abs() <= self.half_width()
    }

    /// `self - 1`, the relative change that a ratio stands for.
    pub fn minus_one(self) -> Self {
        Self {
            value: self.value - 1.0,
            ..self
        }
    }

    /// The same with the other sign: a saving from a change.
    pub fn negated(self) -> Self {
        Self {
            value: -self.value,
            ..self
        }
    }
}

/// The sum of `terms`.
pub fn sum(terms: &[Term]) -> Estimate {
    let mut errors = Errors::default();
    errors.add(terms, 1.0);
    Estimate {
        value: total(terms),
        sigma: errors.sigma(),
    }
}

/// The ratio of two sums; `None` if the lower one is not positive.
pub fn ratio(upper: &[Term], lower: &[Term]) -> Option<Estimate> {
    mean_ratio(&[(upper, lower)])
}

/// The mean of the ratios of pairs of sums, upper and lower; `None` if there is no pair, or a lower sum is not positive. A factor that several pairs share moves
/// all of them at once, so that errors of prices do not average out over kernels.
pub fn mean_ratio<'a, T: AsRef<[Term<'a>]>>(pairs: &[(T, T)]) -> Option<Estimate> {
    let share = 1.0 / pairs.len() as f64;
    let mut errors = Errors::default();
    let mut value = 0.0;
    for (upper, lower) in pairs {
        let (upper, lower) = (upper.as_ref(), lower.as_ref());
        let (w, b) = (total(upper), total(lower));
        if b <= 0.0 {
            return None;
        }
        value += share * w / b;
        errors.add(upper, share / b);
        errors.add(lower, -share * w / (b * b));
    }
    (!pairs.is_empty()).then(|| Estimate {
        value,
        sigma: errors.sigma(),
    })
}

fn total(terms: &[Term]) -> f64 {
    terms.iter().map(|term| term.value).sum()
}

/// What a result moves by if a factor moves by its standard deviation.
#[derive(Default)]
struct Errors<'a>(BTreeMap<Factor<'a>, f64>);

impl<'a> Errors<'a> {
    fn add(&mut self, terms: &[Term<'a>], weight: f64) {
        for term in terms {
            let moved = weight * term.value;
            *self
                .0
                .entry((term.figure, Some(term.structure)))
                .or_default() += moved * term.own;
            *self.0.entry((term.figure, None)).or_default() += moved * term.common;
        }
    }

    fn sigma(&self) -> f64 {
        self.0
            .values()
            .map(|error| error * error)
            .sum::<f64>()
            .sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use proptest::prelude::*;

    const NAMES: [&str; 4] = ["a", "b", "c", "d"];

    fn terms(values: &[f64], uncertainties: &[f64]) -> Vec<Term<'static>> {
        let pairs = values.iter().zip(uncertainties);
        NAMES
            .iter()
            .zip(pairs)
            .map(|(structure, (&value, &own))| Term {
                structure,
                figure: Figure::Energy,
                value,
                own,
                common: 0.0,
            })
            .collect()
    }

    #[test]
    fn a_term_that_only_one_side_has_carries_its_whole_error() {
        let lower = terms(&[4.0], &[0.1]);
        let upper = terms(&[4.0, 1.0], &[0.1, 0.2]);
        let estimate = ratio(&upper, &lower).unwrap();
        assert_relative_eq!(estimate.value, 1.25);
        // By hand: d/df_a = (4*4 - 5*4)/16 = -0.25, d/df_b = 1*4/16 = 0.25.
        let by_hand = (0.25f64 * 0.1).hypot(0.25 * 0.2);
        assert_relative_eq!(estimate.sigma, by_hand, max_relative = 1e-12);
    }

    #[test]
    fn the_interval_is_the_normal_one() {
        let estimate = Estimate {
            value: 1.0,
            sigma: 0.5,
        };
        assert_relative_eq!(
            estimate.half_width(),
            1.959_963_984_540_054 * 0.5,
            max_relative = 1e-9
        );
        assert!(!estimate.is_inside_own_error());
        assert!(
            Estimate {
                value: -0.9,
                ..estimate
            }
            .is_inside_own_error()
        );
    }

    #[test]
    fn an_error_that_two_kernels_share_does_not_average_out() {
        let pair = || (terms(&[4.0, 1.0], &[0.0, 0.2]), terms(&[4.0], &[0.0]));
        let alone = mean_ratio(&[pair()]).unwrap();
        let both = mean_ratio(&[pair(), pair()]).unwrap();
        assert_relative_eq!(both.value, 1.25);
        assert_relative_eq!(both.sigma, alone.sigma, max_relative = 1e-12);
        let none: [(Vec<Term>, Vec<Term>); 0] = [];
        assert_eq!(mean_ratio(&none), None);
    }

    #[test]
    fn nothing_to_compare_with_is_no_ratio() {
        assert_eq!(ratio(&terms(&[1.0], &[0.1]), &[]), None);
    }

    proptest! {
        #[test]
        fn an_error_common_to_all_structures_cancels_in_a_ratio_and_stays_in_a_sum(
            upper in prop::collection::vec(0.1f64..10.0, 4),
            lower in prop::collection::vec(0.1f64..10.0, 4),
            common in 0.0f64..0.5,
        ) {
            let shared = |values: &[f64]| -> Vec<Term<'static>> {
                terms(values, &[0.0; 4]).into_iter().map(|term| Term { common, ..term }).collect()
            };
            let estimate = ratio(&shared(&upper), &shared(&lower)).unwrap();
            prop_assert!(estimate.sigma < 1e-12 * (1.0 + estimate.value));
            let whole = sum(&shared(&upper));
            prop_assert!((whole.sigma - common * whole.value).abs() < 1e-12 * whole.value);
        }

        #[test]
        fn equal_configurations_have_a_ratio_of_one_without_error(
            values in prop::collection::vec(0.1f64..10.0, 4),
            uncertainties in prop::collection::vec(0.0f64..0.5, 4),
        ) {
            let both = terms(&values, &uncertainties);
            let estimate = ratio(&both, &both).unwrap();
            prop_assert_eq!(estimate.value, 1.0);
            prop_assert!(estimate.sigma < 1e-12);
        }

        #[test]
        fn smaller_uncertainties_give_a_narrower_interval(
            upper in prop::collection::vec(0.1f64..10.0, 4),
            lower in prop::collection::vec(0.1f64..10.0, 4),
            uncertainties in prop::collection::vec(0.01f64..0.5, 4),
            shrink in 0.1f64..0.9,
        ) {
            let smaller: Vec<f64> = uncertainties.iter().map(|u| u * shrink).collect();
            let wide = ratio(&terms(&upper, &uncertainties), &terms(&lower, &uncertainties)).unwrap();
            let narrow = ratio(&terms(&upper, &smaller), &terms(&lower, &smaller)).unwrap();
            prop_assert_eq!(wide.value, narrow.value);
            prop_assert!((narrow.sigma - shrink * wide.sigma).abs() <= 1e-12 * wide.sigma.max(1e-3));
        }

        #[test]
        fn a_ratio_does_not_change_with_the_unit(
            upper in prop::collection::vec(0.1f64..10.0, 4),
            lower in prop::collection::vec(0.1f64..10.0, 4),
            uncertainties in prop::collection::vec(0.0f64..0.5, 4),
        ) {
            let pico = |values: &[f64]| values.iter().map(|v| v * 1e-12).collect::<Vec<_>>();
            let plain = ratio(&terms(&upper, &uncertainties), &terms(&lower, &uncertainties)).unwrap();
            let scaled = ratio(&terms(&pico(&upper), &uncertainties), &terms(&pico(&lower), &uncertainties)).unwrap();
            prop_assert!((plain.value - scaled.value).abs() < 1e-12 * plain.value);
            prop_assert!((plain.sigma - scaled.sigma).abs() < 1e-9 * (1.0 + plain.sigma));
        }
    }
}
