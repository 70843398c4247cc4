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

    /// A strip a table, figure or section of the document with a mark an independent row; `suite` names the document.
    pub fn places(&self, suite: &str) -> String {
        let mut places: Vec<Strip> = Vec::new();
        for check in self.independent_rows() {
            let row = ratio(check);
            match places.iter_mut().find(|strip| strip.label == check.place) {
                Some(strip) => strip.rows.push(row),
                None => places.push(Strip {
                    label: check.place.clone(),
                    rows: vec![row],
                }),
            }
        }
        strips(&places, &format!("{suite}: {INDEPENDENT}"))
    }

    fn independent_rows(&self) -> impl Iterator<Item = &Check> {
        let checks = self.checks.iter();
        checks.filter(|check| check.kind == Kind::Independent)
    }
}

const INDEPENDENT: &str = "ours over the published value, independent rows";

impl Evidence {
    /// A strip a suite with a mark an independent row.
    pub fn picture(&self) -> String {
        let strip = |(name, suite): (&str, &Validation)| Strip {
            label: name.to_owned(),
            rows: suite.independent_rows().map(ratio).collect(),
        };
        let all: Vec<Strip> = self.suites().map(strip).collect();
        strips(&all, &format!("All suites: {INDEPENDENT}"))
    }
}

fn ratio(check: &Check) -> Ratio {
    Ratio {
        label: format!("{}: {}", check.place, check.what),
        // Also where both are nothing.
        ratio: match check.ours == check.published {
            true => 1.0,
            false => check.ours / check.published,
        },
        holds: check.status == Status::Holds,
    }
}
