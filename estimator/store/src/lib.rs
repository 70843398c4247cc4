//! The result store: one file with every finished point, written a batch at a time.
//!
//! A point's key is the hash of everything that decides its result, so that points are shared between studies, resumed after a kill and
//! never computed twice. Nothing in the file depends on the clock, the host or the number of threads: the same points written in the same order are the same bytes.

mod error;
mod files;
mod key;
mod manifest;
mod merge;
mod owner;
mod point;
mod recipes;
mod record;

use warpwatt_input::{diag, input};
use warpwatt_pricing::{digest, outcome, recipe, uncertainty};
use warpwatt_study as study;

pub use error::StoreError;
pub use files::{hash_of, hashes, remove_files};
pub use key::PointKey;
pub use manifest::Manifest;
pub use merge::{Merged, merge};
pub use record::{Digests, Files, RECORD, Record};
pub use warpwatt_study::goal::Budget;

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use redb::{Builder, Database, DatabaseError, ReadOnlyDatabase, ReadableDatabase, TableDefinition};

use crate::outcome::Outcome;

/// The version of the store's layout and of the outcomes in it. Raise it when either changes its meaning.
pub const FORMAT: u64 = 4;

/// The store's file in a results directory.
pub const FILE_NAME: &str = "results.redb";

const META: TableDefinition<'_, &str, &str> = TableDefinition::new("meta");
const MANIFEST: &str = "manifest";
const PART: &str = "part";

const POINTS: TableDefinition<'_, &[u8; 32], &[u8]> = TableDefinition::new("points");

/// An open result store. No other process can open it meanwhile.
#[derive(Debug)]
pub struct Store {
    database: Handle,
    path: PathBuf,
    /// What opening it made, to be taken back if nothing came of it.
    made: Made,
}

/// Opening a database for writing changes its bytes even if nothing is written, so what is only read is opened for reading.
enum Handle {
    Writable(Database),
    ReadOnly(ReadOnlyDatabase),
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Handle::Writable(_) => "writable",
            Handle::ReadOnly(_) => "read-only",
        })
    }
}

impl Handle {
    fn begin_read(&self) -> Result<redb::ReadTransaction, redb::TransactionError> {
        match self {
            Handle::Writable(database) => database.begin_read(),
            Handle::ReadOnly(database) => database.begin_read(),
        }
    }

    fn begin_write(&self) -> Result<redb::WriteTransaction, redb::Error> {
        match self {
            Handle::Writable(database) => Ok(database.begin_write()?),
            Handle::ReadOnly(_) => Err(redb::Error::Unsupported),
        }
    }
}

#[derive(Debug, Default)]
struct Made {
    directories: Vec<PathBuf>,
    file: bool,
}

impl Store {
    /// Opens the store in `directory`, and makes both if they are not there.
    ///
    /// # Errors
    /// The directory or file cannot be written, is locked by another process, is damaged, or has another format.
    pub fn open(directory: &Path) -> Result<Store, StoreError> {
        let made = make_directories(directory)?;
        let path = directory.join(FILE_NAME);
        check_format(&path)?;
        let made = Made {
            file: !path.exists(),
            ..made
        };
        let opened = cached()
            .create(&path)
            .map_err(|error| StoreError::opening(&path, error));
        let store = match opened {
            Ok(database) => Store {
                database: Handle::Writable(database),
                path,
                made,
            },
            Err(error) => {
                made.undo(&path);
                return Err(error);
            }
        };
        if store.meta("format")?.is_none() {
            store.put_meta("format", &FORMAT.to_string())?;
        }
        Ok(store)
    }

    /// Opens the store in `directory` for reading; its bytes do not change, unless a kill left it open and it must be repaired.
    ///
    /// # Errors
    /// As [`Store::open`], and when there is none.
    pub fn open_existing(directory: &Path) -> Result<Store, StoreError> {
        let path = directory.join(FILE_NAME);
        if !path.is_file() {
            return Err(StoreError::Missing { path });
        }
        check_format(&path)?;
        match cached().open_read_only(&path) {
            Ok(database) => Ok(Store {
                database: Handle::ReadOnly(database),
                path,
                made: Made::default(),
            }),
            Err(DatabaseError::RepairAborted) => Store::open(directory),
            Err(error) => Err(StoreError::opening(&path, error)),
        }
    }

