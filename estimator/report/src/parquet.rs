//! Tables as Apache Parquet.
//!
//! Text is required and may be empty. Whole numbers, real numbers and marks are null where CSV has nothing.
//! A column has the type that it is declared with, so tables of two studies can be read as one.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

use super::sheet::{Cell, Kind, Sheet, SheetColumn};

/// Rows of a group: what is in memory at once, and what a reader can skip.
const GROUP: usize = 65_536;

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

/// A table in memory.
///
/// # Errors
/// A cell does not have the type of its column, which a test over all tables excludes.
pub fn table(sheet: &Sheet) -> Result<Vec<u8>, ParquetError> {
    let mut table = ParquetTable::create(Vec::new(), &sheet.columns)?;
    table.add(&sheet.rows)?;
    table.finish()
}

impl<W: Write + Send> ParquetTable<W> {
    /// Begins a table.
    ///
    /// # Errors
    /// Nothing can be written there.
    pub fn create(out: W, columns: &[SheetColumn]) -> Result<Self, ParquetError> {
        let columns = columns.iter();
        let columns: Vec<(&str, Column)> = columns
            .map(|column| (column.name.as_str(), Column::of(column.kind)))
            .collect();
        let fields: Result<Vec<TypePtr>, ParquetError> = columns
            .iter()
            .map(|(name, column)| Ok(Arc::new(column.field(name)?)))
            .collect();
        let schema = Type::group_type_builder("warpwatt").with_fields(fields?);
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("warpwatt version ", env!("CARGO_PKG_VERSION")).to_owned());
        let (schema, properties) = (Arc::new(schema.build()?), Arc::new(properties.build()));
        Ok(Self {
            writer: SerializedFileWriter::new(out, schema, properties)?,
            columns: columns.into_iter().map(|(_, column)| column).collect(),
            rows: 0,
        })
    }

    /// Adds rows.
    ///
    /// # Errors
    /// They cannot be written, or a cell does not have the type of its column.
    pub fn add(&mut self, rows: &[Vec<Cell>]) -> Result<(), ParquetError> {
        for row in rows {
            for (column, cell) in self.columns.iter_mut().zip(row) {
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
    /// An empty one.
    fn of(kind: Kind) -> Self {
        let cells = match kind {
            Kind::Text => Cells::Text(Vec::new()),
            Kind::Count => Cells::Numbers(Vec::new()),
            Kind::Real => Cells::Reals(Vec::new()),
            Kind::Mark => Cells::Marks(Vec::new()),
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

    fn add(&mut self, cell: &Cell) -> Result<(), ParquetError> {
        if let Cells::Text(cells) = &mut self.cells {
            // Text is always there.
            let text = match cell {
                Cell::Nothing => "",
                Cell::Text(text) => text,
                _ => return Err(wrong(cell)),
            };
            cells.push(text.as_bytes().to_vec().into());
            return Ok(());
        }
        match (&mut self.cells, cell) {
            (_, Cell::Nothing) => {}
            (Cells::Numbers(cells), Cell::Count(count)) => {
                cells.push(i64::try_from(*count).map_err(|_| wrong(cell))?);
            }
            (Cells::Reals(cells), Cell::Real(value)) => cells.push(*value),
            (Cells::Marks(cells), Cell::Mark(mark)) => cells.push(*mark),
            _ => return Err(wrong(cell)),
        }
        self.present.push(i16::from(*cell != Cell::Nothing));
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

fn wrong(cell: &Cell) -> ParquetError {
    ParquetError::General(format!("{cell:?} is not of its column's type"))
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;

    const COLUMNS: [(&str, Kind); 4] = [
        ("kernel", Kind::Text),
        ("cycles", Kind::Count),
        ("energy_j", Kind::Real),
        ("inside", Kind::Mark),
    ];

    fn sheet(rows: Vec<Vec<Cell>>) -> Sheet {
        let columns = COLUMNS[..rows.first().map_or(4, Vec::len)].iter();
        Sheet {
            columns: columns
                .map(|(name, kind)| SheetColumn::new(*name, *kind))
                .collect(),
            rows,
        }
    }

    fn reader(bytes: Vec<u8>) -> SerializedFileReader<bytes::Bytes> {
        SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap()
    }

    #[test]
    fn every_cell_comes_back() {
        let full = [
            "a,b".into(),
            Cell::Count(12),
            Cell::Real(1.5e-9),
            Cell::Mark(true),
        ];
        let empty = ["c".into(), Cell::Nothing, Cell::Nothing, Cell::Nothing];
        let file = reader(table(&sheet(vec![full.to_vec(), empty.to_vec()])).unwrap());
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
        let row = |n: usize| vec![format!("k{}", n % 7).into(), Cell::Count(n as u64)];
        let all = sheet((0..GROUP + 3).map(row).collect());
        let whole = table(&all).unwrap();
        let mut pieces = ParquetTable::create(Vec::new(), &all.columns).unwrap();
        for piece in all.rows.chunks(2048) {
            pieces.add(piece).unwrap();
        }
        assert_eq!(pieces.finish().unwrap(), whole);
        let file = reader(whole);
        let groups = file.metadata().row_groups().iter();
        let counts: Vec<i64> = groups.map(|group| group.num_rows()).collect();
        assert_eq!(counts, [GROUP as i64, 3]);
    }

    #[test]
    fn an_empty_table_has_its_columns() {
        let file = reader(table(&sheet(Vec::new())).unwrap());
        let schema = file.metadata().file_metadata().schema();
        let names: Vec<&str> = schema.get_fields().iter().map(|f| f.name()).collect();
        assert_eq!(names, COLUMNS.map(|(name, _)| name));
    }

    #[test]
    fn a_cell_of_another_type_is_an_error() {
        assert!(table(&sheet(vec![vec!["k".into(), Cell::Real(1.5)]])).is_err());
        assert!(table(&sheet(vec![vec![Cell::Count(1)]])).is_err());
    }
}
