//! Files that others see whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::diag::Diag;

/// Puts `bytes` at `path`, by way of the file `part` in the same file system. What is there survives a power cut.
pub fn replace(part: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let written = File::create(part).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let placed = written.and_then(|()| fs::rename(part, path));
    if placed.is_err() {
        let _ = fs::remove_file(part);
    }
    placed
}

/// Makes an empty file that was not there; says whether it did.
pub fn begin(path: &Path) -> io::Result<bool> {
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Renames a file; says whether it was there to be renamed.
///
/// A file system over a network may repeat a request whose answer was lost, and then say that there is no such file: what counts is whether the new name is there.
/// Nobody else gives a file that name.
pub fn moved(from: &Path, to: &Path) -> io::Result<bool> {
    match fs::rename(from, to) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => to.try_exists(),
        Err(error) => Err(error),
    }
}

/// Removes a file, if it is there.
pub fn removed(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        ended => ended,
    }
}

/// The names of a folder's files in ascending order, without those that begin with a dot: these are not whole.
pub fn names(folder: &Path) -> Result<Vec<String>, Diag> {
    let listed = || -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if !name.starts_with('.') {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    };
    listed().map_err(|error| unusable(folder, &error))
}

/// The name of a file of `folder` until it is whole.
pub fn part_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!(".{name}.part"))
}

/// What is said where a queue's files cannot be read or written.
pub fn unusable(path: &Path, error: &io::Error) -> Diag {
    let message = format!("cannot use `{}`: {error}", path.display());
    Diag::error("fleet::unusable", message)
        .help("the queue's directory must be there and writable for every machine that works on it")
}