    /// Removes the store of `directory`, if there is one and no other process has it open.
    ///
    /// # Errors
    /// It is open elsewhere or cannot be removed. A damaged store or one of another format is removed.
    pub fn remove(directory: &Path) -> Result<(), StoreError> {
        let path = directory.join(FILE_NAME);
        if !path.exists() {
            return Ok(());
        }
        if let Err(redb::DatabaseError::DatabaseAlreadyOpen) = Database::open(&path) {
            return Err(StoreError::Locked { path });
        }
        fs::remove_file(&path).map_err(|error| StoreError::Io { path, error })
    }

    /// Where the store is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The point under `key`, if it is finished.
    ///
    /// # Errors
    /// The file cannot be read or what it holds is no outcome.
    pub fn get(&self, key: &PointKey) -> Result<Option<Outcome>, StoreError> {
        let mut found = self.outcomes(std::slice::from_ref(key))?;
        Ok(found.pop().map(|(outcome, _)| outcome))
    }

    /// The finished points under `keys`, in their order, each with SHA-256 of its JSON.
    ///
    /// # Errors
    /// As [`Store::get`].
    pub fn outcomes(&self, keys: &[PointKey]) -> Result<Vec<(Outcome, [u8; 32])>, StoreError> {
        let stored = keys.iter().zip(self.stored(keys)?);
        let found = stored.filter_map(|(key, bytes)| Some((key, bytes?)));
        found
            .map(|(key, bytes)| {
                point::decode(&bytes)
                    .map_err(|error| self.damaged(&format!("point {key}: {error}")))
            })
            .collect()
    }

    /// Which of the points are finished.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn held(&self, keys: &[PointKey]) -> Result<Vec<bool>, StoreError> {
        self.look_up(keys, |found| found.is_some())
    }

    /// The points under `keys` as they are stored.
    ///
    /// # Errors
    /// The file cannot be read.
    fn stored(&self, keys: &[PointKey]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.look_up(keys, |found| found.map(<[u8]>::to_vec))
    }

    fn look_up<T>(
        &self,
        keys: &[PointKey],
        take: impl Fn(Option<&[u8]>) -> T,
    ) -> Result<Vec<T>, StoreError> {
        self.guard(|| {
            let read = self.database.begin_read()?;
            let points = match read.open_table(POINTS) {
                Err(redb::TableError::TableDoesNotExist(_)) => {
                    return Ok(keys.iter().map(|_| take(None)).collect());
                }
                table => table?,
            };
            keys.iter()
                .map(|key| {
                    Ok(take(
                        points.get(&key.0)?.as_ref().map(|bytes| bytes.value()),
                    ))
                })
                .collect()
        })
    }

    /// Writes a finished point.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn put(&self, key: &PointKey, outcome: &Outcome) -> Result<(), StoreError> {
        self.put_all(&[(*key, outcome)])
    }

    /// Writes finished points in one transaction: all of them are there after a kill, or none.
    ///
    /// # Errors
    /// The file cannot be written; then none of them is there.
    pub fn put_all(&self, points: &[(PointKey, &Outcome)]) -> Result<(), StoreError> {
        let encoded = points.iter().map(|(key, outcome)| {
            let bytes = point::encode(outcome);
            Ok((
                *key,
                bytes.map_err(|error| self.damaged(&error.to_string()))?,
            ))
        });
        let encoded: Result<Vec<_>, StoreError> = encoded.collect();
        self.put_stored(&encoded?)
    }

    /// As [`Store::put_all`], for points as they are stored.
    fn put_stored(&self, points: &[(PointKey, Vec<u8>)]) -> Result<(), StoreError> {
        self.guard(|| {
            let write = self.database.begin_write()?;
            {
                let mut table = write.open_table(POINTS)?;
                for (key, bytes) in points {
                    table.insert(&key.0, bytes.as_slice())?;
                }
            }
            write.commit()?;
            Ok(())
        })
    }

    /// How many points are finished, of this study or of others.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn len(&self) -> Result<u64, StoreError> {
        use redb::ReadableTableMetadata;
        self.guard(|| match self.database.begin_read()?.open_table(POINTS) {
            Err(redb::TableError::TableDoesNotExist(_)) => Ok(0),
            table => Ok(table?.len()?),
        })
    }

    /// Whether no point is finished.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn is_empty(&self) -> Result<bool, StoreError> {
        Ok(self.len()? == 0)
    }

    /// Writes what the results were made from and which points belong to the study, unless exactly that is there already.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn put_manifest(&self, manifest: &Manifest) -> Result<(), StoreError> {
        self.put_json(MANIFEST, manifest)
    }

    /// As [`Store::put_manifest`], for a study of which the store holds a part.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn put_part(&self, manifest: &Manifest) -> Result<(), StoreError> {
        self.put_json(PART, manifest)
    }

    /// What the results were made from; `None` in a store in which no study was finished.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn manifest(&self) -> Result<Option<Manifest>, StoreError> {
        self.json(MANIFEST)
    }

    /// The study that the store holds a part of, if it does.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn part(&self) -> Result<Option<Manifest>, StoreError> {
        self.json(PART)
    }

    fn put_json(&self, name: &str, value: &impl Serialize) -> Result<(), StoreError> {
        let text =
            serde_json::to_string(value).map_err(|error| self.damaged(&error.to_string()))?;
        self.put_meta(name, &text)
    }

    /// Writes a text, unless exactly that is there already.
    fn put_meta(&self, name: &str, text: &str) -> Result<(), StoreError> {
        if self.meta(name)?.as_deref() == Some(text) {
            return Ok(());
        }
        self.guard(|| {
            let write = self.database.begin_write()?;
            write.open_table(META)?.insert(name, text)?;
            write.commit()?;
            Ok(())
        })
    }

    fn json<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, StoreError> {
        let text = self.meta(name)?;
        text.map(|text| {
            serde_json::from_str(&text).map_err(|error| self.damaged(&format!("{name}: {error}")))
        })
        .transpose()
    }

    /// Closes the store; takes back the file and the directories that opening it made if no point was finished.
    pub fn close(self) {
        let unused = self.made.file && self.is_empty().unwrap_or(false);
        let Store {
            database,
            path,
            made,
        } = self;
        drop(database);
        if unused {
            made.undo(&path);
        }
    }

    fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        self.guard(|| {
            let read = self.database.begin_read()?;
            match read.open_table(META) {
                Err(redb::TableError::TableDoesNotExist(_)) => Ok(None),
                table => Ok(table?.get(key)?.map(|value| value.value().to_owned())),
            }
        })
    }

    fn guard<T>(&self, work: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, StoreError> {
        work().map_err(|error| StoreError::using(&self.path, error))
    }

    fn damaged(&self, detail: &str) -> StoreError {
        StoreError::Damaged {
            path: self.path.clone(),
            detail: detail.to_owned(),
        }
    }
}

