//! `manifest.json`: what a study's results were made from and what they were, in one file that can be kept, sent and run again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::common::Met;
use super::{Manifest, point};
use crate::digest::hex;
use crate::outcome::Outcome;

/// The file's name in a results directory.
pub const RECORD: &str = "manifest.json";

/// The layout of the file.
const FORMAT: u64 = 4;

/// Up to so many points each has its own digest; larger studies have the one of all.
const MOST_DIGESTS: usize = 100_000;

/// SHA-256 of files by their names.
pub type Files = BTreeMap<String, String>;

/// What the file holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The layout of the file.
    pub format: u64,
    /// Everything that the results were made from.
    #[serde(flatten)]
    pub manifest: Manifest,
    /// SHA-256 of the digests of all outcomes in their order.
    pub results: String,
    /// The digest of each outcome, in the order of the points, unless there are too many: SHA-256 of four things, the first three by their own
    /// SHA-256: the outcome's JSON without notes and with zeros for what goes with supply and temperature, the notes' JSON, what structures cost, and the figures that
    /// are the point's own, both eight bytes a figure.
    pub outcomes: Vec<String>,
    /// The files of the report beside this one.
    #[serde(default, skip_serializing_if = "Files::is_empty")]
    pub files: Files,
}

/// Digests of outcomes as they come, in point order.
#[derive(Debug, Default)]
pub struct Digests {
    all: Sha256,
    count: usize,
    /// Of each, unless there are too many.
    each: Vec<String>,
}

/// Finds digests of outcomes. What these have in common is looked at once.
#[derive(Debug, Default)]
pub struct Digester(Met);

impl Digester {
    /// Of one; zeros if it cannot be written.
    pub fn of(&self, outcome: Outcome) -> [u8; 32] {
        let parts = self.0.parts(outcome);
        parts.map_or([0; 32], |parts| point::digest(&point::encode(&parts)))
    }
}

impl Digests {
    /// The next point's.
    pub fn add(&mut self, digest: &[u8; 32]) {
        self.all.update(digest);
        if self.count <= MOST_DIGESTS {
            self.each.push(hex(digest));
        }
        self.count += 1;
    }

    /// Of each, unless there are too many.
    pub fn each(self) -> Vec<String> {
        if self.count <= MOST_DIGESTS {
            self.each
        } else {
            Vec::new()
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Of all of them.
    pub fn all(&self) -> String {
        hex(&self.all.clone().finalize())
    }
}

impl Record {
    /// Of a finished study.
    pub fn of(manifest: &Manifest, outcomes: &[Outcome]) -> Self {
        let mut digests = Digests::default();
        let digester = Digester::default();
        outcomes
            .iter()
            .for_each(|outcome| digests.add(&digester.of(outcome.clone())));
        Self::with(manifest, digests)
    }

    /// Of a finished study, whose outcomes have these digests.
    pub fn with(manifest: &Manifest, digests: Digests) -> Self {
        Self {
            format: FORMAT,
            manifest: manifest.clone(),
            results: digests.all(),
            outcomes: digests.each(),
            files: Files::new(),
        }
    }

    /// The file's contents.
    ///
    /// # Errors
    /// If a figure is not a number, which JSON cannot hold.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    /// From the file's contents.
    ///
    /// # Errors
    /// They are no manifest, or one of another format.
    pub fn parse(text: &str) -> Result<Self, NoRecord> {
        let damaged = |error: serde_json::Error| NoRecord::Damaged(error.to_string());
        let Layout { format } = serde_json::from_str(text).map_err(damaged)?;
        if format != FORMAT {
            return Err(NoRecord::Format(format));
        }
        serde_json::from_str(text).map_err(damaged)
    }
}

/// What says in which layout the rest is.
#[derive(Deserialize)]
struct Layout {
    format: u64,
}

/// Why a text is no manifest of this version's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoRecord {
    /// It is none, or no longer.
    #[error("{0}")]
    Damaged(String),
    /// Another version of the command wrote it.
    #[error("its format is {0}; this version reads and writes format {FORMAT}")]
    Format(u64),
}
