//! What a study is about: kernels that are executed, and kernels that another tool counted.

use warpwatt_suite::Lower;

use super::counted::CountedKernel;
use super::kernel::LoadedKernel;
use crate::outcome::KernelName;

/// What a study runs, or only prices.
#[derive(Debug)]
pub enum Subject {
    /// A kernel that is executed: as one GPU or another of the study runs it.
    Executed(Box<LoadedKernel>, Vec<LoadedKernel>),
    /// A kernel that another tool counted.
    Counted(Box<CountedKernel>),
}

impl Subject {
    /// Its name.
    pub fn name(&self) -> &KernelName {
        match self {
            Self::Executed(loaded, _) => &loaded.name,
            Self::Counted(counted) => &counted.name,
        }
    }

    /// The hash of everything that decides what it does.
    pub fn hash(&self) -> &str {
        match self {
            Self::Executed(loaded, _) => &loaded.hash,
            Self::Counted(counted) => &counted.hash,
        }
    }

    /// The program as a GPU runs it that lowers PTX so, if there is one.
    pub fn loaded(&self, lower: Lower) -> Option<&LoadedKernel> {
        match self {
            Self::Executed(loaded, others) => {
                let other = others.iter().find(|other| other.lower == lower);
                Some(other.unwrap_or(loaded))
            }
            Self::Counted(_) => None,
        }
    }

    /// The counts of another tool, if they are what there is.
    pub fn counted(&self) -> Option<&CountedKernel> {
        match self {
            Self::Executed(..) => None,
            Self::Counted(counted) => Some(counted),
        }
    }
}