/// What of a store is in memory at once.
const CACHE_BYTES: usize = 128 << 20;

/// A way to open a store of any size in bounded memory.
fn cached() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_BYTES);
    builder
}

/// Checks the format of the store at `path`, if there is one, without writing to it: a store of another format stays as it is. A store that a kill left
/// open is checked after it was repaired.
fn check_format(path: &Path) -> Result<(), StoreError> {
    if !path.metadata().is_ok_and(|file| file.len() > 0) {
        return Ok(());
    }
    let format = match ReadOnlyDatabase::open(path) {
        Ok(database) => format_of(&database),
        Err(DatabaseError::RepairAborted) => {
            let database =
                Database::open(path).map_err(|error| StoreError::opening(path, error))?;
            format_of(&database)
        }
        Err(error) => return Err(StoreError::opening(path, error)),
    };
    let found = format.map_err(|error| StoreError::using(path, error))?;
    match found {
        Some(found) if found != FORMAT.to_string() => Err(StoreError::Format {
            path: path.to_path_buf(),
            found,
        }),
        // None was written if a kill came right after the file was made.
        Some(_) | None => Ok(()),
    }
}

fn format_of(database: &impl ReadableDatabase) -> Result<Option<String>, redb::Error> {
    match database.begin_read()?.open_table(META) {
        Err(redb::TableError::TableDoesNotExist(_)) => Ok(None),
        table => Ok(table?.get("format")?.map(|value| value.value().to_owned())),
    }
}

/// Makes `directory` and its parents; remembers which were not there before.
fn make_directories(directory: &Path) -> Result<Made, StoreError> {
    let missing: Vec<PathBuf> = directory
        .ancestors()
        .take_while(|path| !path.as_os_str().is_empty() && !path.exists())
        .map(Path::to_path_buf)
        .collect();
    fs::create_dir_all(directory).map_err(|error| StoreError::Io {
        path: directory.to_path_buf(),
        error,
    })?;
    Ok(Made {
        directories: missing,
        file: false,
    })
}

impl Made {
    /// Removes what was made. A directory that something else was put into stays, so failures are no concern.
    fn undo(self, file: &Path) {
        if self.file {
            let _ = fs::remove_file(file);
        }
        for directory in self.directories {
            let _ = fs::remove_dir(directory);
        }
    }
}

#[cfg(test)]
mod tests;
