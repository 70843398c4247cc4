//! Tables for Python: Arrow columns, handed over as the Arrow PyCapsule interface has it.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, StringBuilder, UInt64Builder};
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use warpwatt_report::sheet::{Cell, Kind, Sheet, SheetColumn};

use crate::errors::Defect;

/// A table: typed columns, the unit at the end of each name.
#[pyclass(frozen, module = "warpwatt._native")]
pub struct Table {
    batch: RecordBatch,
}

impl Table {
    /// That of a sheet.
    ///
    /// # Errors
    /// A defect: a column is shorter than another.
    pub fn of(sheet: &Sheet) -> PyResult<Self> {
        let columns = sheet.columns.iter().enumerate();
        let arrays: Vec<ArrayRef> = columns
            .map(|(place, column)| array(column.kind, sheet.rows.iter().map(|row| &row[place])))
            .collect();
        let fields = sheet.columns.iter().map(|column| {
            let kind = data_type(column.kind);
            Field::new(&column.name, kind, column.kind != Kind::Text)
        });
        let schema = Schema::new(fields.collect::<Vec<Field>>());
        let options = RecordBatchOptions::new().with_row_count(Some(sheet.rows.len()));
        let batch = RecordBatch::try_new_with_options(Arc::new(schema), arrays, &options);
        let batch = batch.map_err(|error| Defect::new_err(error.to_string()))?;
        Ok(Self { batch })
    }

    /// That of a table in CSV, whose columns have the narrowest kind that all of their cells are of. A column without cells is one of real numbers, if it is none of
    /// `words`.
    ///
    /// # Errors
    /// As of [`Table::of`].
    pub fn of_csv(csv: &[u8], words: &[&str]) -> PyResult<Self> {
        let defect = |error: csv::Error| Defect::new_err(error.to_string());
        let mut reader = csv::Reader::from_reader(csv);
        let names = reader.headers().map_err(defect)?.clone();
        let rows: Result<Vec<csv::StringRecord>, csv::Error> = reader.records().collect();
        let rows = rows.map_err(defect)?;
        let columns: Vec<SheetColumn> = names
            .iter()
            .enumerate()
            .map(|(place, name)| {
                let cells = rows.iter().filter_map(|row| row.get(place));
                let empty = match words.contains(&name) {
                    true => Kind::Text,
                    false => Kind::Real,
                };
                let kind = kind(cells.filter(|cell| !cell.is_empty()));
                SheetColumn::new(name, kind.unwrap_or(empty))
            })
            .collect();
        let rows = rows.iter().map(|row| {
            let cells = columns.iter().enumerate();
            cells
                .map(|(place, column)| Cell::parse(column.kind, row.get(place).unwrap_or_default()))
                .collect()
        });
        let rows = rows.collect();
        Self::of(&Sheet { columns, rows })
    }
}

/// The narrowest kind of all cells; nothing, if there are none.
fn kind<'c>(cells: impl Iterator<Item = &'c str> + Clone) -> Option<Kind> {
    cells.clone().next()?;
    let of = |kind: Kind| {
        let mut cells = cells.clone();
        cells.all(|cell| Cell::parse(kind, cell) != Cell::Nothing)
    };
    let kinds = [Kind::Count, Kind::Real, Kind::Mark];
    let found = kinds.into_iter().find(|kind| of(*kind));
    Some(found.unwrap_or(Kind::Text))
}

fn all<T>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    values.into_iter().collect()
}

fn data_type(kind: Kind) -> DataType {
    match kind {
        Kind::Text => DataType::Utf8,
        Kind::Count => DataType::UInt64,
        Kind::Real => DataType::Float64,
        Kind::Mark => DataType::Boolean,
    }
}

/// A column. A cell of another kind, which a test over all tables excludes, is nothing.
fn array<'c>(kind: Kind, cells: impl ExactSizeIterator<Item = &'c Cell>) -> ArrayRef {
    match kind {
        Kind::Text => {
            let mut column = StringBuilder::new();
            for cell in cells {
                column.append_value(match cell {
                    Cell::Text(text) => text,
                    _ => "",
                });
            }
            Arc::new(column.finish())
        }
        Kind::Count => {
            let mut column = UInt64Builder::with_capacity(cells.len());
            for cell in cells {
                column.append_option(match cell {
                    Cell::Count(count) => Some(*count),
                    _ => None,
                });
            }
            Arc::new(column.finish())
        }
        Kind::Real => {
            let mut column = Float64Builder::with_capacity(cells.len());
            for cell in cells {
                column.append_option(match cell {
                    Cell::Real(value) => Some(*value),
                    Cell::Count(count) => Some(*count as f64),
                    _ => None,
                });
            }
            Arc::new(column.finish())
        }
        Kind::Mark => {
            let mut column = BooleanBuilder::with_capacity(cells.len());
            for cell in cells {
                column.append_option(match cell {
                    Cell::Mark(mark) => Some(*mark),
                    _ => None,
                });
            }
            Arc::new(column.finish())
        }
    }
}

#[pymethods]
impl Table {
    /// A table in CSV.
    #[staticmethod]
    fn csv(text: &[u8]) -> PyResult<Self> {
        Self::of_csv(text, &[])
    }

    /// Names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        let schema = self.batch.schema();
        schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    }

    /// Rows.
    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The values of a column, or its `most` first ones, None where there is none.
    fn column<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        most: Option<usize>,
    ) -> PyResult<Option<Bound<'py, PyList>>> {
        let Some(column) = self.batch.column_by_name(name) else {
            return Ok(None);
        };
        let most = most.map_or(column.len(), |most| most.min(column.len()));
        let column = column.slice(0, most);
        let values = match column.data_type() {
            DataType::Float64 => PyList::new(py, all(column.as_primitive::<Float64Type>()))?,
            DataType::UInt64 => PyList::new(py, all(column.as_primitive::<UInt64Type>()))?,
            DataType::Boolean => PyList::new(py, all(column.as_boolean()))?,
            _ => PyList::new(py, all(column.as_string::<i32>()))?,
        };
        Ok(Some(values))
    }

    /// The table as a stream of Arrow; columns are shared, not copied.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer give what it has.
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}
