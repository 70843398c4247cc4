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
        };
        Diag::error(code, self.to_string()).help(help)
    }
}
