//! The terminal table.

use std::collections::BTreeSet;
use std::fmt::Write;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::answer::{Detail, Details};
use super::board;
use super::columns;
use super::format;
use super::goals::PointTable;
use super::model::{Block, Report};
use super::operating;
use super::paper::Paper;
use super::protection::Protections;
use super::stacked::Stacked;
use super::structures;
use super::text::Column;
use super::time;
use crate::outcome::Outcome;

/// Padding and border of a column.
const COLUMN_EXTRA: usize = 3;

impl Report {
    /// What is asked for beside the answer, in lines of at most `width` characters as far as single columns allow.
    pub(super) fn details(&self, width: usize, details: &Details) -> String {
        let mut text = String::new();
        if self.blocks.is_empty() {
            text.push('\n');
            text.push_str(&points_text(&self.points));
        }
        // Where nothing is compared there is no answer above.
        if details.has(Detail::Kernels) || self.blocks.is_empty() {
            text.push_str(&self.kernels_text(width));
        }
        if details.has(Detail::Structures) {
            text.push_str(&structures_text(self, width));
            text.push_str(&board_text(&self.points, width));
        }
        if details.has(Detail::Stalls) {
            text.push_str(&time_text(&self.points, width));
        }
        if details.has(Detail::Notes) {
            text.push_str(&notes_text(&self.blocks, width));
        }
        for point in &self.without_baseline {
            let _ = writeln!(
                text,
                "\n{} with {} has no baseline among the points: not compared",
                point.kernel.name, point.technique
            );
        }
        text
    }

    /// Every kernel of every configuration, and points against budgets, fronts and supplies.
    fn kernels_text(&self, width: usize) -> String {
        let mut text = String::new();
        for block in &self.blocks {
            text.push('\n');
            text.push_str(&block_text(block, self.paper.as_deref(), width));
        }
        text.push_str(&stacks_text(&self.stacks, width));
        text.push_str(&self.uncertainty_text());
        let goals = self.pareto_tables().into_iter().chain(self.budget_table());
        for table in &goals.chain(self.peak_table()).collect::<Vec<_>>() {
            text.push_str(&point_table(table, width));
        }
        text.push_str(&operating_text(&self.points, width));
        text.push_str(&protection_text(&self.protection, width));
        text.push_str(&legend(self));
        text
    }
}

/// The notes of every block under its label.
fn notes_text(blocks: &[Block], width: usize) -> String {
    let mut text = String::new();
    for block in blocks {
        let _ = writeln!(text, "\n{}", block.label());
        for note in notes(block) {
            text.push_str(&wrapped(&note, width));
        }
    }
    text
}

/// Energy by structure, summed over kernels, without and with each configuration.
fn structures_text(report: &Report, width: usize) -> String {
    let mut text = String::new();
    for (number, block) in report.blocks.iter().enumerate() {
        let _ = writeln!(
            text,
            "\n{} · by structure, summed over kernels",
            block.label()
        );
        let (names, columns) = structures::columns(report, number);
        for part in parts("structure", &names, &columns, width) {
            text.push_str(&part);
            text.push('\n');
        }
    }
    text
}

fn block_text(block: &Block, paper: Option<&dyn Paper>, width: usize) -> String {
    let mut text = format!("{}\n", block.label());
    text.push_str(&overhead_line(block));
    let beside = paper.map_or_else(Vec::new, |paper| columns::beside(block, paper));
    for columns in [columns::figures(block), beside, columns::metrics(block)] {
        for part in parts("kernel", &block.names(), &columns, width) {
            text.push_str(&part);
            text.push('\n');
        }
    }
    if !block.lines.is_empty() {
        let _ = writeln!(text, "  {}", block.lines.join("\n    "));
    }
    text
}

/// Area and leakage do not depend on the kernel.
fn overhead_line(block: &Block) -> String {
    let Some(first) = block.comparisons.first() else {
        return String::new();
    };
    let overhead = first.overhead;
    format!(
        "area of the SM's priced structures: {}; leakage: {}\n",
        format::estimate(overhead.sm_area),
        format::estimate(overhead.sm_leakage),
    )
}

/// The columns, spread over as many tables as the width asks for; each starts with what its rows are of.
fn parts(of: &str, names: &[String], columns: &[Column], width: usize) -> Vec<String> {
    let names_width = COLUMN_EXTRA + widest(names.iter().map(String::as_str).chain([of]));
    let mut groups: Vec<(usize, Vec<&Column>)> = Vec::new();
    for column in columns {
        let needed = column_width(column);
        match groups.last_mut() {
            Some((used, group)) if *used + needed <= width => {
                *used += needed;
                group.push(column);
            }
            _ => groups.push((1 + names_width + needed, vec![column])),
        }
    }
    groups
        .iter()
        .map(|(_, group)| render(of, names, group))
        .collect()
}

fn column_width(column: &Column) -> usize {
    let texts = column.cells.iter().chain(&column.heading);
    COLUMN_EXTRA + widest(texts.map(String::as_str))
}

