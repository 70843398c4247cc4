//! Tables as Parquet: the same cells as in CSV, each with its type. A build without Parquet says how to get one that has it.

use crate::common::{Scratch, stderr, warpwatt};
use crate::goals::STUDY;

const OUTPUT: &str = "[output]\nformats = [\"csv\", \"parquet\"]\n";

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_says_so() {
    let scratch = Scratch::new();
    scratch.write("study.toml", &format!("{STUDY}{OUTPUT}"));
    let output = warpwatt(&scratch.path(""), &["run", "study.toml"]);
    assert_eq!(output.status.code(), Some(2));
    insta::assert_snapshot!(stderr(&output));
    assert!(!scratch.path("results").exists());
}

#[cfg(feature = "parquet")]
pub use with::rows;

#[cfg(feature = "parquet")]
mod with {
    use std::fs::File;
    use std::path::Path;

    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    use super::*;

    /// Every kind of table: two supplies, a stack and its members, a budget, a front, intervals, needed bits.
    const EVERY_TABLE: &str = r#"
[study]
title = "every table"
[gpu]
preset = "tesla-16sm"
node = "32nm"
vdd = ["0.9 V", "1.0 V"]
[workloads]
kernels = ["vector_add"]
[[technique]]
name = "filter_cache"
[[technique]]
name = "uniform_vector"
[[technique]]
stack = [{ name = "filter_cache" }, { name = "uniform_vector" }]
[reliability]
structures = ["register_file"]
[budget]
slowdown = "10%"
area_m2 = ["<= 1 m2", ">= 1 mm2"]
[pareto]
metrics = ["energy_j", "area_m2"]
[uncertainty]
samples = 40
"#;

    /// The rows of a table: names and cells.
    pub fn rows(path: &Path) -> Vec<Vec<(String, Field)>> {
        let file = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        let rows = file.get_row_iter(None).unwrap();
        rows.map(|row| row.unwrap().into_columns()).collect()
    }

    /// A cell of CSV is a cell of Parquet: numbers as numbers, nothing as null.
    fn agrees(cell: &str, field: &Field) -> bool {
        match field {
            Field::Str(text) => text == cell,
            Field::Null => cell.is_empty(),
            Field::Long(number) => cell.parse() == Ok(*number),
            Field::Double(number) => cell.parse() == Ok(*number),
            Field::Bool(mark) => cell.parse() == Ok(*mark),
            _ => false,
        }
    }

    #[test]
    fn every_table_has_the_cells_of_csv() {
        let scratch = Scratch::new();
        scratch.write("study.toml", &format!("{EVERY_TABLE}{OUTPUT}"));
        let output = warpwatt(&scratch.path(""), &["run", "study.toml", "--quiet"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let results = scratch.path("results");
        let tables = [
            "points",
            "answer",
            "comparisons",
            "operating",
            "stacks",
            "budget",
            "pareto",
            "protection",
            "uncertainty",
        ];
        for table in tables {
            let mut csv = csv::Reader::from_path(results.join(format!("{table}.csv"))).unwrap();
            let heading = csv.headers().unwrap().clone();
            let records: Vec<_> = csv.records().map(Result::unwrap).collect();
            let rows = rows(&results.join(format!("{table}.parquet")));
            assert_eq!(rows.len(), records.len(), "{table}");
            assert!(!rows.is_empty(), "{table}");
            for (record, row) in records.iter().zip(&rows) {
                let names: Vec<&str> = row.iter().map(|(name, _)| name.as_str()).collect();
                assert_eq!(names, heading.iter().collect::<Vec<_>>(), "{table}");
                for (cell, (name, field)) in record.iter().zip(row) {
                    assert!(agrees(cell, field), "{table}.{name}: `{cell}`, {field:?}");
                }
            }
        }
    }

    #[test]
    fn a_report_writes_the_files_that_are_asked_for() {
        let scratch = Scratch::new();
        scratch.write("study.toml", &format!("{STUDY}[output]\nformats = []\n"));
        let run = |arguments: &[&str]| warpwatt(&scratch.path(""), arguments);
        let output = run(&["run", "study.toml", "--quiet"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let output = run(&["report", "results", "--formats", "parquet"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(rows(&scratch.path("results/points.parquet")).len(), 6);
        assert!(!scratch.path("results/points.csv").exists());
        assert!(!scratch.path("results/report.html").exists());
        let output = run(&["report", "results", "--formats", "csv,parkett"]);
        assert_eq!(output.status.code(), Some(2));
        insta::assert_snapshot!(stderr(&output));
    }
}
