//! The tables that people read, for a paper: LaTeX with the rules of `booktabs`.

use std::fmt::Write;

use super::aligned::Aligned;
use super::answer;
use super::columns;
use super::format;
use super::model::{Block, Report};

impl Report {
    /// The answer, and a table of kernels for each configuration; without a technique one of all points.
    pub fn latex(&self) -> String {
        let mut text = format!(
            "% {}\n% In the preamble: \\usepackage{{booktabs}}\n",
            self.title.replace('\n', " ")
        );
        let rows = self.answer();
        if !rows.is_empty() {
            let all = answer::whole(&rows);
            text.push_str(&table(&answer::context(&rows), "", &all));
        }
        for block in &self.blocks {
            text.push_str(&table(&block.label(), "kernel", &kernels(block)));
        }
        if self.blocks.is_empty() {
            text.push_str(&table(&self.title, "kernel", &self.plain()));
        }
        text
    }

    /// What a study without a technique has to show.
    fn plain(&self) -> Aligned {
        let headings = [
            &["technology"][..],
            &["technique"],
            &["cycles"],
            &["dynamic", "nJ"],
            &["leakage", "nJ"],
        ];
        let row = |cells: [String; 6]| {
            let mut cells = cells.into_iter();
            (cells.next().unwrap_or_default(), cells.collect())
        };
        Aligned {
            headings: headings
                .map(|lines| lines.iter().map(|line| (*line).to_owned()).collect())
                .to_vec(),
            rows: self
                .points
                .iter()
                .map(|point| row(format::outcome(point)))
                .collect(),
        }
    }
}

/// A row a kernel.
fn kernels(block: &Block) -> Aligned {
    let columns = columns::figures(block);
    let names = block.names().into_iter().enumerate();
    let rows = names.map(|(row, name)| {
        let cells = columns.iter().map(|column| column.cells[row].clone());
        (name, cells.collect())
    });
    Aligned {
        rows: rows.collect(),
        headings: columns.into_iter().map(|column| column.heading).collect(),
    }
}

fn table(caption: &str, of: &str, table: &Aligned) -> String {
    let columns = "r".repeat(table.headings.len());
    let mut text = format!(
        "\n\\begin{{table}}\n\\centering\n\\caption{{{}}}\n\\begin{{tabular}}{{l{columns}}}\n\\toprule\n",
        escaped(caption)
    );
    let headings = table.heading_lines();
    let last = headings.len().saturating_sub(1);
    for (line, words) in headings.into_iter().enumerate() {
        let first = if line == last { of } else { "" };
        text.push_str(&row(std::iter::once(first).chain(words)));
    }
    text.push_str("\\midrule\n");
    for (label, cells) in &table.rows {
        let cells = cells.iter().map(String::as_str);
        text.push_str(&row(std::iter::once(label.as_str()).chain(cells)));
    }
    text.push_str("\\bottomrule\n\\end{tabular}\n\\end{table}\n");
    text
}

fn row<'c>(cells: impl Iterator<Item = &'c str>) -> String {
    let cells: Vec<String> = cells.map(escaped).collect();
    format!("{} \\\\\n", cells.join(" & "))
}

/// The text as LaTeX sets it: no character of it is a command. A sign before a figure is a minus, not a hyphen.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_sign = !before.is_alphanumeric() && letters.peek().is_some_and(char::is_ascii_digit);
        let _ = match letter {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => write!(out, "\\{letter}"),
            '\\' => write!(out, "\\textbackslash{{}}"),
            '~' => write!(out, "\\textasciitilde{{}}"),
            '^' => write!(out, "\\textasciicircum{{}}"),
            '±' => write!(out, "$\\pm$"),
            '·' => write!(out, "$\\cdot$"),
            '*' => write!(out, "$^{{*}}$"),
            '<' | '>' => write!(out, "${letter}$"),
            '-' if is_sign => write!(out, "$-$"),
            letter if letter.is_control() => write!(out, " "),
            letter => write!(out, "{letter}"),
        };
        before = letter;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn no_character_is_a_command() {
        assert_eq!(
            escaped("a_b & 5% {x} \\y"),
            "a\\_b \\& 5\\% \\{x\\} \\textbackslash{}y"
        );
        assert_eq!(escaped("-12.6% ± 1.9 *"), "$-$12.6\\% $\\pm$ 1.9 $^{*}$");
        assert_eq!(escaped("tesla-16sm"), "tesla-16sm");
    }

    #[test]
    fn tables_are_those_of_the_terminal() {
        let outcomes = sample::outcomes();
        insta::assert_snapshot!(
            "latex",
            Report::new("Filter cache, by hand", &outcomes).latex()
        );
        let plain = outcomes.into_iter().filter(|it| it.point.is_baseline());
        let plain: Vec<_> = plain.collect();
        insta::assert_snapshot!("latex_plain", Report::new("50 % & more", &plain).latex());
    }
}
