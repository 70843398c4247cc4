//! Tables as Apache Parquet: the columns of the CSV tables, each with its type.
//!
//! Text is required and may be empty. Whole numbers, real numbers and marks are null where CSV has nothing.
//! A type depends on the name of the column alone, so tables of two studies can be read as one.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

use super::csv::{POINT_NAME, POINT_NUMBERS};
use super::metric::{Def, POINT, VERSUS};

/// Rows of a group: what is in memory at once, and what a reader can skip.
const GROUP: usize = 65_536;

/// Columns of text that do not name a point.
const TEXT: [&str; 8] = [
    "paper_row",
    "binding",
    "rest",
    "selector",
    "metric",
    "unit",
    "configuration",
    "headline",
];
/// Columns of marks, `true` or `false`.
const MARKS: [&str; 5] = [
    "inside",
    "front",
    "pareto_front",
    "inside_own_error",
    "within_budget",
];
/// Columns of whole numbers that are no metrics.
const NUMBERS: [&str; 2] = ["kernels", "point"];

/// A table that is written row group by row group.
pub struct ParquetTable<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Column>,
    rows: usize,
}

struct Column {
    cells: Cells,
    /// For each row 1 where there is a value and 0 where there is none: Parquet's definition level.
    present: Vec<i16>,
}

enum Cells {
    Text(Vec<ByteArray>),
    Numbers(Vec<i64>),
    Reals(Vec<f64>),
    Marks(Vec<bool>),
}

/// A table in memory: `csv` with its heading.
///
/// # Errors
/// A cell does not have the type of its column, which a test over all tables excludes.
pub fn table(csv: &str) -> Result<Vec<u8>, ParquetError> {
    let heading = csv.lines().next().unwrap_or_default();
    let mut table = ParquetTable::create(Vec::new(), heading)?;
    table.add(csv.get(heading.len() + 1..).unwrap_or_default())?;
    table.finish()
}

