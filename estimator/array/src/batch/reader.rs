//! A CSV file as a table of texts, with every fault by its line.

use crate::diag::{Diag, Sink, SourceId};

/// Largest table that is read: a million lines and more.
pub const MOST_BYTES: u64 = 256 << 20;
/// Faults that are listed; the others are counted.
const MOST_FAULTS: usize = 20;

/// Header and lines, all of one width.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) header: csv::StringRecord,
    pub(super) rows: Vec<csv::StringRecord>,
}

/// Reads `bytes`; the source that is returned holds the header, so that a large file is not kept twice.
pub(super) fn read(sink: &mut Sink, name: &str, bytes: &[u8]) -> Option<(SourceId, Table)> {
    if bytes.len() as u64 > MOST_BYTES {
        let message = format!("`{name}` has {} bytes, more than {MOST_BYTES}", bytes.len());
        sink.push(Diag::error("batch::too_large", message).help("split the table into several"));
        return None;
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let line = lines_before(&bytes[..error.valid_up_to()]);
            let message = format!("`{name}` is not UTF-8: line {line} has other bytes");
            sink.push(
                Diag::error("batch::not_utf8", message)
                    .help("save the table as UTF-8 (not UTF-16 or a code page)"),
            );
            return None;
        }
    };
    let first = text.lines().next().unwrap_or_default();
    let source = sink.sources.add(name, first);
    if first.trim().is_empty() {
        sink.push(no_header(name));
        return None;
    }
    records(sink, name, text).map(|table| (source, table))
}

/// Header and lines; every line must be as wide as the header.
fn records(sink: &mut Sink, name: &str, text: &str) -> Option<Table> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut rows = Vec::new();
    let mut faults = Vec::new();
    let mut header: Option<csv::StringRecord> = None;
    let mut start = 0;
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                faults.push(format!("{error}"));
                break;
            }
        };
        let width = header.as_ref().map_or(record.len(), csv::StringRecord::len);
        if record.len() != width {
            let line = record.position().map_or(0, csv::Position::line);
            faults.push(format!(
                "line {line} has {} cells, the header has {width}",
                record.len()
            ));
        }
        start = record.position().map_or(start, csv::Position::byte);
        match header {
            None => header = Some(record),
            Some(_) => rows.push(record),
        }
    }
    if is_open(text, start) {
        let line = lines_before(&text.as_bytes()[..start as usize]);
        faults.insert(
            0,
            format!("line {line} opens a quotation mark that nothing closes"),
        );
    }
    match header {
        Some(header) if faults.is_empty() => return Some(Table { header, rows }),
        // A lone quotation mark is no record.
        None if faults.is_empty() => sink.push(no_header(name)),
        _ => report(sink, name, &faults),
    }
    None
}

fn no_header(name: &str) -> Diag {
    let message = format!("`{name}` has no header: its first line is empty");
    Diag::error("batch::no_header", message)
        .help("the first line names the columns, for example size_bytes,block_bytes,node_um")
}

/// Whether the record that begins at `start`, the last one, has a quotation mark without its partner.
fn is_open(text: &str, start: u64) -> bool {
    let last = text.get(start as usize..).unwrap_or_default();
    let opens = last.trim_start().starts_with('"') || last.contains(",\"");
    opens
        && !last
            .bytes()
            .filter(|byte| *byte == b'"')
            .count()
            .is_multiple_of(2)
}

fn report(sink: &mut Sink, name: &str, faults: &[String]) {
    for fault in faults.iter().take(MOST_FAULTS) {
        sink.push(
            Diag::error("batch::malformed", format!("`{name}`: {fault}")).help(
                "give every line as many cells as the header; a cell with a comma or a line break stands in quotation marks",
            ),
        );
    }
    if faults.len() > MOST_FAULTS {
        let message = format!(
            "`{name}`: {} more lines like these",
            faults.len() - MOST_FAULTS
        );
        sink.push(Diag::error("batch::malformed", message));
    }
}

/// The number of the line that follows `bytes`.
fn lines_before(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count() + 1
}
