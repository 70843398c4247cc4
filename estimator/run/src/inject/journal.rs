//! What a campaign has found so far, so that one that was killed goes on where it stopped.
//!
//! A text file: its key in the first line, then a line an execution with its number and its outcome, each written at once. A line that was cut off by a kill
//! is not taken up.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use warpwatt_reliability::inject::Class;

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    file: File,
}

/// What [`Journal::open`] found.
#[derive(Debug)]
pub struct Opened {
    /// Where outcomes go.
    pub journal: Journal,
    /// The outcome of each execution, as far as it is known.
    pub known: Vec<Option<Class>>,
    /// Whether what was there belonged to another campaign, or to another version, and is gone.
    pub of_another: bool,
}

/// The first words of a journal.
const TITLE: &str = "warpwatt inject journal";

impl Journal {
    /// The journal of the results that will be in `out`: beside it.
    pub fn beside(out: &Path) -> PathBuf {
        let name = out.file_name().unwrap_or_default().to_string_lossy();
        out.with_file_name(format!(".{name}.journal"))
    }

    /// Opens the journal at `path`, with what it says of `count` executions if it is of the same `key`; else it begins anew.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub fn open(path: &Path, key: &str, count: usize) -> io::Result<Opened> {
        let head = format!("{TITLE} {key}\n");
        let text = match fs::read(path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let mut known = vec![None; count];
        let kept = text.strip_prefix(&head);
        let mut whole = head.clone();
        for line in kept.unwrap_or_default().split_inclusive('\n') {
            let Some((number, class)) = read(line, count) else {
                break;
            };
            known[number] = Some(class);
            whole.push_str(line);
        }
        let mut file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(false)
            .open(path)?;
        if kept.is_none() {
            file.set_len(0)?;
            file.write_all(head.as_bytes())?;
        } else {
            file.set_len(whole.len() as u64)?;
            io::Seek::seek(&mut file, io::SeekFrom::End(0))?;
        }
        Ok(Opened {
            journal: Self { file },
            known,
            of_another: kept.is_none() && !text.is_empty(),
        })
    }

    /// Writes an outcome.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&mut self, number: usize, class: Class) -> io::Result<()> {
        let line = format!("{number} {}\n", class.name());
        self.file.write_all(line.as_bytes())
    }
}

/// A whole line.
fn read(line: &str, count: usize) -> Option<(usize, Class)> {
    let (number, class) = line.strip_suffix('\n')?.split_once(' ')?;
    let number: usize = number.parse().ok().filter(|number| *number < count)?;
    Some((number, Class::of(class)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_is_taken_up_without_its_last_half_line() {
        let directory = std::env::temp_dir();
        let path = directory.join(format!("warpwatt-journal-{}", std::process::id()));
        let _ = fs::remove_file(&path);
        let open = |key| Journal::open(&path, key, 4).unwrap();
        let mut opened = open("key");
        assert_eq!(opened.known, [None; 4]);
        opened.journal.write(2, Class::Sdc).unwrap();
        opened.journal.write(0, Class::Masked).unwrap();
        opened.journal.file.write_all(b"1 du").unwrap();
        drop(opened);
        let mut opened = open("key");
        let known = [Some(Class::Masked), None, Some(Class::Sdc), None];
        assert_eq!(opened.known, known);
        opened.journal.write(1, Class::Due).unwrap();
        drop(opened);
        let opened = open("key");
        assert_eq!(opened.known[1], Some(Class::Due));
        assert!(!opened.of_another);
        drop(opened);
        let opened = open("another");
        assert_eq!(opened.known, [None; 4]);
        assert!(opened.of_another);
        drop(opened);
        fs::remove_file(&path).unwrap();
    }
}
