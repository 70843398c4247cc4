//! All suites side by side: what holds, by what it is worth.

use std::fmt::Write;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;

use super::{Check, Kind, Status, Tolerance, Validation};

/// Suites with their checks, in the order that they were added.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    suites: Vec<Named>,
}

/// A suite with its checks, and what its gaps hang on.
#[derive(Clone, Debug)]
struct Named {
    name: String,
    checks: Validation,
    why: String,
}

/// A check as a row of all suites.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EvidenceRow<'e> {
    /// As `warpwatt validate` names it.
    pub suite: &'e str,
    /// Where the document says it, and what.
    pub row: String,
    /// The unit of both values; empty for ratios.
    pub unit: &'e str,
    /// What the comparison is worth.
    pub kind: Kind,
    /// The published value.
    pub paper: f64,
    /// Ours.
    pub ours: f64,
    /// How far apart they may be.
    pub tolerance: Tolerance,
    /// Whether they are that near; of a row that is only shown nothing is said.
    pub holds: Option<bool>,
    /// Why it is a gap, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<&'e str>,
}

const HEADER: [&str; 6] = [
    "suite",
    "independent rows",
    "hold",
    "gaps",
    "by construction",
    "only shown",
];

impl Evidence {
    /// One more suite; `why` says what most of its gaps hang on.
    pub fn add(&mut self, suite: &str, validation: Validation, why: &str) {
        self.suites.push(Named {
            name: suite.to_owned(),
            checks: validation,
            why: why.to_owned(),
        });
    }

    /// Suites by name.
    pub fn suites(&self) -> impl Iterator<Item = (&str, &Validation)> {
        let suites = self.suites.iter();
        suites.map(|suite| (suite.name.as_str(), &suite.checks))
    }

    /// Whether nothing that counts is a gap.
    pub fn is_met(&self) -> bool {
        self.suites.iter().all(|suite| suite.checks.is_met())
    }

    /// Every row of every suite.
    pub fn rows(&self) -> Vec<EvidenceRow<'_>> {
        let suites = self.suites.iter();
        suites
            .flat_map(|suite| {
                let checks = suite.checks.checks.iter();
                checks.map(|check| row(&suite.name, check))
            })
            .collect()
    }

    /// A row a suite, and their sum.
    pub fn table(&self) -> String {
        let mut table = Table::new();
        table
            .load_style(presets::UTF8_FULL_CONDENSED)
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(HEADER);
        for cells in self.cells() {
            table.add_row(cells);
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        format!("{table}\n")
    }

    /// The same as Markdown, with what gaps hang on, and each suite's own table under its name.
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "| {} | what the gaps hang on |\n|---|---:|---:|---:|---:|---:|---|\n",
            HEADER.join(" | ")
        );
        let why = self.suites.iter().map(|suite| suite.why.as_str());
        for (cells, why) in self.cells().iter().zip(why.chain([""])) {
            let _ = writeln!(text, "| {} | {why} |", cells.join(" | "));
        }
        for suite in &self.suites {
            let _ = write!(text, "\n### {}\n\n{}", suite.name, suite.checks.markdown());
        }
        text
    }

    fn cells(&self) -> Vec<[String; 6]> {
        let checks = |suite: &Named| suite.checks.checks.clone();
        let whole = Validation::new(self.suites.iter().flat_map(checks).collect());
        let suites = self.suites.iter();
        let suites = suites.map(|suite| (suite.name.as_str(), &suite.checks));
        suites
            .chain([("all", &whole)])
            .map(|(name, suite)| cells(name, suite))
            .collect()
    }
}

fn cells(name: &str, suite: &Validation) -> [String; 6] {
    let share = match suite.independent.all() {
        0 => String::new(),
        all => format!(
            " ({:.0} %)",
            100.0 * suite.independent.holds as f64 / all as f64
        ),
    };
    [
        name.to_owned(),
        suite.independent.all().to_string(),
        format!("{}{share}", suite.independent.holds),
        suite.independent.gaps.to_string(),
        format!(
            "{} of {}",
            suite.by_construction.holds,
            suite.by_construction.all()
        ),
        suite.context.to_string(),
    ]
}

fn row<'e>(suite: &'e str, check: &'e Check) -> EvidenceRow<'e> {
    EvidenceRow {
        suite,
        row: format!("{}: {}", check.place, check.what),
        unit: &check.unit,
        kind: check.kind,
        paper: check.published,
        ours: check.ours,
        tolerance: check.tolerance,
        holds: (check.kind != Kind::Context).then_some(check.status == Status::Holds),
        why: check.why.as_deref(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_are_summed_and_what_is_only_shown_holds_nothing() {
        let near = Tolerance::Relative(0.1);
        let check = |ours, kind| Check::new("T", "x", 1.0, ours, near).of_kind(kind);
        let mut evidence = Evidence::default();
        evidence.add(
            "a",
            Validation::new(vec![
                check(1.0, Kind::Independent),
                check(1.0, Kind::Context),
            ]),
            "",
        );
        evidence.add(
            "b",
            Validation::new(vec![
                check(2.0, Kind::Independent),
                check(1.0, Kind::ByConstruction),
            ]),
            "inputs",
        );
        assert!(!evidence.is_met());
        let holds: Vec<Option<bool>> = evidence.rows().iter().map(|row| row.holds).collect();
        assert_eq!(holds, [Some(true), None, Some(false), Some(true)]);
        let text = evidence.markdown();
        assert!(
            text.contains(
                "| b | 1 | 0 (0 %) | 1 | 1 of 1 | 0 | inputs |\n| all | 2 | 1 (50 %) | 1 | 1 of 1 | 1 |  |\n\n### a\n"
            ),
            "{text}"
        );
    }
}
