//! The database, opened and used so that damage is an error and nothing else.

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use redb::backends::FileBackend;
use redb::{
    Builder, Database, ReadTransaction, ReadableDatabase, StorageBackend, WriteTransaction,
};

use super::StoreError;
use super::boundary::inside;
use super::medium::{Cut, Medium};

/// What of a store is in memory at once.
const CACHE_BYTES: usize = 128 << 20;

/// What lies between a store and its file: the file itself, but in tests of what disks do.
pub type Layer<'l> = &'l dyn Fn(FileBackend) -> Box<dyn StorageBackend>;

/// Nothing between a store and its file.
pub(super) const PLAIN: Layer<'static> = &|file| Box::new(file);

/// Whether what is written reaches the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// The file stays as it is: even opening a database writes to it, and one that a kill left open is put in order first.
    Reading,
    /// It does.
    Writing,
}

/// An open database. After a panic in it, it is damaged for good.
pub(super) struct Handle {
    database: Option<Database>,
    path: PathBuf,
    mode: Mode,
    cut: Cut,
    broken: AtomicBool,
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {}", self.mode, self.path.display())
    }
}

impl Handle {
    /// Opens the database of `path`; makes it, if it is to be written and is empty or not there.
    ///
    /// # Errors
    /// The file cannot be opened, is locked, or is none of a database.
    pub(super) fn open(path: &Path, mode: Mode, layer: Layer<'_>) -> Result<Self, StoreError> {
        let file = match mode {
            Mode::Reading => File::open(path),
            Mode::Writing => OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(path),
        };
        let io = |error| StoreError::of_io(path, error);
        let file = FileBackend::new(file.map_err(io)?);
        let file = layer(file.map_err(|error| StoreError::opening(path, error))?);
        let cut = Cut::default();
        let medium = match mode {
            Mode::Reading => Medium::kept(file, cut.clone()).map_err(io)?,
            Mode::Writing => Medium::direct(file, cut.clone()),
        };
        let opened = inside(|| {
            let mut builder = Builder::new();
            builder.set_cache_size(CACHE_BYTES);
            builder.create_with_backend(medium)
        });
        match opened {
            Ok(Ok(database)) => Ok(Self {
                database: Some(database),
                path: path.to_path_buf(),
                mode,
                cut,
                broken: AtomicBool::new(false),
            }),
            Ok(Err(error)) => Err(StoreError::opening(path, error)),
            Err(_) => {
                cut.now();
                Err(StoreError::contradictory(path))
            }
        }
    }

    /// Compares every page with its checksum, and what is taken and free with what is used.
    ///
    /// # Errors
    /// They differ: the file is damaged.
    pub(super) fn check(&mut self) -> Result<(), StoreError> {
        let Some(database) = &mut self.database else {
            return Err(StoreError::contradictory(&self.path));
        };
        match inside(|| database.check_integrity()) {
            Ok(Ok(true)) => Ok(()),
            Ok(Err(error)) => Err(StoreError::opening(&self.path, error)),
            // What the database would mend is the memory's copy: the older of two commits, without what was lost.
            Ok(Ok(false)) => Err(StoreError::contradictory(&self.path)),
            Err(_) => Err(self.give_up()),
        }
    }

    /// Reads in one transaction.
    ///
    /// # Errors
    /// The file cannot be read or is damaged.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&ReadTransaction) -> Result<T, redb::Error>,
    ) -> Result<T, StoreError> {
        self.guard(|database| work(&database.begin_read()?))
    }

    /// Writes in one transaction: all of it is there after a kill, or nothing.
    ///
    /// # Errors
    /// The file cannot be written or is damaged; then nothing of it is there.
    pub(super) fn write<T>(
        &self,
        work: impl FnOnce(&WriteTransaction) -> Result<T, redb::Error>,
    ) -> Result<T, StoreError> {
        if self.mode == Mode::Reading {
            return Err(StoreError::of_io(
                &self.path,
                io::ErrorKind::PermissionDenied.into(),
            ));
        }
        self.guard(|database| {
            let write = database.begin_write()?;
            let done = work(&write)?;
            write.commit()?;
            Ok(done)
        })
    }

    fn guard<T>(
        &self,
        work: impl FnOnce(&Database) -> Result<T, redb::Error>,
    ) -> Result<T, StoreError> {
        let broken = self.broken.load(Ordering::Acquire);
        let Some(database) = self.database.as_ref().filter(|_| !broken) else {
            return Err(StoreError::contradictory(&self.path));
        };
        match inside(|| work(database)) {
            Ok(done) => done.map_err(|error| StoreError::using(&self.path, error)),
            Err(_) => Err(self.give_up()),
        }
    }

    fn give_up(&self) -> StoreError {
        self.cut.now();
        self.broken.store(true, Ordering::Release);
        StoreError::contradictory(&self.path)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let database = self.database.take();
        // Closing writes; a damaged database may panic at that as at anything else.
        if inside(|| drop(database)).is_err() {
            self.cut.now();
        }
    }
}

/// Whether another process, or another handle of this one, has the database of `path` open.
pub(super) fn is_open_elsewhere(path: &Path) -> bool {
    let file = OpenOptions::new().read(true).write(true).open(path);
    let Some(file) = file.ok().and_then(|file| FileBackend::new(file).ok()) else {
        return false;
    };
    let free = file.try_lock_range(Bound::Unbounded, Bound::Unbounded);
    let _ = file.close();
    matches!(free, Ok(false))
}
