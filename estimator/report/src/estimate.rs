//! A value with its error, and how errors combine when two configurations share their causes.
//!
//! Every figure of a structure is off by two unknown factors. One is of the process data; all structures of a technology share it for that kind of
//! figure. The other is the circuit model's own error for this structure. A ratio `r = W/B` of two sums `W = sum f w` and `B = sum f b` then has, to
//! first order (GUM, JCGM 100:2008, eq. 10), for every factor `f`
//!
//! ```text
//! dr/df = (w_f B - W b_f) / B^2        sigma_r^2 = sum over f of (u_f dr/df)^2
//! ```
//!
//! where `w_f` and `b_f` are the parts of the sums that `f` multiplies: the *same* factor in both configurations. An error that all structures share
//! cancels; an error of a structure matters as far as its share differs between the two.

use serde::Serialize;
use smallvec::SmallVec;
use std::sync::Arc;

pub use warpwatt_pricing::uncertainty::CONFIDENCE;
use warpwatt_pricing::uncertainty::half_width;

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
    pub structure: &'a Arc<str>,
    /// The kind of figure.
    pub figure: Figure,
    /// The summand.
    pub value: f64,
    /// Relative standard deviation of what is this structure's own.
    pub own: f64,
    /// Relative standard deviation of what all structures share for this kind of figure.
    pub common: f64,
}

/// Summands of a figure. Those of a few dozen structures need no memory of their own: a study has hundreds of such sums a point.
pub type Terms<'a> = SmallVec<[Term<'a>; MOST_INLINE]>;

/// Summands, and errors of them, that a sum has beside itself.
const MOST_INLINE: usize = 64;

/// Kinds of figures whose errors are independent of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
    /// Energy of an event.
    Energy,
    /// Leakage power.
    Leakage,
    /// Area.
    Area,
    /// Time and energy of what was not timed. A term's value is what a sum is off by then, and no part of the sum.
    Sample,
}

impl Figure {
    const ALL: [Self; 4] = [Self::Energy, Self::Leakage, Self::Area, Self::Sample];
}

impl<'a> Term<'a> {
    /// A figure whose whole relative deviation is that of the model's own error and of the process data, in quadrature.
    pub fn of(
        structure: &'a Arc<str>,
        figure: Figure,
        value: f64,
        (total, method): (f64, f64),
    ) -> Self {
        let own = method.min(total);
        Self {
            structure,
            figure,
            value,
            own,
            common: (total * total - own * own).sqrt(),
        }
    }
}

impl Estimate {
    /// Half the width of the interval that holds the value with probability [`CONFIDENCE`], for normal errors.
    pub fn half_width(&self) -> f64 {
        half_width(self.sigma)
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
    let mut errors = Errors::<1>::default();
    errors.add(terms, [1.0]);
    errors.estimate(0, total(terms))
}

/// The ratio of two sums; `None` if the lower one is not positive.
pub fn ratio(upper: &[Term], lower: &[Term]) -> Option<Estimate> {
    let (value, errors) = with_errors(upper, lower)?;
    Some(errors.estimate(0, value))
}

/// The sums of `before` and of `after`, and the second over the first where that is positive: what each term moves is looked up once for all three.
pub fn change(before: &[Term], after: &[Term]) -> (Estimate, Estimate, Option<Estimate>) {
    let (b, w) = (total(before), total(after));
    let mut errors = Errors::<3>::default();
    let [by_after, by_before] = weights(w, b).unwrap_or_default();
    errors.add(after, [0.0, 1.0, by_after]);
    errors.add(before, [1.0, 0.0, by_before]);
    let ratio = (b > 0.0).then(|| errors.estimate(2, w / b));
    (errors.estimate(0, b), errors.estimate(1, w), ratio)
}

/// What a ratio moves by if its upper sum does, and if its lower one does; `None` if that is not positive.
fn weights(upper: f64, lower: f64) -> Option<[f64; 2]> {
    (lower > 0.0).then(|| [1.0 / lower, -upper / (lower * lower)])
}

/// The ratio of two sums, and what moves it.
fn with_errors<'a>(upper: &[Term<'a>], lower: &[Term<'a>]) -> Option<(f64, Errors<'a, 1>)> {
    let (w, b) = (total(upper), total(lower));
    let [by_upper, by_lower] = weights(w, b)?;
    let mut errors = Errors::default();
    errors.add(upper, [by_upper]);
    errors.add(lower, [by_lower]);
    Some((w / b, errors))
}

