//! The life of a store's file: made whole or not at all, looked over before it is written to, taken back if nothing came of it.

use std::fs;
use std::path::{Path, PathBuf};

use super::common::Met;
use super::database::{Handle, Layer, Mode, PLAIN, is_open_elsewhere};
use super::index::Index;
use super::{FILE_NAME, FORMAT, FORMAT_KEY, META, PointKey, Store, StoreError, format};

/// What is made or mended has this name until it is whole.
const PART_NAME: &str = ".results.redb.part";

/// What opening a store made.
#[derive(Debug, Default)]
pub(super) struct Made {
    directories: Vec<PathBuf>,
    file: bool,
}

impl Store {
    /// The store in this database, of which nothing was read yet.
    fn of(database: Handle, path: PathBuf, made: Made) -> Self {
        Self {
            database,
            path,
            made,
            witness: None,
            met: Met::default(),
            index: Index::default(),
        }
    }

    /// Opens the store in `directory`, and makes both if they are not there.
    ///
    /// # Errors
    /// The directory or file cannot be written, is locked by another process, is damaged, or has another format.
    pub fn open(directory: &Path) -> Result<Store, StoreError> {
        Self::open_through(directory, None, PLAIN)
    }

    /// Opens the store in `directory` for the study of this title, to which it belongs from then on.
    ///
    /// # Errors
    /// As [`Store::open`], and if it belongs to another study; then it has not changed.
    pub fn open_for(directory: &Path, title: &str) -> Result<Store, StoreError> {
        Self::open_through(directory, Some(title), PLAIN)
    }

    /// As [`Store::open_for`], with something between the store and its file.
    ///
    /// # Errors
    /// As [`Store::open_for`].
    pub fn open_through(
        directory: &Path,
        title: Option<&str>,
        layer: Layer<'_>,
    ) -> Result<Store, StoreError> {
        let mut made = make_directories(directory)?;
        let path = directory.join(FILE_NAME);
        let opened = open_file(&path, title, layer, &mut made);
        let store = match opened {
            Ok(database) => Store::of(database, path, made),
            Err(error) => {
                made.undo(&path);
                return Err(error);
            }
        };
        let noted = title.map_or(Ok(()), |title| store.own(title));
        match noted {
            Ok(()) => Ok(store),
            Err(error) => {
                store.close();
                Err(error)
            }
        }
    }

    /// Opens the store in `directory` for reading; its bytes do not change, even if a kill left it open.
    ///
    /// # Errors
    /// There is none, it is open for writing elsewhere, is damaged, or has another format.
    pub fn open_existing(directory: &Path) -> Result<Store, StoreError> {
        let path = directory.join(FILE_NAME);
        if !is_there(&path) {
            return Err(StoreError::Missing { path });
        }
        Self::reading(path, PLAIN)
    }

    /// The store of `path` for reading.
    pub(super) fn reading(path: PathBuf, layer: Layer<'_>) -> Result<Store, StoreError> {
        let database = Handle::open(&path, Mode::Reading, layer)?;
        let store = Store::of(database, path, Made::default());
        store.check_format()?;
        Ok(store)
    }

    fn check_format(&self) -> Result<(), StoreError> {
        match self.database.read(format)? {
            Some(found) if found != FORMAT.to_string() => Err(StoreError::Format {
                path: self.path.clone(),
                found,
            }),
            // None was written if nothing was.
            Some(_) | None => Ok(()),
        }
    }

    /// Removes the store of `directory`, if there is one and no other process has it open, with what a kill left of making it.
    ///
    /// # Errors
    /// It is open elsewhere or cannot be removed. A damaged store or one of another format is removed.
    pub fn remove(directory: &Path) -> Result<(), StoreError> {
        sweep(directory)?;
        let path = directory.join(FILE_NAME);
        remove_closed(&path)
    }

    /// Closes the store; takes back the file and the directories that opening it made if no point was finished.
    pub fn close(self) {
        let unused = self.made.file && self.is_empty().unwrap_or(false);
        let Store {
            database,
            path,
            made,
            ..
        } = self;
        drop(database);
        if unused {
            made.undo(&path);
        }
    }
}

/// Whether there is a file with something in it.
pub(super) fn is_there(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|file| file.is_file() && file.len() > 0)
}

