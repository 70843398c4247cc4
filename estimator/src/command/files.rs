//! Files written whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::diag::{Diag, Rejection};

/// Writes all `files` (name in `directory`, contents): each is complete under another name before the first one takes its place.
///
/// # Errors
/// A file cannot be written; then none of them has changed, unless the file system fails between two renames.
pub fn write_all(directory: &Path, files: &[(String, impl AsRef<[u8]>)]) -> Result<(), Rejection> {
    let mut waiting = Vec::new();
    for (name, contents) in files {
        let target = directory.join(name);
        let temporary = directory.join(format!(".{name}.part"));
        if let Err(error) = fs::write(&temporary, contents) {
            discard(
                waiting
                    .iter()
                    .map(|(temporary, _)| temporary)
                    .chain([&temporary]),
            );
            return Err(unwritable(&target, &error));
        }
        waiting.push((temporary, target));
    }
    for (temporary, target) in &waiting {
        if let Err(error) = fs::rename(temporary, target) {
            discard(waiting.iter().map(|(temporary, _)| temporary));
            return Err(unwritable(target, &error));
        }
    }
    Ok(())
}

/// Writes one file.
///
/// # Errors
/// It cannot be written; then it has not changed.
pub fn write_one(path: &Path, contents: &[u8]) -> Result<(), Rejection> {
    let directory = path.parent().unwrap_or(Path::new(""));
    match path.file_name() {
        Some(name) => write_all(
            directory,
            &[(name.to_string_lossy().into_owned(), contents)],
        ),
        None => Err(unwritable(
            path,
            &io::Error::from(io::ErrorKind::IsADirectory),
        )),
    }
}

/// A file that is written piece by piece under another name and takes its place when it is complete; if it never is, nothing is left of it.
#[derive(Debug)]
pub struct PartFile {
    out: BufWriter<File>,
    target: PathBuf,
    temporary: PathBuf,
    committed: bool,
    error: Option<io::Error>,
}

impl PartFile {
    /// Begins a file that will be `path`.
    ///
    /// # Errors
    /// Nothing can be written there.
    pub fn create(path: &Path) -> Result<Self, Rejection> {
        let Some(name) = path.file_name().filter(|_| !path.is_dir()) else {
            let error = io::Error::from(io::ErrorKind::IsADirectory);
            return Err(unwritable(path, &error));
        };
        let temporary = path.with_file_name(format!(".{}.part", name.to_string_lossy()));
        let file = File::create(&temporary).map_err(|error| unwritable(path, &error))?;
        Ok(Self {
            out: BufWriter::new(file),
            target: path.to_path_buf(),
            temporary,
            committed: false,
            error: None,
        })
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// Something could not be written, whenever that was.
    pub fn commit(mut self) -> Result<(), Rejection> {
        let flushed = match self.error.take() {
            Some(error) => Err(error),
            None => self.out.flush(),
        };
        flushed
            .and_then(|()| fs::rename(&self.temporary, &self.target))
            .map_err(|error| unwritable(&self.target, &error))?;
        self.committed = true;
        Ok(())
    }
}

/// The first fault is kept for [`PartFile::commit`]; what comes after it is thrown away.
impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.error.is_none() {
            self.error = self.out.write_all(bytes).err();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if !self.committed {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

fn discard<'p>(temporaries: impl Iterator<Item = &'p PathBuf>) {
    for temporary in temporaries {
        let _ = fs::remove_file(temporary);
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Rejection {
    Diag::error(
        "output::unwritable",
        format!("cannot write `{}`: {error}", path.display()),
    )
    .help("choose a place that exists and is writable")
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_if_one_file_cannot_be() {
        let directory = std::env::temp_dir().join(format!("warpwatt-files-{}", std::process::id()));
        fs::create_dir_all(directory.join("b.txt")).unwrap();
        let files = [
            ("a.txt".to_owned(), b"1".to_vec()),
            ("missing/c.txt".to_owned(), b"2".to_vec()),
        ];
        assert!(write_all(&directory, &files).is_err());
        assert!(!directory.join("a.txt").exists());
        let left: Vec<_> = fs::read_dir(&directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["b.txt"], "no temporary file is left");
        write_all(&directory, &files[..1]).unwrap();
        assert_eq!(fs::read(directory.join("a.txt")).unwrap(), b"1");
        fs::remove_dir_all(&directory).unwrap();
    }
}