/// A sum that grows, of which the terms are not kept but what each factor moves it by: of many runs in one technology, which share all their factors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sum {
    value: f64,
    /// What the sum moves by if a factor moves by its standard deviation, for each kind of figure.
    moved: [Moved; Figure::ALL.len()],
}

impl Sum {
    /// Adds `terms`, so many times.
    pub fn add(&mut self, terms: &[Term], times: f64) {
        let mut errors = Errors::default();
        errors.add(terms, [times]);
        self.grow(times * total(terms), &errors);
    }

    /// Adds a value that is sure.
    pub fn add_sure(&mut self, value: f64) {
        self.value += value;
    }

    /// One more thing that the sum is uncertain by: as a standard deviation, with a sign, as others may share its `cause` and move the other way.
    pub fn add_error(&mut self, figure: Figure, cause: &Arc<str>, by: f64) {
        self.moved[figure as usize].add(cause, by, 0);
    }

    fn grow(&mut self, by: f64, errors: &Errors<1>) {
        self.value += by;
        for (moved, [by]) in self.moved.iter_mut().zip(errors.common) {
            moved.common += by;
        }
        for alike in errors.own.chunk_by(|((a, _), _), ((b, _), _)| a == b) {
            let moved = &mut self.moved[alike[0].0.0 as usize];
            if moved.own.is_empty() {
                moved.own.reserve(alike.len());
            }
            let mut next = 0;
            for ((_, structure), [by]) in alike {
                next = moved.add(structure, *by, next) + 1;
            }
        }
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: &Self) {
        self.value += other.value;
        for (moved, other) in self.moved.iter_mut().zip(&other.moved) {
            moved.merge(other);
        }
    }

    /// The sum with its error.
    pub fn estimate(&self) -> Estimate {
        Estimate {
            value: self.value,
            sigma: self.sigma(),
        }
    }

    /// The ratio of this sum to another; `None` if that is not positive.
    pub fn over(&self, lower: &Self) -> Option<Estimate> {
        if lower.value <= 0.0 {
            return None;
        }
        let ratio = self.value / lower.value;
        let mut errors = Self::default();
        errors.merge(self);
        errors.merge(&lower.scaled(-ratio));
        Some(Estimate {
            value: ratio,
            sigma: errors.sigma() / lower.value,
        })
    }

    fn scaled(&self, factor: f64) -> Self {
        let mut scaled = self.clone();
        scaled.value *= factor;
        for moved in &mut scaled.moved {
            moved.common *= factor;
            moved.own.iter_mut().for_each(|(_, by)| *by *= factor);
        }
        scaled
    }

    fn sigma(&self) -> f64 {
        let moved = self.moved.iter().flat_map(|moved| {
            let own = moved.own.iter().map(|(_, by)| by);
            [&moved.common].into_iter().chain(own)
        });
        // A sum of nothing would be -0.
        moved
            .map(|by| by * by)
            .fold(0.0, |sum: f64, square| sum + square)
            .sqrt()
    }
}

/// The mean of ratios of sums, ratio by ratio. A factor that several of them share moves all of them at once, so that errors of prices do not average out
/// over kernels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeanRatio {
    sum: Sum,
    count: usize,
    undefined: bool,
}

/// What errors of one kind of figure move.
#[derive(Clone, Debug, Default, PartialEq)]
struct Moved {
    /// The one that all structures share.
    common: f64,
    /// Those of the structures' own, by name.
    own: Vec<(Arc<str>, f64)>,
}

