//! What `calibrate` and `predict` take beside their tables.

use clap::{Args, ValueEnum};

use crate::board::map::Operands;
use crate::boards::Layout;

/// How a table is read.
#[derive(Debug, Args)]
pub struct LayoutArguments {
    /// Which column is what: utilisation, accelwattch, ncu, nvml, or a file of one's own [default: told by the columns]
    #[arg(long, value_name = "MAP|FILE.toml")]
    pub map: Option<String>,
    /// What the rows compute on: loops on what they loaded once, or data [default: calibrate as the map says, predict data]
    #[arg(long, value_name = "WHICH")]
    pub operands: Option<OperandChoice>,
}

/// On what rows compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OperandChoice {
    /// Loops that compute again and again on what they loaded: little switches
    Still,
    /// Kernels on data
    Random,
}

impl From<OperandChoice> for Operands {
    fn from(choice: OperandChoice) -> Self {
        match choice {
            OperandChoice::Still => Self::Still,
            OperandChoice::Random => Self::Random,
        }
    }
}

impl LayoutArguments {
    /// It, as tables are read.
    pub fn layout(&self) -> Layout {
        Layout {
            map: self.map.clone(),
            operands: self.operands.map(Operands::from),
        }
    }
}
