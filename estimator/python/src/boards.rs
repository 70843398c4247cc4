//! Graphics boards: opened, learned from measured watts, and asked what they draw.

use std::path::PathBuf;

use pyo3::prelude::*;
use warpwatt_analysis::boards::{Calibration, Layout, Learned, Measured, Predicted, board};
use warpwatt_analysis::run::boards::parse;
use warpwatt_board::board;
use warpwatt_board::map::Operands;
use warpwatt_input::diag::{Diag, Sink, did_you_mean};
use warpwatt_report::sheet::{Cell, Kind, Sheet, SheetColumn};

use crate::at_work::at_work;
use crate::errors::{rejected, warned};
use crate::table::Table;

/// A board.
#[pyclass(frozen, from_py_object, module = "warpwatt._native")]
#[derive(Clone)]
pub struct Board {
    /// It.
    pub board: board::Board,
}

#[pymethods]
impl Board {
    /// A shipped board by name, or that of a file.
    #[new]
    fn new(py: Python<'_>, name: String) -> PyResult<Self> {
        at_work(py, |_| {
            let mut sink = Sink::default();
            let board = board(&name, &mut sink).map(|board| Self { board });
            board.ok_or_else(|| rejected(&sink))
        })
    }

    /// That of a file's text.
    #[staticmethod]
    fn text(py: Python<'_>, text: String) -> PyResult<Self> {
        at_work(py, |_| {
            let mut sink = Sink::default();
            let board = parse("the board", text, &mut sink).map(|board| Self { board });
            board.ok_or_else(|| rejected(&sink))
        })
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.board.facts.name
    }
}

/// A table of rows, as Python gives it.
#[derive(FromPyObject)]
pub enum Rows {
    /// CSV.
    #[pyo3(transparent)]
    Text(String),
    /// A table or a folder.
    #[pyo3(transparent)]
    File(PathBuf),
}

/// How a table is read: the map, and what rows compute on.
type Reading = (Option<String>, Option<String>);

/// What a calibration tells: its document, its text, the board's file, its picture, each case as the others predict it, and warnings.
type Told = (String, String, String, Option<String>, Table, Vec<String>);

/// Learns a board: `warpwatt calibrate`.
#[pyfunction]
pub fn calibrate(
    py: Python<'_>,
    measured: Option<Rows>,
    board: String,
    transfer: Vec<String>,
    reading: Reading,
) -> PyResult<Told> {
    at_work(py, |_| {
        let mut sink = Sink::default();
        let layout = layout(reading, &mut sink);
        let calibration = Calibration {
            measured: measured.map(Measured::from),
            board,
            transfer,
            layout: layout.clone().unwrap_or_default(),
        };
        match (calibration.learn(&mut sink), layout) {
            (Some(learned), Some(_)) => Ok((
                learned.value().to_string(),
                learned.text(),
                learned.board().text(),
                learned.picture(),
                Table::of(&compared(&learned))?,
                warned(&sink),
            )),
            _ => Err(rejected(&sink)),
        }
    })
}

/// What a board draws for rows of counts: the document of `warpwatt predict --json`, its text, the table, and warnings. `settings`: `KEY=VALUE`.
#[pyfunction]
pub fn predict(
    py: Python<'_>,
    counts: Rows,
    board: Board,
    reading: Reading,
    settings: Vec<String>,
) -> PyResult<(String, String, Table, Vec<String>)> {
    at_work(py, |_| {
        let mut sink = Sink::default();
        let layout = layout(reading, &mut sink);
        let how = (&layout.clone().unwrap_or_default(), &settings[..]);
        let predicted = Predicted::of(&counts.into(), Some(board.board), how, &mut sink);
        let (Some(predicted), Some(_)) = (predicted, layout) else {
            return Err(rejected(&sink));
        };
        Ok((
            predicted.value().to_string(),
            predicted.text(),
            Table::of(&predicted.sheet())?,
            warned(&sink),
        ))
    })
}

impl From<Rows> for Measured {
    fn from(rows: Rows) -> Self {
        match rows {
            Rows::Text(text) => Self::Text(text),
            Rows::File(path) => Self::File(path),
        }
    }
}

/// Names of what rows compute on.
const OPERANDS: [(&str, Operands); 2] = [("still", Operands::Still), ("random", Operands::Random)];

fn layout((map, operands): Reading, sink: &mut Sink) -> Option<Layout> {
    let Some(name) = operands else {
        return Some(Layout {
            map,
            operands: None,
        });
    };
    let found = OPERANDS.into_iter().find(|(known, _)| *known == name);
    if found.is_none() {
        let message = format!("rows compute on no `{name}`");
        let known = OPERANDS.map(|(known, _)| known);
        sink.push(Diag::error("board::operands", message).help(did_you_mean(&name, known)));
    }
    let operands = Some(found?.1);
    Some(Layout { map, operands })
}

/// Each case as the others predict it.
fn compared(learned: &Learned) -> Sheet {
    let column = |name: &str| SheetColumn::new(name, Kind::Real);
    let watts = ["measured_w", "predicted_w", "low_w", "high_w"];
    let mut columns = vec![SheetColumn::new("name", Kind::Text)];
    columns.extend(watts.map(column));
    let rows = learned.compared().into_iter().map(|(row, one)| {
        let (low_w, high_w) = one.within_w;
        let watts = [one.measured_w, one.predicted_w, low_w, high_w];
        let mut cells = vec![row.name.as_str().into()];
        cells.extend(watts.map(Cell::Real));
        cells
    });
    let rows = rows.collect();
    Sheet { columns, rows }
}
