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
    pub fn open(path: &Path, key: &str, count: usize) -> io::Result<(Self, Vec<Option<Class>>)> {
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
        Ok((Self { file }, known))
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
        let (mut journal, known) = Journal::open(&path, "key", 4).unwrap();
        assert_eq!(known, [None; 4]);
        journal.write(2, Class::Sdc).unwrap();
        journal.write(0, Class::Masked).unwrap();
        journal.file.write_all(b"1 du").unwrap();
        drop(journal);
        let (mut journal, known) = Journal::open(&path, "key", 4).unwrap();
        assert_eq!(known, [Some(Class::Masked), None, Some(Class::Sdc), None]);
        journal.write(1, Class::Due).unwrap();
        drop(journal);
        let (journal, known) = Journal::open(&path, "key", 4).unwrap();
        assert_eq!(known[1], Some(Class::Due));
        drop(journal);
        let (journal, known) = Journal::open(&path, "another", 4).unwrap();
        assert_eq!(known, [None; 4]);
        drop(journal);
        fs::remove_file(&path).unwrap();
    }
}
