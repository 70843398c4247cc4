//! Tables of very many rows, written a stretch at a time.

use std::io::Write;
use std::path::Path;

use super::files::PartFile;
use super::formulas::escaped;
use crate::diag::{Diag, Rejection};
use crate::report::Table;
use crate::report::sheet::Sheet;
use crate::study::Format;

/// The tables of a study that are being written, in every format that has tables.
pub struct Tables {
    tables: Vec<Writing>,
    headed: bool,
}

/// A table with its files, one a format.
struct Writing {
    table: Table,
    files: Vec<Box<dyn TableFile>>,
}

/// Rows of a table, ready to be written: their text is made where they are, by whichever thread that is.
pub struct Rows {
    /// Without its rows where no file is Parquet.
    sheet: Sheet,
    /// Empty where no file is CSV.
    csv: String,
    /// Empty where no file is CSV for spreadsheets.
    safe: Vec<u8>,
}

impl Rows {
    /// Those of `sheet`, also as the kinds of CSV that files want.
    ///
    /// # Errors
    /// They cannot be made.
    pub fn of(mut sheet: Sheet, formats: &[Format]) -> Result<Self, Diag> {
        let wanted = |format| formats.contains(&format);
        let plain = wanted(Format::Csv) || wanted(Format::CsvSafe);
        let csv = if plain {
            sheet.rows_csv()
        } else {
            String::new()
        };
        let safe = match wanted(Format::CsvSafe) {
            true => escaped(csv.as_bytes())
                .map_err(|error| Diag::error("report::defect", error.to_string()))?,
            false => Vec::new(),
        };
        // Cells are many small texts, cheapest to drop for the thread that made them.
        if !wanted(Format::Parquet) {
            sheet.rows = Vec::new();
        }
        Ok(Self { sheet, csv, safe })
    }
}

/// Formats that have tables.
const FORMATS: [Format; 3] = [Format::Csv, Format::CsvSafe, Format::Parquet];

/// Where rows go. Faults are kept for the end.
trait TableFile: Send {
    /// Names the columns, before any row.
    fn head(&mut self, sheet: &Sheet);
    /// Adds rows.
    fn add(&mut self, rows: &Rows);
    /// Puts the file in its place.
    fn commit(self: Box<Self>) -> Result<(), Rejection>;
}

impl Tables {
    /// Begins the tables in `directory`, the budget's if there is one.
    ///
    /// # Errors
    /// Nothing can be written there.
    pub fn create(directory: &Path, formats: &[Format], budget: bool) -> Result<Self, Rejection> {
        let mut tables = Vec::new();
        for table in Self::all(budget) {
            let mut files = Vec::new();
            for format in FORMATS.into_iter().filter(|one| formats.contains(one)) {
                let path = directory.join(format!("{}.{}", table.name(), format.extension()));
                files.push(file(format, PartFile::create(&path)?));
            }
            tables.push(Writing { table, files });
        }
        let headed = false;
        Ok(Self { tables, headed })
    }

    /// The names of the files that [`Tables::create`] begins.
    pub fn names(formats: &[Format], budget: bool) -> Vec<String> {
        let wanted = FORMATS.into_iter().filter(|one| formats.contains(one));
        let named = |format: Format| {
            let all = Self::all(budget).into_iter();
            all.map(move |table| format!("{}.{}", table.name(), format.extension()))
        };
        wanted.flat_map(named).collect()
    }

    fn all(budget: bool) -> Vec<Table> {
        let always = [Table::Points, Table::Comparisons];
        let last = budget.then_some(Table::Budget).into_iter();
        always
            .into_iter()
            .chain(last)
            .chain([Table::Answer])
            .collect()
    }

    /// The tables that files want a stretch at a time: all but the answer, which is known at the end.
    pub fn wanted(&self) -> Vec<Table> {
        let wanted = self.tables.iter().filter(|one| !one.files.is_empty());
        let wanted = wanted.map(|one| one.table);
        wanted.filter(|table| *table != Table::Answer).collect()
    }