impl Moved {
    /// Adds to the error of `structure`, and says where that stands: at `next` as a rule, as structures come in the order of their names. The name of one that is
    /// known is not copied again.
    fn add(&mut self, structure: &Arc<str>, by: f64, next: usize) -> usize {
        let last = self.own.last().map(|(last, _)| last);
        let place = match self.own.get(next) {
            Some((known, _)) if known == structure => Ok(next),
            None if last.is_none_or(|last| last < structure) => Err(self.own.len()),
            _ => self.own.binary_search_by(|(known, _)| known.cmp(structure)),
        };
        match place {
            Ok(place) => self.own[place].1 += by,
            Err(place) => self.own.insert(place, (Arc::clone(structure), by)),
        }
        place.unwrap_or_else(|place| place)
    }

    /// Adds what another sum moves by. Sums of one configuration have the same structures.
    fn merge(&mut self, other: &Self) {
        self.common += other.common;
        let same = self.own.len() == other.own.len()
            && self.own.iter().zip(&other.own).all(|(a, b)| a.0 == b.0);
        if same {
            for ((_, own), (_, by)) in self.own.iter_mut().zip(&other.own) {
                *own += by;
            }
            return;
        }
        let mut next = 0;
        for (structure, by) in &other.own {
            next = self.add(structure, *by, next) + 1;
        }
    }
}

impl MeanRatio {
    /// Adds the ratio of two sums. If the lower one is not positive there is no mean.
    pub fn add(&mut self, upper: &[Term], lower: &[Term]) {
        self.count += 1;
        let Some((value, errors)) = with_errors(upper, lower) else {
            self.undefined = true;
            return;
        };
        self.sum.grow(value, &errors);
    }

    /// Adds the ratios of another mean.
    pub fn merge(&mut self, other: &Self) {
        self.sum.merge(&other.sum);
        self.count += other.count;
        self.undefined |= other.undefined;
    }

    /// The mean; `None` of nothing.
    pub fn value(&self) -> Option<Estimate> {
        let count = self.count as f64;
        (self.count > 0 && !self.undefined).then(|| Estimate {
            value: self.sum.value / count,
            sigma: self.sum.sigma() / count,
        })
    }
}

fn total(terms: &[Term]) -> f64 {
    let values = terms.iter().filter(|term| term.figure != Figure::Sample);
    values.map(|term| term.value).sum()
}

/// A factor of a structure's own.
type Factor<'a> = (Figure, &'a Arc<str>);

/// What some results move by if a factor moves by its standard deviation.
struct Errors<'a, const N: usize> {
    /// What all structures share, for each kind of figure.
    common: [[f64; N]; Figure::ALL.len()],
    /// What is a structure's own, in the order of kinds and names: sums do not depend on that of the terms.
    own: SmallVec<[(Factor<'a>, [f64; N]); MOST_INLINE]>,
}

impl<const N: usize> Default for Errors<'_, N> {
    fn default() -> Self {
        Self {
            common: [[0.0; N]; Figure::ALL.len()],
            own: SmallVec::new(),
        }
    }
}

