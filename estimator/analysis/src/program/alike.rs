//! Launches that were not timed, as others are like them.

use std::collections::BTreeMap;

use warpwatt_pricing::uncertainty::of_few;

use super::Totals;
use crate::outcome::Outcome;
use crate::report::estimate::{Figure, Sum};
use crate::run::program::{Answer, Answers, differences};

/// How often the traces of a kernel's launches count.
#[derive(Clone, Debug, Default)]
pub(super) struct Weights {
    /// Those that were timed.
    timed: BTreeMap<u64, f64>,
    /// Those that others stand for.
    alike: BTreeMap<u64, f64>,
}

impl Weights {
    /// A launch with a trace that was timed.
    pub fn add_timed(&mut self, trace: u64) {
        *self.timed.entry(trace).or_default() += 1.0;
    }

    /// A launch with one that others stand for.
    pub fn add_alike(&mut self, trace: u64) {
        *self.alike.entry(trace).or_default() += 1.0;
    }

    /// Traces that were timed, and how often each counts, for others too.
    pub fn all(&self, answers: &Answers) -> BTreeMap<u64, f64> {
        let mut all = self.timed.clone();
        for (trace, times) in &self.alike {
            for (by, share) in shares(answers, *trace).1 {
                *all.entry(*by).or_default() += times * share;
            }
        }
        all
    }

    /// Groups of which launches were not timed: by trace how often each counts for those, and what the others are taken for, one by one.
    fn groups<'a>(&self, answers: &'a Answers) -> BTreeMap<usize, Group<'a>> {
        let mut groups: BTreeMap<usize, Group<'a>> = BTreeMap::new();
        for (trace, times) in &self.alike {
            let (group, shares) = shares(answers, *trace);
            let group = groups.entry(group).or_default();
            group.alike.push((*times, shares));
            for (by, share) in shares {
                *group.stands.entry(*by).or_default() += times * share;
            }
        }
        groups
    }
}

#[derive(Debug, Default)]
struct Group<'a> {
    stands: BTreeMap<u64, f64>,
    alike: Vec<(f64, &'a [(u64, f64)])>,
}

fn shares(answers: &Answers, trace: u64) -> (usize, &[(u64, f64)]) {
    match answers.traces.get(&trace) {
        Some(Answer::Like(like)) => (like.group, &like.shares),
        _ => (0, &[]),
    }
}

/// Adds what a configuration's time and energy are uncertain by for launches that others stand for.
///
/// What a group's timed launches differ by from each to the next, relative and for each warp instruction, says how much one of them varies: `δ² / 2` on average (successive
/// differences: Wolter, Introduction to Variance Estimation, 1985, chapter 8). So vary what each of them is taken for beyond itself, and each launch that was not
/// timed. As few differences say little, the deviation is as much larger as Student's t says. Each difference is a cause of its own, with its sign: in two
/// configurations the same launches are timed, and what they differ by is much the same.
pub(super) fn add_spread(
    totals: &mut Totals,
    weights: &Weights,
    answers: &Answers,
    configuration: usize,
) {
    let outcome = |trace: &u64| match answers.traces.get(trace) {
        Some(Answer::Timed(outcomes)) => outcomes.get(configuration),
        _ => None,
    };
    for (number, group) in weights.groups(answers) {
        let add = |sum: &mut Sum, figure: fn(&Outcome) -> f64| {
            let of = |trace: &u64| outcome(trace).map_or(0.0, figure);
            let timed = answers.groups.get(number).into_iter().flatten();
            let rates = timed.map(|(trace, instructions)| of(trace) / *instructions as f64);
            let differences = differences(&rates.collect::<Vec<f64>>());
            let by = group.varying(of) / (differences.len().max(1) as f64).sqrt();
            let by = of_few(differences.len()) * by;
            for (place, difference) in differences.iter().enumerate() {
                let cause = format!("group {number} {place}").into();
                sum.add_error(Figure::Sample, &cause, by * difference);
            }
        };
        add(&mut totals.time, |outcome| outcome.time_s);
        add(&mut totals.energy, Outcome::energy_j);
    }
}

impl Group<'_> {
    /// The root of the squares of what varies.
    fn varying(&self, of: impl Fn(&u64) -> f64) -> f64 {
        let stands = self.stands.iter().map(|(trace, times)| times * of(trace));
        let alike = self.alike.iter().map(|(times, shares)| {
            let one: f64 = shares.iter().map(|(trace, share)| share * of(trace)).sum();
            times * one
        });
        stands.chain(alike).map(|it| it * it).sum::<f64>().sqrt()
    }
}
