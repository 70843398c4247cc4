//! A table of arrays: a line of inputs each, figures added in CACTI's units.
//!
//! The answer to a line depends on that line's inputs alone, so that equal ones are priced once, on any number of threads, and written in their order.

mod columns;
mod reader;

use std::collections::BTreeMap;

use rayon::prelude::*;
use warpwatt_circuit::{Cost, Profile};
use warpwatt_input::table::Table;

use super::{Inputs, Libraries, LibraryName, Query, Refusal};
use crate::diag::{Diag, Sink, SourceId};
use columns::{Outputs, Plan, bare};
pub use reader::MOST_BYTES;

/// Whose technology and whose equations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// The technology library.
    pub library: LibraryName,
    /// The profile.
    pub profile: Profile,
}

/// A table that has been read.
#[derive(Debug)]
pub struct Batch {
    table: Table,
    plan: Plan,
}

/// A table with its answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Results {
    /// The table as CSV.
    pub csv: Vec<u8>,
    /// Its lines.
    pub rows: usize,
    /// How many of them were refused: they have an `error` and no figures.
    pub refused: usize,
    /// How many have a `note`.
    pub noted: usize,
}

impl Batch {
    /// Reads a table. `None` if it is none; all faults are left in `sink`, and warnings about columns that look like slips.
    pub fn read(sink: &mut Sink, name: &str, bytes: &[u8]) -> Option<Self> {
        let (source, table) = reader::read(sink, name, bytes)?;
        let plan = Plan::new(sink, source, &table)?;
        Some(Self { table, plan })
    }

    /// The lines.
    pub fn rows(&self) -> usize {
        self.table.rows.len()
    }

    /// Prices every line on `pool` and returns the whole table. The bytes do not depend on the number of threads.
    ///
    /// # Errors
    /// A defect: the table cannot be written to memory.
    pub fn price(&self, model: Model, pool: &rayon::ThreadPool) -> Result<Results, csv::Error> {
        let (places, firsts) = self.distinct();
        let queries = firsts.into_iter().map(|row| self.query(row, model));
        let queries: Vec<Result<Query, Refusal>> = queries.collect();
        let mut libraries = Libraries::default();
        for query in queries.iter().flatten() {
            query.read_into(&mut libraries);
        }
        let outputs: Vec<Outputs> = pool.install(|| {
            let priced = queries.into_par_iter().map(|query| {
                let answer = query.and_then(|query| Ok((query.banks(), query.price(&libraries)?)));
                let parts = answer.as_ref();
                Outputs::new(parts.map(|(banks, (cost, notes))| (cost, *banks, notes.as_slice())))
            });
            priced.collect()
        });
        self.results(&places.iter().map(|at| &outputs[*at]).collect::<Vec<_>>())
    }

    /// Lines with equal inputs have one answer: the number of each line's answer, and the first line of each answer.
    fn distinct(&self) -> (Vec<usize>, Vec<&csv::StringRecord>) {
        let mut numbers: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
        let mut firsts = Vec::new();
        let rows = self.table.rows.iter();
        let places = rows.map(|row| {
            let inputs = self.plan.inputs.iter();
            let inputs = inputs.map(|(place, _)| row.get(*place).unwrap_or_default());
            *numbers.entry(inputs.collect()).or_insert_with(|| {
                firsts.push(row);
                firsts.len() - 1
            })
        });
        let places = places.collect();
        (places, firsts)
    }

    fn query(&self, row: &csv::StringRecord, model: Model) -> Result<Query, Refusal> {
        let mut inputs = Inputs::new(model.profile);
        for (place, name) in &self.plan.inputs {
            inputs.set(name, bare(row.get(*place).unwrap_or_default()))?;
        }
        inputs.query(model.library)
    }

    fn results(&self, outputs: &[&Outputs]) -> Result<Results, csv::Error> {
        let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
        writer.write_record(self.plan.header(&self.table))?;
        for (row, output) in self.table.rows.iter().zip(outputs) {
            writer.write_record(self.plan.line(row, output))?;
        }
        Ok(Results {
            csv: writer
                .into_inner()
                .map_err(|error| csv::Error::from(error.into_error()))?,
            rows: outputs.len(),
            refused: outputs.iter().filter(|output| output.is_refused()).count(),
            noted: outputs.iter().filter(|output| output.is_noted()).count(),
        })
    }
}

/// What goes wrong in a header stands on the first line.
fn in_header(sink: &mut Sink, source: SourceId, diag: Diag) {
    let text = sink.sources.text(source);
    let end = text.find(['\r', '\n']).unwrap_or(text.len());
    sink.push(diag.at(source, 0..end.min(HEADER_SHOWN), ""));
}

/// As much of a header as is underlined.
const HEADER_SHOWN: usize = 40;

/// Leakage of one bank with the routing between banks, as CACTI prints it.
fn of_one_bank(cost: &Cost, banks: f64) -> f64 {
    let routing: f64 = cost
        .breakdown
        .iter()
        .filter(|part| part.between_banks)
        .map(|part| part.leakage.si())
        .sum();
    (cost.leakage.si() - routing) / banks + routing
}

#[cfg(test)]
mod tests;
