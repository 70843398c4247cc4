//! A difference for people: a table for a terminal, or in Markdown.

use std::collections::BTreeMap;
use std::fmt::Write;

use comfy_table::{CellAlignment, Table, TableStyle, presets};

use super::{Difference, Pair, Row};
use crate::estimate::CONFIDENCE;
use crate::format;
use crate::goal::quantity::readable;

const HEADER: [&str; 7] = [
    "kernel",
    "cycles",
    "change",
    "energy",
    "change",
    "power",
    "most of the energy",
];

impl Difference {
    /// For a terminal.
    pub fn text(&self) -> String {
        self.rendered(presets::UTF8_FULL_CONDENSED, |text| text.to_owned())
    }

    /// In Markdown.
    pub fn markdown(&self) -> String {
        self.rendered(presets::ASCII_MARKDOWN, |text| text.replace('|', "\\|"))
    }

    fn rendered(&self, style: TableStyle, cell: impl Fn(&str) -> String) -> String {
        let mut text = String::new();
        for (configuration, rows) in self.by_configuration() {
            let _ = writeln!(text, "{}\n", cell(configuration));
            text.push_str(&table(style, &rows, &cell));
            text.push_str("\n\n");
        }
        if let Some(all) = &self.all {
            text.push_str(&table(style, &[all], &cell));
            text.push_str("\n\n");
        }
        for (names, which) in [(&self.only_before, "before"), (&self.only_after, "after")] {
            for name in names {
                let _ = writeln!(text, "only {which}: {}", cell(name));
            }
        }
        if self
            .rows
            .iter()
            .any(|row| row.energy_change_halfwidth.is_some())
        {
            let _ = writeln!(
                text,
                "± is half the {:.0} % interval; errors that both have in common cancel.",
                100.0 * CONFIDENCE
            );
        }
        text
    }

    /// Rows of each configuration, in the order in which these come first.
    fn by_configuration(&self) -> Vec<(&str, Vec<&Row>)> {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        let mut found: Vec<(&str, Vec<&Row>)> = Vec::new();
        for row in &self.rows {
            let place = *places.entry(&row.configuration).or_insert_with(|| {
                found.push((&row.configuration, Vec::new()));
                found.len() - 1
            });
            found[place].1.push(row);
        }
        found
    }
}

fn table(style: TableStyle, rows: &[&Row], cell: &impl Fn(&str) -> String) -> String {
    let mut table = Table::new();
    table.load_style(style).set_header(HEADER);
    for column in table.column_iter_mut().skip(1).take(5) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for row in rows {
        table.add_row(cells(row).map(|text| cell(&text)));
    }
    table.to_string()
}

fn cells(row: &Row) -> [String; 7] {
    let most = row.most.iter().map(|moved| {
        let sign = if moved.change_j > 0.0 { "+" } else { "" };
        format!(
            "{} {sign}{}",
            moved.structure,
            readable(moved.change_j, "J")
        )
    });
    let energy = match (change(row.energy_j), row.energy_change_halfwidth) {
        (change, Some(half)) if row.energy_j.is_some() => format!("{change} ± {:.1}", 100.0 * half),
        (change, _) => change,
    };
    [
        row.kernel.clone(),
        arrow(row.cycles, |cycles| format::count(cycles as u64)),
        change(row.cycles),
        arrow(row.energy_j, |energy_j| readable(energy_j, "J")),
        energy,
        arrow(row.power_w, |power_w| readable(power_w, "W")),
        most.collect::<Vec<_>>().join(", "),
    ]
}

fn arrow(pair: Option<Pair>, figure: impl Fn(f64) -> String) -> String {
    pair.map_or_else(
        || format::NONE.to_owned(),
        |pair| format!("{} → {}", figure(pair.before), figure(pair.after)),
    )
}

fn change(pair: Option<Pair>) -> String {
    let change = pair.and_then(|pair| pair.change);
    change.map_or_else(|| format::NONE.to_owned(), format::change)
}
