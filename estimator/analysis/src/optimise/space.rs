//! The candidates of a study and how they neighbour each other.

use std::collections::BTreeMap;

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::outcome::{BASELINE, KernelName, Point};
use crate::report::effects::below;
use crate::report::factors::Factors;
use crate::run::plan::Plan;

/// A GPU with or without a technique at a technology.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    /// Its points, one a kernel, in the order of the study.
    pub points: Vec<OnKernel>,
}

/// A candidate's point on a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnKernel {
    /// The number of the point.
    pub point: usize,
    /// That of its baseline, if it has one among the points; none for a plain GPU.
    pub baseline: Option<usize>,
}

/// Candidates in the order of the study, with the level of each in every factor.
#[derive(Clone, Debug)]
pub struct Space {
    candidates: Vec<Candidate>,
    levels: Vec<Vec<usize>>,
    sizes: Vec<usize>,
    places: BTreeMap<Vec<usize>, usize>,
}

impl Space {
    /// What a study spans, plain GPUs only if they are wanted.
    pub fn of(plan: &Plan, plain: bool) -> Self {
        let configurations = &plan.axes.configurations;
        let is_plain =
            |configuration: u32| configurations[configuration as usize].label == BASELINE;
        let points = || {
            plan.points
                .iter()
                .map(|point| point.combination)
                .enumerate()
        };
        let baselines = points().filter(|(_, [.., configuration])| is_plain(*configuration));
        let baselines: BTreeMap<[u32; 3], usize> = baselines
            .map(|(number, [kernel, gpu, technology, _])| ([kernel, gpu, technology], number))
            .collect();
        let mut numbers: BTreeMap<[u32; 3], usize> = BTreeMap::new();
        let mut candidates: Vec<Candidate> = Vec::new();
        let mut shown: Vec<Point> = Vec::new();
        for (number, [kernel, gpu, technology, configuration]) in points() {
            if is_plain(configuration) && !plain {
                continue;
            }
            let key = [gpu, technology, configuration];
            let candidate = *numbers.entry(key).or_insert_with(|| {
                // Kernels are no factor: a candidate has all of them.
                shown.push(Point {
                    kernel: KernelName::default().into(),
                    ..plan.point(number)
                });
                candidates.push(Candidate::default());
                candidates.len() - 1
            });
            let baseline = baselines.get(&[kernel, gpu, technology]).copied();
            candidates[candidate].points.push(OnKernel {
                point: number,
                baseline: baseline.filter(|_| !is_plain(configuration)),
            });
        }
        let factors = Factors::of(&shown.iter().collect::<Vec<_>>());
        Self::new(candidates, factors)
    }

    fn new(candidates: Vec<Candidate>, factors: Factors) -> Self {
        let places = factors.levels.iter().cloned().zip(0..).collect();
        Self {
            candidates,
            sizes: factors.factors.iter().map(|f| f.levels.len()).collect(),
            levels: factors.levels,
            places,
        }
    }

    /// How many candidates there are.
    pub fn len(&self) -> usize {
        self.candidates.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.candidates.is_empty()
    }

    /// A candidate.
    pub fn candidate(&self, number: usize) -> &Candidate {
        &self.candidates[number]
    }

    /// All candidates that differ from this one in one factor.
    pub fn neighbours(&self, from: usize) -> Vec<usize> {
        let mut found = Vec::new();
        for (factor, size) in self.sizes.iter().enumerate() {
            let mut levels = self.levels[from].clone();
            for level in (0..*size).filter(|level| *level != self.levels[from][factor]) {
                levels[factor] = level;
                found.extend(self.places.get(&levels));
            }
        }
        found
    }

    /// A candidate near this one: one factor changed, to the next level as often as to any. Where there is no such candidate, any.
    pub fn step(&self, from: usize, random: &mut Xoshiro256PlusPlus) -> usize {
        const TRIALS: usize = 8;
        for _ in 0..TRIALS {
            if self.sizes.is_empty() {
                break;
            }
            let factor = below(random, self.sizes.len());
            let (size, level) = (self.sizes[factor], self.levels[from][factor]);
            let changed = match below(random, 4) {
                0 if level + 1 < size => level + 1,
                1 if level > 0 => level - 1,
                // One of the others.
                _ => (level + 1 + below(random, size - 1)) % size,
            };
            let mut levels = self.levels[from].clone();
            levels[factor] = changed;
            if let Some(&place) = self.places.get(&levels) {
                return place;
            }
        }
        below(random, self.len())
    }

    /// A full grid of these sizes, for tests: candidate and point have one number.
    #[cfg(test)]
    pub fn grid(sizes: &[usize]) -> Self {
        use crate::report::factors::Factor;
        let total = sizes.iter().product();
        let levels: Vec<Vec<usize>> = (0..total).map(|n| Self::place(n, sizes)).collect();
        let candidate = |point| Candidate {
            points: vec![OnKernel {
                point,
                baseline: None,
            }],
        };
        let factor = |size: &usize| Factor {
            name: String::new(),
            levels: (0..*size).map(|level| level.to_string()).collect(),
            moves_with: Vec::new(),
        };
        let factors = Factors {
            factors: sizes.iter().map(factor).collect(),
            levels: levels.clone(),
        };
        Self::new((0..levels.len()).map(candidate).collect(), factors)
    }

    /// The levels of a candidate of [`Space::grid`], the last fastest.
    #[cfg(test)]
    pub fn place(number: usize, sizes: &[usize]) -> Vec<usize> {
        let mut rest = number;
        let mut levels: Vec<usize> = sizes
            .iter()
            .rev()
            .map(|size| {
                let level = rest % size;
                rest /= size;
                level
            })
            .collect();
        levels.reverse();
        levels
    }
}
