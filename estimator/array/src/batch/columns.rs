//! Which columns are inputs, which are answers, which pass through.

use std::collections::BTreeSet;

use csv::StringRecord;
use warpwatt_circuit::{Cost, Organisation};
use warpwatt_input::table::Table;

use super::{in_header, of_one_bank};
use crate::diag::{Diag, Sink, SourceId, nearest};
use crate::{Inputs, Refusal};

/// The columns that are added, in CACTI's units.
pub(super) const OUTPUTS: [&str; 26] = [
    "access_ns",
    "cycle_ns",
    "read_nj",
    "write_nj",
    "search_nj",
    "leak_bank_mw",
    "gate_leak_bank_mw",
    "leak_total_mw",
    "gate_leak_total_mw",
    "area_mm2",
    "height_mm",
    "width_mm",
    "data_ndwl",
    "data_ndbl",
    "data_nspd",
    "data_ndcm",
    "data_ndsam1",
    "data_ndsam2",
    "tag_ndwl",
    "tag_ndbl",
    "tag_nspd",
    "tag_ndcm",
    "tag_ndsam1",
    "tag_ndsam2",
    "note",
    "error",
];

const NANO: f64 = 1e9;
const MILLI: f64 = 1e3;
const SQUARE_MILLI: f64 = 1e6;

/// What becomes of each column.
#[derive(Debug)]
pub(super) struct Plan {
    /// Places of inputs, with their names.
    pub(super) inputs: Vec<(usize, &'static str)>,
    /// For every column of the input, the output that takes its place.
    replaced: Vec<Option<usize>>,
    /// Outputs that follow.
    added: Vec<usize>,
}

impl Plan {
    /// From a header. `None` if a column is there twice or a needed one is missing.
    pub(super) fn new(sink: &mut Sink, source: SourceId, table: &Table) -> Option<Self> {
        let names: Vec<&str> = table.header.iter().map(bare).collect();
        let before = sink.diags.len();
        twice(sink, source, &names);
        let inputs: Vec<(usize, &'static str)> = names
            .iter()
            .enumerate()
            .filter_map(|(place, name)| Some((place, Inputs::names().find(|known| known == name)?)))
            .collect();
        missing(sink, source, &names);
        if sink.diags.len() > before {
            return None;
        }
        let output = |name: &&str| OUTPUTS.iter().position(|known| known == name);
        let replaced: Vec<Option<usize>> = names.iter().map(output).collect();
        slips(sink, source, &names);
        let added = (0..OUTPUTS.len()).filter(|place| !replaced.contains(&Some(*place)));
        Some(Self {
            inputs,
            added: added.collect(),
            replaced,
        })
    }

    pub(super) fn header<'a>(&'a self, table: &'a Table) -> impl Iterator<Item = &'a str> {
        let added = self.added.iter().map(|place| OUTPUTS[*place]);
        table.header.iter().chain(added)
    }

    pub(super) fn line<'a>(
        &'a self,
        row: &'a StringRecord,
        output: &'a Outputs,
    ) -> impl Iterator<Item = &'a str> {
        let kept = row
            .iter()
            .zip(&self.replaced)
            .map(|(cell, replaced)| replaced.map_or(cell, |place| output.0[place].as_str()));
        kept.chain(self.added.iter().map(|place| output.0[*place].as_str()))
    }
}

/// A cell without blanks around it and, where those hid them from the reader, without its quotation marks.
pub(super) fn bare(cell: &str) -> &str {
    let cell = cell.trim();
    let inside = cell
        .strip_prefix('"')
        .and_then(|open| open.strip_suffix('"'));
    inside.map_or(cell, str::trim)
}

fn twice(sink: &mut Sink, source: SourceId, names: &[&str]) {
    let mut seen = BTreeSet::new();
    let mut told = BTreeSet::new();
    for name in names {
        if !seen.insert(*name) && told.insert(*name) {
            let message = format!("the column `{name}` is there twice");
            let diag = Diag::error("batch::duplicate_column", message)
                .help("remove or rename one of them");
            in_header(sink, source, diag);
        }
    }
}