impl<'a, const N: usize> Errors<'a, N> {
    /// Adds what `terms` do to each result, by its weight.
    fn add(&mut self, terms: &[Term<'a>], weights: [f64; N]) {
        let mut next = 0;
        for term in terms {
            let place = self.own((term.figure, term.structure), next);
            next = place + 1;
            let common = &mut self.common[term.figure as usize];
            for (n, weight) in weights.into_iter().enumerate() {
                let moved = weight * term.value;
                self.own[place].1[n] += moved * term.own;
                common[n] += moved * term.common;
            }
        }
    }

    /// The place of a structure's own factor. Terms come kind by kind and name by name as a rule, so that it is `next`, or not there yet and belongs there.
    fn own(&mut self, factor: Factor<'a>, next: usize) -> usize {
        let follows = match self.own.get(next) {
            Some((known, _)) if *known == factor => return next,
            Some((known, _)) => factor < *known,
            None => true,
        };
        let before = next.checked_sub(1).map(|before| self.own[before].0);
        let place = if follows && before.is_none_or(|before| before < factor) {
            next
        } else {
            match self.own.binary_search_by(|(known, _)| known.cmp(&factor)) {
                Ok(place) => return place,
                Err(place) => place,
            }
        };
        self.own.insert(place, (factor, [0.0; N]));
        place
    }

    /// A result with its error.
    fn estimate(&self, number: usize, value: f64) -> Estimate {
        let sigma = self.sigma(number);
        Estimate { value, sigma }
    }

    /// In one order, whatever that of the terms was.
    fn sigma(&self, number: usize) -> f64 {
        let mut own = self.own.iter().peekable();
        let mut squares = 0.0;
        for (figure, common) in Figure::ALL.into_iter().zip(self.common) {
            squares += common[number] * common[number];
            while let Some((_, own)) = own.next_if(|((of, _), _)| *of == figure) {
                squares += own[number] * own[number];
            }
        }
        squares.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use approx::assert_relative_eq;
    use proptest::prelude::*;

    static NAMES: LazyLock<[Arc<str>; 4]> = LazyLock::new(|| ["a", "b", "c", "d"].map(Arc::from));

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

    /// Terms that come in any order, and names that only one side has, find their places.
    #[test]
    fn errors_do_not_depend_on_the_order_of_terms() {
        let sides = [
            terms(&[1.0, 0.0, 2.0, 4.0], &[0.1, 0.2, 0.3, 0.1]),
            terms(&[2.0, 8.0], &[0.1, 0.2]),
        ];
        let mut leakage = sides.clone();
        for term in leakage.iter_mut().flatten() {
            term.figure = Figure::Leakage;
        }
        let [upper, lower] = [0, 1].map(|side| [&sides[side][..], &leakage[side]].concat());
        let straight = ratio(&upper, &lower).unwrap();
        for turns in 1..upper.len() {
            let mut turned = upper.clone();
            turned.rotate_left(turns);
            turned.swap(1, 4);
            let other: Vec<_> = lower.iter().rev().copied().collect();
            let sigma = ratio(&turned, &other).unwrap().sigma;
            assert_eq!(sigma.to_bits(), straight.sigma.to_bits(), "{turns}");
        }
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
        let mean = |pairs: &[(Vec<Term>, Vec<Term>)]| {
            let mut mean = MeanRatio::default();
            pairs
                .iter()
                .for_each(|(upper, lower)| mean.add(upper, lower));
            mean.value()
        };
        let alone = mean(&[pair()]).unwrap();
        assert_eq!(Some(alone), ratio(&pair().0, &pair().1));
        let both = mean(&[pair(), pair()]).unwrap();
        assert_relative_eq!(both.value, 1.25);
        assert_relative_eq!(both.sigma, alone.sigma, max_relative = 1e-12);

        assert_eq!(mean(&[]), None);
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
        fn a_sum_that_grew_is_that_of_its_terms(
            values in prop::collection::vec(0.1f64..10.0, 4),
            others in prop::collection::vec(0.1f64..10.0, 4),
            uncertainties in prop::collection::vec(0.0f64..0.5, 4),
            times in 1u8..5,
        ) {
            let (few, many) = (terms(&values, &uncertainties), terms(&others, &uncertainties));
            let mut grown = Sum::default();
            grown.add(&few, 1.0);
            let mut rest = Sum::default();
            rest.add(&many, f64::from(times));
            grown.merge(&rest);
            let mut all = few.clone();
            (0..times).for_each(|_| all.extend(many.clone()));
            let close = |ours: Estimate, theirs: Estimate| {
                (ours.value - theirs.value).abs() < 1e-9 * theirs.value && (ours.sigma - theirs.sigma).abs() < 1e-9 * (1.0 + theirs.sigma)
            };
            prop_assert!(close(grown.estimate(), sum(&all)));
            prop_assert!(close(grown.over(&rest).unwrap(), ratio(&all, &many.repeat(times.into())).unwrap()));
            prop_assert_eq!(grown.over(&Sum::default()), None);
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
