//! Figures in columns of text without rules, each row with its label.

use std::fmt::Write;

/// Between columns.
const GAP: usize = 2;

/// Rows of figures under headings.
#[derive(Debug, Default)]
pub struct Aligned {
    /// The lines of the heading of each column.
    pub headings: Vec<Vec<String>>,
    /// The label of each row, and its figures.
    pub rows: Vec<(String, Vec<String>)>,
}

impl Aligned {
    /// The rows in lines of `width` characters. Where labels and figures do not fit beside each other, a label stands above its figures.
    pub fn text(&self, width: usize) -> String {
        let widths = self.widths();
        let figures: usize = widths.iter().map(|width| GAP + width).sum();
        let longest = self.rows.iter().map(|(label, _)| length(label)).max();
        let longest = longest.unwrap_or(0);
        let beside = longest + figures <= width;
        let margin = if beside { longest } else { 0 };
        let line = |label: &str, cells: &[&str]| {
            let mut line = format!("{label:margin$}");
            for (cell, width) in cells.iter().zip(&widths) {
                let _ = write!(line, "{:GAP$}{cell:>width$}", "");
            }
            line.trim_end().to_owned()
        };
        let mut lines = Vec::new();
        for words in self.heading_lines() {
            lines.push(line("", &words));
        }
        for (label, row) in &self.rows {
            let row: Vec<&str> = row.iter().map(String::as_str).collect();
            if beside {
                lines.push(line(label, &row));
            } else {
                lines.extend([label.clone(), line("", &row)]);
            }
        }
        lines.join("\n")
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.headings.iter().enumerate();
        columns
            .map(|(place, heading)| {
                let cells = self.rows.iter().map(|(_, row)| &row[place]);
                let texts = cells.chain(heading).map(|text| length(text));
                texts.max().unwrap_or(0)
            })
            .collect()
    }

    /// Line by line the words of all headings, which stand on the bottom.
    pub(super) fn heading_lines(&self) -> Vec<Vec<&str>> {
        let depth = self.headings.iter().map(Vec::len).max().unwrap_or(0);
        let word = |heading: &Vec<String>, line: usize| -> Option<usize> {
            (heading.len() + line).checked_sub(depth)
        };
        let words = |line: usize| -> Vec<&str> {
            let headings = self.headings.iter();
            headings
                .map(|heading| word(heading, line).map_or("", |at| &heading[at]))
                .collect()
        };
        (0..depth).map(words).collect()
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}
