//! What can go wrong with a result store, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use crate::diag::Diag;

use super::{FORMAT, PointKey};

/// A point whose record is not what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoilt {
    /// The point.
    pub key: PointKey,
    /// What it is, in words, where that is known.
    pub name: Option<String>,
}

/// So many spoilt points are named.
const MOST_NAMED: usize = 3;

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
    #[error("the result store `{}` is damaged{}: {detail}{}", path.display(), if points.is_empty() { " or is something else" } else { "" }, named(points))]
    Damaged {
        /// The store.
        path: PathBuf,
        /// What was found.
        detail: String,
        /// The points that are known to be spoilt.
        points: Vec<Spoilt>,
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
    /// It would be thrown away before it is copied.
    #[error("the result store `{}` is to be thrown away and is one of the parts", path.display())]
    OwnPart {
        /// The store.
        path: PathBuf,
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

/// Points as the end of a sentence.
fn named(points: &[Spoilt]) -> String {
    let words = points.iter().take(MOST_NAMED).map(|point| {
        let name = point.name.clone();
        name.unwrap_or_else(|| format!("point {}", point.key))
    });
    let mut words: Vec<String> = words.collect();
    if points.len() > MOST_NAMED {
        words.push(format!("and {} more", points.len() - MOST_NAMED));
    }
    match words.is_empty() {
        true => String::new(),
        false => format!(": {}", words.join("; ")),
    }
}

/// What a file gives that ends early or holds what it cannot.
fn is_damage(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}

impl StoreError {
    pub(super) fn damaged(path: &Path, detail: impl Into<String>) -> StoreError {
        StoreError::Damaged {
            path: path.to_path_buf(),
            detail: detail.into(),
            points: Vec::new(),
        }
    }

    /// The database's pages do not go together.
    pub(super) fn contradictory(path: &Path) -> StoreError {
        Self::damaged(path, "its pages contradict each other")
    }

    pub(super) fn of_io(path: &Path, error: io::Error) -> StoreError {
        StoreError::Io {
            path: path.to_path_buf(),
            error,
        }
    }

    /// With the names of the points that are told.
    pub fn naming(mut self, name: impl Fn(&PointKey) -> Option<String>) -> StoreError {
        if let StoreError::Damaged { points, .. } = &mut self {
            for point in points.iter_mut().take(MOST_NAMED) {
                point.name = name(&point.key).or(point.name.take());
            }
        }
        self
    }

    /// With the numbers that points have in their study.
    pub fn numbered(self, study: &[PointKey]) -> StoreError {
        self.naming(|key| {
            let place = study.iter().position(|known| known == key)?;
            Some(format!("point {} of {}", place + 1, study.len()))
        })
    }

    pub(super) fn opening(path: &Path, error: redb::DatabaseError) -> StoreError {
        match error {
            redb::DatabaseError::DatabaseAlreadyOpen => StoreError::Locked {
                path: path.to_path_buf(),
            },
            redb::DatabaseError::UpgradeRequired(version) => Self::damaged(
                path,
                format!("file format {version} of the embedded database is no longer read"),
            ),
            redb::DatabaseError::Storage(redb::StorageError::Io(error)) if !is_damage(&error) => {
                Self::of_io(path, error)
            }
            other => Self::damaged(path, other.to_string()),
        }
    }

    pub(super) fn using(path: &Path, error: redb::Error) -> StoreError {
        match error {
            redb::Error::Io(error) if !is_damage(&error) => Self::of_io(path, error),
            redb::Error::PreviousIo => Self::of_io(
                path,
                io::Error::other("it failed before, and is not tried again"),
            ),
            other => Self::damaged(path, other.to_string()),
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
                "`warpwatt run` of its study with `--repair` keeps the points that are whole and computes the others again; `--fresh` starts over",
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
            StoreError::OwnPart { .. } => (
                "store::own_part",
                "merge without `--fresh`, or into another directory",
            ),
            StoreError::Conflict { .. } => (
                "store::conflict",
                "equal inputs have equal outcomes: one of the stores was damaged or written by a changed program; run its part again with `--fresh`",
            ),
        };
        Diag::error(code, self.to_string()).help(help)
    }
}
