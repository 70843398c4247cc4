//! A CSV file as a table of texts.

use warpwatt_input::table::{Dialect, Table, report};

use crate::diag::{Diag, Sink, SourceId};

/// Largest table that is read: a million lines and more.
pub const MOST_BYTES: u64 = 256 << 20;
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
    match Table::parse(text, Dialect::Plain) {
        Ok(Some(table)) => return Some((source, table)),
        // A second byte-order mark is no record.
        Ok(None) => sink.push(no_header(name)),
        Err(faults) => report(sink, "batch::malformed", name, &faults),
    }
    None
}

fn no_header(name: &str) -> Diag {
    let message = format!("`{name}` has no header: its first line is empty");
    Diag::error("batch::no_header", message)
        .help("the first line names the columns, for example size_bytes,block_bytes,node_um")
}

/// The number of the line that follows `bytes`.
fn lines_before(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count() + 1
}
