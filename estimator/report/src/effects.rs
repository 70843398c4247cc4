//! Which parameter of a study matters: effects of its factors on a metric, and shares of its variance.
//!
//! Over a full grid, every level equally likely, the variance of a metric is split exactly (analysis of variance):
//!
//! - The *first-order* index of a factor is the variance of the mean over the others, `Var(E[y|x_i]) / Var(y)` (I. M. Sobol', "Global sensitivity
//!   indices for nonlinear mathematical models and their Monte Carlo estimates", Mathematics and Computers in Simulation 55, 2001).
//! - Its *total* index is the variance that is left when all others are held, `E[Var(y|x_~i)] / Var(y)` (T. Homma, A. Saltelli, Reliability
//!   Engineering & System Safety 52, 1996).
//!
//! From points that are no grid, both are estimated:
//!
//! - First-order indices as correlation ratios over classes of levels, with a bootstrap interval (E. Plischke, E. Borgonovo, C. L. Smith, "Global
//!   sensitivity measures from given data", European Journal of Operational Research 226, 2013).
//! - Total indices from the groups of points that differ in the factor alone, if a sample of few levels has enough of them: half the mean square of
//!   the differences of such pairs (M. J. W. Jansen, "Analysis of variance designs for model output", Computer Physics Communications 117, 1999).

use std::collections::BTreeMap;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};
use serde::Serialize;

use super::factors::Factors;

/// Effects of all factors on a metric, that with the largest share first.
#[derive(Clone, Debug, Serialize)]
pub struct Effects {
    /// Points with a value.
    pub points: usize,
    /// Whether every combination of levels is there once, so that indices are exact.
    pub grid: bool,
    /// Mean of the metric over the points.
    pub mean: f64,
    /// Its standard deviation over the points.
    pub deviation: f64,
    /// One a factor.
    pub effects: Vec<Effect>,
    /// One less the sum of the first-order indices, on a grid: what only several factors together do.
    pub interactions: Option<f64>,
}

/// What a factor does to the metric.
#[derive(Clone, Debug, Serialize)]
pub struct Effect {
    /// The factor.
    pub factor: String,
    /// Parameters that change with it.
    pub moves_with: Vec<String>,
    /// Mean of the metric at each level, in the order of the study.
    pub levels: Vec<Level>,
    /// The largest less the smallest of these means.
    pub swing: f64,
    /// The same with all other factors at their first level: one at a time. `None` where such points are missing.
    pub one_at_a_time: Option<f64>,
    /// Share of the variance that is this factor's alone.
    pub first_order: Index,
    /// Share of the variance that there would not be without this factor: on a grid, or where enough points differ in it alone.
    pub total: Option<f64>,
    /// Its 95 % interval; none where it is exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_interval: Option<[f64; 2]>,
}

/// A level of a factor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Level {
    /// Its value.
    pub level: String,
    /// Mean of the metric over its points.
    pub mean: f64,
}

/// A share of variance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Index {
    /// The share.
    pub value: f64,
    /// Its 95 % interval; none where it is exact.
    pub interval: Option<[f64; 2]>,
}

/// Resamples of a bootstrap interval.
const RESAMPLES: usize = 1000;

/// Most classes into which levels are put where there is no grid.
const MOST_CLASSES: usize = 50;

/// Groups of points that differ in one factor alone, below which their variance says little.
pub const FEWEST_GROUPS: usize = 20;

/// Points that a class should have, so that its mean says something.
const POINTS_A_CLASS: usize = 20;

impl Effects {
    /// Effects on the metric of which `values` are the values of the points of `factors`. `seed` decides the resamples.
    pub fn of(factors: &Factors, values: &[f64], seed: u64) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count.max(1.0);
        let variance = variance(values);
        let grid = factors.is_grid();
        let mut effects: Vec<Effect> = (0..factors.factors.len())
            .map(|place| effect(factors, values, (place, grid), variance, seed))
            .collect();
        let first: f64 = effects.iter().map(|effect| effect.first_order.value).sum();
        let share = |effect: &Effect| effect.total.unwrap_or(effect.first_order.value);
        effects.sort_by(|a, b| share(b).total_cmp(&share(a)));
        Self {
            points: values.len(),
            grid,
            mean,
            deviation: variance.sqrt(),
            interactions: grid
                .then_some((1.0 - first).max(0.0))
                .filter(|_| variance > 0.0),
            effects,
        }
    }
}

