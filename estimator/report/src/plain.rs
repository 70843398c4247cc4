//! The plain GPU that pictures of one GPU show.

use super::model::Report;
use crate::outcome::{Outcome, Point};

/// The points of the plain GPU that a report has first, a kernel each; none if it has no plain GPU.
pub fn points(report: &Report) -> Vec<&Outcome> {
    let mut plain = report.points.iter().filter(|it| it.point.is_baseline());
    let Some(first) = plain.next() else {
        return Vec::new();
    };
    let is_alike = |point: &Point| {
        point.gpu == first.point.gpu
            && point.axes == first.point.axes
            && point.technology == first.point.technology
    };
    let others = plain.filter(|other| is_alike(&other.point));
    std::iter::once(first).chain(others).collect()
}

/// The first of the points that take the most power.
pub fn hottest<'o>(points: &[&'o Outcome]) -> Option<&'o Outcome> {
    let power = |point: &Outcome| point.dynamic_power_w() + point.leakage_power_w();
    let all = points.iter().copied();
    all.reduce(|most, next| {
        if power(next) > power(most) {
            next
        } else {
            most
        }
    })
}

/// The run with the technique that is compared with `plain`, if the report has one configuration alone.
pub fn with_technique<'r>(report: &'r Report, plain: &Outcome) -> Option<&'r Outcome> {
    let [_] = &report.blocks[..] else {
        return None;
    };
    let mut pairs = report.pairs(0);
    let found = pairs.find(|(without, _)| without.point == plain.point);
    found.map(|(_, with)| with)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn the_kernel_that_takes_the_most_power_is_shown_without_and_with() {
        let mut outcomes = sample::outcomes();
        // The second kernel's plain run takes the energy of the first in a third of its time.
        outcomes[2].totals = outcomes[0].totals;
        let report = Report::new("plain", &outcomes);
        let points = points(&report);
        assert_eq!(points.len(), 3);
        let hottest = hottest(&points).unwrap();
        assert_eq!(hottest.point.kernel.name, "bfs");
        let with = with_technique(&report, hottest).unwrap();
        assert_eq!(with.point, outcomes[3].point);
    }

    #[test]
    fn of_several_configurations_none_stands_beside_the_plain_gpu() {
        let mut outcomes = sample::outcomes();
        outcomes[5].point.technique = "another".into();
        let report = Report::new("plain", &outcomes);
        let hottest = hottest(&points(&report)).unwrap();
        assert!(with_technique(&report, hottest).is_none());
        let without: Vec<Outcome> = vec![outcomes[1].clone()];
        assert!(points(&Report::new("no plain GPU", &without)).is_empty());
    }
}
