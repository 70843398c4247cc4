//! The profiles of CACTI beside runs of CACTI 7 and 6.5, and what these refuse.
//!
//! The runs are tables of [`warpwatt_array::batch`], inputs and answers in one: the same table is priced, and the columns are compared.

use warpwatt_circuit::Profile;

use super::Check;
use warpwatt_array::LibraryName;
use warpwatt_array::batch::{Batch, Model};
use warpwatt_input::diag::{Sink, render};

/// Runs of one tool, and what is asked of the profile that stands for it.
#[derive(Clone, Copy, Debug)]
pub struct Oracle {
    /// The profile.
    pub profile: Profile,
    /// Tables of runs.
    tables: &'static [&'static str],
    /// What the tool refused.
    refused: &'static str,
    /// Figures that are compared, by column.
    figures: &'static [(&'static str, &'static str)],
    /// Largest median and 95th percentile of the absolute relative errors.
    median: f64,
    late: f64,
}

/// Part of the runs that may end at another organisation.
const OTHER_ORGANISATION: f64 = 0.10;

/// CACTI 7.
pub const CACTI7: Oracle = Oracle {
    profile: Profile::Cacti7,
    tables: &[
        include_str!("../../../tests/data/oracle/cacti7_ed2.csv"),
        include_str!("../../../tests/data/oracle/cacti7_settings.csv"),
    ],
    refused: include_str!("../../../tests/data/oracle/cacti7_refused.csv"),
    figures: &[
        ("area", "area_mm2"),
        ("access time", "access_ns"),
        ("read energy", "read_nj"),
        ("write energy", "write_nj"),
        ("search energy", "search_nj"),
        ("leakage", "leak_total_mw"),
    ],
    median: 0.02,
    late: 0.10,
};

/// CACTI 6.5.
pub const CACTI65: Oracle = Oracle {
    profile: Profile::Cacti65,
    tables: &[
        include_str!("../../../tests/data/oracle/cacti65_paper_profile.csv"),
        include_str!("../../../tests/data/oracle/cacti65_settings.csv"),
    ],
    refused: include_str!("../../../tests/data/oracle/cacti65_refused.csv"),
    figures: &[
        ("area", "area_mm2"),
        ("access time", "access_ns"),
        ("read energy", "read_nj"),
        ("leakage", "leak_bank_mw"),
    ],
    median: 0.03,
    late: 0.15,
};

const ORGANISATION: [&str; 6] = [
    "data_ndwl",
    "data_ndbl",
    "data_nspd",
    "data_ndcm",
    "data_ndsam1",
    "data_ndsam2",
];

/// A CSV table by column and line.
struct Columns {
    header: csv::StringRecord,
    rows: Vec<csv::StringRecord>,
}

impl Columns {
    fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut reader = csv::Reader::from_reader(bytes);
        let header = reader.headers().map_err(|error| error.to_string())?.clone();
        let rows: Result<_, csv::Error> = reader.records().collect();
        Ok(Self {
            header,
            rows: rows.map_err(|error| error.to_string())?,
        })
    }

    fn cell(&self, row: usize, column: &str) -> &str {
        let place = self.header.iter().position(|name| name == column);
        let cell = place.and_then(|place| self.rows[row].get(place));
        cell.unwrap_or_default()
    }

    fn number(&self, row: usize, column: &str) -> Option<f64> {
        self.cell(row, column).parse().ok()
    }
}

impl Oracle {
    /// Median and 95th percentile of the error of each figure, and how many runs end at another organisation.
    ///
    /// # Errors
    /// A table that ships is not as it must be.
    pub fn checks(&self, pool: &rayon::ThreadPool) -> Result<Vec<Check>, String> {
        let mut pairs = Vec::new();
        for table in self.tables {
            pairs.push((Columns::read(table.as_bytes())?, self.priced(table, pool)?));
        }
        let mut checks = Vec::new();
        for (name, column) in self.figures {
            let errors = errors(&pairs, column);
            if errors.is_empty() {
                continue;
            }
            let runs = errors.len();
            let place = format!("{}, {runs} runs", self.profile);
            let mut check = |what, most, error| {
                checks.push(Check::at_most(&place, what, most, error));
            };
            check(
                format!("{name}, median error"),
                self.median,
                at(&errors, 0.5),
            );
            check(
                format!("{name}, 95 % of errors within"),
                self.late,
                at(&errors, 0.95),
            );
        }
        let of_both = |(theirs, ours): &(Columns, Columns)| -> Vec<bool> {
            let rows = 0..theirs.rows.len();
            rows.map(|row| same(theirs, ours, row)).collect()
        };
        let all: Vec<bool> = pairs.iter().flat_map(of_both).collect();
        let other = all.iter().filter(|same| !**same).count();
        let place = format!("{}, {} runs", self.profile, all.len());
        let what = "runs with another organisation";
        let share = other as f64 / all.len() as f64;
        checks.push(Check::at_most(&place, what, OTHER_ORGANISATION, share));
        Ok(checks)
    }

