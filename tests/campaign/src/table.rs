//! What came of the attacks, as a table.

use comfy_table::Table;
use comfy_table::presets::ASCII_MARKDOWN;

use crate::attack::{ALL, Attack, Tally};

/// Failures of an attack that are told one by one.
const TOLD: usize = 20;

/// An attack and what came of it, or why it could not be carried out.
pub type Row = (&'static Attack, Result<Tally, String>);

const HEADER: [&str; 5] = ["attack", "cases", "failures", "worst CPU", "worst memory"];

/// The table for a terminal.
pub fn table(rows: &[Row]) -> String {
    let mut table = empty(HEADER.to_vec());
    for (attack, outcome) in rows {
        match outcome {
            Ok(tally) => table.add_row(cells(attack, tally)),
            Err(_) => table.add_row([attack.what, "not carried out", "", "", ""]),
        };
    }
    table.to_string()
}

fn empty(header: Vec<&str>) -> Table {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table.set_header(header);
    table
}

fn cells(attack: &Attack, tally: &Tally) -> [String; HEADER.len()] {
    [
        attack.what.to_owned(),
        grouped(tally.cases),
        grouped(tally.failures.len() as u64),
        format!("{:.1} s", tally.seconds),
        format!("{} MiB", tally.bytes >> 20),
    ]
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

/// `page` with the rows of what was carried out, and with what it says of other attacks. `None` if the page has no place for the table.
pub fn in_page(page: &str, rows: &[Row], date: &str) -> Option<String> {
    let (before, rest) = page.split_once(MARKS[0])?;
    let (old, after) = rest.split_once(MARKS[1])?;
    let mut table = empty([&HEADER[..], &["date"]].concat());
    for attack in ALL {
        let mut done = rows.iter().filter(|(other, _)| other.name == attack.name);
        match done.find_map(|(_, outcome)| outcome.as_ref().ok()) {
            Some(tally) => {
                let date = [date.to_owned()];
                table.add_row(cells(attack, tally).into_iter().chain(date));
            }
            None => {
                let known = old.lines().map(|line| {
                    let cells = line.trim().trim_matches('|').split('|');
                    cells.map(str::trim).collect::<Vec<_>>()
                });
                let mut known = known.filter(|cells| cells[0] == attack.what);
                known.next().map(|cells| table.add_row(cells));
            }
        }
    }
    Some(format!(
        "{before}{}\n\n{table}\n\n{}{after}",
        MARKS[0], MARKS[1]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(place: usize, cases: u64) -> Row {
        let tally = Tally {
            cases,
            ..Tally::default()
        };
        (&ALL[place], Ok(tally))
    }

    /// Each attack takes hours, and is not carried out again for the sake of another.
    #[test]
    fn rows_of_a_page_are_replaced_and_others_stay() {
        let page = "a\n<!-- campaign --><!-- end of campaign -->\nb\n";
        let first = in_page(page, &[row(0, 4711), row(2, 17)], "2030-01-31").unwrap();
        assert!(
            first.starts_with("a\n") && first.ends_with("\nb\n"),
            "{first}"
        );
        let again = [row(2, 18), (&ALL[0], Err("no means".to_owned()))];
        let second = in_page(&first, &again, "2030-02-01").unwrap();
        let lines: Vec<&str> = second
            .lines()
            .filter(|line| line.starts_with('|'))
            .collect();
        assert_eq!(lines.len(), 4, "{second}");
        for (line, [attack, cases, date]) in lines[2..].iter().zip([
            [ALL[0].what, " 4,711 ", " 2030-01-31 "],
            [ALL[2].what, " 18 ", " 2030-02-01 "],
        ]) {
            let has = |words: &str| line.contains(words);
            assert!(has(attack) && has(cases) && has(date), "{line}");
        }
        assert_eq!(
            in_page(&second, &again, "2030-02-01").as_ref(),
            Some(&second)
        );
        assert_eq!(in_page("no place", &[], ""), None);
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_000_000), "1,000,000");
    }
}
