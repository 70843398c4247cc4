//! What a study is about: kernels that are executed, kernels that another tool counted, and kernels of which all is counted already.

use serde::{Deserialize, Serialize};
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
    /// A kernel of which all that is wanted was counted before.
    Known(Box<KnownKernel>),
}

/// A kernel that is not there, only what was counted of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownKernel {
    /// Its name.
    pub name: KernelName,
    /// The hash of everything that decides what it does.
    pub hash: String,
    /// Whether another tool counted it, so that it is priced on the plain GPU alone.
    pub foreign: bool,
}

impl Subject {
    /// Its name.
    pub fn name(&self) -> &KernelName {
        match self {
            Self::Executed(loaded, _) => &loaded.name,
            Self::Counted(counted) => &counted.name,
            Self::Known(known) => &known.name,
        }
    }

    /// The hash of everything that decides what it does.
    pub fn hash(&self) -> &str {
        match self {
            Self::Executed(loaded, _) => &loaded.hash,
            Self::Counted(counted) => &counted.hash,
            Self::Known(known) => &known.hash,
        }
    }

    /// The program as a GPU runs it that lowers PTX so, if there is one.
    pub fn loaded(&self, lower: Lower) -> Option<&LoadedKernel> {
        match self {
            Self::Executed(loaded, others) => {
                let other = others.iter().find(|other| other.lower == lower);
                Some(other.unwrap_or(loaded))
            }
            Self::Counted(_) | Self::Known(_) => None,
        }
    }

    /// The counts of another tool, if they are what there is.
    pub fn counted(&self) -> Option<&CountedKernel> {
        match self {
            Self::Executed(..) | Self::Known(_) => None,
            Self::Counted(counted) => Some(counted),
        }
    }

    /// Whether another tool counted it.
    pub fn is_foreign(&self) -> bool {
        match self {
            Self::Executed(..) => false,
            Self::Counted(_) => true,
            Self::Known(known) => known.foreign,
        }
    }
}
