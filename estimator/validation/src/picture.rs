//! Ours over the published values, drawn.

use warpwatt_report::{Ratio, Strip, ratios, strips};

use super::evidence::Evidence;
use super::{Check, Kind, Status, Validation};

impl Validation {
    /// A bar a row.
    pub fn picture(&self) -> String {
        let rows: Vec<Ratio> = self.checks.iter().map(ratio).collect();
        ratios(&rows, "Ours over the published value")
    }
}

impl Evidence {
    /// A strip a suite with a mark an independent row.
    pub fn picture(&self) -> String {
        let strip = |(name, suite): (&str, &Validation)| {
            let rows = suite.checks.iter();
            let rows = rows.filter(|check| check.kind == Kind::Independent);
            Strip {
                label: name.to_owned(),
                rows: rows.map(ratio).collect(),
            }
        };
        let all: Vec<Strip> = self.suites().map(strip).collect();
        strips(&all, "Ours over the published value, independent rows")
    }
}

fn ratio(check: &Check) -> Ratio {
    Ratio {
        label: format!("{}: {}", check.place, check.what),
        ratio: check.ours / check.published,
        holds: check.status == Status::Holds,
    }
}