    /// What the tool refuses is answered or explained; how much of it is neither, and how much is answered without a note on the tool's limit.
    ///
    /// # Errors
    /// A table that ships is not as it must be.
    pub fn refused(&self, pool: &rayon::ThreadPool) -> Result<Vec<Check>, String> {
        let ours = self.priced(self.refused, pool)?;
        let rows = ours.rows.len();
        let answered = |row: &usize| ours.number(*row, "area_mm2").is_some_and(f64::is_finite);
        let explained = |row: &usize| !ours.cell(*row, "error").is_empty();
        let noted = |row: &usize| !ours.cell(*row, "note").is_empty();
        let silent = (0..rows).filter(|row| !answered(row) && !explained(row));
        let plain = (0..rows).filter(|row| answered(row) && !noted(row));
        let place = format!("{}, {rows} refused inputs", self.profile);
        let check = |what, most, count: usize| {
            Check::at_most(&place, what, most, count as f64 / rows as f64)
        };
        Ok(vec![
            check("neither answered nor explained", 0.0, silent.count()),
            check("answered without a note", OTHER_ORGANISATION, plain.count()),
        ])
    }

    fn priced(&self, table: &str, pool: &rayon::ThreadPool) -> Result<Columns, String> {
        let mut sink = Sink::default();
        let batch = Batch::read(&mut sink, "oracle.csv", table.as_bytes());
        let batch = batch.ok_or_else(|| render(&sink, false))?;
        let model = Model {
            library: LibraryName::Itrs,
            profile: self.profile,
        };
        let results = batch
            .price(model, pool)
            .map_err(|error| error.to_string())?;
        Columns::read(&results.csv)
    }
}

/// Absolute relative errors in rising order. A figure that is missing is off without bound.
fn errors(pairs: &[(Columns, Columns)], column: &str) -> Vec<f64> {
    let of_table = |(theirs, ours): &(Columns, Columns)| -> Vec<f64> {
        let error = |row| {
            let wanted = theirs.number(row, column).filter(|value| *value != 0.0)?;
            let got = ours.number(row, column);
            Some(got.map_or(f64::INFINITY, |got| (got / wanted - 1.0).abs()))
        };
        (0..theirs.rows.len()).filter_map(error).collect()
    };
    let mut errors: Vec<f64> = pairs.iter().flat_map(of_table).collect();
    errors.sort_by(f64::total_cmp);
    errors
}

/// The nearest rank of a share of sorted values.
fn at(errors: &[f64], share: f64) -> f64 {
    let place = ((errors.len() as f64 * share).ceil() as usize).clamp(1, errors.len());
    errors[place - 1]
}

fn same(theirs: &Columns, ours: &Columns, row: usize) -> bool {
    ORGANISATION
        .iter()
        .all(|column| theirs.number(row, column) == ours.number(row, column))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;

    fn pool() -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new()
            .num_threads(2)
            .build()
            .unwrap()
    }

    #[test]
    fn ranks_are_the_nearest() {
        let errors: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(
            (at(&errors, 0.5), at(&errors, 0.95), at(&errors[..1], 0.95)),
            (10.0, 19.0, 1.0)
        );
    }

    #[test]
    fn medians_are_met_and_what_is_refused_is_explained() {
        for oracle in [CACTI7, CACTI65] {
            let checks = oracle.checks(&pool()).unwrap();
            assert!(checks.len() >= 9, "{checks:?}");
            for check in checks
                .iter()
                .filter(|check| check.what.ends_with("median error"))
            {
                assert_eq!(check.status, Status::Holds, "{check:?}");
            }
            let refused = oracle.refused(&pool()).unwrap();
            assert!(
                refused.iter().all(|check| check.status == Status::Holds),
                "{refused:?}"
            );
        }
    }

    /// `docs/validation.md` has the tables that `warpwatt validate cacti7|cacti65|refused --markdown` print.
    #[test]
    fn the_page_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/validation.md");
        let page = std::fs::read_to_string(path).unwrap();
        let mut suites = [CACTI7, CACTI65]
            .map(|oracle| oracle.checks(&pool()).unwrap())
            .to_vec();
        suites.push(
            [CACTI7, CACTI65]
                .iter()
                .flat_map(|oracle| oracle.refused(&pool()).unwrap())
                .collect(),
        );
        for checks in suites {
            let table = crate::Validation::new(checks).markdown();
            assert!(
                page.contains(&table),
                "print the suite anew into docs/validation.md:\n{table}"
            );
        }
    }
}
