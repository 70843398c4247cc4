//! Marks of budgets and fronts under draws: what lies within its error says so, what does not does not.

use super::tests::{STUDY, results_of};
use super::*;
use crate::report::Table;
use crate::report::metric::{Bound, Limit, Metrics, Objective};
use crate::store::Budget;

#[test]
fn a_bound_within_the_interval_marks_the_point() {
    let (report, recipes, sampling) = results_of(STUDY);
    let plain = monte_carlo(&report, &recipes, sampling).unwrap().0;
    let spread = plain.spread(0, "leakage_w").unwrap().clone();
    let objectives =
        ["energy_j", "leakage_w"].map(|name| Objective::read(name, &Metrics::known()).unwrap());
    let judged = |limit: f64| {
        let budget = Budget {
            limits: vec![Limit {
                metric: "leakage_w".to_owned(),
                bound: Bound::AtMost,
                limit,
            }],
            ..Budget::default()
        };
        let report = report
            .clone()
            .with_goals(Some(&budget), &objectives)
            .unwrap();
        with_uncertainty(report, &recipes, sampling).unwrap()
    };
    let mark = |limit: f64| {
        let report = judged(limit);
        let verdict = report.budget.as_ref().unwrap().points[0].clone().unwrap();
        (
            verdict.inside,
            verdict.within_error(),
            verdict.chance.unwrap(),
        )
    };
    let (inside, within, chance) = mark(spread.median);
    assert!(within && (chance - 0.5).abs() < 0.02, "{inside} {chance}");
    assert_eq!(mark(4.0 * spread.high), (true, false, 1.0));
    assert_eq!(mark(0.2 * spread.low), (false, false, 0.0));
    // The interval of 95 % is where the mark changes; a few of 400 draws lie within a tenth of its ends.
    assert!(!mark(1.1 * spread.high).1 && mark(0.9 * spread.high).1);
    assert!(!mark(0.9 * spread.low).1 && mark(1.1 * spread.low).1);
    let report = judged(spread.median);
    assert_eq!(
        report.uncertainty.as_ref(),
        Some(&plain),
        "goals change no figure"
    );
    let words = report.budget_words().unwrap();
    assert!(words.contains("within their error"), "{words}");
    assert!(
        report
            .sheet(Table::Budget)
            .unwrap()
            .csv()
            .contains("inside_chance")
    );
    // With one kernel every draw has a front.
    let chances = &report.pareto.as_ref().unwrap().chances;
    let sum: f64 = chances.iter().flatten().sum();
    assert!(
        sum >= 1.0
            && chances
                .iter()
                .flatten()
                .all(|chance| (0.0..=1.0).contains(chance))
    );
    assert!(
        report
            .sheet(Table::Pareto)
            .unwrap()
            .csv()
            .contains("front_chance")
    );
}
