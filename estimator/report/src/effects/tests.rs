//! Functions whose indices are known by hand.

use std::f64::consts::PI;

use super::*;
use crate::factors::Factor;
use approx::assert_abs_diff_eq;

/// T. Ishigami, T. Homma, ISUMA 1990, with a = 7 and b = 0.1.
fn ishigami(x: [f64; 3]) -> f64 {
    libm::sin(x[0]) + 7.0 * libm::sin(x[1]).powi(2) + 0.1 * x[2].powi(4) * libm::sin(x[0])
}

/// Its indices, first-order and total: V1 = (1 + b pi^4 / 5)^2 / 2, V2 = a^2 / 8, V13 = 8 b^2 pi^8 / 225.
fn ishigami_indices() -> ([f64; 3], [f64; 3]) {
    let (a, b) = (7.0f64, 0.1f64);
    let v1 = (1.0 + b * PI.powi(4) / 5.0).powi(2) / 2.0;
    let v2 = a * a / 8.0;
    let v13 = 8.0 * b * b * PI.powi(8) / 225.0;
    let all = v1 + v2 + v13;
    (
        [v1 / all, v2 / all, 0.0],
        [(v1 + v13) / all, v2 / all, v13 / all],
    )
}

fn factors(levels: &[Vec<usize>], counts: [usize; 3]) -> Factors {
    let factor = |place: usize| Factor {
        name: format!("x{}", place + 1),
        levels: (0..counts[place]).map(|level| level.to_string()).collect(),
        moves_with: Vec::new(),
    };
    Factors {
        factors: (0..3).map(factor).collect(),
        levels: levels.to_vec(),
    }
}

fn named<'e>(effects: &'e Effects, name: &str) -> &'e Effect {
    effects
        .effects
        .iter()
        .find(|effect| effect.factor == name)
        .unwrap()
}

#[test]
fn a_fine_grid_gives_ishigamis_indices() {
    const N: usize = 24;
    let x = |level: usize| PI * (2.0 * (level as f64 + 0.5) / N as f64 - 1.0);
    let mut levels = Vec::new();
    for number in 0..N * N * N {
        levels.push(vec![number / (N * N), number / N % N, number % N]);
    }
    let values: Vec<f64> = levels
        .iter()
        .map(|l| ishigami([x(l[0]), x(l[1]), x(l[2])]))
        .collect();
    let effects = Effects::of(&factors(&levels, [N; 3]), &values, 0);
    assert!(effects.grid);
    let (first, total) = ishigami_indices();
    for (place, name) in ["x1", "x2", "x3"].iter().enumerate() {
        let effect = named(&effects, name);
        // The midpoint rule of 24 levels is off by less than this.
        assert_abs_diff_eq!(effect.first_order.value, first[place], epsilon = 5e-3);
        assert_abs_diff_eq!(effect.total.unwrap(), total[place], epsilon = 5e-3);
    }
    assert_abs_diff_eq!(effects.interactions.unwrap(), total[2], epsilon = 5e-3);
}

#[test]
fn random_points_give_first_order_indices_inside_their_intervals() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    const POINTS: usize = 2000;
    const LEVELS: usize = 400;
    let mut points: Vec<[usize; 3]> = Vec::new();
    for _ in 0..POINTS {
        points.push([0; 3].map(|_: usize| below(&mut random, LEVELS)));
    }
    let x = |level: usize| PI * (2.0 * (level as f64 + 0.5) / LEVELS as f64 - 1.0);
    let values: Vec<f64> = points.iter().map(|l| ishigami(l.map(x))).collect();
    let levels: Vec<Vec<usize>> = points.iter().map(|l| l.to_vec()).collect();
    let effects = Effects::of(&factors(&levels, [LEVELS; 3]), &values, 1);
    assert!(!effects.grid && effects.interactions.is_none());
    let (first, _) = ishigami_indices();
    for (place, name) in ["x1", "x2", "x3"].iter().enumerate() {
        let index = named(&effects, name).first_order;
        assert_abs_diff_eq!(index.value, first[place], epsilon = 0.05);
        let [low, high] = index.interval.unwrap();
        assert!(
            low <= index.value && index.value <= high && high - low < 0.15,
            "{index:?}"
        );
        assert!(
            low - 0.01 <= first[place] && first[place] <= high + 0.01,
            "{index:?}"
        );
        assert_eq!(named(&effects, name).total, None);
    }
    let again = Effects::of(&factors(&levels, [LEVELS; 3]), &values, 1);
    assert_eq!(
        named(&again, "x1").first_order,
        named(&effects, "x1").first_order
    );
}