/// Opens the file for writing: a new one if there is none or nothing is in it, else one that was looked over.
fn open_file(
    path: &Path,
    title: Option<&str>,
    layer: Layer<'_>,
    made: &mut Made,
) -> Result<Handle, StoreError> {
    let directory = path.parent().unwrap_or(Path::new(""));
    sweep(directory)?;
    if path.exists() && !path.metadata().is_ok_and(|file| file.len() == 0) {
        look_over(path, title, layer)?;
    } else {
        made.file = create(path, layer)?;
    }
    let database = Handle::open(path, Mode::Writing, layer)?;
    if database.read(format)?.is_none() {
        write_format(&database)?;
    }
    Ok(database)
}

/// Checks everything that can be wrong with a store, and does not change it. What a database would mend by falling back to an older commit is
/// damage: points would be lost without a word.
pub(super) fn look_over(
    path: &Path,
    title: Option<&str>,
    layer: Layer<'_>,
) -> Result<(), StoreError> {
    let mut store = Store::reading(path.to_path_buf(), layer)?;
    if let Err(error) = store.database.check() {
        drop(store);
        return Err(told_more(error, path, layer));
    }
    title.map_or(Ok(()), |title| store.check_owner(title))
}

/// The error, with the points that can be told to be spoilt. What is damaged may be anything but a point.
fn told_more(error: StoreError, path: &Path, layer: Layer<'_>) -> StoreError {
    let found = Store::reading(path.to_path_buf(), layer).and_then(|store| {
        let study = match store.manifest()? {
            None => store.part()?,
            finished => finished,
        };
        let keys: Vec<PointKey> = study.map_or_else(Vec::new, |study| study.points);
        store.held(&keys).map_err(|error| error.numbered(&keys))
    });
    match (error, found) {
        (StoreError::Damaged { .. }, Err(told @ StoreError::Damaged { .. })) => told,
        (error, _) => error,
    }
}

/// Makes an empty store beside `path` and puts it there, unless another process was faster; says whether it did.
fn create(path: &Path, layer: Layer<'_>) -> Result<bool, StoreError> {
    let part = path.with_file_name(PART_NAME);
    let made = Handle::open(&part, Mode::Writing, layer).and_then(|database| {
        // The lock on the part keeps others from making one.
        if is_there(path) {
            return Ok(false);
        }
        write_format(&database)?;
        drop(database);
        put_in_place(&part, path).map(|()| true)
    });
    if !matches!(made, Ok(_) | Err(StoreError::Locked { .. })) {
        let _ = fs::remove_file(&part);
    }
    made
}

/// The file in which a store is made beside the one of `path`, with the store's format.
pub(super) fn begin(path: &Path, layer: Layer<'_>) -> Result<Store, StoreError> {
    let part = path.with_file_name(PART_NAME);
    let database = Handle::open(&part, Mode::Writing, layer)?;
    write_format(&database)?;
    Ok(Store::of(database, part, Made::default()))
}

/// Puts what is whole in its place, for good.
pub(super) fn put_in_place(part: &Path, path: &Path) -> Result<(), StoreError> {
    fs::rename(part, path).map_err(|error| StoreError::of_io(path, error))?;
    // The new name survives a power cut from here on. Not every system can do that.
    if let Some(directory) = path.parent().and_then(|path| fs::File::open(path).ok()) {
        let _ = directory.sync_all();
    }
    Ok(())
}

fn write_format(database: &Handle) -> Result<(), StoreError> {
    database.write(|write| {
        let mut meta = write.open_table(META)?;
        meta.insert(FORMAT_KEY, FORMAT.to_string().as_str())?;
        Ok(())
    })
}

/// Removes what a kill left of a store that was being made.
pub(super) fn sweep(directory: &Path) -> Result<(), StoreError> {
    remove_closed(&directory.join(PART_NAME))
}

fn remove_closed(path: &Path) -> Result<(), StoreError> {
    if !path.exists() {
        return Ok(());
    }
    if is_open_elsewhere(path) {
        let path = path.with_file_name(FILE_NAME);
        return Err(StoreError::Locked { path });
    }
    fs::remove_file(path).map_err(|error| StoreError::of_io(path, error))
}

/// Makes `directory` and its parents; remembers which were not there before.
fn make_directories(directory: &Path) -> Result<Made, StoreError> {
    let missing: Vec<PathBuf> = directory
        .ancestors()
        .take_while(|path| !path.as_os_str().is_empty() && !path.exists())
        .map(Path::to_path_buf)
        .collect();
    fs::create_dir_all(directory).map_err(|error| StoreError::of_io(directory, error))?;
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
