//! A program line by line, with what each line took.

use serde::Serialize;

use crate::chart::shades;
use crate::format;
use crate::metric::quantity;

/// Lines that nothing executed and that are shown before one that is, and behind one.
const AROUND: usize = 3;
/// Lines that are shown at most.
const MOST: usize = 5000;

/// A line of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its number.
    pub number: u32,
    /// Its text.
    pub text: String,
    /// The line of the source that it comes from, if the program says so.
    pub source: Option<String>,
    /// Instructions of it that warps issued.
    pub issues: u64,
    /// Their dynamic energy.
    pub dynamic_j: f64,
}

/// A row of the listing.
#[derive(Debug, PartialEq, Serialize)]
pub struct Row {
    /// Number of the line; nothing where lines are left out.
    number: Option<u32>,
    text: String,
    source: String,
    issues: String,
    energy: String,
    share: String,
    /// The shade of its energy; nothing of lines that were not executed.
    shade: Option<usize>,
}

/// Lines that were executed, with some around; `dynamic_j` is the dynamic energy of all.
pub fn rows(lines: &[Line], dynamic_j: f64) -> Vec<Row> {
    let most = lines.iter().map(|line| line.dynamic_j).fold(0.0, f64::max);
    let near = |at: usize| {
        let from = at.saturating_sub(AROUND);
        let around = lines[from..].iter().take(at - from + AROUND + 1);
        around.into_iter().any(|line| line.issues > 0)
    };
    let mut rows = Vec::new();
    let mut left_out = 0;
    for (at, line) in lines.iter().enumerate() {
        if !near(at) || rows.len() >= MOST {
            left_out += 1;
            continue;
        }
        if left_out > 0 {
            rows.push(gap(left_out));
            left_out = 0;
        }
        rows.push(row(line, most, dynamic_j));
    }
    if left_out > 0 && !rows.is_empty() {
        rows.push(gap(left_out));
    }
    rows
}

fn gap(lines: usize) -> Row {
    Row {
        number: None,
        text: format!("… {lines} more"),
        source: String::new(),
        issues: String::new(),
        energy: String::new(),
        share: String::new(),
        shade: None,
    }
}

fn row(line: &Line, most: f64, dynamic_j: f64) -> Row {
    let is_executed = line.issues > 0;
    let shown = |text: String| if is_executed { text } else { String::new() };
    let share = line.dynamic_j / most.max(f64::MIN_POSITIVE);
    Row {
        number: Some(line.number),
        text: line.text.clone(),
        source: line.source.clone().unwrap_or_default(),
        issues: shown(format::count(line.issues)),
        energy: shown(quantity::show(line.dynamic_j, "J")),
        share: shown(format::percent(
            line.dynamic_j / dynamic_j.max(f64::MIN_POSITIVE),
        )),
        shade: is_executed.then(|| shades::of(share)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: u32, issues: u64, dynamic_j: f64) -> Line {
        Line {
            number,
            text: format!("line {number}"),
            source: None,
            issues,
            dynamic_j,
        }
    }

    /// Ten lines of which the sixth took 3 of 4 J: it has the darkest shade, and three lines on either side are shown.
    #[test]
    fn what_was_executed_is_shown_with_what_is_around() {
        let lines: Vec<Line> = (1..=20)
            .map(|number| match number {
                6 => line(6, 32, 3.0),
                7 => line(7, 1, 1.0),
                other => line(other, 0, 0.0),
            })
            .collect();
        let rows = rows(&lines, 4.0);
        let numbers: Vec<Option<u32>> = rows.iter().map(|row| row.number).collect();
        let shown = (3..=10).map(Some);
        let expected: Vec<Option<u32>> = [None].into_iter().chain(shown).chain([None]).collect();
        assert_eq!(numbers, expected);
        assert_eq!(
            (rows[0].text.as_str(), rows[9].text.as_str()),
            ("… 2 more", "… 10 more")
        );
        let dearest = &rows[4];
        assert_eq!((dearest.share.as_str(), dearest.shade), ("75.0%", Some(6)));
        assert_eq!((rows[5].share.as_str(), rows[5].shade), ("25.0%", Some(2)));
        assert_eq!((rows[1].issues.as_str(), rows[1].shade), ("", None));
    }
}
