//! What a queue says of the study that it is of.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::cost::{Job, jobs, seal};
use super::write::unusable;
use crate::diag::Diag;
use crate::plan::Plan;

/// The version of a queue's files. Raise it when they change their meaning.
const FORMAT: u32 = 1;

/// The file.
pub const FILE: &str = "queue.json";

/// How long a worker may be silent, if nothing else is said.
pub const LEASE_S: u32 = 30;

/// What all who work on a queue agree on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sheet {
    format: u32,
    /// The version of the program that planned it.
    pub version: String,
    /// The study's title.
    pub title: String,
    /// The study's file, under the name that every machine reads it by.
    pub study: PathBuf,
    /// What decides all of its points.
    pub seal: String,
    /// After how many seconds without a sign of life a worker's units are taken again.
    pub lease_s: u32,
    /// The units, in the order in which they are best begun.
    pub units: Vec<Job>,
}

impl Sheet {
    /// That of a study whose file has this absolute name.
    pub fn of(study: PathBuf, title: &str, plan: &Plan, lease_s: u32) -> Self {
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            title: title.to_owned(),
            study,
            seal: seal(plan),
            lease_s,
            units: jobs(plan),
        }
    }

    /// Whether both are of the same study with the same inputs, wherever its file lies.
    pub fn is_alike(&self, other: &Self) -> bool {
        (self.format, &self.version, &self.seal) == (other.format, &other.version, &other.seal)
    }

    /// The sheet of the queue in `directory`, if there is one.
    ///
    /// # Errors
    /// It cannot be read, or another version wrote it.
    pub fn read(directory: &Path) -> Result<Option<Self>, Diag> {
        let path = directory.join(FILE);
        let bytes = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| unusable(&path, &error))?,
        };
        let sheet: Result<Self, _> = serde_json::from_slice(&bytes);
        let detail = match sheet {
            Ok(sheet) if sheet.format == FORMAT => return Ok(Some(sheet)),
            Ok(sheet) => format!(
                "it has format {}, and this version reads {FORMAT}",
                sheet.format
            ),
            Err(error) => error.to_string(),
        };
        let message = format!("`{}` is no queue of this version: {detail}", path.display());
        Err(Diag::error("fleet::format", message).help(PLAN_ANEW))
    }

    /// As a file.
    ///
    /// # Errors
    /// It cannot be written to memory.
    pub fn bytes(&self) -> Result<Vec<u8>, Diag> {
        serde_json::to_vec_pretty(self)
            .map_err(|error| Diag::error("run::defect", error.to_string()))
    }
}

/// The remedy for a directory that is of no use.
pub const PLAN_ANEW: &str = "`warpwatt plan STUDY.toml --out DIR` writes one to a new directory";
