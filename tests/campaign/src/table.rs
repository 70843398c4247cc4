//! What came of the attacks, as a table.

use comfy_table::Table;
use comfy_table::presets::ASCII_MARKDOWN;

use crate::attack::{Attack, Tally};

/// Failures of an attack that are told one by one.
const TOLD: usize = 20;

/// An attack and what came of it, or why it could not be carried out.
pub type Row = (&'static Attack, Result<Tally, String>);

/// The table, for a terminal and for Markdown alike.
pub fn table(rows: &[Row]) -> String {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table.set_header(["attack", "cases", "failures", "worst CPU", "worst memory"]);
    for (attack, outcome) in rows {
        match outcome {
            Ok(tally) => table.add_row([
                attack.what.to_owned(),
                grouped(tally.cases),
                grouped(tally.failures.len() as u64),
                format!("{:.1} s", tally.seconds),
                format!("{} MiB", tally.bytes >> 20),
            ]),
            Err(_) => table.add_row([attack.what, "not carried out", "", "", ""]),
        };
    }
    table.to_string()
}

/// The failures, a line each with the words that repeat it.
pub fn failures(rows: &[Row], seed: u64) -> String {
    let mut text = String::new();
    for (attack, outcome) in rows {
        match outcome {
            Err(why) => text.push_str(&format!("{}: not carried out: {why}\n", attack.name)),
            Ok(tally) => {
                for failure in tally.failures.iter().take(TOLD) {
                    let (name, case) = (attack.name, failure.case);
                    text.push_str(&format!(
                        "--attack {name} --seed {seed} --case {case}: {}\n",
                        failure.what
                    ));
                }
                if tally.failures.len() > TOLD {
                    let more = tally.failures.len() - TOLD;
                    text.push_str(&format!("{}: {more} more\n", attack.name));
                }
            }
        }
    }
    text
}

/// The digits of a number in threes.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Where the table stands in a page.
const MARKS: [&str; 2] = ["<!-- campaign -->", "<!-- end of campaign -->"];

/// `page` with the table of today in the place of the old one. `None` if the page has no place for it.
pub fn in_page(page: &str, table: &str, date: &str) -> Option<String> {
    let (before, rest) = page.split_once(MARKS[0])?;
    let (_, after) = rest.split_once(MARKS[1])?;
    Some(format!(
        "{before}{}\n\nOn {date}:\n\n{table}\n\n{}{after}",
        MARKS[0], MARKS[1]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_a_page_is_replaced() {
        let page = "a\n<!-- campaign -->old<!-- end of campaign -->\nb\n";
        let first = in_page(page, "| new |", "2030-01-31").unwrap();
        assert!(
            first.starts_with("a\n") && first.ends_with("\nb\n"),
            "{first}"
        );
        assert!(first.contains("On 2030-01-31:\n\n| new |") && !first.contains("old"));
        assert_eq!(in_page(&first, "| new |", "2030-01-31"), Some(first));
        assert_eq!(in_page("no place", "", ""), None);
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_000_000), "1,000,000");
    }
}
