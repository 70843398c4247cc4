//! Checks as text, JSON and Markdown.

use std::fmt::Write;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::{Check, Kind, Status, Tolerance, Validation};
use warpwatt_report::format;

impl Validation {
    /// One row a check, and the sum.
    pub fn table(&self) -> String {
        let mut table = Table::new();
        table
            .load_style(presets::UTF8_FULL_CONDENSED)
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header([
                "where",
                "what",
                "paper",
                "ours",
                "difference",
                "allowed",
                "",
            ]);
        for check in &self.checks {
            table.add_row(cells(check));
        }
        for column in table.column_iter_mut().skip(2).take(4) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let mut text = format!("{table}\n{}\n", self.summary());
        for (place, why) in self.reasons() {
            let _ = writeln!(text, "{place}: {why}");
        }
        text
    }

    /// How many rows hold, by what they are worth.
    pub fn summary(&self) -> String {
        let Self {
            independent,
            by_construction,
            context,
            ..
        } = self;
        let mut text = format!(
            "{} of {} independent rows hold",
            independent.holds,
            independent.all()
        );
        if by_construction.all() > 0 {
            let _ = write!(
                text,
                "; {} of {} by construction",
                by_construction.holds,
                by_construction.all()
            );
        }
        if *context > 0 {
            let _ = write!(text, "; {context} only shown");
        }
        text
    }

    /// Why known gaps are there: where, and the reason. Rows of one place and one reason are told once.
    fn reasons(&self) -> Vec<(&str, &str)> {
        let known = self.checks.iter();
        let known = known.filter_map(|check| Some((check.place.as_str(), check.why.as_deref()?)));
        let mut reasons: Vec<(&str, &str)> = Vec::new();
        for reason in known {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        reasons
    }

    /// One JSON document.
    ///
    /// # Errors
    /// If a figure is not a number.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }

    /// A Markdown table, as `docs/validation.md` has it.
    pub fn markdown(&self) -> String {
        let mut text = String::from(
            "| where | what | paper | ours | difference | allowed | |\n|---|---|---:|---:|---:|---:|---|\n",
        );
        for check in &self.checks {
            let _ = writeln!(text, "| {} |", cells(check).join(" | "));
        }
        let _ = writeln!(text, "\n{}.", self.summary());
        let reasons = self.reasons();
        if !reasons.is_empty() {
            text.push('\n');
        }
        for (place, why) in reasons {
            let _ = writeln!(text, "- **{place}**: {why}");
        }
        text
    }
}

fn cells(check: &Check) -> [String; 7] {
    let value = |value: f64| {
        format!("{} {}", shown(value), check.unit)
            .trim_end()
            .to_owned()
    };
    let difference = match check.tolerance {
        Tolerance::Absolute(_) => format!("{:+.3}", rounded(check.ours - check.published)),
        // Nothing is a percentage of zero.
        Tolerance::AtMost if check.published == 0.0 => {
            format!("{:+.3}", rounded(check.ours - check.published))
        }
        Tolerance::Relative(_) | Tolerance::AtMost => format::change(check.difference()),
    };
    let status = match (check.kind, check.status) {
        (Kind::Context, _) => "shown",
        (Kind::ByConstruction, Status::Holds) => "by construction",
        (Kind::Independent, Status::Holds) => "holds",
        (_, Status::Gap) => "gap",
    };
    [
        check.place.clone(),
        check.what.clone(),
        value(check.published),
        value(check.ours),
        difference,
        allowed(check.tolerance),
        status.to_owned(),
    ]
}

/// To the three decimals that are shown, so that nothing is `-0.000`.
fn rounded(difference: f64) -> f64 {
    (difference * 1e3).round() / 1e3 + 0.0
}

/// Small values keep their digits: a leakage of 0.028 mW is not 0.03 mW.
fn shown(value: f64) -> String {
    if value != 0.0 && value.abs() < 1.0 {
        format!("{value:.4}")
    } else {
        format::number(value)
    }
}

fn allowed(tolerance: Tolerance) -> String {
    match tolerance {
        Tolerance::Relative(fraction) => format!("± {:.0}%", 100.0 * fraction),
        Tolerance::Absolute(distance) => format!("± {distance}"),
        Tolerance::AtMost => "at most".to_owned(),
    }
}
