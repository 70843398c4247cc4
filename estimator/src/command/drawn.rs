//! On which board a kernel runs.

use clap::Args;

use crate::board::board::Board;
use crate::boards::board;
use crate::diag::Sink;

/// On which board a kernel runs.
#[derive(Debug, Args)]
pub struct BoardChoice {
    /// Say what a graphics board draws while the kernel runs: a shipped board, or the file of one; its GPU is the default preset then
    #[arg(long, value_name = "BOARD|FILE.toml", conflicts_with = "no_timing")]
    pub board: Option<String>,
}

impl BoardChoice {
    /// None is named.
    pub fn is_none(&self) -> bool {
        self.board.is_none()
    }

    /// The board. `Err`: what is wrong is in `sink`.
    pub fn open(&self, sink: &mut Sink) -> Result<Option<Board>, ()> {
        let Some(name) = &self.board else {
            return Ok(None);
        };
        board(name, sink).map(Some).ok_or(())
    }
}
