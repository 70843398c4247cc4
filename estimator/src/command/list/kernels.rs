//! The kernels of the suite.

use std::fmt::Write as _;

use comfy_table::Table;
use serde_json::{Value, json};
use warpwatt_suite::{Case, Counts, Kernel};

use super::{Entry, Listed, table};
use crate::diag::{Diag, Rejection};

/// Kernels, and which rows of papers there are.
pub(super) fn kernels() -> Result<Listed, Rejection> {
    let entries: Result<Vec<Entry>, Diag> = warpwatt_suite::kernels().iter().map(entry).collect();
    Ok(Listed {
        heading: vec!["kernel", "class", "what it is"],
        entries: entries?,
        foot: paper_lines(),
    })
}

/// A kernel; in full a line for every case: what it launches and executes, and which rows of papers it stands for.
fn entry(kernel: &Kernel) -> Result<Entry, Diag> {
    let defect = |message: String| Diag::error("suite::defect", message);
    let file = kernel
        .launch_file()
        .map_err(|error| defect(error.to_string()))?;
    let module = warpwatt_ptx::load(kernel.ptx)
        .map_err(|_| defect(format!("the PTX of `{}` cannot be read", kernel.name)))?;
    let registers = module.entries.iter().map(|entry| entry.registers).max();
    let registers = registers.unwrap_or(0);
    let Kernel {
        name,
        title,
        origin,
        class,
        summary,
        ..
    } = kernel;
    let mut rows = Table::new();
    let mut cases = Vec::new();
    for case in &file.cases {
        let case = kernel_case(kernel, case);
        rows.add_row(case.cells());
        cases.push(case.value());
    }
    let heading = [
        "  case",
        "grid x block",
        "launches",
        "warp instructions",
        "thread instructions",
        "stands for",
    ];
    Ok(Entry {
        name: (*name).to_owned(),
        line: vec![
            (*name).to_owned(),
            class.to_string(),
            format!("{title} ({origin})"),
        ],
        full: format!(
            "{name}: {title} ({origin}, {class}, {registers} registers)\n  {summary}\n{}\n",
            table(rows, heading)
        ),
        values: vec![json!({
            "name": name, "title": title, "origin": origin, "class": class.to_string(), "summary": summary, "registers": registers,
            "cases": cases,
        })],
    })
}

/// A case as it is listed.
struct ListedCase {
    name: String,
    shapes: String,
    counts: Option<Counts>,
    /// Papers and their rows.
    rows: Vec<(&'static str, &'static str)>,
}

fn kernel_case(kernel: &Kernel, case: &Case) -> ListedCase {
    let name = case.name.get_ref().as_str();
    let rows = kernel
        .paper_rows()
        .filter(|(_, row)| row.stands == Some((kernel.name, name)))
        .map(|(paper, row)| (paper.name, row.abbreviation));
    ListedCase {
        name: name.to_owned(),
        shapes: case.shapes(),
        counts: kernel.counts(name),
        rows: rows.collect(),
    }
}

impl ListedCase {
    fn cells(&self) -> [String; 6] {
        let count = |of: fn(&Counts) -> u64| {
            self.counts
                .as_ref()
                .map_or(String::new(), |counts| of(counts).to_string())
        };
        let rows: Vec<_> = self
            .rows
            .iter()
            .map(|(paper, row)| format!("{paper}/{row}"))
            .collect();
        [
            format!("  {}", self.name),
            self.shapes.clone(),
            count(|counts| counts.launches),
            count(|counts| counts.warp_instructions),
            count(|counts| counts.thread_instructions),
            rows.join(" "),
        ]
    }

    fn value(&self) -> Value {
        let rows: Vec<_> = self
            .rows
            .iter()
            .map(|(paper, row)| json!({ "paper": paper, "benchmark": row }))
            .collect();
        json!({
            "name": self.name, "shapes": self.shapes, "papers": rows,
            "launches": self.counts.map(|counts| counts.launches),
            "warp_instructions": self.counts.map(|counts| counts.warp_instructions),
            "thread_instructions": self.counts.map(|counts| counts.thread_instructions),
        })
    }
}

/// How papers' tables are selected, and what they name that the suite does not have.
fn paper_lines() -> String {
    let mut text =
        String::from("papers, for `kernels = \"paper:NAME\"` or `\"paper:NAME/ROW\"`:\n");
    for paper in warpwatt_suite::papers() {
        let missing: Vec<&str> = paper.missing().map(|row| row.abbreviation).collect();
        let there = paper.benchmarks.len() - missing.len();
        let _ = write!(
            text,
            "  paper:{}  {there} of {} rows",
            paper.name,
            paper.benchmarks.len()
        );
        if !missing.is_empty() {
            let _ = write!(text, "; no kernel for {}", missing.join(", "));
        }
        text.push('\n');
    }
    text
}