fn effect(
    factors: &Factors,
    values: &[f64],
    (place, grid): (usize, bool),
    variance: f64,
    seed: u64,
) -> Effect {
    let factor = &factors.factors[place];
    let column: Vec<usize> = factors.levels.iter().map(|levels| levels[place]).collect();
    let count = factor.levels.len();
    let means = means(&column, count, values);
    let levels = factor.levels.iter().zip(&means);
    let others_first = |levels: &[usize]| {
        let mut others = levels.iter().enumerate();
        others.all(|(other, level)| other == place || *level == 0)
    };
    let alone = factors.levels.iter().zip(values);
    let alone: Vec<f64> = alone
        .filter(|(levels, _)| others_first(levels))
        .map(|(_, value)| *value)
        .collect();
    let first_order = if grid {
        Index {
            value: correlation_ratio(&column, count, values, variance),
            interval: None,
        }
    } else {
        let ranks = ranks(&factor.levels);
        let ranked: Vec<usize> = column.iter().map(|&level| ranks[level]).collect();
        given_data(&ranked, count, values, seed)
    };
    let total = if grid {
        Some(Index {
            value: total(factors, values, place, variance),
            interval: None,
        })
    } else {
        total_of_groups(factors, values, place, variance, seed)
    };
    Effect {
        factor: factor.name.clone(),
        moves_with: factor.moves_with.clone(),
        swing: spread(&means),
        one_at_a_time: (alone.len() == count).then(|| spread(&alone)),
        first_order,
        total: total.map(|total| total.value),
        total_interval: total.and_then(|total| total.interval),
        levels: levels
            .map(|(level, mean)| Level {
                level: level.clone(),
                mean: *mean,
            })
            .collect(),
    }
}

/// The place of each level in ascending order of the numbers that they begin with; their order in the study if some begin with none.
fn ranks(levels: &[String]) -> Vec<usize> {
    let number = |level: &String| {
        let end = level.find(|c: char| !matches!(c, '0'..='9' | '.' | '-' | '+' | 'e'));
        level[..end.unwrap_or(level.len())].parse::<f64>().ok()
    };
    let numbers: Option<Vec<f64>> = levels.iter().map(number).collect();
    let mut order: Vec<usize> = (0..levels.len()).collect();
    if let Some(numbers) = numbers {
        order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
    }
    let mut ranks = vec![0; levels.len()];
    for (rank, level) in order.into_iter().enumerate() {
        ranks[level] = rank;
    }
    ranks
}

/// Variance of a population.
fn variance(values: &[f64]) -> f64 {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / count
}

fn spread(values: &[f64]) -> f64 {
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    most - least
}

/// Mean of the values in each of `count` classes.
fn means(classes: &[usize], count: usize, values: &[f64]) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); count];
    for (class, value) in classes.iter().zip(values) {
        sums[*class].0 += value;
        sums[*class].1 += 1.0;
    }
    sums.into_iter().map(|(sum, count)| sum / count).collect()
}

/// Variance of the class means over `variance`, which is that of all values.
fn correlation_ratio(classes: &[usize], count: usize, values: &[f64], variance: f64) -> f64 {
    if variance <= 0.0 {
        return 0.0;
    }
    let means = means(classes, count, values);
    let whole = values.iter().sum::<f64>() / values.len() as f64;
    let between = classes.iter().map(|class| (means[*class] - whole).powi(2));
    between.sum::<f64>() / values.len() as f64 / variance
}

/// The values of points that differ in nothing but the factor at `place`, group by group.
fn groups(factors: &Factors, values: &[f64], place: usize) -> BTreeMap<Vec<usize>, Vec<f64>> {
    let mut groups: BTreeMap<Vec<usize>, Vec<f64>> = BTreeMap::new();
    for (levels, value) in factors.levels.iter().zip(values) {
        let mut others = levels.clone();
        others[place] = 0;
        groups.entry(others).or_default().push(*value);
    }
    groups
}