impl<W: Write + Send> ParquetTable<W> {
    /// Begins a table of the columns in `heading`, a line of CSV.
    ///
    /// # Errors
    /// Nothing can be written there.
    pub fn create(out: W, heading: &str) -> Result<Self, ParquetError> {
        let columns = || heading.split(',').filter(|name| !name.is_empty());
        let fields: Result<Vec<TypePtr>, ParquetError> = columns()
            .map(|name| Ok(Arc::new(Column::of(name).field(name)?)))
            .collect();
        let schema = Type::group_type_builder("warpwatt").with_fields(fields?);
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("warpwatt version ", env!("CARGO_PKG_VERSION")).to_owned());
        let (schema, properties) = (Arc::new(schema.build()?), Arc::new(properties.build()));
        Ok(Self {
            writer: SerializedFileWriter::new(out, schema, properties)?,
            columns: columns().map(Column::of).collect(),
            rows: 0,
        })
    }

    /// Adds rows of CSV.
    ///
    /// # Errors
    /// They cannot be written, or a cell does not have the type of its column.
    pub fn add(&mut self, rows: &str) -> Result<(), ParquetError> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(rows.as_bytes());
        for record in reader.records() {
            let record = record.map_err(|error| ParquetError::External(Box::new(error)))?;
            for (column, cell) in self.columns.iter_mut().zip(&record) {
                column.add(cell)?;
            }
            self.rows += 1;
            if self.rows == GROUP {
                self.write_group()?;
            }
        }
        Ok(())
    }

    /// Writes what is left and the table's end; returns what was written to.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self) -> Result<W, ParquetError> {
        if self.rows > 0 {
            self.write_group()?;
        }
        self.writer.into_inner()
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for column in &mut self.columns {
            if let Some(out) = group.next_column()? {
                column.write(out)?;
            }
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

impl Column {
    /// An empty one with the type that its name stands for.
    fn of(name: &str) -> Self {
        let names_a_point = POINT_NAME.contains(&name) && !POINT_NUMBERS.contains(&name);
        let cells = if names_a_point || TEXT.contains(&name) {
            Cells::Text(Vec::new())
        } else if MARKS.contains(&name) {
            Cells::Marks(Vec::new())
        } else if NUMBERS.contains(&name) || is_count(name) {
            Cells::Numbers(Vec::new())
        } else {
            Cells::Reals(Vec::new())
        };
        let present = Vec::new();
        Self { cells, present }
    }

    fn field(&self, name: &str) -> Result<Type, ParquetError> {
        let (physical, logical, repetition) = match self.cells {
            Cells::Text(_) => (
                Physical::BYTE_ARRAY,
                Some(LogicalType::String),
                Repetition::REQUIRED,
            ),
            Cells::Numbers(_) => (Physical::INT64, None, Repetition::OPTIONAL),
            Cells::Reals(_) => (Physical::DOUBLE, None, Repetition::OPTIONAL),
            Cells::Marks(_) => (Physical::BOOLEAN, None, Repetition::OPTIONAL),
        };
        Type::primitive_type_builder(name, physical)
            .with_logical_type(logical)
            .with_repetition(repetition)
            .build()
    }

    fn add(&mut self, cell: &str) -> Result<(), ParquetError> {
        if let Cells::Text(cells) = &mut self.cells {
            cells.push(cell.as_bytes().to_vec().into());
            return Ok(());
        }
        self.present.push(i16::from(!cell.is_empty()));
        if cell.is_empty() {
            return Ok(());
        }
        let wrong = |_| ParquetError::General(format!("`{cell}` is not of its column's type"));
        match &mut self.cells {
            Cells::Text(_) => {}
            Cells::Numbers(cells) => cells.push(cell.parse().map_err(|_| wrong(()))?),
            Cells::Reals(cells) => cells.push(cell.parse().map_err(|_| wrong(()))?),
            Cells::Marks(cells) => cells.push(cell.parse().map_err(|_| wrong(()))?),
        }
        Ok(())
    }

    fn write(&mut self, mut out: SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let present = std::mem::take(&mut self.present);
        let levels = Some(&present[..]);
        match &mut self.cells {
            Cells::Text(cells) => {
                out.typed::<ByteArrayType>()
                    .write_batch(&std::mem::take(cells), None, None)?
            }
            Cells::Numbers(cells) => {
                out.typed::<Int64Type>()
                    .write_batch(&std::mem::take(cells), levels, None)?
            }
            Cells::Reals(cells) => {
                out.typed::<DoubleType>()
                    .write_batch(&std::mem::take(cells), levels, None)?
            }
            Cells::Marks(cells) => {
                out.typed::<BoolType>()
                    .write_batch(&std::mem::take(cells), levels, None)?
            }
        };
        out.close()
    }
}

/// Whether a metric of that name counts something.
fn is_count(name: &str) -> bool {
    fn counts<T>(defs: &[Def<T>], name: &str) -> bool {
        defs.iter().any(|def| def.name == name && def.is_count())
    }
    counts(POINT, name) || counts(VERSUS, name)
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;

    fn reader(bytes: Vec<u8>) -> SerializedFileReader<bytes::Bytes> {
        SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap()
    }

    #[test]
    fn every_cell_comes_back() {
        let csv = "kernel,cycles,energy_j,inside\n\"a,b\",12,1.5e-9,true\nc,,,\n";
        let file = reader(table(csv).unwrap());
        let rows: Vec<_> = file
            .get_row_iter(None)
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].get_string(0).unwrap(), "a,b");
        assert_eq!(rows[0].get_long(1).unwrap(), 12);
        assert_eq!(rows[0].get_double(2).unwrap(), 1.5e-9);
        assert!(rows[0].get_bool(3).unwrap());
        assert_eq!(rows[1].get_string(0).unwrap(), "c");
        assert!(rows[1].get_long(1).is_err(), "null");
    }

    #[test]
    fn rows_that_come_in_pieces_make_the_same_table() {
        let rows: Vec<String> = (0..GROUP + 3)
            .map(|n| format!("k{},{n}\n", n % 7))
            .collect();
        let whole = table(&format!("kernel,cycles\n{}", rows.concat())).unwrap();
        let mut pieces = ParquetTable::create(Vec::new(), "kernel,cycles").unwrap();
        for piece in rows.chunks(2048) {
            pieces.add(&piece.concat()).unwrap();
        }
        assert_eq!(pieces.finish().unwrap(), whole);
        let file = reader(whole);
        let groups = file.metadata().row_groups().iter();
        let counts: Vec<i64> = groups.map(|group| group.num_rows()).collect();
        assert_eq!(counts, [GROUP as i64, 3]);
    }

    #[test]
    fn an_empty_table_has_its_columns() {
        let file = reader(table("kernel,time_s\n").unwrap());
        let schema = file.metadata().file_metadata().schema();
        let names: Vec<&str> = schema.get_fields().iter().map(|f| f.name()).collect();
        assert_eq!(names, ["kernel", "time_s"]);
    }

    #[test]
    fn a_cell_of_another_type_is_an_error() {
        assert!(table("cycles\n1.5\n").is_err());
        assert!(table("energy_j\nmuch\n").is_err());
    }
}
