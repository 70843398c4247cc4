//! What is found against what is there.

use std::collections::BTreeSet;
use std::convert::Infallible;

use proptest::prelude::*;

use super::{Effort, Score, Space, search};

/// A bowl with ripples, over levels: its least cost is at `target`.
fn rippled(levels: &[usize], target: &[usize]) -> f64 {
    let terms = levels.iter().zip(target).map(|(&level, &target)| {
        let off = level.abs_diff(target) as f64;
        off * off + if off == 0.0 { 0.0 } else { 3.0 * (off % 2.0) }
    });
    1.0 + terms.sum::<f64>()
}

fn levels(number: usize, sizes: &[usize]) -> Vec<usize> {
    Space::place(number, sizes)
}

#[test]
fn few_candidates_are_all_tried() {
    let space = Space::grid(&[3, 4]);
    let mut asked = Vec::new();
    let effort = Effort {
        evaluations: 12,
        seed: 1,
    };
    let found = search(&space, effort, |candidate| {
        asked.push(candidate);
        let cost = Some((candidate as f64 - 7.3).abs());
        Ok::<_, Infallible>(Score {
            cost,
            violation: 0.0,
        })
    });
    let found = found.unwrap().unwrap();
    assert_eq!((found.best, found.evaluations, found.whole), (7, 12, true));
    assert_eq!(asked, (0..12).collect::<Vec<_>>());
    assert_eq!(found.history.last(), Some(&(8, 7)));
}

#[test]
fn a_twentieth_of_a_large_space_is_enough_for_its_best() {
    let sizes = [8, 10, 12, 9];
    let space = Space::grid(&sizes);
    let target = [2, 7, 5, 4];
    let mut hits = 0;
    for seed in 0..10 {
        let mut asked = BTreeSet::new();
        let effort = Effort {
            evaluations: 400,
            seed,
        };
        let found = search(&space, effort, |candidate| {
            assert!(asked.insert(candidate), "evaluated twice");
            let cost = Some(rippled(&levels(candidate, &sizes), &target));
            Ok::<_, Infallible>(Score {
                cost,
                violation: 0.0,
            })
        });
        let found = found.unwrap().unwrap();
        assert!(found.evaluations <= 400 && !found.whole && asked.len() == found.evaluations);
        hits += u32::from(found.score.cost == Some(1.0));
    }
    assert!(
        hits >= 9,
        "the best of 8640 was found with {hits} of 10 seeds"
    );
}

#[test]
fn the_same_seed_tries_the_same() {
    let space = Space::grid(&[9, 9, 9]);
    let run = |seed| {
        let mut asked = Vec::new();
        let effort = Effort {
            evaluations: 60,
            seed,
        };
        let found = search(&space, effort, |candidate| {
            asked.push(candidate);
            let cost = Some(((candidate * 7919) % 997) as f64);
            Ok::<_, Infallible>(Score {
                cost,
                violation: 0.0,
            })
        });
        (asked, found.unwrap().unwrap())
    };
    assert_eq!(run(3), run(3));
    assert_ne!(run(3).0, run(4).0);
}

#[test]
fn the_first_failure_ends_the_search() {
    let space = Space::grid(&[9, 9, 9]);
    let mut asked = 0;
    let effort = Effort {
        evaluations: 60,
        seed: 0,
    };
    let found = search(&space, effort, |_| {
        asked += 1;
        if asked == 5 {
            Err("full")
        } else {
            Ok(Score {
                cost: Some(1.0),
                violation: 0.0,
            })
        }
    });
    assert_eq!((found, asked), (Err("full"), 5));
}

proptest! {
    #[test]
    fn what_is_found_beats_all_that_was_tried(
        seed in 0u64..1000, evaluations in 1usize..80, costs in prop::collection::vec((prop::option::of(-5i8..5), 0u8..3), 60),
    ) {
        let space = Space::grid(&[3, 4, 5]);
        let score = |candidate: usize| {
            let (cost, violation) = costs[candidate];
            Score { cost: cost.map(f64::from), violation: f64::from(violation) / 2.0 }
        };
        let mut asked = Vec::new();
        let found = search(&space, Effort { evaluations, seed }, |candidate| {
            asked.push(candidate);
            Ok::<_, Infallible>(score(candidate))
        });
        let found = found.unwrap().unwrap();
        prop_assert!(asked.len() <= evaluations && asked.len() == found.evaluations);
        prop_assert!(!asked.iter().any(|&candidate| score(candidate).beats(&found.score)));
        prop_assert_eq!(score(found.best), found.score);
    }
}