    /// Writes the answer.
    pub fn answer(&mut self, rows: &Rows) {
        let mut tables = self.tables.iter_mut();
        if let Some(table) = tables.find(|one| one.table == Table::Answer) {
            for file in &mut table.files {
                file.head(&rows.sheet);
                file.add(rows);
            }
        }
    }

    /// Adds the rows of a stretch, table by table.
    pub fn add(&mut self, stretch: &[Rows]) {
        for (table, rows) in self.tables.iter_mut().zip(stretch) {
            for file in &mut table.files {
                if !self.headed {
                    file.head(&rows.sheet);
                }
                file.add(rows);
            }
        }
        self.headed = true;
    }

    /// Puts the files in their places.
    ///
    /// # Errors
    /// Something could not be written, whenever that was.
    pub fn commit(self) -> Result<(), Rejection> {
        let mut files = self.tables.into_iter().flat_map(|table| table.files);
        files.try_for_each(|file| file.commit())
    }
}

#[cfg(feature = "parquet")]
fn file(format: Format, part: PartFile) -> Box<dyn TableFile> {
    match format {
        Format::Parquet => Box::new(columns::Columns::Waiting(part)),
        Format::CsvSafe => Box::new(ForSpreadsheets(part)),
        _ => Box::new(part),
    }
}

#[cfg(not(feature = "parquet"))]
fn file(format: Format, part: PartFile) -> Box<dyn TableFile> {
    match format {
        Format::CsvSafe => Box::new(ForSpreadsheets(part)),
        _ => Box::new(part),
    }
}

/// CSV as it comes.
impl TableFile for PartFile {
    fn head(&mut self, sheet: &Sheet) {
        // Faults are kept by the file itself.
        let _ = self.write_all(sheet.heading_csv().as_bytes());
    }

    fn add(&mut self, rows: &Rows) {
        let _ = self.write_all(rows.csv.as_bytes());
    }

    fn commit(self: Box<Self>) -> Result<(), Rejection> {
        PartFile::commit(*self)
    }
}

/// CSV without formulas. The names of columns are none.
struct ForSpreadsheets(PartFile);

impl TableFile for ForSpreadsheets {
    fn head(&mut self, sheet: &Sheet) {
        self.0.head(sheet);
    }

    fn add(&mut self, rows: &Rows) {
        let _ = self.0.write_all(&rows.safe);
    }

    fn commit(self: Box<Self>) -> Result<(), Rejection> {
        self.0.commit()
    }
}

#[cfg(feature = "parquet")]
mod columns {
    use parquet::errors::ParquetError;

    use super::{Diag, PartFile, Rejection, Rows, Sheet, TableFile};
    use crate::report::parquet::ParquetTable;

    /// A Parquet file: waiting for its heading, being written, or at fault.
    pub enum Columns {
        Waiting(PartFile),
        Written(Box<ParquetTable<PartFile>>),
        Faulty(ParquetError),
    }

    impl Columns {
        fn next(&mut self, step: impl FnOnce(Columns) -> Result<Columns, ParquetError>) {
            let nothing = Columns::Faulty(ParquetError::General(String::new()));
            let next = step(std::mem::replace(self, nothing));
            *self = next.unwrap_or_else(Columns::Faulty);
        }
    }

    impl TableFile for Columns {
        fn head(&mut self, sheet: &Sheet) {
            self.next(|columns| match columns {
                Columns::Waiting(part) => {
                    let table = ParquetTable::create(part, &sheet.columns)?;
                    Ok(Columns::Written(Box::new(table)))
                }
                other => Ok(other),
            });
        }

        fn add(&mut self, rows: &Rows) {
            self.next(|columns| match columns {
                Columns::Written(mut table) => {
                    table.add(&rows.sheet.rows)?;
                    Ok(Columns::Written(table))
                }
                other => Ok(other),
            });
        }

        fn commit(self: Box<Self>) -> Result<(), Rejection> {
            let defect = |error: ParquetError| Diag::error("report::defect", error.to_string());
            match *self {
                Columns::Waiting(part) => part.commit(),
                Columns::Written(table) => table.finish().map_err(defect)?.commit(),
                Columns::Faulty(error) => Err(defect(error).into()),
            }
        }
    }
}
