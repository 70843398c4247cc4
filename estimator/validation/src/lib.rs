//! The project's own evidence: our numbers beside published ones.
//!
//! A check compares one number of ours with one of a paper and says whether it holds within its tolerance or is a gap. Tolerances state how near two
//! independent models of one thing are expected to be; they are set before the comparison and not moved to make it hold.

mod evidence;
pub mod gpu;
pub mod macros;
pub mod oracle;
mod picture;
mod render;
pub mod silicon;
pub mod suite;
pub mod watts;

pub use evidence::{Evidence, EvidenceRow};

use serde::{Deserialize, Serialize};

/// One number of ours beside a published one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// The part of the paper: `Table 1`, `section 4`.
    pub place: String,
    /// What is compared: `icache.data area`.
    pub what: String,
    /// The unit of both values; empty for ratios.
    pub unit: String,
    /// The published value.
    pub published: f64,
    /// Ours.
    pub ours: f64,
    /// How far apart they may be.
    pub tolerance: Tolerance,
    /// Whether they are that near.
    pub status: Status,
    /// What the comparison is worth.
    pub kind: Kind,
    /// Why it is a gap, where that is known: then it is meant to be one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What a comparison is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Nothing of the published value went into ours, and the row could have failed.
    #[default]
    Independent,
    /// Ours follows from the published value: an input was found by it, a line was fitted to it, or a formula of the document is computed again.
    ByConstruction,
    /// Shown to tell on what a gap hangs, never counted: ours is another setting, or a part beside the document's whole, or cannot fail.
    Context,
}

/// How far apart two values may be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tolerance {
    /// A fraction of the published value.
    Relative(f64),
    /// In the unit of the values.
    Absolute(f64),
    /// The published value is an upper bound.
    AtMost,
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Within its tolerance.
    Holds,
    /// Not.
    Gap,
}

/// Checks with their sums: what is worth different things is counted apart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Validation {
    /// Independent rows.
    #[serde(flatten)]
    pub independent: Tally,
    /// Rows that follow from the published values.
    pub by_construction: Tally,
    /// How many are only shown.
    pub context: usize,
    /// Every check, in the order of the paper.
    pub checks: Vec<Check>,
}

/// How many checks of one kind hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Within their tolerances.
    pub holds: usize,
    /// Not.
    pub gaps: usize,
}

impl Check {
    /// Compares `ours` with `published`.
    pub fn new(
        place: &str,
        what: impl Into<String>,
        published: f64,
        ours: f64,
        tolerance: Tolerance,
    ) -> Self {
        let status = if tolerance.allows(published, ours) {
            Status::Holds
        } else {
            Status::Gap
        };
        Self {
            place: place.to_owned(),
            what: what.into(),
            unit: String::new(),
            published,
            ours,
            tolerance,
            status,
            kind: Kind::default(),
            why: None,
        }
    }

    /// Compares `ours` with the most that it may be.
    pub fn at_most(place: &str, what: impl Into<String>, most: f64, ours: f64) -> Self {
        Self::new(place, what, most, ours, Tolerance::AtMost)
    }

    /// The same check of values in `unit`.
    #[must_use]
    pub fn in_unit(self, unit: &str) -> Self {
        let unit = unit.to_owned();
        Self { unit, ..self }
    }

    /// The same check, a gap for this reason.
    #[must_use]
    pub fn known(self, why: Option<String>) -> Self {
        Self { why, ..self }
    }

    /// The same check, worth what `kind` says.
    #[must_use]
    pub fn of_kind(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    /// Ours over the published value, less one.
    pub fn difference(&self) -> f64 {
        self.ours / self.published - 1.0
    }
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Independent, Self::ByConstruction, Self::Context];

    /// As suites write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Independent => "independent",
            Self::ByConstruction => "by_construction",
            Self::Context => "context",
        }
    }
}

impl Tolerance {
    fn allows(self, published: f64, ours: f64) -> bool {
        // A printed value stands for every value that rounds to it; sums of floats must not fail at the very edge.
        const EDGE: f64 = 1.0 + 1e-9;
        match self {
            Self::Relative(fraction) => {
                (ours - published).abs() <= fraction * published.abs() * EDGE
            }
            Self::Absolute(distance) => (ours - published).abs() <= distance * EDGE,
            Self::AtMost => ours <= published * EDGE,
        }
    }
}

impl Validation {
    /// Counts what holds.
    pub fn new(checks: Vec<Check>) -> Self {
        Self {
            independent: Tally::of(&checks, Kind::Independent),
            by_construction: Tally::of(&checks, Kind::ByConstruction),
            context: checks
                .iter()
                .filter(|check| check.kind == Kind::Context)
                .count(),
            checks,
        }
    }

    /// Whether nothing that counts is a gap.
    pub fn is_met(&self) -> bool {
        self.independent.gaps + self.by_construction.gaps == 0
    }
}

impl Tally {
    fn of(checks: &[Check], kind: Kind) -> Self {
        let of_kind = checks.iter().filter(|check| check.kind == kind);
        let (holds, gaps): (Vec<_>, Vec<_>) =
            of_kind.partition(|check| check.status == Status::Holds);
        Self {
            holds: holds.len(),
            gaps: gaps.len(),
        }
    }

    /// How many there are.
    pub fn all(self) -> usize {
        self.holds + self.gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(published: f64, ours: f64, tolerance: Tolerance) -> Status {
        Check::new("Table", "x", published, ours, tolerance).status
    }

    #[test]
    fn a_check_holds_up_to_its_tolerance_and_no_further() {
        assert_eq!(check(100.0, 110.0, Tolerance::Relative(0.1)), Status::Holds);
        assert_eq!(check(100.0, 110.1, Tolerance::Relative(0.1)), Status::Gap);
        assert_eq!(check(0.95, 0.90, Tolerance::Absolute(0.05)), Status::Holds);
        assert_eq!(check(0.95, 0.89, Tolerance::Absolute(0.05)), Status::Gap);
        assert_eq!(check(0.007, 0.006, Tolerance::AtMost), Status::Holds);
        assert_eq!(check(0.007, 0.0075, Tolerance::AtMost), Status::Gap);
        assert_eq!(check(1.0, f64::NAN, Tolerance::AtMost), Status::Gap);
    }

    #[test]
    fn what_is_worth_different_things_is_counted_apart() {
        let near = Tolerance::Relative(0.1);
        let check = |what, ours| Check::new("T", what, 1.0, ours, near).in_unit("pJ");
        let checks = vec![
            check("a", 1.0),
            check("b", 2.0),
            check("c", 1.0).of_kind(Kind::ByConstruction),
            check("d", 1.0).of_kind(Kind::Context),
        ];
        let validation = Validation::new(checks);
        assert_eq!(validation.independent, Tally { holds: 1, gaps: 1 });
        assert_eq!(validation.by_construction, Tally { holds: 1, gaps: 0 });
        assert_eq!(validation.context, 1);
        assert!(!validation.is_met());
        let text = validation.table();
        assert!(text.contains("1 of 2 independent rows hold"), "{text}");
        assert!(text.contains("+100.0%") && text.contains("gap"), "{text}");
        assert!(validation.json().unwrap().contains("\"status\": \"gap\""));
    }
}
