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
    for (name, _) in files {
        replaceable(&directory.join(name))?;
    }
    let mut waiting = Vec::new();
    for (name, contents) in files {
        let target = directory.join(name);
        let temporary = directory.join(part_of(name));
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

/// The same in a directory that is made if it is not there.
///
/// # Errors
/// Likewise, or the directory cannot be made.
pub fn write_all_into(
    directory: &Path,
    files: &[(String, impl AsRef<[u8]>)],
) -> Result<(), Rejection> {
    make(directory)?;
    write_all(directory, files)
}

/// Whether files can be written into a directory, which is made if it is not there; for those who would know only after long work.
///
/// # Errors
/// They cannot.
pub fn writable_into(directory: &Path) -> Result<(), Rejection> {
    make(directory)?;
    writable(&directory.join("any"))
}

/// Makes a directory where there is none.
fn make(directory: &Path) -> Result<(), Rejection> {
    let made = fs::create_dir_all(directory);
    made.map_err(|error| unwritable(directory, &error))
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

/// Whether a file can be written at a path, for those who would know only after long work.
///
/// # Errors
/// It cannot.
pub fn writable(path: &Path) -> Result<(), Rejection> {
    // Nothing is left of a file that is not committed.
    PartFile::create(path).map(drop)
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
        let Some(name) = path.file_name() else {
            let error = io::Error::from(io::ErrorKind::IsADirectory);
            return Err(unwritable(path, &error));
        };
        replaceable(path)?;
        let temporary = path.with_file_name(part_of(&name.to_string_lossy()));
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

/// Removes what a kill left of files of `directory` that were never complete, where `is_ours` says of a name that the file would be one of ours.
///
/// What cannot be removed is no concern: nobody reads it, and whoever writes that file next replaces it.
pub fn sweep(directory: &Path, is_ours: impl Fn(&str) -> bool) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let whole = name.to_str().and_then(whole_of);
        let is_file = || entry.file_type().is_ok_and(|kind| kind.is_file());
        if whole.is_some_and(&is_ours) && is_file() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The name of a file until it is complete.
fn part_of(name: &str) -> String {
    format!(".{name}.part")
}

/// The name of the file of which this is the name until it is complete.
fn whole_of(part: &str) -> Option<&str> {
    part.strip_prefix('.')?.strip_suffix(".part")
}

/// Whether a file may take this place: that of a device, a pipe or a directory it may not, and a device would be lost.
fn replaceable(target: &Path) -> Result<(), Rejection> {
    let Ok(there) = target.metadata() else {
        return Ok(());
    };
    if there.is_file() {
        return Ok(());
    }
    let error = match there.is_dir() {
        true => io::Error::from(io::ErrorKind::IsADirectory),
        false => io::Error::other("it is a device or a pipe, not a regular file"),
    };
    Err(unwritable(target, &error))
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

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let name = format!("warpwatt-files-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<String> = names.collect();
            names.sort();
            names
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn what_a_kill_left_of_our_own_files_is_swept() {
        let scratch = Scratch::new("sweep");
        for name in [
            ".points.csv.part",
            ".theirs.part",
            "points.csv",
            ".points.csv",
        ] {
            fs::write(scratch.0.join(name), b"").unwrap();
        }
        fs::create_dir(scratch.0.join(".answer.csv.part")).unwrap();
        sweep(&scratch.0, |name| name.ends_with(".csv"));
        assert_eq!(
            scratch.names(),
            [
                ".answer.csv.part",
                ".points.csv",
                ".theirs.part",
                "points.csv"
            ]
        );
    }

    /// A socket stands for every place that is no regular file: a test that replaces a device needs rights that it should not have.
    #[test]
    #[cfg(unix)]
    fn what_is_no_regular_file_is_not_replaced() {
        let scratch = Scratch::new("special");
        let path = scratch.0.join("socket");
        let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let one = write_one(&path, b"1");
        let piecewise = PartFile::create(&path).map(|_| ());
        for refused in [one, piecewise] {
            let Rejection(sink) = refused.unwrap_err();
            let said = sink.diags[0].message.to_string();
            assert!(said.contains("not a regular file"), "{said}");
        }
        assert_eq!(scratch.names(), ["socket"]);
    }

    #[test]
    fn nothing_is_written_if_one_file_cannot_be() {
        let scratch = Scratch::new("all");
        let directory = &scratch.0;
        fs::create_dir_all(directory.join("b.txt")).unwrap();
        let files = [
            ("a.txt".to_owned(), b"1".to_vec()),
            ("missing/c.txt".to_owned(), b"2".to_vec()),
        ];
        assert!(write_all(directory, &files).is_err());
        assert_eq!(scratch.names(), ["b.txt"], "no temporary file is left");
        write_all(directory, &files[..1]).unwrap();
        assert_eq!(fs::read(directory.join("a.txt")).unwrap(), b"1");
    }
}
