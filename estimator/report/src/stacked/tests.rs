use crate::{Detail, Details, Report, Table, sample};

use super::*;

/// The hand-made kernels with two more techniques: one that halves the cycles, and the filter cache and it together, in which it saves nothing.
fn points() -> Vec<Outcome> {
    let mut points = sample::outcomes();
    let halved = |outcome: &Outcome, label: &str| {
        let mut halved = outcome.clone();
        halved.point.technique = label.into();
        halved.cycles /= 2;
        halved
    };
    for outcome in sample::outcomes() {
        points.push(if outcome.point.is_baseline() {
            halved(&outcome, "half")
        } else {
            halved(&outcome, &format!("{} + half", outcome.point.technique))
        });
    }
    points
}

#[test]
fn a_stack_stands_beside_its_members() {
    let report = Report::new("by hand", &points());
    assert_eq!(report.stacks.len(), 1);
    let stacked = &report.stacks[0];
    assert_eq!(stacked.members, ["filter_cache(entries=32)", "half"]);
    assert_eq!(stacked.points.len(), 3);
    for point in &stacked.points {
        // Nothing happens to energy beside what the filter cache does.
        assert_eq!(point.energy.alone[1], 0.0);
        assert_eq!(point.energy.sum, point.energy.alone[0]);
        assert_ne!(point.energy.stack, 0.0);
        assert!(point.energy.excess.value.abs() < 1e-12 && point.energy.excess.sigma < 1e-12);
        // Halving comes on top of what the filter cache adds.
        let [added, halved] = [point.cycles.alone[0], point.cycles.alone[1]];
        assert_eq!(halved, -0.5);
        assert!((point.cycles.stack - point.cycles.product).abs() < 1e-4);
        assert!((point.cycles.sum - (added - 0.5)).abs() < 1e-12);
    }
    let columns = stacked.columns();
    assert_eq!(stacked.names().last().unwrap(), "mean");
    assert!(columns.iter().all(|column| column.cells.len() == 4));
}

#[test]
fn a_stack_without_its_members_is_compared_with_the_baseline_alone() {
    let mut points = points();
    points.retain(|outcome| &*outcome.point.technique != "half");
    let report = Report::new("by hand", &points);
    assert!(report.stacks.is_empty());
    assert_eq!(report.blocks.len(), 2);
}

#[test]
fn every_rendering_shows_it() {
    let report = Report::new("by hand", &points());
    for text in [
        report.terminal(200, &Details::of(Detail::ALL)),
        report.html().unwrap(),
    ] {
        assert!(text.contains("Stacked and alone"), "{text}");
    }
    let csv = report.sheet(Table::Stacks).unwrap().csv();
    assert_eq!(csv.lines().count(), 4, "{csv}");
    let document: serde_json::Value = serde_json::from_str(&report.json().unwrap()).unwrap();
    assert_eq!(
        document["stacks"][0]["points"][0]["cycles"]["alone"][1],
        -0.5
    );
}

/// What every member has beside it is no more than once in the stack.
#[test]
fn a_structure_of_the_study_s_own_is_nobody_s_saving() {
    let mut all = points();
    for outcome in all.iter_mut().filter(|it| !it.point.is_baseline()) {
        let mut own = outcome.structures[0].clone();
        own.name = "own".into();
        outcome.structures.push(own);
        outcome
            .structures
            .sort_by(|one, other| one.name.cmp(&other.name));
    }
    let [with, without] = [all, points()].map(|points| Report::new("by hand", &points).stacks);
    assert_eq!(with, without);
}
