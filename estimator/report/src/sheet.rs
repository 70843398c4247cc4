//! Tables for machines: columns with a type each, and rows of cells. CSV is made here; Parquet, where the build has it, beside.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use serde::Serialize;
use smol_str::SmolStr;

use crate::goal::quantity::unsigned_zero;

/// A table for machines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// Its columns.
    pub columns: Vec<SheetColumn>,
    /// Its rows, a cell a column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of a table for machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SheetColumn {
    /// Its name, the unit at its end.
    pub name: String,
    /// What its cells are.
    pub kind: Kind,
}

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words, which may be empty.
    Text,
    /// Whole numbers.
    Count,
    /// Real numbers.
    Real,
    /// True or false.
    Mark,
}

/// What stands in a row under a column.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// There is no value.
    Nothing,
    /// Words, mostly names of few letters or some that a study has already: neither needs memory of its own.
    Text(SmolStr),
    /// A whole number.
    Count(u64),
    /// A real number.
    Real(f64),
    /// True or false.
    Mark(bool),
}

impl SheetColumn {
    /// A column.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self {
            name: name.into(),
            kind,
        }
    }
}

impl Cell {
    /// A cell of `kind` from its text; nothing if the text is not of the kind.
    pub fn parse(kind: Kind, text: &str) -> Self {
        match kind {
            Kind::Text => text.into(),
            Kind::Count => text.parse().map_or(Self::Nothing, Self::Count),
            Kind::Real => text
                .parse()
                .map_or(Self::Nothing, |value: f64| value.into()),
            Kind::Mark => text.parse().map_or(Self::Nothing, Self::Mark),
        }
    }

    /// A whole number that is computed with as a real one.
    pub fn count(value: Option<f64>) -> Self {
        value.map_or(Self::Nothing, |value| Self::Count(value as u64))
    }

    /// Adds the text of CSV. Writing to memory does not fail.
    fn write(&self, text: &mut String) {
        let _ = match self {
            Self::Nothing => Ok(()),
            Self::Text(own) => text.write_str(own),
            Self::Count(count) => write!(text, "{count}"),
            Self::Real(value) => write_real(text, *value),
            Self::Mark(mark) => write!(text, "{mark}"),
        };
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<&Arc<str>> for Cell {
    fn from(text: &Arc<str>) -> Self {
        Self::Text(Arc::clone(text).into())
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Self::Real(unsigned_zero(value))
    }
}

impl From<bool> for Cell {
    fn from(mark: bool) -> Self {
        Self::Mark(mark)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nothing, Into::into)
    }
}

impl Sheet {
    /// The table as CSV: its heading, and a line a row.
    pub fn csv(&self) -> String {
        self.heading_csv() + &self.rows_csv()
    }

    /// The line with the names of the columns.
    pub fn heading_csv(&self) -> String {
        lines(&[&self.columns[..]], |column, text| {
            text.push_str(&column.name)
        })
    }

    /// The rows without their heading.
    pub fn rows_csv(&self) -> String {
        lines(&self.rows, Cell::write)
    }
}

/// Records, quoted where needed. Writing to memory cannot fail, so a failure leaves the text empty rather than the program dead.
fn lines<T, R: AsRef<[T]>>(records: &[R], write: impl Fn(&T, &mut String)) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut text = String::new();
    let written: Result<(), csv::Error> = records.iter().try_for_each(|record| {
        for cell in record.as_ref() {
            text.clear();
            write(cell, &mut text);
            writer.write_field(&text)?;
        }
        writer.write_record(None::<&[u8]>)
    });
    let bytes = written.ok().and_then(|()| writer.into_inner().ok());
    String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default()
}

/// The shortest text that reads back to the same number.
pub(super) fn real(value: f64) -> String {
    let mut text = String::new();
    let _ = write_real(&mut text, value);
    text
}

fn write_real(text: &mut String, value: f64) -> fmt::Result {
    if value != 0.0 && !(1e-3..1e6).contains(&value.abs()) {
        write!(text, "{value:e}")
    } else {
        write!(text, "{value}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(cell: &Cell) -> String {
        let mut text = String::new();
        cell.write(&mut text);
        text
    }

    #[test]
    fn a_cell_is_of_its_kind_or_nothing() {
        assert_eq!(Cell::parse(Kind::Count, "32"), Cell::Count(32));
        assert_eq!(Cell::parse(Kind::Count, "3.2"), Cell::Nothing);
        assert_eq!(Cell::parse(Kind::Real, "0.9"), Cell::Real(0.9));
        assert_eq!(text(&Cell::parse(Kind::Real, "-0.0")), "0");
        assert_eq!(text(&Cell::from(-0.0)), "0");
        assert_eq!(Cell::parse(Kind::Mark, "true"), Cell::Mark(true));
        assert_eq!(Cell::parse(Kind::Text, "true"), Cell::from("true"));
    }

    #[test]
    fn numbers_read_back_and_words_are_quoted() {
        let row = vec![
            Cell::from("a, b"),
            Cell::Real(1.25e-9),
            Cell::Nothing,
            Cell::Count(7),
            Cell::Mark(false),
        ];
        let columns = ["text", "x_j", "y", "n", "m"];
        let sheet = Sheet {
            columns: columns
                .map(|name| SheetColumn::new(name, Kind::Text))
                .to_vec(),
            rows: vec![row],
        };
        assert_eq!(sheet.csv(), "text,x_j,y,n,m\n\"a, b\",1.25e-9,,7,false\n");
    }
}
