//! A CSV file as texts by column and line.

use std::borrow::Cow;

use csv::StringRecord;
use warpwatt_input::table::{Dialect, Fault, Table as Read};

/// Largest table that is read.
pub const MOST_BYTES: u64 = 64 << 20;

/// Header and lines, all of one width.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Names of the columns.
    pub header: Vec<String>,
    /// Cells.
    pub rows: Vec<StringRecord>,
    /// The line on which each row begins, from 1.
    pub lines: Vec<u64>,
}

impl Table {
    /// The table that `text` is.
    ///
    /// # Errors
    /// It is none: all faults.
    pub fn parse(text: &str) -> Result<Self, Vec<Fault>> {
        let in_header = |message: String| Fault {
            line: 1,
            column: 1,
            message,
        };
        let table = Read::parse(text, Dialect::Annotated)?
            .ok_or_else(|| vec![in_header("there is no header".to_owned())])?;
        let header: Vec<String> = table.header.iter().map(str::to_owned).collect();
        let twice =
            twice(&header).map(|name| in_header(format!("two columns are called `{name}`")));
        let faults: Vec<Fault> = twice.collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self {
            header,
            rows: table.rows,
            lines: table.lines,
        })
    }

    /// The same with the columns of `other` behind its own, row by row by the column `key`; rows that `other` lacks have empty cells.
    #[must_use]
    pub fn joined(&self, other: &Self, key: &str) -> Self {
        let place = |table: &Self| table.header.iter().position(|name| name == key);
        let (Some(own), Some(its)) = (place(self), place(other)) else {
            return self.clone();
        };
        let new: Vec<usize> = (0..other.header.len())
            .filter(|at| !self.header.contains(&other.header[*at]))
            .collect();
        let names = new.iter().map(|at| other.header[*at].clone());
        let header = self.header.iter().cloned().chain(names).collect();
        let rows = self.rows.iter().map(|row| {
            let same = other
                .rows
                .iter()
                .find(|theirs| theirs.get(its) == row.get(own));
            let cells = new
                .iter()
                .map(|at| same.and_then(|row| row.get(*at)).unwrap_or(""));
            row.iter().chain(cells).collect()
        });
        Self {
            header,
            rows: rows.collect(),
            lines: self.lines.clone(),
        }
    }

    /// The text of a row in the first of these columns that is there and is not empty.
    pub(super) fn text(&self, row: usize, names: &[String]) -> Option<&str> {
        names.iter().find_map(|name| {
            let at = self.header.iter().position(|column| column == name)?;
            self.rows[row].get(at).filter(|text| !text.is_empty())
        })
    }

    /// The number of a row in the first of these columns that has one; cells like `nan` have none.
    pub(super) fn number(&self, row: usize, names: &[String]) -> Result<Option<f64>, String> {
        for name in names {
            let Some(text) = self.text(row, std::slice::from_ref(name)) else {
                continue;
            };
            match plain(number(text)).parse::<f64>() {
                Ok(number) if number.is_finite() => return Ok(Some(number)),
                Ok(_) => {}
                Err(_) if matches!(text, "-" | "n/a" | "N/A" | "NA") => {}
                Err(_) => return Err(format!("`{name}` is `{text}`, not a number")),
            }
        }
        Ok(None)
    }
}

/// The text without the unit that `nvidia-smi` writes behind a number.
fn number(text: &str) -> &str {
    let units = [" W", " MHz", " C"];
    let without = units.iter().find_map(|unit| text.strip_suffix(unit));
    without.unwrap_or(text)
}

/// A number without the commas between its thousands.
fn plain(number: &str) -> Cow<'_, str> {
    let whole = number.split('.').next().unwrap_or_default();
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let are_thousands =
        (1..=3).contains(&first.len()) && groups.clone().all(|group| group.len() == 3);
    if groups.next().is_some() && are_thousands {
        Cow::Owned(number.replace(',', ""))
    } else {
        Cow::Borrowed(number)
    }
}

fn twice(names: &[String]) -> impl Iterator<Item = &String> {
    names
        .iter()
        .enumerate()
        .filter(|(at, name)| names[..*at].contains(name))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_have_lines() {
        let faults = |text| Table::parse(text).unwrap_err();
        assert_eq!(faults("name,power_w\na,1\nb\n")[0].line, 3);
        assert_eq!(faults("a,b,a,b\n").len(), 2);
        assert_eq!(faults("").len(), 1);
    }

    #[test]
    fn the_first_column_with_a_number_holds() {
        let table = Table::parse("a,b\n,2\nnan,3\n1,4\nx,5\n").unwrap();
        let names = ["a".to_owned(), "b".to_owned()];
        let numbers: Vec<_> = (0..4).map(|row| table.number(row, &names)).collect();
        assert_eq!(numbers[..3], [Ok(Some(2.0)), Ok(Some(3.0)), Ok(Some(1.0))]);
        assert_eq!(numbers[3], Err("`a` is `x`, not a number".to_owned()));
    }

    #[test]
    fn units_behind_numbers_are_known() {
        let table =
            Table::parse("power.draw [W],clocks.sm,n,odd\n81.5 W,1455 MHz,\"1,234,567\",\"1,2\"\n")
                .unwrap();
        let column = |name: &str| table.number(0, &[name.to_owned()]);
        assert_eq!(column("n"), Ok(Some(1_234_567.0)));
        assert!(column("odd").is_err());
        assert_eq!(column("power.draw [W]"), Ok(Some(81.5)));
        assert_eq!(column("clocks.sm"), Ok(Some(1455.0)));
    }

    #[test]
    fn tables_are_joined_by_name() {
        let watts = Table::parse("name,power_w\na,1\nb,2\n").unwrap();
        let counts = Table::parse("name,x\nb,7\n").unwrap();
        let joined = watts.joined(&counts, "name");
        assert_eq!(joined.header, ["name", "power_w", "x"]);
        assert_eq!(joined.rows[1].iter().collect::<Vec<_>>(), ["b", "2", "7"]);
        assert_eq!(joined.rows[0].get(2), Some(""));
    }
}
