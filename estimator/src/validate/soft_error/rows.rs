//! Points of the studies by benchmark, technique and scheduler, and what of them is compared.

use std::collections::BTreeMap;

use crate::outcome::Outcome;
use crate::validate::rows::metric;

/// What a structure and all that protects it are called.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// Of the instruction buffer.
    Buffer,
    /// Of the register file.
    Registers,
}

impl Part {
    /// Whether a structure is what is protected.
    fn is_own(self, name: &str) -> bool {
        match self {
            Self::Buffer => name == "instruction_buffer",
            Self::Registers => ["register_file", "register_lane"].contains(&name),
        }
    }

    /// Whether it is that, or protects it.
    fn holds(self, name: &str) -> bool {
        let added: &[&str] = match self {
            Self::Buffer => &["sawp.", "ecc."],
            Self::Registers => &["sharp.", "rtrp.", "ecc."],
        };
        self.is_own(name) || added.iter().any(|prefix| name.starts_with(prefix))
    }

    /// Mean power of the structure and what protects it.
    pub fn power(self, outcome: &Outcome) -> f64 {
        power(outcome, |name| self.holds(name))
    }

    /// Mean power of the structure alone, check bits in it included.
    pub fn own_power(self, outcome: &Outcome) -> f64 {
        power(outcome, |name| self.is_own(name))
    }

    /// Area of the structure and what protects it, over all SMs.
    pub fn area(self, outcome: &Outcome) -> f64 {
        area(outcome, |name| self.holds(name))
    }

    /// Area of the structure alone.
    pub fn own_area(self, outcome: &Outcome) -> f64 {
        area(outcome, |name| self.is_own(name))
    }
}

fn power(outcome: &Outcome, counts: impl Fn(&str) -> bool) -> f64 {
    let parts = outcome.structures.iter().filter(|it| counts(&it.name));
    let energy: f64 = parts.map(|it| it.dynamic_j + it.leakage_j).sum();
    energy / outcome.time_s
}

fn area(outcome: &Outcome, counts: impl Fn(&str) -> bool) -> f64 {
    let parts = outcome.structures.iter().filter(|it| counts(&it.name));
    parts.map(|it| it.area_m2 * it.instances as f64).sum()
}

/// A point's benchmark, technique, and scheduler.
type Key<'o> = (&'static str, &'o str, &'o str);

/// The points of the paper's benchmarks.
pub(super) struct Rows<'o>(BTreeMap<Key<'o>, &'o Outcome>);

pub(super) const ROUND_ROBIN: &str = "round_robin";

impl<'o> Rows<'o> {
    /// Those among `outcomes`.
    pub fn of(outcomes: &'o [Outcome]) -> Self {
        let benchmarks = warpwatt_suite::paper("soft_error").map_or(&[][..], |it| it.benchmarks);
        let mut rows = BTreeMap::new();
        for outcome in outcomes {
            let (point, kernel) = (&outcome.point, &outcome.point.kernel);
            let names = (kernel.name.as_str(), kernel.case.as_str());
            let policy = point.axes.get("scheduler.policy");
            let policy = policy.map_or(ROUND_ROBIN, String::as_str);
            for row in benchmarks.iter().filter(|row| row.stands == Some(names)) {
                let key = (row.abbreviation, point.technique.as_str(), policy);
                rows.insert(key, outcome);
            }
        }
        Self(rows)
    }

    /// One point.
    pub fn get(&self, benchmark: &str, technique: &str, policy: &str) -> Option<&'o Outcome> {
        let all = self.0.iter();
        let mut found = all.filter(|(key, _)| **key == (benchmark, technique, policy));
        found.next().map(|(_, outcome)| *outcome)
    }

    /// A figure of a technique for each benchmark.
    pub fn each(
        &self,
        technique: &str,
        policy: &str,
        figure: impl Fn(&Outcome) -> f64,
    ) -> Vec<f64> {
        let points = self.0.iter();
        let own = points.filter(|((_, label, under), _)| *label == technique && *under == policy);
        own.map(|(_, outcome)| figure(outcome)).collect()
    }

    /// A figure of two techniques for each benchmark that has both.
    pub fn against(
        &self,
        without: &str,
        with: &str,
        figure: impl Fn(&Outcome, &Outcome) -> f64,
    ) -> Vec<f64> {
        let points = self.0.iter();
        let own = points.filter(|((_, label, policy), _)| *label == with && *policy == ROUND_ROBIN);
        own.filter_map(|((benchmark, _, policy), outcome)| {
            Some(figure(self.get(benchmark, without, policy)?, outcome))
        })
        .collect()
    }

    /// A metric of a technique for each benchmark.
    pub fn metric(&self, technique: &str, policy: &str, name: &str) -> Vec<f64> {
        self.each(technique, policy, |outcome| metric(outcome, name))
    }
}
