//! Counts that another tool made: its files, the map from its names to our counters, and what of the energy model they leave without events.
//!
//! The way of a count: [`read`] takes a file apart into a [`Launch`] of named numbers each, a [`Map`] says which of our counters is which expression over these
//! names, and [`counts`] brings the launches of each kernel together. What nobody maps, and what nobody feeds, is said.

mod apply;
mod gpgpusim;
mod map;
mod ncu;
mod neutral;
mod number;
mod table;

pub use apply::{CLOCK, ForeignKernel, counts};
pub use map::{Map, MapEntry, shipped};
pub use neutral::write as write_neutral;

use std::collections::BTreeMap;
use std::ops::Range;

/// The numbers of one launch of a kernel, or of all its launches if the tool does not tell them apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Launch {
    /// The kernel.
    pub kernel: String,
    /// Its numbers by the tool's names: in SI units, without prefixes.
    pub values: BTreeMap<String, f64>,
}

/// Something that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Bytes of the file.
    pub range: Range<usize>,
    /// One sentence.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Problem {
    fn new(range: Range<usize>, message: impl Into<String>, help: &str) -> Self {
        Self {
            range,
            message: message.into(),
            help: (!help.is_empty()).then(|| help.to_owned()),
        }
    }
}

/// How a tool writes its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// Our own: `kernel,counter,value`, with our names.
    Neutral,
    /// Nsight Compute: `ncu --csv`, as a row a metric, or with `--page raw` as a row a launch.
    Ncu,
    /// What GPGPU-Sim prints: `name = value`.
    GpgpuSim {
        /// Names that begin anew with every kernel; the others are sums since the start.
        per_kernel: Vec<String>,
    },
    /// CSV of a row a kernel and a column a counter.
    Table {
        /// The columns that name the kernel.
        kernel: Vec<String>,
    },
}

/// Files above this many bytes are refused: they are no counts of a study's kernels.
pub const LARGEST_FILE: u64 = 64 << 20;

/// The launches that a file tells of, in its order.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read(text: &str, format: &Format) -> Result<Vec<Launch>, Vec<Problem>> {
    let launches = match format {
        Format::Neutral => neutral::read(text),
        Format::Ncu => ncu::read(text),
        Format::GpgpuSim { per_kernel } => gpgpusim::read(text, per_kernel),
        Format::Table { kernel } => table::read(text, kernel),
    };
    // An empty file has nothing that could be wrong with it.
    let nothing = match &launches {
        Ok(launches) => launches.is_empty(),
        Err(problems) => problems.is_empty(),
    };
    if nothing {
        let help = "is it the right file, and the right map?";
        return Err(vec![Problem::new(0..0, "there are no counts in it", help)]);
    }
    launches
}

/// The records of a CSV text from `start` on, each with its place. A record that cannot be read is a problem.
fn records(
    text: &str,
    start: usize,
    problems: &mut Vec<Problem>,
) -> Vec<(Range<usize>, Vec<String>)> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(&text.as_bytes()[start..]);
    let mut records = Vec::new();
    let mut record = csv::StringRecord::new();
    loop {
        let from = start + reader.position().byte() as usize;
        match reader.read_record(&mut record) {
            Ok(false) => return records,
            Ok(true) => {
                let to = start + reader.position().byte() as usize;
                let fields = record.iter().map(|field| field.trim().to_owned());
                records.push((line(text, from..to), fields.collect()));
            }
            Err(error) => {
                problems.push(Problem::new(
                    line(text, from..from),
                    format!("this is no CSV: {error}"),
                    "",
                ));
                return records;
            }
        }
    }
}

/// The text of a record without the ends of lines around it.
fn line(text: &str, record: Range<usize>) -> Range<usize> {
    let whole = text.get(record.clone()).unwrap_or_default();
    let start = record.start + whole.len() - whole.trim_start_matches(['\r', '\n']).len();
    let end = record.start + whole.trim_end().len();
    start..end.max(start)
}

#[cfg(test)]
mod tests;