#[test]
fn a_sum_has_no_interactions_and_a_product_only_them() {
    let levels: Vec<Vec<usize>> = (0..8).map(|n| vec![n / 4, n / 2 % 2, n % 2]).collect();
    let sign = |level: usize| 2.0 * level as f64 - 1.0;
    let sum: Vec<f64> = levels
        .iter()
        .map(|l| 3.0 * sign(l[0]) + sign(l[1]))
        .collect();
    let effects = Effects::of(&factors(&levels, [2; 3]), &sum, 0);
    assert_eq!(effects.effects[0].factor, "x1");
    assert_abs_diff_eq!(effects.effects[0].first_order.value, 0.9, epsilon = 1e-12);
    assert_eq!(
        (effects.effects[0].swing, effects.effects[0].one_at_a_time),
        (6.0, Some(6.0))
    );
    assert_abs_diff_eq!(effects.interactions.unwrap(), 0.0, epsilon = 1e-12);
    let product: Vec<f64> = levels.iter().map(|l| sign(l[0]) * sign(l[1])).collect();
    let effects = Effects::of(&factors(&levels, [2; 3]), &product, 0);
    assert_abs_diff_eq!(
        named(&effects, "x1").first_order.value,
        0.0,
        epsilon = 1e-12
    );
    assert_abs_diff_eq!(named(&effects, "x1").total.unwrap(), 1.0, epsilon = 1e-12);
    assert_eq!(named(&effects, "x1").swing, 0.0);
    assert_eq!(named(&effects, "x1").one_at_a_time, Some(2.0));
}

#[test]
fn levels_are_ranked_by_their_numbers() {
    let ranks =
        |levels: &[&str]| super::ranks(&levels.iter().map(|l| (*l).to_owned()).collect::<Vec<_>>());
    assert_eq!(ranks(&["0.9 V", "0.7 V", "10 V"]), [1, 0, 2]);
    assert_eq!(ranks(&["hp", "1 K", "0 K"]), [0, 1, 2]);
}

#[test]
fn what_never_changes_has_no_shares() {
    let levels: Vec<Vec<usize>> = (0..8).map(|n| vec![n / 4, n / 2 % 2, n % 2]).collect();
    let effects = Effects::of(&factors(&levels, [2; 3]), &[5.0; 8], 0);
    assert!(
        effects
            .effects
            .iter()
            .all(|e| e.first_order.value == 0.0 && e.total == Some(0.0))
    );
    assert_eq!(effects.interactions, None);
}

/// Half of a grid, drawn at random: pairs of points that differ in one factor alone know the total indices of the whole.
#[test]
fn a_sample_of_few_levels_has_total_indices() {
    const N: usize = 8;
    let x = |level: usize| PI * (2.0 * (level as f64 + 0.5) / N as f64 - 1.0);
    let value = |l: &Vec<usize>| ishigami([x(l[0]), x(l[1]), x(l[2])]);
    let all: Vec<Vec<usize>> = (0..N * N * N)
        .map(|number| vec![number / (N * N), number / N % N, number % N])
        .collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let some: Vec<Vec<usize>> = all
        .iter()
        .filter(|_| below(&mut random, 2) == 0)
        .cloned()
        .collect();
    let of = |levels: &[Vec<usize>]| {
        let values: Vec<f64> = levels.iter().map(value).collect();
        Effects::of(&factors(levels, [N; 3]), &values, 1)
    };
    let (exact, estimated) = (of(&all), of(&some));
    assert!(exact.grid && !estimated.grid);
    for name in ["x1", "x2", "x3"] {
        let (exact, estimated) = (named(&exact, name), named(&estimated, name));
        assert_eq!(exact.total_interval, None);
        let (truth, found) = (exact.total.unwrap(), estimated.total.unwrap());
        let [low, high] = estimated.total_interval.unwrap();
        assert!(
            low < found && found < high,
            "{name}: {truth} {found} [{low}, {high}]"
        );
        assert!(
            (found - truth).abs() < 0.1 && high - low < 0.5,
            "{name}: {truth} {found}"
        );
    }
    // Of 30 points no two differ in one factor alone often enough.
    let few = of(&some[..30]);
    assert!(few.effects.iter().any(|effect| effect.total.is_none()));
}
