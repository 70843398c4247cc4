//! The files of reports beside the store: the manifest names them, so that those of other results are known and go.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::{Files, RECORD, Record, Store, StoreError};
use crate::digest::hex;
use crate::input;

impl Record {
    /// The manifest in `directory`, if there is one that can be read.
    pub fn beside(directory: &Path) -> Option<Self> {
        let text = input::text(&directory.join(RECORD), input::MANIFEST).ok()?;
        Self::parse(&text).ok()
    }

    /// Takes over the files that an earlier report of the same results left. Those of other results are returned.
    pub fn take_over(&mut self, earlier: Option<Self>) -> Files {
        let Some(mut earlier) = earlier else {
            return Files::new();
        };
        earlier
            .files
            .retain(|name, _| !self.files.contains_key(name));
        if earlier.manifest == self.manifest && earlier.results == self.results {
            self.files.append(&mut earlier.files);
        }
        earlier.files
    }
}

impl Store {
    /// Removes the store of `directory` and the files of its reports, if no other process has it open.
    ///
    /// # Errors
    /// As [`Store::remove`], or a file cannot be removed.
    pub fn clear(directory: &Path) -> Result<(), StoreError> {
        Store::remove(directory)?;
        let Some(record) = Record::beside(directory) else {
            return Ok(());
        };
        remove_files(directory, &record.files)?;
        remove(&directory.join(RECORD))
    }
}

/// Removes `files` of `directory`. One that has changed since it was written is the user's and stays.
///
/// # Errors
/// A file cannot be removed.
pub fn remove_files(directory: &Path, files: &Files) -> Result<(), StoreError> {
    for (name, hash) in files {
        let path = directory.join(name);
        // Who edits a manifest cannot reach out of its directory.
        let is_here = path.parent() == Some(directory);
        if is_here && hash_of(&path).is_ok_and(|found| found == *hash) {
            remove(&path)?;
        }
    }
    Ok(())
}

fn remove(path: &Path) -> Result<(), StoreError> {
    fs::remove_file(path).map_err(|error| StoreError::of_io(path, error))
}

/// SHA-256 of a file.
///
/// # Errors
/// It cannot be read.
pub fn hash_of(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut file = BufReader::new(File::open(path)?);
    loop {
        let piece = file.fill_buf()?;
        if piece.is_empty() {
            return Ok(hex(&hash.finalize()));
        }
        hash.update(piece);
        let read = piece.len();
        file.consume(read);
    }
}

/// SHA-256 of files that are yet to be written, by their names.
pub fn hashes(files: &[(String, Vec<u8>)]) -> Files {
    let hashed = files
        .iter()
        .map(|(name, contents)| (name.clone(), hex(&Sha256::digest(contents))));
    hashed.collect()
}
