//! Tables that people and tools write: CSV with a header and lines of its width. Every fault has its line and column.

use csv::{ReaderBuilder, StringRecord, Trim};

use crate::diag::{Diag, Sink};

/// Faults that are listed; the others are counted.
const MOST_FAULTS: usize = 20;

/// Header and lines, all of one width.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Names of the columns.
    pub header: StringRecord,
    /// Cells.
    pub rows: Vec<StringRecord>,
    /// The line on which each row begins, from 1.
    pub lines: Vec<u64>,
}

/// What stands in a table beside its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Nothing: a cell is all that stands between commas.
    Plain,
    /// Lines that begin with `#`, as tools write them above their tables, and blanks around cells.
    Annotated,
}

/// Why a text is no table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line, from 1.
    pub line: u64,
    /// The character in it, from 1.
    pub column: u64,
    /// What is wrong.
    pub message: String,
}

impl Table {
    /// The table that `text` is; nothing if it has no header.
    ///
    /// # Errors
    /// It is none: all faults, by line.
    pub fn parse(text: &str, dialect: Dialect) -> Result<Option<Self>, Vec<Fault>> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let annotated = dialect == Dialect::Annotated;
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .comment(annotated.then_some(b'#'))
            .trim(if annotated { Trim::All } else { Trim::None })
            .from_reader(text.as_bytes());
        let (mut table, mut faults) = (Self::default(), Vec::new());
        let mut last = Begin::default();
        for record in reader.records() {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    faults.push(last.fault(text, 0, error.to_string()));
                    break;
                }
            };
            last = Begin::of(&record, text, annotated);
            if table.header.is_empty() {
                table.header = record;
                continue;
            }
            let (found, wanted) = (record.len(), table.header.len());
            if found != wanted {
                let message = format!("{found} cells, the header has {wanted}");
                faults.push(last.fault(text, wanted.min(found), message));
            }
            table.rows.push(record);
            table.lines.push(last.line);
        }
        if is_open(last.text(text)) {
            let message = "a quotation mark opens here that nothing closes".to_owned();
            faults.insert(0, last.open(text, message));
        }
        match faults.is_empty() {
            true => Ok((!table.header.is_empty()).then_some(table)),
            false => Err(faults),
        }
    }
}

/// Where a record begins.
#[derive(Clone, Copy, Default)]
struct Begin {
    byte: usize,
    line: u64,
}

impl Begin {
    /// Behind what the reader passed over before `record`: empty lines and comments.
    fn of(record: &StringRecord, text: &str, annotated: bool) -> Self {
        let mut begin = record.position().map_or(Self::default(), |at| Self {
            byte: at.byte() as usize,
            line: at.line(),
        });
        loop {
            let rest = begin.text(text);
            let empty = rest.starts_with(['\r', '\n']);
            if !(empty || annotated && rest.starts_with('#')) {
                return begin;
            }
            let Some(end) = rest.find('\n') else {
                return begin;
            };
            begin.byte += end + 1;
            begin.line += 1;
        }
    }

    fn text(self, text: &str) -> &str {
        text.get(self.byte..).unwrap_or_default()
    }

    /// A fault in the cell `number`, from 0 on, or at the end of a record that has fewer.
    fn fault(self, text: &str, number: usize, message: String) -> Fault {
        let (mut lines, mut column, mut cell, mut quoted) = (0, 1, 0, false);
        for character in self.text(text).chars() {
            match character {
                _ if cell == number => break,
                '\r' | '\n' if !quoted => break,
                ',' if !quoted => cell += 1,
                '"' => quoted = !quoted,
                _ => {}
            }
            column += 1;
            if character == '\n' {
                (lines, column) = (lines + 1, 1);
            }
        }
        Fault {
            line: self.line + lines,
            column,
            message,
        }
    }

    /// A fault in the first cell from which a quotation mark stays open.
    fn open(self, text: &str, message: String) -> Fault {
        let (mut cell, mut quoted, mut opened) = (0, false, 0);
        for character in self.text(text).chars() {
            match character {
                '"' => {
                    quoted = !quoted;
                    opened = cell;
                }
                ',' if !quoted => cell += 1,
                _ => {}
            }
        }
        self.fault(text, opened, message)
    }
}

/// Whether the last record has a quotation mark without its partner.
fn is_open(last: &str) -> bool {
    let opens = last.trim_start().starts_with('"') || last.contains(",\"");
    opens
        && !last
            .bytes()
            .filter(|byte| *byte == b'"')
            .count()
            .is_multiple_of(2)
}

/// Says what is wrong with the table `name`, under `code`: the first faults, and how many more there are.
pub fn report(sink: &mut Sink, code: &'static str, name: &str, faults: &[Fault]) {
    for fault in faults.iter().take(MOST_FAULTS) {
        let message = format!("{name}:{}:{}: {}", fault.line, fault.column, fault.message);
        sink.push(Diag::error(code, message).help(
            "give every line as many cells as the header; a cell with a comma or a line break stands in quotation marks",
        ));
    }
    if faults.len() > MOST_FAULTS {
        let more = faults.len() - MOST_FAULTS;
        sink.push(Diag::error(
            code,
            format!("{name}: {more} more lines like these"),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<(u64, u64, String)> {
        let faults = Table::parse(text, Dialect::Annotated).unwrap_err();
        let faults = faults.into_iter();
        faults
            .map(|fault| (fault.line, fault.column, fault.message))
            .collect()
    }

    #[test]
    fn lines_of_another_width_are_told_where_they_go_wrong() {
        let text = "\u{feff}# made by hand\na,b\n1\n1,\"2,\n3\",4\n1,2\n";
        let cells = |found: u32| format!("{found} cells, the header has 2");
        assert_eq!(faults(text), [(3, 2, cells(1)), (5, 4, cells(3))]);
    }

    #[test]
    fn a_quotation_mark_that_stays_open_is_told_first() {
        let message = "a quotation mark opens here that nothing closes".to_owned();
        assert_eq!(faults("a,b\n1,2\n3,\"4\n5,6\n")[0], (3, 3, message));
    }

    #[test]
    fn dialects_differ_in_comments_and_blanks() {
        let read = |dialect| Table::parse("a, b\n#1 , 2\n3 , 4\n", dialect);
        let plain = read(Dialect::Plain).unwrap().unwrap();
        assert_eq!(plain.rows, [vec!["#1 ", " 2"], vec!["3 ", " 4"]]);
        let annotated = read(Dialect::Annotated).unwrap().unwrap();
        assert_eq!(annotated.header, vec!["a", "b"]);
        assert_eq!(annotated.rows, [vec!["3", "4"]]);
        assert_eq!(annotated.lines, [3]);
        for empty in ["", "\n\n", "# nothing\n"] {
            assert_eq!(Table::parse(empty, Dialect::Annotated), Ok(None));
        }
    }
}
