//! Boards learned from tables of measured watts, and what they draw for the rows of a table.

mod calibrate;
mod predict;
mod rows;

pub use calibrate::{Calibration, Learned};
pub use predict::Predicted;
pub use rows::{Layout, Measured};

use std::path::Path;

use warpwatt_board::board::Board;

use crate::diag::Sink;
use crate::run::boards::open;

/// The board of that name, or of that file. Nothing: what is wrong is in `sink`.
pub fn board(name: &str, sink: &mut Sink) -> Option<Board> {
    open(name, Path::new(""), sink, None)
}