/// The total index from the groups that have two points or more; nothing if there are too few.
///
/// A group samples some of the `L` levels, none twice. The variance over all levels is expected to be the group's sum of squares over one less than
/// its points, times `(L - 1) / L` (W. G. Cochran, "Sampling Techniques", 1977, theorem 2.4).
fn total_of_groups(
    factors: &Factors,
    values: &[f64],
    place: usize,
    variance: f64,
    seed: u64,
) -> Option<Index> {
    let groups: Vec<Vec<f64>> = groups(factors, values, place).into_values().collect();
    let several = groups.iter().filter(|group| group.len() > 1).count();
    if several < FEWEST_GROUPS || variance <= 0.0 {
        return None;
    }
    let levels = factors.factors[place].levels.len() as f64;
    // Squares within, degrees of freedom, and count, sum and squares of all: groups are resampled whole.
    let centre = values.iter().sum::<f64>() / values.len() as f64;
    let sums: Vec<[f64; 5]> = groups.iter().map(|group| sums(group, centre)).collect();
    let share = |picked: &mut dyn Iterator<Item = usize>| {
        let [within, freedom, count, sum, squares] = picked.fold([0.0; 5], |all, group| {
            std::array::from_fn(|place| all[place] + sums[group][place])
        });
        let mean = sum / count;
        within / freedom * (levels - 1.0) / levels / (squares / count - mean * mean)
    };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut resampled: Vec<f64> = (0..RESAMPLES)
        .map(|_| share(&mut (0..sums.len()).map(|_| below(&mut random, sums.len()))))
        .collect();
    resampled.sort_by(f64::total_cmp);
    let quantile = |at: f64| resampled[(at * (RESAMPLES - 1) as f64).round() as usize].max(0.0);
    Some(Index {
        value: share(&mut (0..sums.len())),
        interval: Some([quantile(0.025), quantile(0.975)]),
    })
}

/// Of a group: squares about its mean, degrees of freedom, count, and sum and squares of what it is off `centre`.
fn sums(group: &[f64], centre: f64) -> [f64; 5] {
    let count = group.len() as f64;
    let off = || group.iter().map(|value| value - centre);
    let squares = off().map(|value| value * value).sum();
    let within = variance(group) * count;
    [within, count - 1.0, count, off().sum(), squares]
}

/// Mean variance over the groups of points that differ in nothing but the factor at `place`.
fn total(factors: &Factors, values: &[f64], place: usize, variance: f64) -> f64 {
    if variance <= 0.0 {
        return 0.0;
    }
    let groups = groups(factors, values, place);
    let count = groups.len() as f64;
    let within = groups.values().map(|group| self::variance(group));
    within.sum::<f64>() / count / variance
}

/// The correlation ratio over classes, less what chance alone would give it, with a bootstrap interval.
fn given_data(column: &[usize], levels: usize, values: &[f64], seed: u64) -> Index {
    let classes = levels
        .min(MOST_CLASSES)
        .min((values.len() / POINTS_A_CLASS).max(2));
    // Many levels, in their order, become classes of neighbours.
    let class = |level: usize| level * classes / levels;
    let column: Vec<usize> = column.iter().map(|&level| class(level)).collect();
    let index = |column: &[usize], values: &[f64]| {
        let (n, k) = (values.len() as f64, classes as f64);
        let ratio = correlation_ratio(column, classes, values, variance(values));
        // R. A. Fisher's adjustment: classes explain (k - 1) / (n - 1) of pure noise.
        1.0 - (1.0 - ratio) * (n - 1.0) / (n - k).max(1.0)
    };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut resampled: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let picked: Vec<usize> = (0..values.len())
                .map(|_| below(&mut random, values.len()))
                .collect();
            let column: Vec<usize> = picked.iter().map(|&n| column[n]).collect();
            let values: Vec<f64> = picked.iter().map(|&n| values[n]).collect();
            index(&column, &values)
        })
        .collect();
    resampled.sort_by(f64::total_cmp);
    let value = index(&column, values);
    // Points that a resample has twice make classes look purer than they are: the interval is moved back by that (B. Efron, R. Tibshirani, "An Introduction to the
    // Bootstrap", 1993, section 10.2).
    let bias = resampled.iter().sum::<f64>() / RESAMPLES as f64 - value;
    let quantile = |share: f64| {
        let place = (share * (RESAMPLES - 1) as f64).round() as usize;
        (resampled[place] - bias).clamp(0.0, 1.0)
    };
    Index {
        value: value.clamp(0.0, 1.0),
        interval: Some([quantile(0.025), quantile(0.975)]),
    }
}

/// A number below `count`: the high half of a product, whose bias is below one in 2^40 for counts of a study.
pub fn below(random: &mut Xoshiro256PlusPlus, count: usize) -> usize {
    let wide = u128::from(random.next_u64()) * count as u128;
    (wide >> 64) as usize
}

#[cfg(test)]
mod tests;
