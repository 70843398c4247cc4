//! What can go wrong with a result store, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use crate::diag::Diag;

use super::FORMAT;

/// A result store that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no store.
    #[error("there is no result store at `{}`", path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// The file system refuses.
    #[error("cannot write `{}`: {error}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Another process has it open.
    #[error("the result store `{}` is in use by another process", path.display())]
    Locked {
        /// The store.
        path: PathBuf,
    },
    /// It is not a store or no longer one.
    #[error("the result store `{}` is damaged or is something else: {detail}", path.display())]
    Damaged {
        /// The store.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// Another version of the command wrote it.
    #[error("the result store `{}` has format {found}; this version reads and writes format {FORMAT}", path.display())]
    Format {
        /// The store.
        path: PathBuf,
        /// The format it names.
        found: String,
    },
    /// Nothing says what study its points belong to.
    #[error("no study was finished in the result store `{}`", path.display())]
    NoStudy {
        /// The store.
        path: PathBuf,
    },
    /// It is about another study.
    #[error("the result stores `{}` and `{}` are not of one study: {difference}", path.display(), other.display())]
    OtherStudy {
        /// The store.
        path: PathBuf,
        /// One that was looked at before.
        other: PathBuf,
        /// What they differ in.
        difference: String,
    },
    /// Another study's results are in it.
    #[error("the result store `{}` belongs to the study `{owner}`, not to `{title}`", path.display())]
    Taken {
        /// The store.
        path: PathBuf,
        /// The title of the study whose results it holds.
        owner: String,
        /// The title of the study that wants to write to it.
        title: String,
    },
    /// It holds another outcome for a point than another store.
    #[error("the result store `{}` holds another outcome for the point {key} than a store before it", path.display())]
    Conflict {
        /// The store.
        path: PathBuf,
        /// The point.
        key: String,
    },
}

impl StoreError {
    pub(super) fn opening(path: &Path, error: redb::DatabaseError) -> StoreError {
        let path = path.to_path_buf();
        match error {
            redb::DatabaseError::DatabaseAlreadyOpen => StoreError::Locked { path },
            redb::DatabaseError::UpgradeRequired(version) => StoreError::Damaged {
                path,
                detail: format!("file format {version} of the embedded database is no longer read"),
            },
            redb::DatabaseError::Storage(redb::StorageError::Io(error))
                if error.kind() != io::ErrorKind::InvalidData =>
            {
                StoreError::Io { path, error }
            }
            other => StoreError::Damaged {
                path,
                detail: other.to_string(),
            },
        }
    }

    pub(super) fn using(path: &Path, error: redb::Error) -> StoreError {
        let path = path.to_path_buf();
        match error {
            redb::Error::Io(error) => StoreError::Io { path, error },
            other => StoreError::Damaged {
                path,
                detail: other.to_string(),
            },
        }
    }

    /// As a finding with a remedy.
    pub fn diag(&self) -> Diag {
        let (code, help) = match self {
            StoreError::Missing { .. } => (
                "store::missing",
                "name the directory that `warpwatt run` wrote its results to",
            ),
            StoreError::Io { .. } => (
                "store::unwritable",
                "choose another directory with `--out DIR`, or make this one writable",
            ),
            StoreError::Locked { .. } => (
                "store::locked",
                "wait until it has finished, or write elsewhere with `--out DIR`",
            ),
            StoreError::Damaged { .. } => (
                "store::damaged",
                "start over with `--fresh`, or write elsewhere with `--out DIR`",
            ),
            StoreError::Format { .. } => (
                "store::format",
                "start over with `--fresh`, write elsewhere with `--out DIR`, or use the version that wrote it",
            ),
            StoreError::NoStudy { .. } => (
                "store::unfinished",
                "run the study there again: it goes on where it stopped",
            ),
            StoreError::OtherStudy { .. } => (
                "store::other_study",
                "put together what `warpwatt run STUDY.toml --shard I/N` wrote for one study, by one version",
            ),
            StoreError::Taken { .. } => (
                "store::taken",
                "write elsewhere with `--out DIR`; `warpwatt run --fresh` throws away what is there",
            ),
            StoreError::Conflict { .. } => (
                "store::conflict",
                "equal inputs have equal outcomes: one of the stores was damaged or written by a changed program; run its part again with `--fresh`",
            ),
        };
        Diag::error(code, self.to_string()).help(help)
    }
}