fn missing(sink: &mut Sink, source: SourceId, names: &[&str]) {
    for needed in Inputs::REQUIRED {
        if names.contains(&needed) {
            continue;
        }
        let near = nearest(needed, names.iter().copied());
        let help = near.map_or_else(
            || "the first line of a table names its columns; docs/arrays.md lists them".to_owned(),
            |near| format!("is it the column `{near}`? call it `{needed}`"),
        );
        let message = format!("there is no column `{needed}`");
        in_header(
            sink,
            source,
            Diag::error("batch::missing_column", message).help(help),
        );
    }
}

/// Columns that pass through and look like an input that is not there.
fn slips(sink: &mut Sink, source: SourceId, names: &[&str]) {
    for name in names {
        let known = Inputs::names().chain(OUTPUTS).any(|known| known == *name);
        let absent = Inputs::names().filter(|input| !names.contains(input));
        if let Some(near) = nearest(name, absent).filter(|_| !known) {
            let message = format!("the column `{name}` is no input and passes through");
            let help =
                format!("if it is meant to be `{near}`, call it so: that has its default now");
            in_header(
                sink,
                source,
                Diag::warning("batch::unknown_column", message).help(help),
            );
        }
    }
}

/// The added cells of a line.
#[derive(Debug)]
pub(super) struct Outputs([String; OUTPUTS.len()]);

const NOTE: usize = OUTPUTS.len() - 2;
const ERROR: usize = OUTPUTS.len() - 1;

impl Outputs {
    /// Of an answer: the cost of so many banks, and notes.
    pub(super) fn new(answer: Result<(&Cost, u32, &[String]), &Refusal>) -> Self {
        let mut cells: [String; OUTPUTS.len()] = Default::default();
        match answer {
            Err(refusal) => cells[ERROR] = refusal.line(),
            Ok((cost, banks, notes)) => {
                for (cell, value) in cells.iter_mut().zip(figures(cost, f64::from(banks))) {
                    *cell = value.map(written).unwrap_or_default();
                }
                cells[NOTE] = notes.join("; ");
            }
        }
        Self(cells)
    }

    pub(super) fn is_refused(&self) -> bool {
        !self.0[ERROR].is_empty()
    }

    pub(super) fn is_noted(&self) -> bool {
        !self.0[NOTE].is_empty()
    }
}

/// The figures in the order of [`OUTPUTS`].
fn figures(cost: &Cost, banks: f64) -> impl Iterator<Item = Option<f64>> {
    let data = cost.data.as_deref().unwrap_or(cost);
    let whole = [
        Some(cost.access_time.si() * NANO),
        Some(cost.cycle_time.si() * NANO),
        Some(cost.read_energy.si() * NANO),
        Some(cost.write_energy.si() * NANO),
        cost.search_energy.map(|energy| energy.si() * NANO),
        Some(of_one_bank(cost, banks) * MILLI),
        Some(cost.gate_leakage.si() / banks * MILLI),
        Some(cost.leakage.si() * MILLI),
        Some(cost.gate_leakage.si() * MILLI),
        Some(cost.area.si() * SQUARE_MILLI),
        Some(cost.height.si() * MILLI),
        Some(cost.width.si() * MILLI),
    ];
    let tag = cost.tag.as_deref().and_then(|tag| tag.organisation);
    whole
        .into_iter()
        .chain(split(data.organisation.or(cost.organisation)))
        .chain(split(tag))
}

fn split(organisation: Option<Organisation>) -> [Option<f64>; 6] {
    let Some(of) = organisation else {
        return [None; 6];
    };
    [
        Some(f64::from(of.ndwl)),
        Some(f64::from(of.ndbl)),
        Some(of.nspd),
        Some(f64::from(of.ndcm)),
        Some(f64::from(of.ndsam1)),
        Some(f64::from(of.ndsam2)),
    ]
}

/// A number with nine significant digits at most, so that the last bits of a sum do not show.
fn written(value: f64) -> String {
    const DIGITS: usize = 8;
    let rounded: f64 = format!("{value:.DIGITS$e}").parse().unwrap_or(value);
    // Never `-0`.
    format!("{}", rounded + 0.0)
}