fn widest<'a>(texts: impl Iterator<Item = &'a str>) -> usize {
    texts.map(|text| text.chars().count()).max().unwrap_or(0)
}

fn render(of: &str, names: &[String], columns: &[&Column]) -> String {
    let mut table = plain_table();
    let headings = columns.iter().map(|column| column.heading.join("\n"));
    table.set_header(std::iter::once(of.to_owned()).chain(headings));
    for (row, name) in names.iter().enumerate() {
        let cells = columns.iter().map(|column| column.cells[row].clone());
        table.add_row(std::iter::once(name.clone()).chain(cells));
    }
    right_align(&mut table);
    table.to_string()
}

fn plain_table() -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Disabled);
    table
}

fn right_align(table: &mut Table) {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

/// A text in lines of at most `width` characters as far as words allow, the first one set off.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut line = String::from("  -");
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > width && line.len() > 4 {
            let _ = writeln!(lines, "{line}");
            line = String::from("   ");
        }
        line.push(' ');
        line.push_str(word);
    }
    let _ = writeln!(lines, "{line}");
    lines
}

/// What a study without a technique has to show.
fn points_text(points: &[Outcome]) -> String {
    let mut table = plain_table();
    table.set_header([
        "kernel",
        "technology",
        "technique",
        "cycles",
        "dynamic\nnJ",
        "leakage\nnJ",
    ]);
    for outcome in points {
        table.add_row(format::outcome(outcome));
    }
    right_align(&mut table);
    format!("{table}\n")
}

/// A table of points under its heading.
fn point_table(table: &PointTable, width: usize) -> String {
    let mut text = format!("\n{}\n", table.heading);
    for part in parts("kernel", &table.names, &table.columns, width) {
        text.push_str(&part);
        text.push('\n');
    }
    if table.left_out > 0 {
        let _ = writeln!(text, "and {} more: the CSV files have all", table.left_out);
    }
    text
}

/// What supply and temperature do.
fn operating_text(points: &[Outcome], width: usize) -> String {
    let mut text = String::new();
    for table in operating::tables(points) {
        let _ = writeln!(text, "\n{} · supply and temperature", table.heading);
        for part in parts("kernel", &table.names, &table.columns, width) {
            text.push_str(&part);
            text.push('\n');
        }
    }
    text
}

/// What the board draws for each kernel, and what for.
fn board_text(points: &[Outcome], width: usize) -> String {
    let mut text = String::new();
    for table in board::tables(points) {
        let _ = writeln!(text, "\n{} · watts of the board", table.heading);
        for part in parts("kernel", &table.names, &table.columns, width) {
            text.push_str(&part);
            text.push('\n');
        }
    }
    text
}

/// What the SMs without a technique spent their time on.
fn time_text(points: &[Outcome], width: usize) -> String {
    let mut text = String::new();
    for table in time::tables(points) {
        if table.is_baseline {
            let _ = writeln!(
                text,
                "\n{} · what the SMs spent their time on",
                table.heading
            );
            for part in parts("kernel", &table.names, &table.columns, width) {
                text.push_str(&part);
                text.push('\n');
            }
        }
    }
    text
}

fn stacks_text(stacks: &[Stacked], width: usize) -> String {
    let mut text = String::new();
    for stacked in stacks {
        let _ = writeln!(text, "\nStacked and alone: {}", stacked.configuration);
        for part in parts("kernel", &stacked.names(), &stacked.columns(), width) {
            text.push_str(&part);
            text.push('\n');
        }
    }
    text
}

fn protection_text(tables: &[Protections], width: usize) -> String {
    let mut text = String::new();
    for table in tables {
        let _ = writeln!(text, "\nProtection: {}", table.context());
        for part in parts("technique", &table.names(), &table.columns(), width) {
            text.push_str(&part);
            text.push('\n');
        }
    }
    text
}

/// The notes of a block, each once, the kernels named where not all have it.
pub(super) fn notes(block: &Block) -> Vec<String> {
    let all: BTreeSet<&str> = block
        .comparisons
        .iter()
        .flat_map(|c| c.notes.iter().map(|note| &*note.text))
        .collect();
    all.into_iter()
        .map(|text| {
            let kernels: Vec<&str> = block
                .comparisons
                .iter()
                .filter(|c| c.notes.iter().any(|note| *note.text == *text))
                .map(|c| c.point.kernel.name.as_str())
                .collect();
            if kernels.len() == block.comparisons.len() {
                text.to_owned()
            } else {
                format!("{}: {text}", kernels.join(", "))
            }
        })
        .collect()
}

fn legend(report: &Report) -> String {
    if report.blocks.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\n± is half a 95 % interval of the circuit models' error, shared causes cancelled; * marks a change inside its own error.\n",
    );
    if let Some(paper) = &report.paper {
        let _ = writeln!(text, "The paper: {}.", paper.citation());
    }
    text
}
