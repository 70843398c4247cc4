//! Which details stand below an answer on the terminal.

use clap::{Args, ValueEnum};

use crate::report::{Detail, Details};

/// `--show`.
#[derive(Clone, Debug, Default, Args)]
pub struct ShowArguments {
    /// Details below the answer
    #[arg(long, value_name = "DETAIL,DETAIL", value_delimiter = ',')]
    pub show: Vec<Shown>,
}

/// A detail by its name at the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shown {
    /// Every kernel of every configuration; points against budgets, fronts and supplies
    Kernels,
    /// Energy and area by structure, without and with
    Structures,
    /// What the SMs spent their time on
    Stalls,
    /// What a reader must know
    Notes,
    /// All of them
    All,
}

impl ShowArguments {
    /// The details that are asked for.
    pub fn details(&self) -> Details {
        let asked = self.show.iter().flat_map(|shown| shown.details());
        Details::of(asked.copied())
    }
}

impl Shown {
    fn details(self) -> &'static [Detail] {
        match self {
            Self::Kernels => &[Detail::Kernels],
            Self::Structures => &[Detail::Structures],
            Self::Stalls => &[Detail::Stalls],
            Self::Notes => &[Detail::Notes],
            Self::All => &Detail::ALL,
        }
    }
}
